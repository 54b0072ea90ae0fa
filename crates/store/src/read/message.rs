//! Reading the conversation.

use domain::event::Message;
use domain::ids::{MessageId, SessionId, TurnId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::Result;
use crate::column::Columns;
use crate::row::Page;

/// The latest messages, or the latest before the given one. Before an unknown message there is nothing.
pub(crate) async fn page(conn: &mut SqliteConnection, session: SessionId, before: Option<MessageId>, limit: u32) -> Result<Page> {
    let query = match before {
        Some(before) => sqlx::query(
            "SELECT * FROM messages WHERE session_id = $1 AND position < \
             (SELECT position FROM messages WHERE session_id = $1 AND id = $2) ORDER BY position DESC LIMIT $3",
        )
        .bind(session.to_string())
        .bind(before.to_string()),
        None => sqlx::query("SELECT * FROM messages WHERE session_id = $1 ORDER BY position DESC LIMIT $2").bind(session.to_string()),
    };
    let rows = query.bind(i64::from(limit) + 1).fetch_all(conn).await?;
    let more = rows.len() > limit as usize;
    let messages = rows.iter().take(limit as usize).rev().map(message).collect::<Result<_>>()?;
    Ok(Page { messages, more })
}

/// The whole conversation, oldest first, without what only people are shown: that can be megabytes a message.
pub(crate) async fn all(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<Message>> {
    let sql = "SELECT id, role, content, created_at, turn_id, client_id, tool_calls, tool_call_id, NULL AS display, is_error, artifact_id, \
               delegation, attachments FROM messages WHERE session_id = $1 ORDER BY position";
    let rows = sqlx::query(sql).bind(session.to_string()).fetch_all(conn).await?;
    rows.iter().map(message).collect()
}

/// The ids of all tool calls that ever had a result.
pub(crate) async fn tool_call_ids(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<String>> {
    let rows = sqlx::query("SELECT tool_call_id FROM messages WHERE session_id = $1 AND tool_call_id IS NOT NULL")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    rows.iter().map(|row| row.text("tool_call_id")).collect()
}

pub(crate) async fn one(conn: &mut SqliteConnection, session: SessionId, id: MessageId) -> Result<Option<Message>> {
    let row = sqlx::query("SELECT * FROM messages WHERE session_id = $1 AND id = $2")
        .bind(session.to_string())
        .bind(id.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| message(&row)).transpose()
}

pub(crate) async fn receipt(conn: &mut SqliteConnection, session: SessionId, client_id: &str) -> Result<Option<(MessageId, TurnId, bool)>> {
    let row = sqlx::query("SELECT message_id, turn_id, queued FROM receipts WHERE session_id = $1 AND client_id = $2")
        .bind(session.to_string())
        .bind(client_id)
        .fetch_optional(conn)
        .await?;
    row.map(|row| Ok((row.parsed("message_id")?, row.parsed("turn_id")?, row.number("queued")? > 0))).transpose()
}

fn message(row: &SqliteRow) -> Result<Message> {
    Ok(Message {
        id: row.parsed("id")?,
        role: row.word("role")?,
        content: row.text("content")?,
        html: None,
        created_at: row.parsed("created_at")?,
        turn_id: row.maybe_parsed("turn_id")?,
        client_id: row.maybe("client_id")?,
        attachments: row.json("attachments")?,
        tool_calls: row.json("tool_calls")?,
        tool_call_id: row.maybe("tool_call_id")?,
        display: row.maybe("display")?,
        is_error: row.number("is_error")? > 0,
        artifact_id: row.maybe_parsed("artifact_id")?,
        delegation: row.maybe_json("delegation")?,
    })
}
