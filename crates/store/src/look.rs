//! Looking at a database without opening it for work: nothing is changed, and a server may be running on it.

use std::path::Path;

use domain::ids::SessionId;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::error::OpenError;
use crate::open::{BUSY, MIGRATIONS, beside, examine, in_use};

/// A database that can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// The schema version, and the one that this version of ours knows.
    pub version: usize,
    pub known: usize,
    /// A server holds it.
    pub in_use: bool,
}

/// Without a server and its log, a file that nobody writes: reading it then needs no room beside it.
fn options(path: &Path) -> SqliteConnectOptions {
    let alone = !in_use(path) && !beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0);
    SqliteConnectOptions::new().filename(path).busy_timeout(BUSY).disable_statement_logging().read_only(true).immutable(alone)
}

/// Reads through the whole database, which takes its time where there is much.
pub async fn look(path: &Path) -> Result<Look, OpenError> {
    let failed = |error| OpenError::database(path, error);
    let version = examine(path, &options(path), MIGRATIONS.len()).await?;
    let mut conn = options(path).connect().await.map_err(failed)?;
    let verdict: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut conn).await.map_err(failed)?;
    conn.close().await.map_err(failed)?;
    if verdict != "ok" {
        return Err(OpenError::Damaged { path: path.to_owned(), source: verdict.into() });
    }
    Ok(Look { version, known: MIGRATIONS.len(), in_use: in_use(path) })
}

/// The agents' own ids of a session's agent sessions, each with its agent.
pub async fn agent_sessions_of(path: &Path, session: SessionId) -> Result<Vec<(String, String)>, OpenError> {
    let failed = |error| OpenError::database(path, error);
    examine(path, &options(path), MIGRATIONS.len()).await?;
    let mut conn: SqliteConnection = options(path).connect().await.map_err(failed)?;
    let rows = sqlx::query_as("SELECT agent, acp_session_id FROM acp_sessions WHERE session_id = $1 ORDER BY created_at, name")
        .bind(session.to_string())
        .fetch_all(&mut conn)
        .await
        .map_err(failed)?;
    conn.close().await.map_err(failed)?;
    Ok(rows)
}
