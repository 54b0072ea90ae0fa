//! Which changes of files belong to a session: when its agents could write, and what they wrote.

use domain::ids::{SessionId, TurnId};
use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::column::{Columns, word};
use super::{Read, Written, statement};

/// How many reports of other sessions are looked at, from the latest back.
const OF_OTHERS_MAX: i64 = 20_000;

/// When one tool call of an agent could write, in ms since 1970. A call that waited for a person in between has several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowRow {
    pub turn_id: TurnId,
    pub call: String,
    pub since_ms: i64,
    /// None while the call runs.
    pub until_ms: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The agent said so.
    Report,
    /// It changed in a window.
    Window,
}

/// A file that an agent of the session wrote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CreditRow {
    pub turn_id: TurnId,
    /// Relative to the session's work directory.
    pub path: String,
    pub evidence: Evidence,
    /// Of a report: how long the call took. Else when the file changed.
    pub since_ms: i64,
    pub until_ms: i64,
}

pub(super) fn save_window(conn: &Connection, session: &str, window: &WindowRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO windows (session_id, turn_id, call, since_ms, until_ms) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (session_id, call, since_ms) DO UPDATE SET until_ms = excluded.until_ms",
        params![session, window.turn_id.to_string(), window.call.as_str(), window.since_ms, window.until_ms],
    )?;
    Ok(())
}

pub(super) fn remove_windows(conn: &Connection, session: &str, call: &str) -> Written {
    statement::execute(conn, "DELETE FROM windows WHERE session_id = ?1 AND call = ?2", params![session, call])?;
    Ok(())
}

pub(super) fn save(conn: &Connection, session: &str, credit: &CreditRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO credits (session_id, turn_id, path, evidence, since_ms, until_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
         ON CONFLICT (session_id, turn_id, path, evidence, since_ms) DO UPDATE SET until_ms = excluded.until_ms",
        params![session, credit.turn_id.to_string(), credit.path.as_str(), word(&credit.evidence), credit.since_ms, credit.until_ms],
    )?;
    Ok(())
}

pub(crate) fn windows(conn: &Connection, session: SessionId, turn: Option<TurnId>) -> Read<Vec<WindowRow>> {
    statement::all(
        conn,
        "SELECT * FROM windows WHERE session_id = ?1 AND (?2 IS NULL OR turn_id = ?2) ORDER BY since_ms",
        params![session.to_string(), turn.map(|turn| turn.to_string())],
        window,
    )
}

pub(crate) fn open_windows(conn: &Connection, session: SessionId) -> Read<Vec<WindowRow>> {
    let sql = "SELECT * FROM windows WHERE session_id = ?1 AND until_ms IS NULL ORDER BY since_ms";
    statement::all(conn, sql, params![session.to_string()], window)
}

pub(crate) fn all(conn: &Connection, session: SessionId, turn: Option<TurnId>) -> Read<Vec<CreditRow>> {
    statement::all(
        conn,
        "SELECT * FROM credits WHERE session_id = ?1 AND (?2 IS NULL OR turn_id = ?2) ORDER BY path, since_ms",
        params![session.to_string(), turn.map(|turn| turn.to_string())],
        credit,
    )
}

pub(crate) fn of_others(conn: &Connection, session: SessionId, since_ms: i64) -> Read<Vec<CreditRow>> {
    statement::all(
        conn,
        "SELECT c.* FROM credits c JOIN sessions s ON s.id = c.session_id WHERE c.evidence = 'report' AND c.until_ms >= ?2 \
         AND c.session_id <> ?1 AND s.work_dir = (SELECT work_dir FROM sessions WHERE id = ?1) ORDER BY c.until_ms DESC LIMIT ?3",
        params![session.to_string(), since_ms, OF_OTHERS_MAX],
        credit,
    )
}

pub(crate) fn writers_beside(conn: &Connection, session: SessionId, since_ms: i64) -> Read<Vec<(String, SessionId, String)>> {
    statement::all(
        conn,
        "SELECT c.path, s.id, s.title FROM credits c JOIN sessions s ON s.id = c.session_id WHERE c.until_ms >= ?2 \
         AND c.session_id <> ?1 AND s.work_dir = (SELECT work_dir FROM sessions WHERE id = ?1) \
         GROUP BY c.path, s.id, s.title ORDER BY MAX(c.until_ms) DESC LIMIT ?3",
        params![session.to_string(), since_ms, OF_OTHERS_MAX],
        |row| Ok((row.text("path")?, row.parsed("id")?, row.text("title")?)),
    )
}

fn window(row: &Row<'_>) -> Read<WindowRow> {
    let (since_ms, until_ms) = (row.get("since_ms")?, row.get("until_ms")?);
    Ok(WindowRow { turn_id: row.parsed("turn_id")?, call: row.text("call")?, since_ms, until_ms })
}

fn credit(row: &Row<'_>) -> Read<CreditRow> {
    Ok(CreditRow {
        turn_id: row.parsed("turn_id")?,
        path: row.text("path")?,
        evidence: row.word("evidence")?,
        since_ms: row.get("since_ms")?,
        until_ms: row.get("until_ms")?,
    })
}
