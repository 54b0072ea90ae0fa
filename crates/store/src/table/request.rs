//! What agents ask of their client (files, terminals, forms): opened, begun, answered, closed.

use domain::ids::{PermissionId, SessionId};
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use super::column::{Columns, json};
use super::{Read, Written, statement};

const TABLE: &str = "requests";

#[derive(Clone, PartialEq, Debug)]
pub struct RequestRow {
    pub id: PermissionId,
    pub runner_id: String,
    /// The id of the agent's own request, by which it is answered.
    pub rpc_id: String,
    /// The delegated call it was made in.
    pub call_id: Option<String>,
    /// Null where it can no longer be read.
    pub request: Value,
    pub begun: bool,
    pub answer: Option<Value>,
}

pub(super) fn open(conn: &Connection, session: &str, request: &RequestRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO requests (session_id, id, runner_id, rpc_id, call_id, request, begun, answer) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (session_id, id) DO NOTHING",
        params![
            session,
            request.id.to_string(),
            request.runner_id.as_str(),
            request.rpc_id.as_str(),
            request.call_id.as_deref(),
            json(&request.request),
            i64::from(request.begun),
            request.answer.as_ref().map(json)
        ],
    )?;
    Ok(())
}

pub(super) fn begin(conn: &Connection, session: &str, id: PermissionId) -> Written {
    let sql = "UPDATE requests SET begun = 1 WHERE session_id = ?1 AND id = ?2";
    statement::execute(conn, sql, params![session, id.to_string()])?;
    Ok(())
}

pub(super) fn answer(conn: &Connection, session: &str, id: PermissionId, answer: &Value) -> Written {
    let sql = "UPDATE requests SET answer = ?3 WHERE session_id = ?1 AND id = ?2";
    statement::execute(conn, sql, params![session, id.to_string(), json(answer)])?;
    Ok(())
}

pub(super) fn close(conn: &Connection, session: &str, id: PermissionId) -> Written {
    let sql = "DELETE FROM requests WHERE session_id = ?1 AND id = ?2";
    statement::execute(conn, sql, params![session, id.to_string()])?;
    Ok(())
}

/// What a runner's agent is still owed.
pub(crate) fn of_runner(conn: &Connection, session: SessionId, runner: &str) -> Read<Vec<RequestRow>> {
    statement::all(
        conn,
        "SELECT * FROM requests WHERE session_id = ?1 AND runner_id = ?2 ORDER BY id",
        params![session.to_string(), runner],
        request,
    )
}

/// An answer that cannot be read was given once, so the effect must not be repeated: the request counts as begun.
fn request(row: &Row<'_>) -> Read<RequestRow> {
    let key = row.text("id")?;
    let answer = row.json(TABLE, &key, "answer");
    Ok(RequestRow {
        id: row.parsed("id")?,
        runner_id: row.text("runner_id")?,
        rpc_id: row.text("rpc_id")?,
        call_id: row.maybe("call_id")?,
        request: row.json(TABLE, &key, "request").ok().flatten().unwrap_or(Value::Null),
        begun: row.flag("begun")? || answer.is_err(),
        answer: answer.ok().flatten(),
    })
}
