//! Opening the database file: one owner, the right kind of file, the right schema, nothing of what was deleted left in it.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::connect::{self, Access};
use crate::error::OpenError;
use crate::statement::Read;
use crate::{blocking, copies, statement, wal};

/// Forward only: the n-th one takes a database from schema version n-1 to n.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_log.sql"),
    include_str!("../migrations/0002_rules.sql"),
    include_str!("../migrations/0003_agent_options.sql"),
    include_str!("../migrations/0004_attachments.sql"),
    include_str!("../migrations/0005_requests.sql"),
    include_str!("../migrations/0006_hosts.sql"),
    include_str!("../migrations/0007_devices.sql"),
    include_str!("../migrations/0008_retention.sql"),
    include_str!("../migrations/0009_rows.sql"),
    include_str!("../migrations/0010_trees.sql"),
    include_str!("../migrations/0011_review.sql"),
    include_str!("../migrations/0012_push.sql"),
    include_str!("../migrations/0013_ends.sql"),
    include_str!("../migrations/0014_reach.sql"),
    include_str!("../migrations/0015_decisions.sql"),
    include_str!("../migrations/0016_credits.sql"),
    include_str!("../migrations/0017_held.sql"),
    include_str!("../migrations/0018_sent_comments.sql"),
    include_str!("../migrations/0019_ending.sql"),
];

/// What all of them come to, for a new file: that takes a fifth of the time.
pub(crate) const SCHEMA: &str = include_str!("../migrations/schema.sql");

/// Marks the file as ours ("VoxP"), so that no other program's database is ever migrated.
pub(crate) const APPLICATION_ID: i64 = 0x566f_7850;
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_LOOK: Duration = Duration::from_millis(20);

/// An opened database, ready to be written.
pub(crate) struct Opened {
    pub access: Access,
    pub conn: Connection,
    /// Other processes are kept out while this is open.
    pub lock: File,
}

pub(crate) async fn open(path: &Path, durability_disk: bool, migrations: &'static [&'static str]) -> Result<Opened, OpenError> {
    let lock = lock(path).await?;
    let access = Access { path: path.to_owned(), disk: durability_disk, log_bytes_most: wal::BYTES_MOST, pages_most: None };
    blocking::run(move || {
        let conn = prepare(&access, migrations)?;
        Ok(Opened { access, conn, lock })
    })
    .await
}

/// Of a file that nobody else may use.
fn prepare(access: &Access, migrations: &[&str]) -> Result<Connection, OpenError> {
    let path = access.path.as_path();
    private(path).map_err(|error| OpenError::io(path, error))?;
    let failed = |error| OpenError::database(path, error);
    let found = examine(path, &connect::plain(path).map_err(failed)?, "main", migrations.len())?;
    let conn = access.owner().map_err(failed)?;
    if found > 0 && found < migrations.len() {
        copies::before_migration(&conn, path, found)?;
        // An earlier version may have left deleted text in the file; written anew, it has none.
        conn.execute_batch("VACUUM").map_err(failed)?;
    }
    migrate(&conn, found, migrations).map_err(failed)?;
    check(&conn, path)?;
    wal::watch(&conn);
    Ok(conn)
}

/// Whether a server holds the database at this moment.
pub fn in_use(path: &Path) -> bool {
    File::open(beside(path, ".lock")).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// A server that was killed while it started a process leaves the lock to that process until it has become another program, which
/// takes a moment.
pub(crate) async fn lock(path: &Path) -> Result<File, OpenError> {
    let lock_path = beside(path, ".lock");
    let file = private(&lock_path).map_err(|error| OpenError::io(&lock_path, error))?;
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => tokio::time::sleep(LOCK_LOOK).await,
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(OpenError::io(&lock_path, error)),
        }
    }
}

pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Opens or makes a file that only its owner may read. What SQLite puts beside it inherits the mode.
pub(crate) fn private(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Looks before anything is changed, the journal mode included. `schema` is the name under which the connection has the file. Gives the
/// schema version, 0 for a new file.
pub(crate) fn examine(path: &Path, conn: &Connection, schema: &str, known: usize) -> Result<usize, OpenError> {
    let look = || -> Read<(i64, i64, i64)> {
        let number = |sql: String| conn.query_row(&sql, [], |row| row.get(0));
        let pragma = |name: &str| number(format!("PRAGMA {schema}.{name}"));
        Ok((pragma("application_id")?, pragma("user_version")?, number(format!("SELECT COUNT(*) FROM {schema}.sqlite_schema"))?))
    };
    let (application, version, tables) = look().map_err(|error| OpenError::database(path, error))?;
    let new = application == 0 && version == 0 && tables == 0;
    if application != APPLICATION_ID && !new {
        return Err(OpenError::Foreign { path: path.to_owned() });
    }
    let known = u32::try_from(known).unwrap_or(u32::MAX);
    match u32::try_from(version) {
        Ok(found) if found > known => Err(OpenError::Newer { found, known }),
        Ok(found) => Ok(found as usize),
        Err(_) => Err(OpenError::Foreign { path: path.to_owned() }),
    }
}

/// Everything that is missing, at once: a start that is killed leaves the version that there was.
fn migrate(conn: &Connection, found: usize, migrations: &[&str]) -> Read<()> {
    let is_new = found == 0 && migrations.len() == MIGRATIONS.len();
    let missing = if is_new { &[SCHEMA][..] } else { &migrations[found..] };
    if missing.is_empty() {
        return Ok(());
    }
    statement::transaction(conn, |conn| {
        missing.iter().try_for_each(|sql| conn.execute_batch(sql))?;
        conn.pragma_update(None, "application_id", APPLICATION_ID)?;
        conn.pragma_update(None, "user_version", i64::try_from(migrations.len()).unwrap_or(i64::MAX))
    })
}

/// Checks what recovery reads first. The log itself is too large to read through at every start.
fn check(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    for table in ["sessions", "turns", "queue", "runners"] {
        sound(conn, path, &format!("PRAGMA quick_check({table})"))?;
    }
    Ok(())
}

/// Asks the database whether it is whole.
pub(crate) fn sound(conn: &Connection, path: &Path, sql: &str) -> Result<(), OpenError> {
    let verdict: String = conn.query_row(sql, [], |row| row.get(0)).map_err(|error| OpenError::database(path, error))?;
    if verdict == "ok" { Ok(()) } else { Err(OpenError::Damaged { path: path.to_owned(), source: verdict.into() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::shape;

    const FIRST: &[&str] = &[MIGRATIONS[0]];
    const LATER: &[&str] = &[MIGRATIONS[0], "ALTER TABLE sessions ADD COLUMN colour TEXT"];

    fn version(path: &Path) -> i64 {
        connect::plain(path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    }

    #[tokio::test]
    async fn an_older_database_is_copied_and_then_migrated() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        let backup = dir.path().join("log.db.v1.backup");
        let opened = open(&path, false, FIRST).await.unwrap();
        opened.conn.execute_batch("INSERT INTO meta (key, value) VALUES ('kept', 'yes')").unwrap();
        opened.conn.close().unwrap();
        drop(opened.lock);
        assert!(!backup.exists());

        let opened = open(&path, false, LATER).await.unwrap();
        opened.conn.close().unwrap();
        assert_eq!(version(&path), 2);
        assert_eq!(version(&backup), 1);
        assert_eq!(std::fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
        let copy = connect::plain(&backup).unwrap();
        let kept: String = copy.query_row("SELECT value FROM meta WHERE key = 'kept'", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, "yes");
    }

    #[test]
    fn a_new_database_is_what_the_migrations_come_to() {
        let (new, migrated) = (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        new.execute_batch(SCHEMA).unwrap();
        MIGRATIONS.iter().for_each(|sql| migrated.execute_batch(sql).unwrap());
        let (new, migrated) = (shape(&new, "main").unwrap(), shape(&migrated, "main").unwrap());
        assert!(new.len() > 200, "{new:#?}");
        assert_eq!(new, migrated);
    }

    #[tokio::test]
    async fn what_an_earlier_version_stored_is_read_by_this_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        let opened = open(&path, false, &MIGRATIONS[..5]).await.unwrap();
        let rows = "INSERT INTO sessions (id, title, work_dir, model, agent, created_at, updated_at) VALUES \
                      ('00000000-0000-0000-0000-000000000001', 't', '/w', 'relay', 'demo', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'); \
                    INSERT INTO runners (id, session_id, agent, dir, cursor) SELECT 'r', id, 'demo', '/d', 7 FROM sessions; \
                    INSERT INTO turns (session_id, id, state, started_seq, started_at, evidence) \
                      SELECT id, '00000000-0000-0000-0000-000000000002', 'running', 1, '2026-01-01T00:00:00Z', '{}' FROM sessions; \
                    INSERT INTO meta (key, value) VALUES ('a', 'b')";
        opened.conn.execute_batch(rows).unwrap();
        opened.conn.close().unwrap();
        drop(opened.lock);

        let store = crate::Store::open(&path, false).await.unwrap();
        let runners = store.runners().await.unwrap();
        assert_eq!((runners[0].cursor, runners[0].ending), (7, false));
        let turns = store.open_turns().await.unwrap();
        assert_eq!((turns.len(), turns[0].1.started_seq), (1, 1));
        assert!(store.snapshot(turns[0].0, 10).await.unwrap().is_some());
        store.close().await;
    }

    #[tokio::test]
    async fn a_log_of_any_earlier_version_keeps_its_events_and_its_end() {
        for version in 1..MIGRATIONS.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("log.db");
            let opened = open(&path, false, &MIGRATIONS[..version]).await.unwrap();
            // One with events, one whose horizon is at its end, and one that is new.
            let ends = if version < 13 { "last_seq, horizon" } else { "model, horizon" };
            for (id, last, horizon) in [(1, 3, 1), (2, 7, 7), (3, 0, 0)] {
                let id = uuid::Uuid::from_u128(id);
                let rest = "'t', '/w', 'demo', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'";
                let sql = format!(
                    "INSERT INTO sessions (id, {ends}, model, title, work_dir, agent, created_at, updated_at) \
                     VALUES ('{id}', {last}, {horizon}, 'm', {rest})"
                );
                opened.conn.execute_batch(&sql).unwrap();
                for seq in horizon + 1..=last {
                    let event = format!("INSERT INTO events (session_id, seq, kind, data) VALUES ('{id}', {seq}, 'notice', '{{}}')");
                    opened.conn.execute_batch(&event).unwrap();
                }
            }
            opened.conn.close().unwrap();
            drop(opened.lock);

            let store = crate::Store::open(&path, false).await.unwrap();
            let file = connect::plain(&path).unwrap();
            let (broken, plan): (i64, String) = file
                .query_row(
                    "SELECT (SELECT COUNT(*) FROM pragma_foreign_key_check), (SELECT sql FROM sqlite_master WHERE name = 'events')",
                    [],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .unwrap();
            assert_eq!(broken, 0, "version {version}");
            assert!(plan.contains("WITHOUT ROWID"), "version {version}: {plan}");
            for (id, last, left) in [(1, 3, 2), (2, 7, 0), (3, 0, 0)] {
                let id = domain::ids::SessionId(uuid::Uuid::from_u128(id));
                assert_eq!(store.session(id).await.unwrap().unwrap().last_seq, last, "version {version}");
                let frames = store.read(move |conn| crate::table::event::frames(conn, id, 0, 10, usize::MAX)).await.unwrap();
                assert_eq!(frames.len(), left, "version {version}");
                store.delete(id).await.unwrap();
            }
            let left: i64 = file.query_row("SELECT COUNT(*) FROM events", [], |row| row.get(0)).unwrap();
            assert_eq!(left, 0, "they go with their session");
            drop(file);
            store.close().await;
        }
    }

    #[tokio::test]
    async fn text_that_an_earlier_version_deleted_without_overwriting_it_is_gone_after_the_migration() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        let opened = open(&path, false, FIRST).await.unwrap();
        let marker = "zq-marker-7f31 ".repeat(2000);
        opened.conn.pragma_update(None, "secure_delete", false).unwrap();
        opened.conn.execute("INSERT INTO meta (key, value) VALUES ('a', ?1)", [marker]).unwrap();
        opened.conn.execute_batch("DELETE FROM meta").unwrap();
        opened.conn.close().unwrap();
        drop(opened.lock);
        let holds = |path: &Path| std::fs::read(path).unwrap().windows(14).any(|part| part == b"zq-marker-7f31");
        assert!(holds(&path));

        let opened = open(&path, false, LATER).await.unwrap();
        opened.conn.close().unwrap();
        assert!(!holds(&path) && !holds(&dir.path().join("log.db.v1.backup")));
    }

    #[tokio::test]
    async fn a_newer_database_is_refused_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        drop(open(&path, false, LATER).await.unwrap());
        let before = version(&path);
        let refused = open(&path, false, FIRST).await.err().unwrap();
        assert!(matches!(refused, OpenError::Newer { found: 2, known: 1 }), "{refused}");
        assert_eq!(version(&path), before);
    }

    #[tokio::test]
    async fn a_migration_that_fails_leaves_the_old_schema() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.db");
        drop(open(&path, false, FIRST).await.unwrap());
        const BROKEN: &[&str] = &[MIGRATIONS[0], "CREATE TABLE fresh (id TEXT); CREATE TABLE sessions (id TEXT)"];
        assert!(open(&path, false, BROKEN).await.is_err());
        assert_eq!(version(&path), 1);
        drop(open(&path, false, LATER).await.unwrap());
        assert_eq!(version(&path), 2);
    }
}
