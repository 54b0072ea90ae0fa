//! The messages that wait for their turn.

use domain::event::QueueItem;
use domain::ids::{MessageId, SessionId};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::column::{Columns, json, time};
use super::{Read, Written, message};
use crate::error::StoreError;

const TABLE: &str = "queue";

pub(super) async fn add(conn: &mut SqliteConnection, session: String, item: &QueueItem) -> Written {
    if let Some(client_id) = &item.client_id {
        message::keep_receipt(conn, &session, client_id, item.message_id, item.turn_id, true).await?;
    }
    sqlx::query(
        "INSERT INTO queue (session_id, message_id, position, turn_id, client_id, content, attachments, created_at) \
         VALUES ($1, $2, (SELECT COALESCE(MAX(position), 0) + 1 FROM queue WHERE session_id = $1), $3, $4, $5, $6, $7)",
    )
    .bind(session)
    .bind(item.message_id.to_string())
    .bind(item.turn_id.to_string())
    .bind(item.client_id.as_deref())
    .bind(item.content.as_str())
    .bind(json(&item.attachments))
    .bind(time(item.created_at))
    .execute(conn)
    .await?;
    Ok(())
}

pub(super) async fn edit(conn: &mut SqliteConnection, session: String, message_id: MessageId, content: &str) -> Written {
    let edited = sqlx::query("UPDATE queue SET content = $3 WHERE session_id = $1 AND message_id = $2")
        .bind(session)
        .bind(message_id.to_string())
        .bind(content)
        .execute(conn)
        .await?;
    if edited.rows_affected() == 0 { Err(StoreError::Gone { what: "the queued message" }) } else { Ok(()) }
}

pub(super) async fn order(conn: &mut SqliteConnection, session: String, order: &[MessageId]) -> Written {
    // No two of them may have one place, not even in between.
    sqlx::query("UPDATE queue SET position = -position WHERE session_id = $1").bind(session.as_str()).execute(&mut *conn).await?;
    for (message_id, position) in order.iter().zip(1_i64..) {
        sqlx::query("UPDATE queue SET position = $3 WHERE session_id = $1 AND message_id = $2")
            .bind(session.as_str())
            .bind(message_id.to_string())
            .bind(position)
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}

pub(super) async fn remove(conn: &mut SqliteConnection, session: String, message_id: MessageId) -> Written {
    let sql = "DELETE FROM queue WHERE session_id = $1 AND message_id = $2";
    sqlx::query(sql).bind(session).bind(message_id.to_string()).execute(conn).await?;
    Ok(())
}

/// The sessions in which messages wait, whether or not a turn runs.
pub(crate) async fn sessions(conn: &mut SqliteConnection) -> Read<Vec<SessionId>> {
    let rows = sqlx::query("SELECT DISTINCT session_id FROM queue").fetch_all(conn).await?;
    rows.iter().map(|row| row.parsed("session_id")).collect()
}

pub(crate) async fn of_session(conn: &mut SqliteConnection, session: SessionId) -> Read<Vec<QueueItem>> {
    let rows = sqlx::query("SELECT * FROM queue WHERE session_id = $1 ORDER BY position").bind(session.to_string()).fetch_all(conn).await?;
    rows.iter().map(item).collect()
}

/// A list of attachments that cannot be read is shown as none; the attachments themselves have a table of their own.
fn item(row: &SqliteRow) -> Read<QueueItem> {
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
