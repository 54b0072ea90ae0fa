//! What was sent along with messages, those that wait included.

use std::sync::Arc;

use domain::attachment::{Attachment, AttachmentKind};
use domain::ids::{AttachmentId, MessageId, SessionId, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::column::{Columns, json};
use super::{Read, Written};

const TABLE: &str = "attachments";

/// What was sent along with a message: how it is shown, and its bytes. A path has none.
#[derive(Clone, PartialEq, Debug)]
pub struct AttachmentRow {
    pub message_id: MessageId,
    pub about: Attachment,
    pub data: Arc<[u8]>,
}

pub(super) async fn save(conn: &mut SqliteConnection, session: String, attachment: &AttachmentRow) -> Written {
    sqlx::query(
        "INSERT INTO attachments (session_id, id, position, message_id, about, data) \
         VALUES ($1, $2, (SELECT COALESCE(MAX(position), 0) + 1 FROM attachments WHERE session_id = $1), $3, $4, $5)",
    )
    .bind(session)
    .bind(attachment.about.id.to_string())
    .bind(attachment.message_id.to_string())
    .bind(json(&attachment.about))
    .bind(&attachment.data[..])
    .execute(conn)
    .await?;
    Ok(())
}

/// The message was withdrawn.
pub(super) async fn remove(conn: &mut SqliteConnection, session: String, message_id: MessageId) -> Written {
    let sql = "DELETE FROM attachments WHERE session_id = $1 AND message_id = $2";
    sqlx::query(sql).bind(session).bind(message_id.to_string()).execute(conn).await?;
    Ok(())
}

pub(crate) async fn one(conn: &mut SqliteConnection, session: SessionId, id: AttachmentId) -> Read<Option<AttachmentRow>> {
    let row = sqlx::query("SELECT * FROM attachments WHERE session_id = $1 AND id = $2")
        .bind(session.to_string())
        .bind(id.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| attachment(&row)).transpose()
}

/// What came with the message that began the turn.
pub(crate) async fn of_turn(conn: &mut SqliteConnection, session: SessionId, turn: TurnId) -> Read<Vec<AttachmentRow>> {
    let rows = sqlx::query(
        "SELECT attachments.* FROM attachments JOIN messages \
         ON messages.session_id = attachments.session_id AND messages.id = attachments.message_id \
         WHERE attachments.session_id = $1 AND messages.turn_id = $2 ORDER BY attachments.position",
    )
    .bind(session.to_string())
    .bind(turn.to_string())
    .fetch_all(conn)
    .await?;
    rows.iter().map(attachment).collect()
}

/// How many bytes all of the session's attachments have.
pub(crate) async fn total(conn: &mut SqliteConnection, session: SessionId) -> Read<u64> {
    let row = sqlx::query("SELECT COALESCE(SUM(LENGTH(data)), 0) AS total FROM attachments WHERE session_id = $1")
        .bind(session.to_string())
        .fetch_one(conn)
        .await?;
    row.number("total")
}

fn attachment(row: &SqliteRow) -> Read<AttachmentRow> {
    let data: &[u8] = row.try_get("data")?;
    let id = row.parsed("id")?;
    let stand_in = || Attachment {
        id,
        kind: AttachmentKind::File,
        name: "unreadable".into(),
        mime_type: "application/octet-stream".into(),
        size: data.len() as u64,
    };
    let about = row.json(TABLE, &row.text("id")?, "about").ok().flatten().unwrap_or_else(stand_in);
    Ok(AttachmentRow { message_id: row.parsed("message_id")?, about, data: data.into() })
}
