//! Everything of one session at one moment.

use domain::event::{Message, Notice, PermissionRequest, Queue, ReviewArtifact, ToolCall, Turn};
use domain::ids::{SessionId, TurnId};
use domain::turn::Session;
use rusqlite::Connection;

use crate::frame::Frame;
use crate::statement::Read;
use crate::table::session::SessionRow;
use crate::table::turn::RunningTurn;
use crate::table::{artifact, confirm, event, message, notice, permission, queue, session, turn};

/// A session as it is after event `seq`: everything a client needs that comes without a cursor.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    pub seq: u64,
    pub session: SessionRow,
    /// The latest ones, oldest first.
    pub messages: Vec<Message>,
    /// There are older messages.
    pub more: bool,
    /// Those that were made since the oldest of the messages.
    pub artifacts: Vec<ReviewArtifact>,
    /// What people were told beside the conversation since the turn of the oldest message began, each with the turn it happened in; of
    /// what the log does not hold any more, that which still matters.
    pub notices: Vec<(Option<TurnId>, Notice)>,
    /// The turns since then that ended otherwise than completed.
    pub ended_turns: Vec<Turn>,
    pub turn: Option<RunningTurn>,
    /// What the events of the running turn come to, from its start to `seq`. They are many times as long.
    pub turn_state: Session,
    pub permissions: Vec<PermissionRequest>,
    pub confirms: Vec<ToolCall>,
    pub queue: Queue,
}

/// Meant to run in one read transaction: everything here is of the same moment.
pub(crate) fn read(conn: &Connection, id: SessionId, message_limit: u32) -> Read<Option<Snapshot>> {
    let Some(session) = session::one(conn, id)? else { return Ok(None) };
    let page = message::page(conn, id, None, message_limit)?;
    let turn = turn::running(conn, id)?;
    // What belongs to older messages is not shown with these.
    let oldest = page.messages.first().filter(|_| page.more);
    let from = match oldest.and_then(|message| message.turn_id) {
        Some(turn) => turn::place(conn, id, turn)?.unwrap_or(0),
        None => 0,
    };
    let since = oldest.map(|message| message.created_at);
    let mut turn_state = Session::default();
    if let Some(turn) = turn {
        let apply = |frame: Frame| frame.event().iter().for_each(|event| turn_state.apply(event));
        event::each(conn, id, turn.started_seq.saturating_sub(1), apply)?;
    }
    Ok(Some(Snapshot {
        seq: session.last_seq,
        session,
        messages: page.messages,
        more: page.more,
        artifacts: artifact::since(conn, id, since)?,
        notices: notice::since(conn, id, from)?,
        ended_turns: turn::ended(conn, id, from)?,
        turn,
        turn_state,
        permissions: permission::waiting(conn, id)?.into_iter().map(|row| row.request).collect(),
        confirms: confirm::all(conn, id)?,
        queue: queue::of_session(conn, id)?,
    }))
}
