//! The runner processes and how far their journals have become events. A session may have several at once, one for each agent
//! that works in it.

use domain::ids::SessionId;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, params, params_from_iter};
use serde_json::Value;

use super::column::{Columns, json, number};
use super::sizes::Sizes;
use super::{Read, Written, statement};
use crate::error::StoreError;

const TABLE: &str = "runners";
static MOVES: Sizes = Sizes::new(
    "UPDATE runners SET cursor = CAST(moved.column3 AS BIGINT) FROM (VALUES ",
    "(?, ?, ?)",
    ") AS moved WHERE runners.session_id = moved.column1 AND runners.id = moved.column2",
);

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

pub(super) fn save(conn: &Connection, session: &str, runner: &RunnerRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO runners (id, session_id, agent, dir, cursor, capabilities, ending) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, dir = excluded.dir, cursor = excluded.cursor, \
         capabilities = excluded.capabilities, ending = excluded.ending",
        params![
            runner.id.as_str(),
            session,
            runner.agent.as_str(),
            runner.dir.as_str(),
            number(runner.cursor),
            runner.capabilities.as_ref().map(json),
            i64::from(runner.ending)
        ],
    )?;
    Ok(())
}

/// Where a runner's journal has come to.
#[derive(Clone, Copy)]
pub(crate) struct Moved<'a> {
    pub(crate) session: &'a str,
    pub(crate) runner: &'a str,
    pub(crate) cursor: u64,
}

impl<'a> Moved<'a> {
    fn columns(&self) -> [ToSqlOutput<'a>; 3] {
        [self.session.into(), self.runner.into(), ValueRef::Integer(number(self.cursor))].map(ToSqlOutput::Borrowed)
    }
}

/// Moves the cursors of different runners.
pub(crate) fn move_cursors(conn: &Connection, moved: &[Moved<'_>]) -> Written {
    MOVES.run(conn, moved.len(), |conn, sql, rows| {
        let found = statement::execute(conn, sql, params_from_iter(moved[rows.clone()].iter().flat_map(Moved::columns)))?;
        if found == rows.len() { Ok(()) } else { Err(StoreError::Gone { what: "the runner" }) }
    })
}

pub(super) fn learn(conn: &Connection, session: &str, id: &str, capabilities: Option<&Value>) -> Written {
    statement::execute(
        conn,
        "UPDATE runners SET capabilities = ?3 WHERE session_id = ?1 AND id = ?2",
        params![session, id, capabilities.map(json)],
    )?;
    Ok(())
}

pub(super) fn end(conn: &Connection, session: &str, id: &str) -> Written {
    statement::execute(conn, "UPDATE runners SET ending = 1 WHERE session_id = ?1 AND id = ?2", params![session, id])?;
    Ok(())
}

/// With what its agent is still owed, and what it was answered.
pub(super) fn remove(conn: &Connection, session: &str, id: &str) -> Written {
    for sql in [
        "DELETE FROM requests WHERE session_id = ?1 AND runner_id = ?2",
        "DELETE FROM permissions WHERE session_id = ?1 AND runner_id = ?2 AND resolved_by IS NOT NULL",
        "DELETE FROM runners WHERE session_id = ?1 AND id = ?2",
    ] {
        statement::execute(conn, sql, params![session, id])?;
    }
    Ok(())
}

pub(crate) fn all(conn: &Connection) -> Read<Vec<RunnerRow>> {
    statement::all(conn, "SELECT * FROM runners ORDER BY id", [], runner)
}

pub(crate) fn of_session(conn: &Connection, session: SessionId) -> Read<Vec<RunnerRow>> {
    statement::all(conn, "SELECT * FROM runners WHERE session_id = ?1 ORDER BY id", params![session.to_string()], runner)
}

/// Capabilities that cannot be read are asked for again.
fn runner(row: &Row<'_>) -> Read<RunnerRow> {
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
