//! A backup that is brought back, after somebody has changed it.
//!
//! An input is a recipe, one step a line, applied to a good backup:
//!
//! ```text
//! sql INSERT INTO …      runs the statement in it
//! write 1000 ff00        puts these bytes at this place
//! flip 8000              flips this bit
//! cut 4096               cuts it to so many bytes
//! append 00ff            adds bytes to its end
//! copy 4096 8192 100     copies so many bytes within it
//! ```

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use domain::ids::SessionId;
use jiff::Timestamp;
use rusqlite::Connection;
use store::{NewSession, Restore, Row, Store, Write};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::recipe::hexadecimal;
use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;
use crate::scratch;

pub(super) const TARGET: Target = Target {
    name: "backup",
    about: "a backup that somebody has changed, brought back",
    run,
    generate,
    max_bytes: 4 * 1024,
    // The file itself and SQLite's caches, which are not of the input's making.
    memory: Memory { base: 64 << 20, ..Memory::USUAL },
};

const LANGUAGE: Language = Language {
    words: &[
        "sql INSERT INTO devices SELECT * FROM devices;\n",
        "sql CREATE TRIGGER t AFTER UPDATE ON runners BEGIN DELETE FROM sessions; END;\n",
        "sql CREATE VIEW v AS SELECT 1;\n",
        "sql CREATE TABLE extra (x);\n",
        "sql CREATE INDEX i ON sessions (id);\n",
        "sql DROP TABLE devices;\n",
        "sql ALTER TABLE devices RENAME TO d;\n",
        "sql PRAGMA user_version = 0;\n",
        "sql PRAGMA user_version = 1000;\n",
        "sql PRAGMA application_id = 1;\n",
        "sql PRAGMA writable_schema = ON;\n",
        "sql UPDATE sqlite_master SET sql = 'CREATE TABLE x(y)' WHERE name = 'links';\n",
        "sql DELETE FROM sessions;\n",
        "sql UPDATE sessions SET id = x'00';\n",
        "sql VACUUM;\n",
        "write 18 0202\n",
        "write 16 0200\n",
        "write 0 00\n",
        "write 100 0d\n",
        "flip 800\n",
        "cut 4096\n",
        "append 00\n",
        "copy 4096 8192 4096\n",
    ],
    lines: true,
    json: false,
    text: true,
};

/// What lets somebody in, and what runs by itself.
const ACCESS_TABLES: [&str; 3] = ["devices", "links", "push"];

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"));
static DIR: LazyLock<PathBuf> = LazyLock::new(|| scratch::dir("backup"));
/// A backup of a store with one session.
static BACKUP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    RUNTIME.block_on(async {
        let dir = scratch::dir("backup-source");
        let (database, target) = (dir.join("voxpilot.db"), dir.join("backup"));
        let store = Store::open(&database, false).await.expect("a new database");
        store.commit(new_session()).await.expect("a new session");
        store::back_up(&database, &target).await.expect("a backup");
        store.close().await;
        std::fs::read(&target).expect("the backup is there")
    })
});

fn new_session() -> Write {
    let row = NewSession {
        title: "Some work".to_owned(),
        work_dir: "/work".to_owned(),
        model: "relay".to_owned(),
        agent: "demo".to_owned(),
        permission_policy: None,
        created_at: Timestamp::UNIX_EPOCH,
    };
    Write { session: SessionId(Uuid::from_u128(1)), events: Vec::new(), rows: vec![Row::CreateSession(row)] }
}

fn run(input: &[u8], features: &mut Features) {
    let dir = DIR.as_path();
    let source = dir.join("source");
    for left in dir.read_dir().expect("our own directory").flatten() {
        let _removed = std::fs::remove_file(left.path());
    }
    std::fs::write(&source, BACKUP.as_slice()).expect("writing the backup");
    for line in String::from_utf8_lossy(input).lines() {
        apply(line, &source);
    }
    let database = dir.join("voxpilot.db");
    let outcome = RUNTIME.block_on(restore(&database, &source));
    match outcome {
        Ok(()) => {
            features.note("restored");
            hold(&database);
        }
        Err(refusal) => features.note(refusal.split([':', '/']).next().map(str::to_owned)),
    }
}

fn apply(line: &str, path: &Path) {
    let (step, rest) = line.split_once(' ').unwrap_or((line, ""));
    if step == "sql" {
        // What SQLite refuses is no change.
        let _refused = Connection::open(path).and_then(|conn| conn.execute_batch(rest));
        let _none = std::fs::remove_file(path.with_extension("-journal"));
        return;
    }
    let mut bytes = std::fs::read(path).unwrap_or_default();
    let mut words = rest.split(' ');
    let mut number = || words.next().and_then(|word| word.parse::<usize>().ok()).unwrap_or_default();
    match step {
        "write" => {
            let at = number().min(bytes.len());
            let new = hexadecimal(words.next().unwrap_or_default().as_bytes());
            let end = (at + new.len()).min(bytes.len());
            bytes.splice(at..end, new);
        }
        "flip" => {
            let bit = number();
            if let Some(byte) = bytes.get_mut(bit / 8) {
                *byte ^= 1 << (bit % 8);
            }
        }
        "cut" => bytes.truncate(number()),
        "append" => bytes.extend(hexadecimal(rest.as_bytes())),
        "copy" => {
            let (from, to, length) = (number().min(bytes.len()), number().min(bytes.len()), number());
            let end = from.saturating_add(length).min(bytes.len()).min(from + (bytes.len() - to));
            bytes.copy_within(from..end, to);
        }
        _ => return,
    }
    std::fs::write(path, bytes).expect("writing the backup");
}

/// Brings it back and starts a store on it, as the next server would.
async fn restore(database: &Path, source: &Path) -> Result<(), String> {
    let restore = Restore::prepare(database, source).await.map_err(|error| error.to_string())?;
    restore.replace().await.map_err(|error| error.to_string())?;
    restore.finish().map_err(|error| error.to_string())?;
    let store = Store::open(database, false).await.map_err(|error| format!("restored, but not usable: {error}"))?;
    let _sessions = store.sessions(None, 100).await;
    store.close().await;
    Ok(())
}

/// Whatever was in the backup, nobody is let in by it and nothing runs by itself.
fn hold(database: &Path) {
    let conn = Connection::open(database).expect("a database that a store has just closed");
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    for table in ACCESS_TABLES {
        let rows = count(&format!("SELECT COUNT(*) FROM {table}"));
        assert!(rows.as_ref().is_ok_and(|rows| *rows == 0), "after a restore the table {table} has {rows:?} rows");
    }
    let active = count("SELECT COUNT(*) FROM sqlite_master WHERE type IN ('trigger', 'view')");
    assert!(active.as_ref().is_ok_and(|active| *active == 0), "after a restore there are {active:?} triggers and views");
}
