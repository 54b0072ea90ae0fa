//! Reading what was sent along with messages.

use domain::ids::{AttachmentId, SessionId, TurnId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::Result;
use crate::column::Columns;
use crate::row::AttachmentRow;

pub(crate) async fn one(conn: &mut SqliteConnection, session: SessionId, id: AttachmentId) -> Result<Option<AttachmentRow>> {
    let row = sqlx::query("SELECT * FROM attachments WHERE session_id = $1 AND id = $2")
        .bind(session.to_string())
        .bind(id.to_string())
        .fetch_optional(conn)
        .await?;
    row.map(|row| attachment(&row)).transpose()
}

/// What came with the message that began the turn.
pub(crate) async fn of_turn(conn: &mut SqliteConnection, session: SessionId, turn: TurnId) -> Result<Vec<AttachmentRow>> {
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

fn attachment(row: &SqliteRow) -> Result<AttachmentRow> {
    let data: &[u8] = row.try_get("data")?;
    Ok(AttachmentRow { message_id: row.parsed("message_id")?, about: row.json("about")?, data: data.into() })
}
