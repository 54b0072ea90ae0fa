//! What agents ask of their client (files, terminals, forms): opened, begun, answered, closed.

use domain::ids::{PermissionId, SessionId};
use serde_json::Value;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{Columns, json};
use super::{Read, Written};

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

pub(super) async fn open(conn: &mut SqliteConnection, session: String, request: &RequestRow) -> Written {
    sqlx::query(
        "INSERT INTO requests (session_id, id, runner_id, rpc_id, call_id, request, begun, answer) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
         ON CONFLICT (session_id, id) DO NOTHING",
    )
    .bind(session)
    .bind(request.id.to_string())
    .bind(request.runner_id.as_str())
    .bind(request.rpc_id.as_str())
    .bind(request.call_id.as_deref())
    .bind(json(&request.request))
    .bind(i64::from(request.begun))
    .bind(request.answer.as_ref().map(json))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn begin(conn: &mut SqliteConnection, session: String, id: PermissionId) -> Written {
    let sql = "UPDATE requests SET begun = 1 WHERE session_id = $1 AND id = $2";
    sqlx::query(sql).bind(session).bind(id.to_string()).execute(conn).await?;
    Ok(())
}

pub(super) async fn answer(conn: &mut SqliteConnection, session: String, id: PermissionId, answer: &Value) -> Written {
    let sql = "UPDATE requests SET answer = $3 WHERE session_id = $1 AND id = $2";
    sqlx::query(sql).bind(session).bind(id.to_string()).bind(json(answer)).execute(conn).await?;
    Ok(())
}

pub(super) async fn close(conn: &mut SqliteConnection, session: String, id: PermissionId) -> Written {
    let sql = "DELETE FROM requests WHERE session_id = $1 AND id = $2";
    sqlx::query(sql).bind(session).bind(id.to_string()).execute(conn).await?;
    Ok(())
}

/// What a runner's agent is still owed.
pub(crate) async fn of_runner(conn: &mut SqliteConnection, session: SessionId, runner: &str) -> Read<Vec<RequestRow>> {
    let rows = sqlx::query("SELECT * FROM requests WHERE session_id = $1 AND runner_id = $2 ORDER BY id")
        .bind(session.to_string())
        .bind(runner)
        .fetch_all(conn)
        .await?;
    rows.iter().map(request).collect()
}

/// An answer that cannot be read was given once, so the effect must not be repeated: the request counts as begun.
fn request(row: &SqliteRow) -> Read<RequestRow> {
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
