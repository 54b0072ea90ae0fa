//! The whole store as one file: a backup made while a server runs or not, and the database written anew to give back room. How a backup
//! is brought back is in `restore`.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rusqlite::Connection;

use crate::copies;
use crate::error::OpenError;
use crate::open::{MIGRATIONS, beside, examine, lock, private};
use crate::statement::Read;
use crate::{blocking, connect};

/// Access is not part of a backup: a device that was revoked must not come back with it.
const LEFT_OUT: [&str; 3] = ["push", "devices", "links"];

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
    let conn = connect::read_only(path).map_err(|error| OpenError::database(path, error))?;
    examine(path, &conn, "main", MIGRATIONS.len())?;
    let unfinished = beside(target, ".unfinished");
    let io = |error: io::Error| OpenError::io(&unfinished, error);
    let file = private(&unfinished).map_err(io)?;
    file.try_lock().map_err(|_| OpenError::io(&unfinished, "another backup is being written to it"))?;
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

pub(crate) fn closed(conn: Connection) -> Read<()> {
    conn.close().map_err(|(_, error)| error)
}

pub(crate) fn into_one_piece(path: &Path) -> Read<()> {
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
    let failed = |error| OpenError::database(path, error);
    examine(path, &connect::plain(path).map_err(failed)?, "main", MIGRATIONS.len())?;
    let size = || path.metadata().map(|file| file.len()).map_err(|error| OpenError::io(path, error));
    into_one_piece(path).map_err(failed)?;
    let before = size()?;
    let conn = connect::plain(path).map_err(failed)?;
    conn.execute_batch("VACUUM").map_err(failed)?;
    closed(conn).map_err(failed)?;
    into_one_piece(path).map_err(failed)?;
    Ok((before, size()?))
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// What was renamed in a directory is on the disk once the directory is.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    match path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        Some(dir) => File::open(dir)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}
