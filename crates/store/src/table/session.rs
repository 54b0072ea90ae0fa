//! The sessions themselves: what they are called, where they work, where their log ends.

use domain::event::SessionChange;
use domain::ids::SessionId;
use domain::policy::Policy;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, time};
use super::{Read, Written};
use crate::error::StoreError;
use crate::unreadable::Unreadable;

const TABLE: &str = "sessions";

#[derive(Clone, PartialEq, Debug)]
pub struct NewSession {
    pub title: String,
    pub work_dir: String,
    pub model: String,
    pub agent: String,
    pub permission_policy: Option<Policy>,
    pub created_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: String,
    pub work_dir: String,
    pub model: String,
    pub agent: String,
    pub permission_policy: Option<Policy>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_seq: u64,
    pub running: bool,
    pub queue_len: u32,
    /// How many permissions and confirmations wait for a person.
    pub waiting: u32,
}

/// A place in the list of sessions; the list goes on behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionCursor {
    pub updated_at: Timestamp,
    pub id: SessionId,
}

impl SessionRow {
    pub fn cursor(&self) -> SessionCursor {
        SessionCursor { updated_at: self.updated_at, id: self.id }
    }
}

pub(super) async fn create(conn: &mut SqliteConnection, session: String, new: &NewSession) -> Written {
    let created = sqlx::query(
        "INSERT INTO sessions (id, title, work_dir, model, agent, permission_policy, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (id) DO NOTHING",
    )
    .bind(session)
    .bind(new.title.as_str())
    .bind(new.work_dir.as_str())
    .bind(new.model.as_str())
    .bind(new.agent.as_str())
    .bind(new.permission_policy.map(|policy| policy.as_str()))
    .bind(time(new.created_at))
    .execute(conn)
    .await?;
    if created.rows_affected() == 0 { Err(StoreError::Conflict { what: "the session" }) } else { Ok(()) }
}

pub(super) async fn update(conn: &mut SqliteConnection, session: String, change: &SessionChange, now: Timestamp) -> Written {
    sqlx::query(
        "UPDATE sessions SET title = COALESCE($2, title), model = COALESCE($3, model), agent = COALESCE($4, agent), \
         permission_policy = COALESCE($5, permission_policy), updated_at = $6 WHERE id = $1",
    )
    .bind(session)
    .bind(change.title.as_deref())
    .bind(change.model.as_deref())
    .bind(change.agent.as_deref())
    .bind(change.permission_policy.map(|policy| policy.as_str()))
    .bind(time(now))
    .execute(conn)
    .await?;
    Ok(())
}

/// Everything of the session goes with it.
pub(super) async fn delete(conn: &mut SqliteConnection, session: String) -> Written {
    sqlx::query("DELETE FROM sessions WHERE id = $1").bind(session).execute(conn).await?;
    Ok(())
}

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

pub(crate) async fn one(conn: &mut SqliteConnection, id: SessionId) -> Read<Option<SessionRow>> {
    let row = sqlx::query(select_sessions!("WHERE s.id = $1")).bind(id.to_string()).fetch_optional(conn).await?;
    row.map(|row| session(&row)).transpose()
}

pub(crate) async fn list(conn: &mut SqliteConnection, before: Option<SessionCursor>, limit: u32) -> Read<Vec<SessionRow>> {
    let query = match before {
        Some(cursor) => {
            sqlx::query(select_sessions!("WHERE (s.updated_at, s.id) < ($1, $2) ORDER BY s.updated_at DESC, s.id DESC LIMIT $3"))
                .bind(time(cursor.updated_at))
                .bind(cursor.id.to_string())
                .bind(i64::from(limit))
        }
        None => sqlx::query(select_sessions!("ORDER BY s.updated_at DESC, s.id DESC LIMIT $1")).bind(i64::from(limit)),
    };
    Ok(column::readable(TABLE, &query.fetch_all(conn).await?, session))
}

pub(crate) async fn titled(conn: &mut SqliteConnection, title: &str, limit: u32) -> Read<Vec<SessionRow>> {
    let query = sqlx::query(select_sessions!("WHERE s.title = $1 ORDER BY s.updated_at DESC, s.id DESC LIMIT $2"));
    let rows = query.bind(title).bind(i64::from(limit)).fetch_all(conn).await?;
    Ok(column::readable(TABLE, &rows, session))
}

/// The sessions of whose log something is left.
pub(crate) async fn with_events(conn: &mut SqliteConnection) -> Read<Vec<SessionId>> {
    let rows = sqlx::query("SELECT id FROM sessions WHERE horizon < last_seq").fetch_all(conn).await?;
    rows.iter().map(|row| row.parsed("id")).collect()
}

pub(super) async fn quiet_since(conn: &mut SqliteConnection, id: SessionId, since: Timestamp) -> Read<bool> {
    let row = sqlx::query("SELECT updated_at < $2 AS quiet FROM sessions WHERE id = $1")
        .bind(id.to_string())
        .bind(time(since))
        .fetch_optional(conn)
        .await?;
    row.map_or(Ok(false), |row| row.flag("quiet"))
}

pub(crate) async fn count(conn: &mut SqliteConnection) -> Read<u64> {
    sqlx::query("SELECT COUNT(*) AS count FROM sessions").fetch_one(conn).await?.number("count")
}

/// A policy that cannot be read might have been a strict one, so people are asked.
fn session(row: &SqliteRow) -> Read<SessionRow> {
    let count = |column: &str| row.number(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let policy = row.maybe_parsed("permission_policy").or_else(|error| {
        Unreadable::report(TABLE, &row.text("id")?, &error);
        Ok::<_, sqlx::Error>(Some(Policy::Ask))
    });
    Ok(SessionRow {
        id: row.parsed("id")?,
        title: row.text("title")?,
        work_dir: row.text("work_dir")?,
        model: row.text("model")?,
        agent: row.text("agent")?,
        permission_policy: policy?,
        created_at: row.parsed("created_at")?,
        updated_at: row.parsed("updated_at")?,
        last_seq: row.number("last_seq")?,
        running: row.flag("running")?,
        queue_len: count("queue_len")?,
        waiting: count("waiting")?,
    })
}
