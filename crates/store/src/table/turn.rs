//! The turns: which run, and how the others ended.

use domain::event::{Ending, Turn, TurnState};
use domain::ids::{MessageId, SessionId, TurnId};
use jiff::Timestamp;
use rusqlite::{Connection, Row, params};

use super::column::{self, Columns, number, time, word};
use super::{Read, Written, statement};

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
    /// It came with a backup and is not to be continued: a running turn that has a reason.
    pub abandoned: bool,
}

pub(super) fn save(conn: &Connection, session: &str, turn: &TurnRow, first_seq: u64) -> Written {
    statement::execute(
        conn,
        "INSERT INTO turns (session_id, id, state, reason, user_message_id, started_seq, started_at, ended_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (session_id, id) DO UPDATE SET state = excluded.state, reason = excluded.reason, \
         user_message_id = COALESCE(excluded.user_message_id, turns.user_message_id), ended_at = excluded.ended_at",
        params![
            session,
            turn.id.to_string(),
            word(&turn.state),
            turn.reason.as_deref(),
            turn.user_message_id.map(|id| id.to_string()),
            number(first_seq),
            time(turn.started_at),
            turn.ended_at.map(time)
        ],
    )?;
    Ok(())
}

pub(super) fn end(conn: &Connection, session: &str, id: TurnId, ending: Ending) -> Written {
    let sql = "UPDATE turns SET ending = ?3 WHERE session_id = ?1 AND id = ?2";
    statement::execute(conn, sql, params![session, id.to_string(), word(&ending)])?;
    Ok(())
}

pub(super) fn wait(conn: &Connection, session: &str, id: TurnId, waited_ms: u64, since_ms: Option<i64>) -> Written {
    let sql = "UPDATE turns SET waited_ms = ?3, waiting_since_ms = ?4 WHERE session_id = ?1 AND id = ?2";
    statement::execute(conn, sql, params![session, id.to_string(), number(waited_ms), since_ms])?;
    Ok(())
}

/// A word of a later version counts as none.
pub(super) fn ending(row: &Row<'_>, state: TurnState) -> Read<Option<Ending>> {
    let known = row.maybe("ending")?.and_then(|_| row.word("ending").ok());
    Ok(known.or_else(|| Ending::of_turn(state)))
}

pub(crate) fn running(conn: &Connection, session: SessionId) -> Read<Option<RunningTurn>> {
    statement::one(
        conn,
        "SELECT * FROM turns INDEXED BY turns_running WHERE session_id = ?1 AND state = 'running' ORDER BY started_seq DESC LIMIT 1",
        params![session.to_string()],
        |row| {
            let abandoned = row.maybe("reason")?.is_some();
            Ok(RunningTurn { turn_id: row.parsed("id")?, started_seq: row.number("started_seq")?, abandoned })
        },
    )
}

pub(crate) fn one(conn: &Connection, session: SessionId, id: TurnId) -> Read<Option<TurnRow>> {
    statement::one(conn, "SELECT * FROM turns WHERE session_id = ?1 AND id = ?2", params![session.to_string(), id.to_string()], turn)
}

pub(crate) fn latest(conn: &Connection, session: SessionId) -> Read<Option<TurnRow>> {
    statement::one(conn, "SELECT * FROM turns WHERE session_id = ?1 ORDER BY started_seq DESC LIMIT 1", params![session.to_string()], turn)
}

/// The first event that a running turn needs.
pub(super) fn first_running(conn: &Connection, session: SessionId) -> Read<Option<u64>> {
    statement::one(
        conn,
        "SELECT started_seq FROM turns INDEXED BY turns_running WHERE session_id = ?1 AND state = 'running' ORDER BY started_seq LIMIT 1",
        params![session.to_string()],
        |row| row.number("started_seq"),
    )
}

/// The latest turn that began at or before that place.
pub(super) fn last_begun(conn: &Connection, session: SessionId, place: u64) -> Read<Option<TurnId>> {
    statement::one(
        conn,
        "SELECT id FROM turns WHERE session_id = ?1 AND started_seq <= ?2 ORDER BY started_seq DESC LIMIT 1",
        params![session.to_string(), number(place)],
        |row| row.parsed("id"),
    )
}

/// Where the next turn behind that place begins.
pub(super) fn first_begun_after(conn: &Connection, session: SessionId, place: u64) -> Read<Option<u64>> {
    statement::one(
        conn,
        "SELECT started_seq FROM turns WHERE session_id = ?1 AND started_seq > ?2 ORDER BY started_seq LIMIT 1",
        params![session.to_string(), number(place)],
        |row| row.number("started_seq"),
    )
}

/// Where the latest turn began that was over before that time.
pub(super) fn last_ended_before(conn: &Connection, session: SessionId, before: Timestamp) -> Read<Option<u64>> {
    statement::one(
        conn,
        "SELECT started_seq FROM turns WHERE session_id = ?1 AND state <> 'running' AND COALESCE(ended_at, started_at) < ?2 \
         ORDER BY started_seq DESC LIMIT 1",
        params![session.to_string(), time(before)],
        |row| row.number("started_seq"),
    )
}

/// Of all sessions.
pub(crate) fn all_running(conn: &Connection) -> Read<Vec<(SessionId, TurnRow)>> {
    statement::all(conn, "SELECT * FROM turns WHERE state = 'running' ORDER BY session_id, started_seq", [], |row| {
        Ok((row.parsed("session_id")?, turn(row)?))
    })
}

/// Where the turn began.
pub(crate) fn place(conn: &Connection, session: SessionId, id: TurnId) -> Read<Option<u64>> {
    let sql = "SELECT started_seq FROM turns WHERE session_id = ?1 AND id = ?2";
    statement::one(conn, sql, params![session.to_string(), id.to_string()], |row| row.number("started_seq"))
}

/// How turns ended that did not complete, of those that began at that place or behind it.
pub(crate) fn ended(conn: &Connection, session: SessionId, from: u64) -> Read<Vec<Turn>> {
    let sql = "SELECT * FROM turns WHERE session_id = ?1 AND started_seq >= ?2 AND state NOT IN ('running', 'completed') \
               ORDER BY started_seq";
    let read = |row: &Row<'_>| {
        let state = row.word("state")?;
        let told = Turn::new(row.parsed("id")?, state, row.maybe("reason")?);
        Ok(Turn { ending: ending(row, state)?, waited_ms: row.number("waited_ms")?, ..told })
    };
    column::readable("turns", conn, sql, params![session.to_string(), number(from)], read)
}

fn turn(row: &Row<'_>) -> Read<TurnRow> {
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
