//! The log itself.

use std::ops::ControlFlow;

use domain::ids::SessionId;
use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, params, params_from_iter};

use super::column::{Columns, number};
use super::sizes::Sizes;
use super::{Read, Written, notice, statement, turn};
use crate::frame::{Draft, Frame};

static INSERTS: Sizes = Sizes::new("INSERT INTO events (session_id, seq, kind, data) VALUES ", "(?, ?, ?, ?)", "");

/// How much of the events of turns that are over is kept of a session.
const BYTES_MOST: u64 = 256 * 1024 * 1024;

/// An event with its place in the log.
#[derive(Clone, Copy)]
pub(crate) struct Numbered<'a> {
    pub(crate) session: &'a str,
    pub(crate) seq: u64,
    pub(crate) draft: &'a Draft,
}

impl<'a> Numbered<'a> {
    fn columns(&self) -> [ToSqlOutput<'a>; 4] {
        let (kind, text) = (self.draft.kind, self.draft.text.as_str());
        [self.session.into(), ValueRef::Integer(number(self.seq)), kind.into(), text.into()].map(ToSqlOutput::Borrowed)
    }
}

/// Those of all sessions together.
pub(crate) fn insert(conn: &Connection, events: &[Numbered<'_>]) -> Written {
    INSERTS.run(conn, events.len(), |conn, sql, rows| {
        statement::execute(conn, sql, params_from_iter(events[rows].iter().flat_map(Numbered::columns)))?;
        Ok(())
    })
}

/// A running turn is rebuilt from its events, so they stay.
pub(super) fn advance_horizon(conn: &Connection, session: SessionId, seq: u64) -> Written {
    let Some((last, horizon)) = bounds(conn, session)? else { return Ok(()) };
    let kept_from = turn::first_running(conn, session)?.unwrap_or(last + 1);
    let horizon = seq.min(last).min(kept_from.saturating_sub(1)).max(horizon);
    notice::keep(conn, session, horizon)?;
    let session = session.to_string();
    statement::execute(conn, "UPDATE sessions SET horizon = ?2 WHERE id = ?1", params![session, number(horizon)])?;
    statement::execute(conn, "DELETE FROM events WHERE session_id = ?1 AND seq <= ?2", params![session, number(horizon)])?;
    Ok(())
}

/// The horizon as it is, and as far as it could move: past what was over before `older_than`, and past whole turns beyond the latest
/// `most` events, or beyond so many bytes of them. Never into a running turn. `None` where there is nothing to drop.
pub(crate) fn droppable(conn: &Connection, session: SessionId, older_than: Timestamp, most: u64) -> Read<Option<(u64, u64)>> {
    let Some((last, horizon)) = bounds(conn, session)? else { return Ok(None) };
    let running = turn::first_running(conn, session)?;
    let target = if running.is_none() && super::session::quiet_since(conn, session, older_than)? {
        last
    } else {
        let old = turn::last_ended_before(conn, session, older_than)?;
        match old.max(last.checked_sub(most)).max(beyond(conn, session, BYTES_MOST)?) {
            Some(place) => behind_turns(conn, session, place)?,
            None => horizon,
        }
    };
    let target = running.map_or(target, |start| target.min(start.saturating_sub(1)));
    Ok((target > horizon).then_some((horizon, target)))
}

/// The latest event that has more than so many bytes of events behind it, itself included.
fn beyond(conn: &Connection, session: SessionId, bytes: u64) -> Read<Option<u64>> {
    let sql = "SELECT seq, octet_length(data) AS bytes FROM events WHERE session_id = ?1 ORDER BY seq DESC";
    let (mut size, mut place) = (0, None);
    statement::each(conn, sql, params![session.to_string()], |row| {
        size += row.number("bytes")?;
        if size <= bytes {
            return Ok(ControlFlow::Continue(()));
        }
        place = Some(row.number("seq")?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(place)
}

/// The last event that belongs to the turns which began at or before that place.
fn behind_turns(conn: &Connection, session: SessionId, place: u64) -> Read<u64> {
    if let Some(next) = turn::first_begun_after(conn, session, place)? {
        return Ok(next.saturating_sub(1));
    }
    // A turn's last event is the word of its end.
    statement::only(
        conn,
        "SELECT COALESCE(MAX(seq), 0) AS seq FROM events WHERE session_id = ?1 AND kind = 'turn'",
        params![session.to_string()],
        |row| row.number("seq"),
    )
}

/// The last sequence number, which is the horizon where nothing is left, and the horizon; `None` where there is no such session.
pub(crate) fn bounds(conn: &Connection, session: SessionId) -> Read<Option<(u64, u64)>> {
    statement::one(
        conn,
        "SELECT COALESCE((SELECT MAX(e.seq) FROM events e WHERE e.session_id = s.id), s.horizon) AS last_seq, s.horizon \
         FROM sessions s WHERE s.id = ?1",
        params![session.to_string()],
        |row| Ok((row.number("last_seq")?, row.number("horizon")?)),
    )
}

/// The notices and the turns' beginnings and ends that the log still holds, from the event numbered `first` to the one numbered `last`.
pub(super) fn told(conn: &Connection, session: SessionId, first: u64, last: u64) -> Read<Vec<Frame>> {
    // Each kind apart is what the index has, and alone it is a better way than the whole log.
    let sql = "SELECT seq, kind, data FROM events WHERE session_id = ?1 AND seq IN (\
               SELECT seq FROM events WHERE session_id = ?1 AND kind = 'notice' AND seq BETWEEN ?2 AND ?3 \
               UNION ALL SELECT seq FROM events WHERE session_id = ?1 AND kind = 'turn' AND seq BETWEEN ?2 AND ?3) ORDER BY seq";
    statement::all(conn, sql, params![session.to_string(), number(first), number(last)], |row| frame(session, row))
}

/// At most `limit` events after `after`, fewer where they hold more than `bytes`, but at least one if there is one.
pub(crate) fn frames(conn: &Connection, session: SessionId, after: u64, limit: usize, bytes: usize) -> Read<Vec<Frame>> {
    let sql = "SELECT seq, kind, data FROM events WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let (mut frames, mut size) = (Vec::new(), 0);
    statement::each(conn, sql, params![session.to_string(), number(after), number(limit as u64)], |row| {
        let frame = frame(session, row)?;
        size += frame.data.len();
        frames.push(frame);
        Ok(if size < bytes { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(frames)
}

/// Every event after `after`, one at a time.
pub(crate) fn each(conn: &Connection, session: SessionId, after: u64, mut take: impl FnMut(Frame)) -> Read<()> {
    let sql = "SELECT seq, kind, data FROM events WHERE session_id = ?1 AND seq > ?2 ORDER BY seq";
    statement::each(conn, sql, params![session.to_string(), number(after)], |row| {
        take(frame(session, row)?);
        Ok(ControlFlow::Continue(()))
    })
}

/// A text that is not even text is as unreadable as one that is not JSON.
fn frame(session: SessionId, row: &Row<'_>) -> Read<Frame> {
    let kind = row.get_ref("kind")?.as_str()?;
    Ok(Frame::stored(session, row.number("seq")?, kind, row.text("data").unwrap_or_default()))
}
