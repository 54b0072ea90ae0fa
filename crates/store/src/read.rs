//! The reading side: queries over one connection, so that several of them can share one snapshot of the database.

pub(crate) mod attachment;
pub(crate) mod log;
pub(crate) mod message;
pub(crate) mod permission;
pub(crate) mod session;
pub(crate) mod work;

use domain::ids::SessionId;
use sqlx::SqliteConnection;

use crate::row::{RunningTurn, Snapshot};

type Result<T> = std::result::Result<T, sqlx::Error>;

/// Meant to run in one read transaction: everything here is of the same moment.
pub(crate) async fn snapshot(conn: &mut SqliteConnection, id: SessionId, message_limit: u32) -> Result<Option<Snapshot>> {
    let Some(session) = session::one(conn, id).await? else { return Ok(None) };
    let page = message::page(conn, id, None, message_limit).await?;
    let turn = work::running_turn(conn, id).await?.map(|turn| RunningTurn { turn_id: turn.id, started_seq: turn.started_seq });
    let turn_events = match turn {
        Some(turn) => log::frames(conn, id, turn.started_seq.saturating_sub(1), usize::MAX, usize::MAX).await?,
        None => Vec::new(),
    };
    Ok(Some(Snapshot {
        seq: session.last_seq,
        session,
        messages: page.messages,
        more: page.more,
        artifacts: work::artifacts(conn, id).await?,
        notices: log::notices(conn, id).await?,
        ended_turns: work::ended_turns(conn, id).await?,
        turn,
        turn_events: turn_events.iter().filter_map(|frame| frame.event()).collect(),
        permissions: permission::open(conn, id).await?.into_iter().map(|row| row.request).collect(),
        confirms: work::confirms(conn, id).await?,
        queue: work::queue(conn, id).await?,
    }))
}
