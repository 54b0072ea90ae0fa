//! What was sent along with messages, those that wait included.

use std::sync::Arc;

use domain::attachment::{Attachment, AttachmentKind};
use domain::ids::{AttachmentId, MessageId, SessionId, TurnId};
use rusqlite::{Connection, Row, params};

use super::column::{Columns, json};
use super::{Read, Written, statement};

const TABLE: &str = "attachments";

/// What was sent along with a message: how it is shown, and its bytes. A path has none.
#[derive(Clone, PartialEq, Debug)]
pub struct AttachmentRow {
    pub message_id: MessageId,
    pub about: Attachment,
    pub data: Arc<[u8]>,
}

pub(super) fn save(conn: &Connection, session: &str, attachment: &AttachmentRow) -> Written {
    statement::execute(
        conn,
        "INSERT INTO attachments (session_id, id, position, message_id, about, data) \
         VALUES (?1, ?2, (SELECT COALESCE(MAX(position), 0) + 1 FROM attachments WHERE session_id = ?1), ?3, ?4, ?5)",
        params![session, attachment.about.id.to_string(), attachment.message_id.to_string(), json(&attachment.about), &attachment.data[..]],
    )?;
    Ok(())
}

/// The message was withdrawn.
pub(super) fn remove(conn: &Connection, session: &str, message_id: MessageId) -> Written {
    let sql = "DELETE FROM attachments WHERE session_id = ?1 AND message_id = ?2";
    statement::execute(conn, sql, params![session, message_id.to_string()])?;
    Ok(())
}

pub(crate) fn one(conn: &Connection, session: SessionId, id: AttachmentId) -> Read<Option<AttachmentRow>> {
    statement::one(
        conn,
        "SELECT * FROM attachments WHERE session_id = ?1 AND id = ?2",
        params![session.to_string(), id.to_string()],
        attachment,
    )
}

/// What came with the message that began the turn.
pub(crate) fn of_turn(conn: &Connection, session: SessionId, turn: TurnId) -> Read<Vec<AttachmentRow>> {
    statement::all(
        conn,
        "SELECT attachments.* FROM attachments JOIN messages \
         ON messages.session_id = attachments.session_id AND messages.id = attachments.message_id \
         WHERE attachments.session_id = ?1 AND messages.turn_id = ?2 ORDER BY attachments.position",
        params![session.to_string(), turn.to_string()],
        attachment,
    )
}

/// How many bytes all of the session's attachments have.
pub(crate) fn total(conn: &Connection, session: SessionId) -> Read<u64> {
    statement::only(
        conn,
        "SELECT COALESCE(SUM(LENGTH(data)), 0) AS total FROM attachments WHERE session_id = ?1",
        params![session.to_string()],
        |row| row.number("total"),
    )
}

fn attachment(row: &Row<'_>) -> Read<AttachmentRow> {
    let data = row.get_ref("data")?.as_blob()?;
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
