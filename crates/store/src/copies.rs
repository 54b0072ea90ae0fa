//! Copies that stand beside the database for a while: one from before a migration, and what a restore replaced.
//!
//! They hold what people said, so they do not stay for ever, and what is deleted is deleted in them too.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use domain::ids::SessionId;
use rusqlite::Connection;

use crate::connect;
use crate::error::OpenError;
use crate::open::{beside, private};
use crate::statement::Read;

const BACKUP: &str = ".backup";
const UNFINISHED: &str = ".unfinished";
pub(crate) const REPLACED: &str = ".replaced";
pub(crate) const RESTORING: &str = ".restoring";
const UNSURE: &str = "it may hold what was deleted";

/// A whole copy beside the database, named for the version it has. An unfinished copy never bears that name.
pub(crate) fn before_migration(conn: &Connection, path: &Path, version: usize) -> Result<(), OpenError> {
    let target = beside(path, &format!(".v{version}{BACKUP}"));
    let unfinished = beside(&target, UNFINISHED);
    write(conn, &unfinished)?;
    fs::rename(&unfinished, &target).map_err(|error| OpenError::io(&target, error))?;
    tracing::info!(version, backup = %target.display(), "backed up the database before migrating it");
    Ok(())
}

/// Writes all that the database holds at this moment into a file of its own.
pub(crate) fn write(conn: &Connection, target: &Path) -> Result<(), OpenError> {
    let io = |error| OpenError::io(target, error);
    // SQLite writes into an empty file, and so keeps its mode.
    let file = empty(target).map_err(io)?;
    let name = target.to_str().ok_or_else(|| OpenError::io(target, "the path is not UTF-8"))?;
    conn.execute("VACUUM INTO ?1", [name]).map_err(|error| OpenError::database(target, error))?;
    file.sync_all().map_err(io)
}

/// Opens or makes a file for a copy. What a killed process has left of an earlier one, a journal above all, must not be mixed into it.
pub(crate) fn empty(target: &Path) -> io::Result<File> {
    let file = private(target)?;
    file.set_len(0)?;
    match fs::remove_file(beside(target, "-journal")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(file),
    }
}

/// Deletes a session in the copies; one in which that cannot be done is removed.
pub(crate) fn erase(path: &Path, session: SessionId) {
    for copy in found(path).iter().filter(|copy| is_backup(copy)) {
        if erase_in(copy, session).is_err() {
            remove(copy, UNSURE);
        }
    }
    found(path).iter().filter(|copy| !is_backup(copy)).for_each(|copy| remove(copy, UNSURE));
}

fn erase_in(copy: &Path, session: SessionId) -> Read<()> {
    let conn = connect::plain(copy)?;
    connect::overwriting(&conn)?;
    conn.execute("DELETE FROM sessions WHERE id = ?1", [session.to_string()])?;
    conn.close().map_err(|(_, error)| error)
}

pub(crate) fn drop_older(path: &Path, age: Duration) {
    let mut backups = Vec::new();
    for copy in found(path) {
        let Ok(made) = fs::metadata(&copy).and_then(|copy| copy.modified()) else { continue };
        if SystemTime::now().duration_since(made).is_ok_and(|since| since > age) {
            remove(&copy, "it is old enough");
        } else if is_backup(&copy) {
            backups.push((made, copy));
        }
    }
    backups.sort();
    backups.pop();
    backups.iter().for_each(|(_, copy)| remove(copy, "there is a newer one"));
}

fn is_backup(copy: &Path) -> bool {
    copy.extension().is_some_and(|extension| extension == &BACKUP[1..])
}

/// Everything of ours beside the database that is a copy of it, or a part of one. A file of a person's own is not.
fn found(path: &Path) -> Vec<PathBuf> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let is_ours = |entry: &Path| entry.file_name().and_then(|entry| entry.to_str()?.strip_prefix(name)).is_some_and(is_copy);
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|entry| is_ours(entry)).collect()
}

/// Of what follows the database's name.
fn is_copy(rest: &str) -> bool {
    let main = ["-journal", "-wal", "-shm"].iter().find_map(|part| rest.strip_suffix(part)).unwrap_or(rest);
    let version = main.strip_prefix(".v").and_then(|main| main.strip_suffix(UNFINISHED).unwrap_or(main).strip_suffix(BACKUP));
    let is_numbered = version.is_some_and(|version| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()));
    is_numbered || [REPLACED, RESTORING].contains(&main)
}

fn remove(copy: &Path, why: &str) {
    match fs::remove_file(copy) {
        Ok(()) => tracing::info!(copy = %copy.display(), why, "removed a copy of the database"),
        Err(error) => tracing::warn!(copy = %copy.display(), %error, "a copy of the database could not be removed"),
    }
}
