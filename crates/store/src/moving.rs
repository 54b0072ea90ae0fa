//! The whole store as one file: made while a server runs, brought back while none does, and written anew to give back room.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::copies::{self, REPLACED, RESTORING};
use crate::error::OpenError;
use crate::open::{BUSY, MIGRATIONS, beside, examine, lock, private};

/// Who is let in is not part of a backup: a device that was sent away must not come back with it.
const LEFT_OUT: [&str; 2] = ["devices", "links"];

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).busy_timeout(BUSY).disable_statement_logging()
}

/// Writes the database as it is at this moment into a new file, whether a server runs or not. Gives the file's size.
pub async fn back_up(path: &Path, target: &Path) -> Result<u64, OpenError> {
    let exists = || OpenError::Exists { path: target.to_owned() };
    if target.symlink_metadata().is_ok() {
        return Err(exists());
    }
    examine(path, &options(path).read_only(true), MIGRATIONS.len()).await?;
    let unfinished = beside(target, ".unfinished");
    let io = |error: io::Error| OpenError::io(&unfinished, error);
    let file = private(&unfinished).map_err(io)?;
    file.try_lock().map_err(|_| OpenError::io(&unfinished, "another backup is being written to it"))?;
    let failed = |error| OpenError::database(path, error);
    let mut conn = options(path).read_only(true).connect().await.map_err(failed)?;
    let written = copies::write(&mut conn, &unfinished).await;
    conn.close().await.map_err(failed)?;
    let kept = match written {
        Ok(()) => leave_out(&unfinished).await.map_err(|error| OpenError::database(&unfinished, error)),
        Err(error) => Err(error),
    };
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

async fn leave_out(copy: &Path) -> Result<(), sqlx::Error> {
    let mut conn = options(copy).pragma("secure_delete", "ON").foreign_keys(false).connect().await?;
    for table in LEFT_OUT {
        let there: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1")
            .bind(table)
            .fetch_one(&mut conn)
            .await?;
        if there > 0 {
            sqlx::query(AssertSqlSafe(format!("DELETE FROM {table}"))).execute(&mut conn).await?;
        }
    }
    conn.close().await
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
        let mut from = File::open(source).map_err(|error| OpenError::io(source, error))?;
        let lock = lock(path).await?;
        let copy = beside(path, RESTORING);
        let restore = Restore { path: path.to_owned(), _lock: lock };
        let io = |error: io::Error| OpenError::io(&copy, error);
        let mut to = copies::empty(&copy).map_err(io)?;
        io::copy(&mut from, &mut to).map_err(io)?;
        to.sync_all().map_err(io)?;
        let made_ours = match check(&copy).await {
            Ok(()) => adopt(&copy, runners).await.map_err(|error| OpenError::database(&copy, error)),
            Err(error) => Err(error),
        };
        match made_ours {
            Ok(()) => Ok(restore),
            Err(error) => {
                restore.abandon();
                Err(error.of(source))
            }
        }
    }

    /// Leaves everything as it was.
    pub fn abandon(self) {
        let _ = fs::remove_file(beside(&self.path, RESTORING));
    }

    /// Puts the backup in the place of the database, which stays beside it until [`Restore::finish`]. At no moment is there neither.
    pub async fn replace(&self) -> Result<(), OpenError> {
        let io = |error: io::Error| OpenError::io(&self.path, error);
        let aside = beside(&self.path, REPLACED);
        if self.path.metadata().is_ok_and(|database| database.len() > 0) {
            // One file instead of two: what is left of its write-ahead log would be taken for the new database's.
            if let Err(error) = into_one_piece(&self.path).await {
                tracing::warn!(%error, "the database that is replaced cannot be read");
            }
            remove(&aside).and_then(|()| fs::hard_link(&self.path, &aside)).map_err(io)?;
            let log = beside(&self.path, "-wal");
            if log.exists() {
                remove(&beside(&aside, "-wal")).and_then(|()| fs::rename(&log, beside(&aside, "-wal"))).map_err(io)?;
            }
            remove(&beside(&self.path, "-shm")).map_err(io)?;
        }
        fs::rename(beside(&self.path, RESTORING), &self.path).map_err(io)?;
        sync_dir(&self.path).map_err(io)
    }

    /// Lets go of what was replaced.
    pub fn finish(self) -> Result<(), OpenError> {
        let aside = beside(&self.path, REPLACED);
        remove(&aside).and_then(|()| remove(&beside(&aside, "-wal"))).map_err(|error| OpenError::io(&aside, error))
    }
}

async fn check(copy: &Path) -> Result<(), OpenError> {
    if examine(copy, &options(copy), MIGRATIONS.len()).await? == 0 {
        return Err(OpenError::Foreign { path: copy.to_owned() });
    }
    let failed = |error| OpenError::database(copy, error);
    let mut conn = options(copy).connect().await.map_err(failed)?;
    let verdict: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut conn).await.map_err(failed)?;
    conn.close().await.map_err(failed)?;
    if verdict == "ok" { Ok(()) } else { Err(OpenError::Damaged { path: copy.to_owned(), source: verdict.into() }) }
}

async fn adopt(copy: &Path, runners: &Path) -> Result<(), sqlx::Error> {
    let mut conn = options(copy).connect().await?;
    sqlx::query("UPDATE runners SET dir = $1 || '/' || id").bind(runners.to_string_lossy().into_owned()).execute(&mut conn).await?;
    conn.close().await
}

async fn into_one_piece(path: &Path) -> Result<(), sqlx::Error> {
    let mut conn = options(path).connect().await?;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await?;
    conn.close().await
}

/// Writes the database anew, without the room that deleted things have left. No server may run. Gives its size before and after.
pub async fn vacuum(path: &Path) -> Result<(u64, u64), OpenError> {
    let _lock = lock(path).await?;
    examine(path, &options(path), MIGRATIONS.len()).await?;
    let failed = |error| OpenError::database(path, error);
    let size = || path.metadata().map(|file| file.len()).map_err(|error| OpenError::io(path, error));
    into_one_piece(path).await.map_err(failed)?;
    let before = size()?;
    let mut conn = options(path).connect().await.map_err(failed)?;
    sqlx::query("VACUUM").execute(&mut conn).await.map_err(failed)?;
    conn.close().await.map_err(failed)?;
    into_one_piece(path).await.map_err(failed)?;
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
