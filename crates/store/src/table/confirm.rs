//! The tool calls that wait for a person's confirmation.

use domain::event::ToolCall;
use domain::ids::SessionId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{Columns, json, number};
use super::{Read, Written};

const TABLE: &str = "confirms";

pub(super) async fn open(conn: &mut SqliteConnection, session: String, call: &ToolCall, first_seq: u64) -> Written {
    sqlx::query(
        "INSERT INTO confirms (session_id, tool_call_id, call, opened_seq) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (session_id, tool_call_id) DO UPDATE SET call = excluded.call, opened_seq = excluded.opened_seq",
    )
    .bind(session)
    .bind(call.id.as_str())
    .bind(json(call))
    .bind(number(first_seq))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn resolve(conn: &mut SqliteConnection, session: String, tool_call_id: &str) -> Written {
    let sql = "DELETE FROM confirms WHERE session_id = $1 AND tool_call_id = $2";
    sqlx::query(sql).bind(session).bind(tool_call_id).execute(conn).await?;
    Ok(())
}

pub(crate) async fn all(conn: &mut SqliteConnection, session: SessionId) -> Read<Vec<ToolCall>> {
    let rows = sqlx::query("SELECT tool_call_id, call FROM confirms WHERE session_id = $1 ORDER BY opened_seq, tool_call_id")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter().map(call).collect()
}

/// A call that cannot be read can still be refused.
fn call(row: &SqliteRow) -> Read<ToolCall> {
    let id = row.text("tool_call_id")?;
    let call = row.json(TABLE, &id, "call").ok().flatten();
    Ok(call.unwrap_or_else(|| ToolCall { id, name: "unreadable".into(), arguments: "{}".into() }))
}
