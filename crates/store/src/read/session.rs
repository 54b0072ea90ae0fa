//! Reading the list of sessions, and the settings.

use domain::ids::SessionId;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::Result;
use crate::column::{Columns, time};
use crate::row::{SessionCursor, SessionRow};

macro_rules! select_sessions {
    ($rest:literal) => {
        concat!(
            "SELECT s.*, ",
            "(SELECT COUNT(*) FROM turns t WHERE t.session_id = s.id AND t.state = 'running') AS running, ",
            "(SELECT COUNT(*) FROM queue q WHERE q.session_id = s.id) AS queue_len, ",
            "(SELECT COUNT(*) FROM permissions p WHERE p.session_id = s.id AND p.resolved_by IS NULL) ",
            "+ (SELECT COUNT(*) FROM confirms c WHERE c.session_id = s.id) AS waiting ",
            "FROM sessions s ",
            $rest
        )
    };
}

pub(crate) async fn one(conn: &mut SqliteConnection, id: SessionId) -> Result<Option<SessionRow>> {
    let row = sqlx::query(select_sessions!("WHERE s.id = $1")).bind(id.to_string()).fetch_optional(conn).await?;
    row.map(|row| session(&row)).transpose()
}

pub(crate) async fn list(conn: &mut SqliteConnection, before: Option<SessionCursor>, limit: u32) -> Result<Vec<SessionRow>> {
    let query = match before {
        Some(cursor) => {
            sqlx::query(select_sessions!("WHERE (s.updated_at, s.id) < ($1, $2) ORDER BY s.updated_at DESC, s.id DESC LIMIT $3"))
                .bind(time(cursor.updated_at))
                .bind(cursor.id.to_string())
                .bind(i64::from(limit))
        }
        None => sqlx::query(select_sessions!("ORDER BY s.updated_at DESC, s.id DESC LIMIT $1")).bind(i64::from(limit)),
    };
    query.fetch_all(conn).await?.iter().map(session).collect()
}

/// The sessions whose log could be dropped: quiet since that time, no turn running, something left to drop.
pub(crate) async fn compactable(conn: &mut SqliteConnection, older_than: Timestamp) -> Result<Vec<SessionId>> {
    let rows = sqlx::query(
        "SELECT id FROM sessions s WHERE updated_at < $1 AND horizon < last_seq \
         AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.state = 'running')",
    )
    .bind(time(older_than))
    .fetch_all(conn)
    .await?;
    rows.iter().map(|row| row.parsed("id")).collect()
}

pub(crate) async fn setting(conn: &mut SqliteConnection, key: &str) -> Result<Option<String>> {
    sqlx::query("SELECT value FROM meta WHERE key = $1").bind(key).fetch_optional(conn).await?.map(|row| row.text("value")).transpose()
}

fn session(row: &SqliteRow) -> Result<SessionRow> {
    let count = |column: &str| row.number(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(SessionRow {
        id: row.parsed("id")?,
        title: row.text("title")?,
        work_dir: row.text("work_dir")?,
        model: row.text("model")?,
        agent: row.text("agent")?,
        permission_policy: row.maybe_parsed("permission_policy")?,
        created_at: row.parsed("created_at")?,
        updated_at: row.parsed("updated_at")?,
        last_seq: row.number("last_seq")?,
        running: row.number("running")? > 0,
        queue_len: count("queue_len")?,
        waiting: count("waiting")?,
    })
}
