//! The turns: which run, and how the others ended.

use domain::event::{Turn, TurnState};
use domain::ids::{MessageId, SessionId, TurnId};
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{self, Columns, number, time, word};
use super::{Read, Written};

#[derive(Clone, PartialEq, Debug)]
pub struct TurnRow {
    pub id: TurnId,
    pub state: TurnState,
    pub reason: Option<String>,
    pub user_message_id: Option<MessageId>,
    /// The first event of the write that started the turn.
    pub started_seq: u64,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunningTurn {
    pub turn_id: TurnId,
    pub started_seq: u64,
}

pub(super) async fn save(conn: &mut SqliteConnection, session: String, turn: &TurnRow, first_seq: u64) -> Written {
    sqlx::query(
        "INSERT INTO turns (session_id, id, state, reason, user_message_id, started_seq, started_at, ended_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (session_id, id) DO UPDATE SET state = excluded.state, reason = excluded.reason, \
         user_message_id = COALESCE(excluded.user_message_id, turns.user_message_id), ended_at = excluded.ended_at",
    )
    .bind(session)
    .bind(turn.id.to_string())
    .bind(word(&turn.state))
    .bind(turn.reason.as_deref())
    .bind(turn.user_message_id.map(|id| id.to_string()))
    .bind(number(first_seq))
    .bind(time(turn.started_at))
    .bind(turn.ended_at.map(time))
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) async fn running(conn: &mut SqliteConnection, session: SessionId) -> Read<Option<RunningTurn>> {
    let row = sqlx::query("SELECT * FROM turns WHERE session_id = $1 AND state = 'running' ORDER BY started_seq DESC LIMIT 1")
        .bind(session.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| Ok(RunningTurn { turn_id: row.parsed("id")?, started_seq: row.number("started_seq")? })).transpose()
}

pub(crate) async fn one(conn: &mut SqliteConnection, session: SessionId, id: TurnId) -> Read<Option<TurnRow>> {
    let row = sqlx::query("SELECT * FROM turns WHERE session_id = $1 AND id = $2")
        .bind(session.to_string())
        .bind(id.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| turn(&row)).transpose()
}

pub(crate) async fn latest(conn: &mut SqliteConnection, session: SessionId) -> Read<Option<TurnRow>> {
    let row = sqlx::query("SELECT * FROM turns WHERE session_id = $1 ORDER BY started_seq DESC LIMIT 1")
        .bind(session.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| turn(&row)).transpose()
}

/// The first event that a running turn needs.
pub(super) async fn first_running(conn: &mut SqliteConnection, session: SessionId) -> Read<Option<u64>> {
    let row = sqlx::query("SELECT started_seq FROM turns WHERE session_id = $1 AND state = 'running' ORDER BY started_seq LIMIT 1")
        .bind(session.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| row.number("started_seq")).transpose()
}

/// The latest turn that began at or before that place.
pub(super) async fn last_begun(conn: &mut SqliteConnection, session: SessionId, place: u64) -> Read<Option<TurnId>> {
    let row = sqlx::query("SELECT id FROM turns WHERE session_id = $1 AND started_seq <= $2 ORDER BY started_seq DESC LIMIT 1")
        .bind(session.to_string())
        .bind(number(place))
        .fetch_optional(conn)
        .await?;
    row.map(|row| row.parsed("id")).transpose()
}

/// Where the next turn behind that place begins.
pub(super) async fn first_begun_after(conn: &mut SqliteConnection, session: SessionId, place: u64) -> Read<Option<u64>> {
    let row = sqlx::query("SELECT started_seq FROM turns WHERE session_id = $1 AND started_seq > $2 ORDER BY started_seq LIMIT 1")
        .bind(session.to_string())
        .bind(number(place))
        .fetch_optional(conn)
        .await?;
    row.map(|row| row.number("started_seq")).transpose()
}

/// Where the latest turn began that was over before that time.
pub(super) async fn last_ended_before(conn: &mut SqliteConnection, session: SessionId, before: Timestamp) -> Read<Option<u64>> {
    let row = sqlx::query(
        "SELECT started_seq FROM turns WHERE session_id = $1 AND state <> 'running' AND COALESCE(ended_at, started_at) < $2 \
         ORDER BY started_seq DESC LIMIT 1",
    )
    .bind(session.to_string())
    .bind(time(before))
    .fetch_optional(conn)
    .await?;
    row.map(|row| row.number("started_seq")).transpose()
}

/// Of all sessions.
pub(crate) async fn all_running(conn: &mut SqliteConnection) -> Read<Vec<(SessionId, TurnRow)>> {
    let rows = sqlx::query("SELECT * FROM turns WHERE state = 'running' ORDER BY session_id, started_seq").fetch_all(conn).await?;
    rows.iter().map(|row| Ok((row.parsed("session_id")?, turn(row)?))).collect()
}

/// How turns ended that did not complete.
pub(crate) async fn ended(conn: &mut SqliteConnection, session: SessionId) -> Read<Vec<Turn>> {
    let rows = sqlx::query("SELECT * FROM turns WHERE session_id = $1 AND state NOT IN ('running', 'completed') ORDER BY started_seq")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    let read = |row: &SqliteRow| Ok(Turn { turn_id: row.parsed("id")?, state: row.word("state")?, reason: row.maybe("reason")? });
    Ok(column::readable("turns", &rows, read))
}

fn turn(row: &SqliteRow) -> Read<TurnRow> {
    Ok(TurnRow {
        id: row.parsed("id")?,
        state: row.word("state")?,
        reason: row.maybe("reason")?,
        user_message_id: row.maybe_parsed("user_message_id")?,
        started_seq: row.number("started_seq")?,
        started_at: row.parsed("started_at")?,
        ended_at: row.maybe_parsed("ended_at")?,
    })
}
