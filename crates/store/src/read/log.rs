//! Reading the log itself.

use bytes::Bytes;
use domain::event::{Event, Notice};
use domain::ids::{SessionId, TurnId};
use futures::TryStreamExt;
use sqlx::{Row, SqliteConnection};

use super::Result;
use crate::column::{Columns, number};
use crate::frame::{Frame, kind};

/// The last sequence number and the horizon; `None` where there is no such session.
pub(crate) async fn bounds(conn: &mut SqliteConnection, session: SessionId) -> Result<Option<(u64, u64)>> {
    let row = sqlx::query("SELECT last_seq, horizon FROM sessions WHERE id = $1").bind(session.to_string()).fetch_optional(conn).await?;
    row.map(|row| Ok((row.number("last_seq")?, row.number("horizon")?))).transpose()
}

/// The notices that the log still holds, each with the turn in which it came.
pub(crate) async fn notices(conn: &mut SqliteConnection, session: SessionId) -> Result<Vec<(Option<TurnId>, Notice)>> {
    let rows = sqlx::query("SELECT seq, kind, data FROM events WHERE session_id = $1 AND kind IN ('notice', 'turn') ORDER BY seq")
        .bind(session.to_string())
        .fetch_all(conn)
        .await?;
    let (mut turn, mut notices) = (None, Vec::new());
    for row in &rows {
        let (kind, data): (&str, &str) = (row.try_get("kind")?, row.try_get("data")?);
        match Event::parse(kind, data) {
            Some(Event::Turn(event)) => turn = Some(event.turn_id),
            Some(Event::Notice(notice)) => notices.push((turn, notice)),
            _ => {}
        }
    }
    Ok(notices)
}

/// At most `limit` events after `after`, fewer where they hold more than `bytes`, but at least one if there is one.
pub(crate) async fn frames(conn: &mut SqliteConnection, session: SessionId, after: u64, limit: usize, bytes: usize) -> Result<Vec<Frame>> {
    let mut rows = sqlx::query("SELECT seq, kind, data FROM events WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3")
        .bind(session.to_string())
        .bind(number(after))
        .bind(number(limit as u64))
        .fetch(conn);
    let mut frames = Vec::new();
    let mut size = 0;
    while let Some(row) = rows.try_next().await? {
        let data: String = row.try_get("data")?;
        size += data.len();
        frames.push(Frame { seq: row.number("seq")?, kind: kind(row.try_get("kind")?), data: Bytes::from(data) });
        if size >= bytes {
            break;
        }
    }
    Ok(frames)
}
