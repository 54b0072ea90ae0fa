//! The runner processes and how far their journals have become events. A session may have several at once, one for each agent
//! that works in it.

use domain::ids::SessionId;
use serde_json::Value;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{Columns, json, number};
use super::{Read, Written};
use crate::error::StoreError;

const TABLE: &str = "runners";

#[derive(Clone, PartialEq, Debug)]
pub struct RunnerRow {
    pub id: String,
    /// The session that it belongs to; on writing, that of the write counts.
    pub session: SessionId,
    pub agent: String,
    pub dir: String,
    /// How much of the runner's journal has become events.
    pub cursor: u64,
    /// What the agent said it can do; nothing until it has.
    pub capabilities: Option<Value>,
    /// It was told to end: the next server clears it away.
    pub ending: bool,
}

pub(super) async fn save(conn: &mut SqliteConnection, session: String, runner: &RunnerRow) -> Written {
    sqlx::query(
        "INSERT INTO runners (id, session_id, agent, dir, cursor, capabilities, ending) VALUES ($1, $2, $3, $4, $5, $6, $7) \
         ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, dir = excluded.dir, cursor = excluded.cursor, \
         capabilities = excluded.capabilities, ending = excluded.ending",
    )
    .bind(runner.id.as_str())
    .bind(session)
    .bind(runner.agent.as_str())
    .bind(runner.dir.as_str())
    .bind(number(runner.cursor))
    .bind(runner.capabilities.as_ref().map(json))
    .bind(i64::from(runner.ending))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn move_cursor(conn: &mut SqliteConnection, session: String, id: &str, cursor: u64) -> Written {
    let moved = sqlx::query("UPDATE runners SET cursor = $3 WHERE session_id = $1 AND id = $2")
        .bind(session)
        .bind(id)
        .bind(number(cursor))
        .execute(conn)
        .await?;
    if moved.rows_affected() == 0 { Err(StoreError::Gone { what: "the runner" }) } else { Ok(()) }
}

pub(super) async fn learn(conn: &mut SqliteConnection, session: String, id: &str, capabilities: Option<&Value>) -> Written {
    sqlx::query("UPDATE runners SET capabilities = $3 WHERE session_id = $1 AND id = $2")
        .bind(session)
        .bind(id)
        .bind(capabilities.map(json))
        .execute(conn)
        .await?;
    Ok(())
}

pub(super) async fn end(conn: &mut SqliteConnection, session: String, id: &str) -> Written {
    sqlx::query("UPDATE runners SET ending = 1 WHERE session_id = $1 AND id = $2").bind(session).bind(id).execute(conn).await?;
    Ok(())
}

/// With what its agent is still owed.
pub(super) async fn remove(conn: &mut SqliteConnection, session: String, id: &str) -> Written {
    for sql in ["DELETE FROM requests WHERE session_id = $1 AND runner_id = $2", "DELETE FROM runners WHERE session_id = $1 AND id = $2"] {
        sqlx::query(sql).bind(session.as_str()).bind(id).execute(&mut *conn).await?;
    }
    Ok(())
}

pub(crate) async fn all(conn: &mut SqliteConnection) -> Read<Vec<RunnerRow>> {
    sqlx::query("SELECT * FROM runners ORDER BY id").fetch_all(conn).await?.iter().map(runner).collect()
}

pub(crate) async fn of_session(conn: &mut SqliteConnection, session: SessionId) -> Read<Vec<RunnerRow>> {
    let rows = sqlx::query("SELECT * FROM runners WHERE session_id = $1 ORDER BY id").bind(session.to_string()).fetch_all(conn).await?;
    rows.iter().map(runner).collect()
}

/// Capabilities that cannot be read are asked for again.
fn runner(row: &SqliteRow) -> Read<RunnerRow> {
    let id = row.text("id")?;
    Ok(RunnerRow {
        capabilities: row.json(TABLE, &id, "capabilities").ok().flatten(),
        id,
        session: row.parsed("session_id")?,
        agent: row.text("agent")?,
        dir: row.text("dir")?,
        cursor: row.number("cursor")?,
        ending: row.flag("ending")?,
    })
}
