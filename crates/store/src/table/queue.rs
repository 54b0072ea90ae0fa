//! The messages that wait for their turn.

use domain::event::{Queue, QueueItem};
use domain::ids::{MessageId, SessionId};
use rusqlite::{Connection, Row, params};

use super::column::{Columns, json, time};
use super::{Read, Written, message, statement};
use crate::error::StoreError;

const TABLE: &str = "queue";

pub(super) fn add(conn: &Connection, session: &str, item: &QueueItem) -> Written {
    if let Some(client_id) = &item.client_id {
        message::keep_receipt(conn, session, client_id, item.message_id, item.turn_id, true)?;
    }
    statement::execute(
        conn,
        "INSERT INTO queue (session_id, message_id, position, turn_id, client_id, content, attachments, created_at) \
         VALUES (?1, ?2, (SELECT COALESCE(MAX(position), 0) + 1 FROM queue WHERE session_id = ?1), ?3, ?4, ?5, ?6, ?7)",
        params![
            session,
            item.message_id.to_string(),
            item.turn_id.to_string(),
            item.client_id.as_deref(),
            item.content.as_str(),
            json(&item.attachments),
            time(item.created_at)
        ],
    )?;
    Ok(())
}

pub(super) fn edit(conn: &Connection, session: &str, message_id: MessageId, content: &str) -> Written {
    let edited = statement::execute(
        conn,
        "UPDATE queue SET content = ?3 WHERE session_id = ?1 AND message_id = ?2",
        params![session, message_id.to_string(), content],
    )?;
    if edited == 0 { Err(StoreError::Gone { what: "the queued message" }) } else { Ok(()) }
}

pub(super) fn order(conn: &Connection, session: &str, order: &[MessageId]) -> Written {
    // No two of them may have one place, not even in between.
    statement::execute(conn, "UPDATE queue SET position = -position WHERE session_id = ?1", params![session])?;
    for (message_id, position) in order.iter().zip(1_i64..) {
        statement::execute(
            conn,
            "UPDATE queue SET position = ?3 WHERE session_id = ?1 AND message_id = ?2",
            params![session, message_id.to_string(), position],
        )?;
    }
    Ok(())
}

pub(super) fn remove(conn: &Connection, session: &str, message_id: MessageId) -> Written {
    let sql = "DELETE FROM queue WHERE session_id = ?1 AND message_id = ?2";
    statement::execute(conn, sql, params![session, message_id.to_string()])?;
    Ok(())
}

pub(super) fn hold(conn: &Connection, session: &str, held: bool) -> Written {
    statement::execute(conn, "UPDATE sessions SET queue_held = ?2 WHERE id = ?1", params![session, i64::from(held)])?;
    Ok(())
}

/// The sessions in which messages wait, whether or not a turn runs.
pub(crate) fn sessions(conn: &Connection) -> Read<Vec<SessionId>> {
    statement::all(conn, "SELECT DISTINCT session_id FROM queue", [], |row| row.parsed("session_id"))
}

pub(crate) fn of_session(conn: &Connection, session: SessionId) -> Read<Queue> {
    let id = session.to_string();
    let items = statement::all(conn, "SELECT * FROM queue WHERE session_id = ?1 ORDER BY position", params![id], item)?;
    let held = statement::one(conn, "SELECT queue_held FROM sessions WHERE id = ?1", params![id], |row| row.flag("queue_held"))?;
    Ok(Queue { held: held.unwrap_or(false) && !items.is_empty(), items })
}

/// A list of attachments that cannot be read is shown as none; the attachments themselves have a table of their own.
fn item(row: &Row<'_>) -> Read<QueueItem> {
    Ok(QueueItem {
        message_id: row.parsed("message_id")?,
        turn_id: row.parsed("turn_id")?,
        content: row.text("content")?,
        created_at: row.parsed("created_at")?,
        client_id: row.maybe("client_id")?,
        // Messages that waited before there were attachments have a null.
        attachments: row.json::<Option<_>>(TABLE, &row.text("message_id")?, "attachments").ok().flatten().flatten().unwrap_or_default(),
    })
}
