//! The whole store as one file: made while a server runs, brought back while none does, and written anew to give back room.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::copies::{self, REPLACED, RESTORING};
use crate::error::OpenError;
use crate::open::{MIGRATIONS, beside, examine, lock, private, sound};
use crate::statement::Read;
use crate::{blocking, connect};

/// Who is let in is not part of a backup: a device that was sent away must not come back with it.
const LEFT_OUT: [&str; 2] = ["devices", "links"];

/// Writes the database as it is at this moment into a new file, whether a server runs or not. Gives the file's size.
pub async fn back_up(path: &Path, target: &Path) -> Result<u64, OpenError> {
    let (path, target) = (path.to_owned(), target.to_owned());
    blocking::run(move || copy(&path, &target)).await
}

fn copy(path: &Path, target: &Path) -> Result<u64, OpenError> {
    let exists = || OpenError::Exists { path: target.to_owned() };
    if target.symlink_metadata().is_ok() {
        return Err(exists());
    }
    examine(path, connect::read_only(path), MIGRATIONS.len())?;
    let unfinished = beside(target, ".unfinished");
    let io = |error: io::Error| OpenError::io(&unfinished, error);
    let file = private(&unfinished).map_err(io)?;
    file.try_lock().map_err(|_| OpenError::io(&unfinished, "another backup is being written to it"))?;
    let conn = connect::read_only(path).map_err(|error| OpenError::database(path, error))?;
    let written = copies::write(&conn, &unfinished);
    drop(conn);
    let kept = written.and_then(|()| leave_out(&unfinished).map_err(|error| OpenError::database(&unfinished, error)));
    if let Err(error) = kept {
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    file.sync_all().map_err(io)?;
    let bytes = file.metadata().map_err(io)?.len();
    if target.symlink_metadata().is_ok() {
        let _ = fs::remove_file(&unfinished);
        return Err(exists());
    }
    fs::rename(&unfinished, target).map_err(io)?;
    sync_dir(target).map_err(io)?;
    Ok(bytes)
}

fn leave_out(copy: &Path) -> Read<()> {
    let conn = connect::plain(copy)?;
    connect::overwriting(&conn)?;
    conn.pragma_update(None, "foreign_keys", false)?;
    for table in LEFT_OUT {
        if conn.table_exists(None, table)? {
            conn.execute_batch(&format!("DELETE FROM {table}"))?;
        }
    }
    closed(conn)
}

fn closed(conn: Connection) -> Read<()> {
    conn.close().map_err(|(_, error)| error)
}

/// A backup that is about to take the place of the database. Other processes are kept out as long as this lives.
pub struct Restore {
    path: PathBuf,
    _lock: File,
}

impl Restore {
    /// Checks the backup, and brings a copy of it beside the database. Nothing is replaced yet. Runners that the backup knows are looked for
    /// in `runners` from now on: where it comes from, they may well be at work for somebody else.
    pub async fn prepare(path: &Path, source: &Path, runners: &Path) -> Result<Restore, OpenError> {
        let log = beside(source, "-wal");
        if log.metadata().is_ok_and(|log| log.len() > 0) {
            return Err(OpenError::io(source, "it is a database in use, not a backup: make one with `voxpilot backup`"));
        }
        let from = File::open(source).map_err(|error| OpenError::io(source, error))?;
        let restore = Restore { path: path.to_owned(), _lock: lock(path).await? };
        let (source, runners) = (source.to_owned(), runners.to_owned());
        blocking::run(move || {
            let copy = beside(&restore.path, RESTORING);
            bring(from, &copy).map_err(|error| OpenError::io(&copy, error))?;
            let adopted = check(&copy).and_then(|()| adopt(&copy, &runners).map_err(|error| OpenError::database(&copy, error)));
            match adopted {
                Ok(()) => Ok(restore),
                Err(error) => {
                    restore.abandon();
                    Err(error.of(&source))
                }
            }
        })
        .await
    }

    /// Leaves everything as it was.
    pub fn abandon(self) {
        let _ = fs::remove_file(beside(&self.path, RESTORING));
    }

    /// Puts the backup in the place of the database, which stays beside it until [`Restore::finish`]. At no moment is there neither.
    pub async fn replace(&self) -> Result<(), OpenError> {
        let path = self.path.clone();
        blocking::run(move || exchange(&path).map_err(|error| OpenError::io(&path, error))).await
    }

    /// Lets go of what was replaced.
    pub fn finish(self) -> Result<(), OpenError> {
        let aside = beside(&self.path, REPLACED);
        remove(&aside).and_then(|()| remove(&beside(&aside, "-wal"))).map_err(|error| OpenError::io(&aside, error))
    }
}

fn bring(mut from: File, copy: &Path) -> io::Result<()> {
    let mut to = copies::empty(copy)?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()
}

fn exchange(path: &Path) -> io::Result<()> {
    let aside = beside(path, REPLACED);
    if path.metadata().is_ok_and(|database| database.len() > 0) {
        // One file instead of two: what is left of its write-ahead log would be taken for the new database's.
        if let Err(error) = into_one_piece(path) {
            tracing::warn!(%error, "the database that is replaced cannot be read");
        }
        remove(&aside).and_then(|()| fs::hard_link(path, &aside))?;
        let log = beside(path, "-wal");
        if log.exists() {
            remove(&beside(&aside, "-wal")).and_then(|()| fs::rename(&log, beside(&aside, "-wal")))?;
        }
        remove(&beside(path, "-shm"))?;
    }
    fs::rename(beside(path, RESTORING), path)?;
    sync_dir(path)
}

fn check(copy: &Path) -> Result<(), OpenError> {
    if examine(copy, connect::plain(copy), MIGRATIONS.len())? == 0 {
        return Err(OpenError::Foreign { path: copy.to_owned() });
    }
    let conn = connect::plain(copy).map_err(|error| OpenError::database(copy, error))?;
    sound(&conn, copy, "PRAGMA integrity_check(1)")
}

fn adopt(copy: &Path, runners: &Path) -> Read<()> {
    let conn = connect::plain(copy)?;
    conn.execute("UPDATE runners SET dir = ?1 || '/' || id", [runners.to_string_lossy()])?;
    closed(conn)
}

fn into_one_piece(path: &Path) -> Read<()> {
    let conn = connect::plain(path)?;
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    closed(conn)
}

/// Writes the database anew, without the room that deleted things have left. No server may run. Gives its size before and after.
pub async fn vacuum(path: &Path) -> Result<(u64, u64), OpenError> {
    let (lock, path) = (lock(path).await?, path.to_owned());
    blocking::run(move || {
        let _lock = lock;
        write_anew(&path)
    })
    .await
}

fn write_anew(path: &Path) -> Result<(u64, u64), OpenError> {
    examine(path, connect::plain(path), MIGRATIONS.len())?;
    let failed = |error| OpenError::database(path, error);
    let size = || path.metadata().map(|file| file.len()).map_err(|error| OpenError::io(path, error));
    into_one_piece(path).map_err(failed)?;
    let before = size()?;
    let conn = connect::plain(path).map_err(failed)?;
    conn.execute_batch("VACUUM").map_err(failed)?;
    closed(conn).map_err(failed)?;
    into_one_piece(path).map_err(failed)?;
    Ok((before, size()?))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What was renamed in a directory is on the disk once the directory is.
fn sync_dir(path: &Path) -> io::Result<()> {
    match path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        Some(dir) => File::open(dir)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
