//! A backup brought back. It may come from anybody, so it is read and never used: our own statements copy the rows of conversations
//! into a database that we make.
//!
//! Data is taken, access is not. Who may sign in, what was allowed for the future and what would go on by itself is left behind; what
//! the replaced database has of that stays.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::copies::{self, REPLACED, RESTORING};
use crate::error::OpenError;
use crate::moving::{closed, into_one_piece, remove, sync_dir};
use crate::open::{APPLICATION_ID, MIGRATIONS, beside, examine, lock};
use crate::statement::{self, Read};
use crate::{blocking, connect, shape};

/// What people said, did and keep, in an order in which each row finds what it refers to.
const COPIED: [&str; 16] = [
    "sessions",
    "messages",
    "receipts",
    "turns",
    "acp_sessions",
    "artifacts",
    "attachments",
    "audit",
    "audit_details",
    "notices",
    "snapshots",
    "windows",
    "credits",
    "comments",
    "viewed",
    "events",
];
/// Who is let in, what is allowed, what was chosen, and what waits to be done. Of the first four the replaced database's own stay.
const LEFT_OUT: [&str; 12] =
    ["devices", "links", "push", "preferences", "rules", "queue", "permissions", "confirms", "requests", "runners", "method_names", "meta"];
/// What stays of the replaced database: which rows of which tables.
const KEPT: [(&str, &str); 5] =
    [("devices", "TRUE"), ("links", "TRUE"), ("push", "TRUE"), ("preferences", "TRUE"), ("rules", "session_id IS NULL")];

/// A backup that is about to take the place of the database. Other processes are kept out as long as this lives.
pub struct Restore {
    path: PathBuf,
    /// What was not taken.
    pub left_out: LeftOut,
    _lock: File,
}

/// What a backup held that is not restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Devices, links and push subscriptions.
    pub access: usize,
    /// Saved permissions.
    pub rules: usize,
    /// Settings that were chosen in the page.
    pub preferences: usize,
    /// Sessions in which everything was allowed; they have the default policy now.
    pub policies: usize,
    pub queued_messages: usize,
    /// Turns that were running; they end when the server starts.
    pub running_turns: usize,
    /// The replaced database could not be read, so nobody who was signed in stays so.
    pub signed_out: bool,
}

impl Restore {
    /// Checks the backup, and makes a database of its data beside the current one. Nothing is replaced yet.
    pub async fn prepare(path: &Path, source: &Path) -> Result<Restore, OpenError> {
        let lock = lock(path).await?;
        let (path, source) = (path.to_owned(), source.to_owned());
        blocking::run(move || {
            let copy = beside(&path, RESTORING);
            match make(&copy, &source, &path) {
                Ok(left_out) => Ok(Restore { path, left_out, _lock: lock }),
                Err(error) => {
                    let _ = fs::remove_file(&copy);
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

/// Makes a new database of ours from the backup's data, in `copy`.
fn make(copy: &Path, source: &Path, current: &Path) -> Result<LeftOut, OpenError> {
    let address = address(source)?;
    let file = copies::empty(copy).map_err(|error| OpenError::io(copy, error))?;
    let failed = |error| OpenError::database(source, error);
    let conn = hardened(copy).map_err(failed)?;
    conn.execute("ATTACH ?1 AS backup", [address]).map_err(failed)?;
    let version = check(&conn, source)?;
    let mut left_out = copy_rows(&conn, version).map_err(failed)?;
    conn.execute_batch("DETACH backup").map_err(failed)?;
    finish_copy(&conn, version, &mut left_out).map_err(failed)?;
    left_out.signed_out = !keep_own(&conn, current);
    let broken = statement::all(&conn, "SELECT \"table\" FROM pragma_foreign_key_check", [], |row| row.get::<_, String>(0));
    if let Some(table) = broken.map_err(failed)?.first() {
        let reason = format!("a row of {table} belongs to nothing");
        return Err(OpenError::Damaged { path: source.to_owned(), source: reason.into() });
    }
    closed(conn).map_err(failed)?;
    file.sync_all().map_err(|error| OpenError::io(copy, error))?;
    Ok(left_out)
}

/// How SQLite is to open the backup: read-only, and with nothing that lies beside it, whether a log or a journal.
fn address(source: &Path) -> Result<String, OpenError> {
    let io = |error: io::Error| OpenError::io(source, error);
    let real = source.canonicalize().map_err(io)?;
    if !real.metadata().map_err(io)?.is_file() {
        return Err(OpenError::io(source, "it is not a file"));
    }
    for part in ["-wal", "-journal"] {
        if beside(&real, part).metadata().is_ok_and(|part| part.len() > 0) {
            return Err(OpenError::io(source, "it is a database in use, not a backup: make one with `voxpilot backup`"));
        }
    }
    Ok(connect::immutable_address(&real))
}

/// A connection to a file of ours, to which files of others are attached: it changes none of those, and runs nothing of what they hold.
fn hardened(copy: &Path) -> Read<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(copy, flags)?;
    use DbConfig as Is;
    conn.set_db_config(Is::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    for off in [
        Is::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        Is::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        Is::SQLITE_DBCONFIG_ENABLE_VIEW,
        Is::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
        Is::SQLITE_DBCONFIG_WRITABLE_SCHEMA,
        Is::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE,
        Is::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE,
    ] {
        conn.set_db_config(off, false)?;
    }
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "foreign_keys", false)?;
    // What a kill leaves of it is thrown away, so nothing has to survive one.
    conn.query_row("PRAGMA journal_mode = OFF", [], |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    Ok(conn)
}

/// Whether the backup is one of ours, whole and with nothing in it that we never write. Gives its version.
fn check(conn: &Connection, source: &Path) -> Result<usize, OpenError> {
    let failed = |error| OpenError::database(source, error);
    let version = examine(source, conn, "backup", MIGRATIONS.len())?;
    if version == 0 {
        return Err(OpenError::Foreign { path: source.to_owned() });
    }
    // Before anything else is asked of it: a check evaluates what a definition says.
    let found = shape::shape(conn, "backup").map_err(failed)?;
    if let Some(what) = shape::difference(&found, &shape::known(version).map_err(failed)?) {
        return Err(OpenError::Altered { path: source.to_owned(), what });
    }
    let verdict: String = conn.query_row("PRAGMA backup.integrity_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if verdict == "ok" { Ok(version) } else { Err(OpenError::Damaged { path: source.to_owned(), source: verdict.into() }) }
}

fn copy_rows(conn: &Connection, version: usize) -> Read<LeftOut> {
    shape::build(conn, version)?;
    statement::transaction(conn, |conn| -> Read<()> {
        for table in COPIED {
            let columns = columns(conn, table)?;
            if !columns.is_empty() {
                conn.execute(&format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM backup.{table}"), [])?;
            }
        }
        Ok(())
    })?;
    let count = |table: &str, which: &str| -> Read<usize> {
        debug_assert!(LEFT_OUT.contains(&table));
        match columns(conn, table)?.as_str() {
            "" => Ok(0),
            _ => {
                let sql = format!("SELECT COUNT(*) FROM backup.{table} WHERE {which}");
                conn.query_row(&sql, [], |row| row.get::<_, u32>(0)).map(|count| count as usize)
            }
        }
    };
    let all = |table: &str| count(table, "TRUE");
    Ok(LeftOut {
        access: all("devices")? + all("links")? + all("push")?,
        rules: all("rules")?,
        // What is known of agents is kept there too, and found out again.
        preferences: count("preferences", "key NOT LIKE 'version of %' AND key NOT LIKE 'capabilities of %'")?,
        queued_messages: all("queue")?,
        ..LeftOut::default()
    })
}

/// The names of a table's columns, with commas; empty where there is no such table.
fn columns(conn: &Connection, table: &str) -> Read<String> {
    let names = statement::all(conn, "SELECT name FROM pragma_table_info(?1, 'main')", [table], |row| row.get::<_, String>(0))?;
    Ok(names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", "))
}

/// Brings the copy to the latest version, and takes from its rows what would act by itself or allow something.
fn finish_copy(conn: &Connection, version: usize, left_out: &mut LeftOut) -> Read<()> {
    statement::transaction(conn, |conn| {
        MIGRATIONS[version..].iter().try_for_each(|sql| conn.execute_batch(sql))?;
        let lax = "permission_policy IS NOT NULL AND permission_policy NOT IN ('ask', 'read-only', 'deny')";
        left_out.policies = conn.execute(&format!("UPDATE sessions SET permission_policy = NULL WHERE {lax}"), [])?;
        conn.execute("UPDATE acp_sessions SET allow_all = 0, mode = NULL, options = NULL, wanted = NULL, runner_id = NULL", [])?;
        conn.execute("UPDATE sessions SET queue_held = 0", [])?;
        // With a reason it is not taken up, but ended: whoever made the backup would be the one who prompts.
        left_out.running_turns = conn.execute("UPDATE turns SET reason = 'restored' WHERE state = 'running'", [])?;
        conn.pragma_update(None, "application_id", APPLICATION_ID)?;
        conn.pragma_update(None, "user_version", i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX))
    })
}

/// Brings over what the current database has of access. Says whether it could: one that is being replaced may be damaged.
fn keep_own(conn: &Connection, current: &Path) -> bool {
    if !current.metadata().is_ok_and(|file| file.len() > 0) {
        return true;
    }
    let kept = connect::read_only(current).and_then(|own| {
        let version = own.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))? as usize;
        if version != MIGRATIONS.len() || shape::shape(&own, "main")? != shape::known(version)? {
            return Ok(false);
        }
        statement::transaction(conn, |conn| KEPT.iter().try_for_each(|(table, which)| bring(&own, conn, table, which)))?;
        Ok(true)
    });
    kept.unwrap_or_else(|error| {
        tracing::warn!(%error, "who was signed in could not be read from the database that is replaced");
        false
    })
}

fn bring(own: &Connection, conn: &Connection, table: &str, which: &str) -> Read<()> {
    let columns = columns(conn, table)?;
    let count = columns.split(", ").count();
    let places = vec!["?"; count].join(", ");
    let mut insert = conn.prepare(&format!("INSERT INTO {table} ({columns}) VALUES ({places})"))?;
    let row = |row: &rusqlite::Row<'_>| (0..count).map(|index| row.get(index)).collect::<Read<Vec<Value>>>();
    for values in statement::all(own, &format!("SELECT {columns} FROM {table} WHERE {which}"), [], row)? {
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds a table decides whether it is data or access.
    #[test]
    fn every_table_of_every_version_is_copied_or_left_out() {
        for version in 1..=MIGRATIONS.len() {
            let conn = Connection::open_in_memory().unwrap();
            shape::build(&conn, version).unwrap();
            let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
            for table in statement::all(&conn, names, [], |row| row.get::<_, String>(0)).unwrap() {
                let (copied, left_out) = (COPIED.contains(&table.as_str()), LEFT_OUT.contains(&table.as_str()));
                assert!(copied != left_out, "{table} of version {version}");
            }
        }
    }

    #[test]
    fn what_stays_of_the_replaced_database_is_not_copied_from_the_backup() {
        assert!(KEPT.iter().all(|(table, _)| LEFT_OUT.contains(table)));
    }

    #[tokio::test]
    async fn a_backup_of_any_version_is_restored_as_the_latest() {
        for version in 1..=MIGRATIONS.len() {
            let dir = tempfile::tempdir().unwrap();
            let (path, old) = (dir.path().join("log.db"), dir.path().join("old"));
            let conn = Connection::open(&old).unwrap();
            shape::build(&conn, version).unwrap();
            let id = uuid::Uuid::from_u128(1);
            let row = "'t', '/w', 'm', 'demo', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'";
            let rows = format!("INSERT INTO sessions (id, title, work_dir, model, agent, created_at, updated_at) VALUES ('{id}', {row})");
            conn.execute_batch(&rows).unwrap();
            let has_preferences = !columns(&conn, "preferences").unwrap().is_empty();
            if has_preferences {
                conn.execute_batch("INSERT INTO preferences VALUES ('a', 'b')").unwrap();
            }
            conn.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
            conn.pragma_update(None, "user_version", i64::try_from(version).unwrap()).unwrap();
            conn.close().unwrap();
            let restore = Restore::prepare(&path, &old).await.unwrap_or_else(|error| panic!("{version}: {error:?}"));
            assert_eq!(restore.left_out.preferences, usize::from(has_preferences), "{version}");
            restore.replace().await.unwrap();
            restore.finish().unwrap();
            let store = crate::Store::open(&path, false).await.unwrap();
            assert_eq!(store.session(domain::ids::SessionId(id)).await.unwrap().unwrap().title, "t", "{version}");
            store.close().await;
        }
    }
}
