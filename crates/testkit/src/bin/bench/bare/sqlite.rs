//! SQLite alone, in this process: the same rows, with nothing around them.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use tempfile::TempDir;

/// Long enough that checkpoints are in it.
const MEASURED: Duration = Duration::from_millis(700);

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE events (session_id TEXT NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, data TEXT NOT NULL,
        PRIMARY KEY (session_id, seq));
    CREATE TABLE runners (id TEXT NOT NULL PRIMARY KEY, cursor BIGINT NOT NULL);
    CREATE TABLE messages (session_id TEXT NOT NULL, position BIGINT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (session_id, position));
";

/// Commits a second, each of `group` pairs of an event of `bytes` and the cursor of its runner.
pub(crate) fn commits_per_second(group: usize, bytes: usize) -> anyhow::Result<f64> {
    let dir = TempDir::new()?;
    let mut database = open(dir.path())?;
    for runner in 0..group {
        database.execute("INSERT INTO runners VALUES (?1, 0)", [runner.to_string()])?;
    }
    let data = "x".repeat(bytes);
    let (mut seq, mut commits) = (0_i64, 0_u32);
    let begun = Instant::now();
    while begun.elapsed() < MEASURED {
        let transaction = database.transaction()?;
        for runner in 0..group {
            seq += 1;
            let mut insert = transaction.prepare_cached("INSERT INTO events VALUES ('session', ?1, 'copilot-delta', ?2)")?;
            insert.execute(params![seq, data])?;
            let mut advance = transaction.prepare_cached("UPDATE runners SET cursor = ?1 WHERE id = ?2")?;
            advance.execute(params![seq, runner.to_string()])?;
        }
        transaction.commit()?;
        commits += 1;
    }
    Ok(f64::from(commits) / begun.elapsed().as_secs_f64())
}

/// How long it takes to read the last `read` messages of a conversation of so many, in milliseconds.
pub(crate) fn read_messages_ms(messages: u64, bytes: usize, read: u64, times: usize) -> anyhow::Result<Vec<f64>> {
    let dir = TempDir::new()?;
    let mut database = open(dir.path())?;
    let content = "x".repeat(bytes);
    let transaction = database.transaction()?;
    for position in 0..i64::try_from(messages)? {
        let mut insert = transaction.prepare_cached("INSERT INTO messages VALUES ('session', ?1, ?2)")?;
        insert.execute(params![position, content])?;
    }
    transaction.commit()?;
    let mut took_ms = Vec::new();
    for _ in 0..times {
        let begun = Instant::now();
        let mut select =
            database.prepare_cached("SELECT content FROM messages WHERE session_id = 'session' ORDER BY position DESC LIMIT ?1")?;
        let contents = select.query_map([i64::try_from(read)?], |row| row.get::<_, String>(0))?;
        let bytes: usize = contents.map(|content| content.map(|content| content.len())).sum::<Result<_, _>>()?;
        std::hint::black_box(bytes);
        took_ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(took_ms)
}

fn open(dir: &Path) -> anyhow::Result<Connection> {
    let database = Connection::open(dir.join("bare.db"))?;
    database.execute_batch(SCHEMA)?;
    Ok(database)
}
