//! What goes into one transaction, and what it changed once it is committed.
//!
//! The rows of a write are applied one by one. The events, the runners' cursors and the times of all sessions together are a few
//! statements at the end, however many sessions there are.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use domain::ids::SessionId;
use jiff::Timestamp;
use rusqlite::Connection;

use super::pen::End;
use crate::error::StoreError;
use crate::frame::{Assembly, Draft, Frame, piece};
use crate::row::{Committed, Row, Write};
use crate::table::event::Numbered;
use crate::table::runner::Moved;
use crate::table::{self, Place, event, runner, session};

/// How often a session that only streams is noted to be active.
const TOUCHED_EVERY: Duration = Duration::from_secs(10);

pub(super) struct Batch {
    pub changes: Vec<Change>,
    /// One for each write, in their order.
    pub answers: Vec<Result<Committed, StoreError>>,
}

/// What a commit did to one session.
pub(super) struct Change {
    pub session: SessionId,
    pub frames: Vec<Frame>,
    pub end: End,
    pub horizon: Option<u64>,
    pub deleted: bool,
    /// Its row in the list is another one.
    pub listed: bool,
}

/// A session while its part of the transaction is put together.
struct Part<'a> {
    session: SessionId,
    text: String,
    /// Where its log ended before.
    base: End,
    assembly: Assembly<'a>,
    drafts: Vec<Draft>,
    /// Only the last position of a runner's cursor counts, so it is written once, however many events moved it.
    cursors: Vec<(&'a str, u64)>,
    /// There is more than pieces of a stream.
    active: bool,
    deleted: bool,
    horizon: bool,
    listed: bool,
}

/// An error here is of the whole transaction; a write for an unknown session only spoils its own answer.
pub(super) fn fill(conn: &Connection, ends: &HashMap<SessionId, End>, writes: &[&Write], began: Instant) -> Result<Batch, StoreError> {
    let now = Timestamp::now();
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut by_session: HashMap<SessionId, usize> = HashMap::new();
    let mut owners = Vec::with_capacity(writes.len());
    for write in writes {
        let index = match by_session.get(&write.session) {
            Some(index) => *index,
            None => {
                let Some(base) = end_of_log(conn, ends, write)? else {
                    owners.push(None);
                    continue;
                };
                parts.push(Part::new(write.session, base));
                by_session.insert(write.session, parts.len() - 1);
                parts.len() - 1
            }
        };
        parts[index].take(conn, write, now)?;
        owners.push(Some(index));
    }
    let changes = store(conn, parts, now, began)?;
    let answers = writes.iter().zip(owners).map(|(write, owner)| match owner {
        Some(index) => Ok(Committed { last_seq: changes[index].end.last }),
        None => Err(StoreError::NoSession(write.session)),
    });
    Ok(Batch { answers: answers.collect(), changes })
}

/// `None` where there is no such session and the write does not create it.
fn end_of_log(conn: &Connection, ends: &HashMap<SessionId, End>, write: &Write) -> Result<Option<End>, StoreError> {
    if let Some(end) = ends.get(&write.session) {
        return Ok(Some(*end));
    }
    if let Some((last, _)) = event::bounds(conn, write.session)? {
        return Ok(Some(End { last, touched: None }));
    }
    let creates = write.rows.iter().any(|row| matches!(row, Row::CreateSession(_)));
    Ok(creates.then_some(End { last: 0, touched: None }))
}

/// Stores what all of the parts have in common.
fn store(conn: &Connection, mut parts: Vec<Part<'_>>, now: Timestamp, began: Instant) -> Result<Vec<Change>, StoreError> {
    for part in &mut parts {
        part.drafts = std::mem::take(&mut part.assembly).finish();
    }
    let kept = || parts.iter().filter(|part| !part.deleted);
    let moved: Vec<Moved<'_>> = kept().flat_map(Part::moved).collect();
    runner::move_cursors(conn, &moved)?;
    let events: Vec<Numbered<'_>> = kept().flat_map(Part::numbered).collect();
    event::insert(conn, &events)?;
    let touched: Vec<&str> = kept().filter(|part| part.is_touched(began)).map(|part| part.text.as_str()).collect();
    session::touch(conn, &touched, now)?;
    parts.into_iter().map(|part| part.change(conn, began)).collect()
}

impl<'a> Part<'a> {
    fn new(session: SessionId, base: End) -> Part<'a> {
        Part {
            session,
            text: session.to_string(),
            base,
            assembly: Assembly::default(),
            drafts: Vec::new(),
            cursors: Vec::new(),
            active: false,
            deleted: false,
            horizon: false,
            listed: false,
        }
    }

    fn take(&mut self, conn: &Connection, write: &'a Write, now: Timestamp) -> Result<(), StoreError> {
        let rows = &write.rows;
        let first_seq = if rows.iter().any(Row::keeps_place) { self.base.last + self.assembly.flush() as u64 + 1 } else { 0 };
        self.listed |= rows.iter().any(Row::is_listed);
        let is_more = |row: &Row| !matches!(row, Row::RunnerCursor { .. });
        self.active |= write.events.iter().any(|event| piece(event).is_none()) || rows.iter().any(is_more);
        for row in rows {
            match row {
                Row::RunnerCursor { id, cursor } => {
                    self.move_cursor(id, *cursor);
                    continue;
                }
                Row::Runner(_) | Row::RemoveRunner { .. } => {
                    let moved: Vec<Moved<'_>> = self.moved().collect();
                    runner::move_cursors(conn, &moved)?;
                    self.cursors.clear();
                }
                Row::DeleteSession => self.deleted = true,
                Row::Horizon(_) => self.horizon = true,
                _ => {}
            }
            table::apply(conn, Place { session: self.session, text: &self.text, first_seq, now }, row)?;
        }
        for event in &write.events {
            self.assembly.push(event);
        }
        Ok(())
    }

    fn move_cursor(&mut self, id: &'a str, cursor: u64) {
        match self.cursors.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = cursor,
            None => self.cursors.push((id, cursor)),
        }
    }

    fn moved(&self) -> impl Iterator<Item = Moved<'_>> {
        self.cursors.iter().map(|(runner, cursor)| Moved { session: &self.text, runner, cursor: *cursor })
    }

    fn numbered(&self) -> impl Iterator<Item = Numbered<'_>> {
        self.drafts.iter().zip(self.base.last + 1..).map(|(draft, seq)| Numbered { session: &self.text, seq, draft })
    }

    /// Rows alone are no activity; those that are say so themselves.
    fn is_touched(&self, began: Instant) -> bool {
        let is_due = || self.base.touched.is_none_or(|touched| began.duration_since(touched) >= TOUCHED_EVERY);
        !self.drafts.is_empty() && (self.active || is_due())
    }

    fn change(self, conn: &Connection, began: Instant) -> Result<Change, StoreError> {
        let (session, base) = (self.session, self.base);
        if self.deleted {
            return Ok(Change { session, frames: Vec::new(), end: base, horizon: None, deleted: true, listed: true });
        }
        let horizon = match self.horizon {
            true => event::bounds(conn, session)?.map(|(_, horizon)| horizon),
            false => None,
        };
        let touched = if self.is_touched(began) { Some(began) } else { base.touched };
        let end = End { last: base.last + self.drafts.len() as u64, touched };
        let frames = self.drafts.into_iter().zip(base.last + 1..).map(|(draft, seq)| draft.number(session, seq)).collect();
        Ok(Change { session, frames, end, horizon, deleted: false, listed: self.listed })
    }
}

#[cfg(test)]
mod tests {
    use domain::event::{CopilotDelta, Event, Notice};
    use uuid::Uuid;

    use super::*;
    use crate::{NewSession, open};

    const SESSION: SessionId = SessionId(Uuid::from_u128(1));

    fn updated_at(conn: &Connection) -> String {
        conn.query_row("SELECT updated_at FROM sessions", [], |row| row.get(0)).unwrap()
    }

    /// Writes it so many seconds after the beginning, and says whether the session is noted to be active.
    fn touches(conn: &Connection, ends: &mut HashMap<SessionId, End>, write: &Write, at: Instant) -> bool {
        let before = updated_at(conn);
        let batch = fill(conn, ends, &[write], at).unwrap();
        ends.insert(SESSION, batch.changes[0].end);
        updated_at(conn) != before
    }

    #[tokio::test]
    async fn a_session_that_only_streams_is_noted_to_be_active_now_and_then() {
        let dir = tempfile::tempdir().unwrap();
        let conn = open::open(&dir.path().join("log.db"), false, open::MIGRATIONS).await.unwrap().conn;
        let new = NewSession {
            title: "t".into(),
            work_dir: "/w".into(),
            model: "relay".into(),
            agent: "demo".into(),
            permission_policy: None,
            created_at: Timestamp::UNIX_EPOCH,
        };
        let create = Write { session: SESSION, events: vec![], rows: vec![Row::CreateSession(new)] };
        let (began, mut ends) = (Instant::now(), HashMap::new());
        fill(&conn, &ends, &[&create], began).unwrap();
        let (tool_call_id, session_name, content) = ("c".to_owned(), "n".to_owned(), "x".to_owned());
        let piece = Event::CopilotDelta(CopilotDelta { tool_call_id, session_name, offset: 0, content });
        let piece = Write { session: SESSION, events: vec![piece], rows: vec![] };
        let said = Notice { code: "c".into(), level: "info".into(), title: "t".into(), text: "x".into(), session_name: None };
        let notice = Write { session: SESSION, events: vec![Event::Notice(said)], rows: vec![] };
        let steps = [
            (&piece, 0, true),
            (&piece, 1, false),
            (&piece, 9, false),
            (&piece, 10, true),
            (&piece, 19, false),
            (&notice, 19, true),
            (&piece, 28, false),
            (&piece, 29, true),
        ];
        for (write, second, expected) in steps {
            let at = began + Duration::from_secs(second);
            assert_eq!(touches(&conn, &mut ends, write, at), expected, "at second {second}");
        }
    }
}
