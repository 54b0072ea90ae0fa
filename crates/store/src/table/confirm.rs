//! The tool calls that wait for a person's confirmation.

use domain::event::ToolCall;
use domain::ids::SessionId;
use rusqlite::{Connection, Row, params};

use super::column::{Columns, json, number};
use super::{Read, Written, statement};

const TABLE: &str = "confirms";

pub(super) fn open(conn: &Connection, session: &str, call: &ToolCall, first_seq: u64) -> Written {
    statement::execute(
        conn,
        "INSERT INTO confirms (session_id, tool_call_id, call, opened_seq) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (session_id, tool_call_id) DO UPDATE SET call = excluded.call, opened_seq = excluded.opened_seq",
        params![session, call.id.as_str(), json(call), number(first_seq)],
    )?;
    Ok(())
}

pub(super) fn resolve(conn: &Connection, session: &str, tool_call_id: &str) -> Written {
    let sql = "DELETE FROM confirms WHERE session_id = ?1 AND tool_call_id = ?2";
    statement::execute(conn, sql, params![session, tool_call_id])?;
    Ok(())
}

pub(crate) fn all(conn: &Connection, session: SessionId) -> Read<Vec<ToolCall>> {
    statement::all(
        conn,
        "SELECT tool_call_id, call FROM confirms WHERE session_id = ?1 ORDER BY opened_seq, tool_call_id",
        params![session.to_string()],
        call,
    )
}

/// A call that cannot be read can still be refused.
fn call(row: &Row<'_>) -> Read<ToolCall> {
    let id = row.text("tool_call_id")?;
    let call = row.json(TABLE, &id, "call").ok().flatten();
    Ok(call.unwrap_or_else(|| ToolCall { id, name: "unreadable".into(), arguments: "{}".into() }))
}
