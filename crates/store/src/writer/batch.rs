//! What goes into one transaction, and what it changed once it is committed.

use std::collections::HashMap;
use std::sync::Arc;

use domain::ids::SessionId;
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::Job;
use crate::error::StoreError;
use crate::frame::{Assembly, Frame};
use crate::row::{Committed, Row};
use crate::table::column::{number, time};
use crate::table::{self, Place, event};

pub(super) struct Batch {
    pub changes: Vec<Change>,
    /// One for each job, in their order.
    pub answers: Vec<Result<Committed, StoreError>>,
}

/// What a commit did to one session.
pub(super) struct Change {
    pub session: SessionId,
    pub frames: Vec<Frame>,
    pub last: u64,
    pub horizon: Option<u64>,
    pub deleted: bool,
    /// Its row in the list is another one.
    pub listed: bool,
}

/// A session while its part of the transaction is put together.
struct Part {
    session: SessionId,
    /// Where its log ended before.
    base: u64,
    assembly: Assembly,
    /// Only the last position of a runner's cursor counts, so it is written once, however many events moved it.
    cursors: Vec<(String, u64)>,
    deleted: bool,
    horizon: bool,
    listed: bool,
}

/// An error here is of the whole transaction; a write for an unknown session only spoils its own answer.
pub(super) async fn fill(conn: &mut SqliteConnection, ends: &HashMap<SessionId, u64>, jobs: &[Job]) -> Result<Batch, StoreError> {
    let now = Timestamp::now();
    let mut parts: Vec<Part> = Vec::new();
    let mut by_session: HashMap<SessionId, usize> = HashMap::new();
    let mut owners = Vec::with_capacity(jobs.len());
    for job in jobs {
        let session = job.write.session;
        let index = match by_session.get(&session) {
            Some(index) => *index,
            None => {
                let Some(base) = end_of_log(conn, ends, job).await? else {
                    owners.push(None);
                    continue;
                };
                parts.push(Part::new(session, base));
                by_session.insert(session, parts.len() - 1);
                parts.len() - 1
            }
        };
        parts[index].take(conn, job, now).await?;
        owners.push(Some(index));
    }
    let mut changes = Vec::with_capacity(parts.len());
    for part in parts {
        changes.push(part.store(conn, now).await?);
    }
    let answers = jobs.iter().zip(owners).map(|(job, owner)| match owner {
        Some(index) => Ok(Committed { last_seq: changes[index].last }),
        None => Err(StoreError::NoSession(job.write.session)),
    });
    Ok(Batch { answers: answers.collect(), changes })
}

/// `None` where there is no such session and the job does not create it.
async fn end_of_log(conn: &mut SqliteConnection, ends: &HashMap<SessionId, u64>, job: &Job) -> Result<Option<u64>, StoreError> {
    let session = job.write.session;
    if let Some(end) = ends.get(&session) {
        return Ok(Some(*end));
    }
    if let Some((last, _)) = event::bounds(conn, session).await? {
        return Ok(Some(last));
    }
    Ok(job.write.rows.iter().any(|row| matches!(row, Row::CreateSession(_))).then_some(0))
}

impl Part {
    fn new(session: SessionId, base: u64) -> Part {
        Part { session, base, assembly: Assembly::default(), cursors: Vec::new(), deleted: false, horizon: false, listed: false }
    }

    async fn take(&mut self, conn: &mut SqliteConnection, job: &Job, now: Timestamp) -> Result<(), StoreError> {
        let rows = &job.write.rows;
        let first_seq = if rows.iter().any(Row::keeps_place) { self.base + self.assembly.flush() as u64 + 1 } else { 0 };
        let place = Place { session: self.session, first_seq, now };
        self.listed |= rows.iter().any(Row::is_listed);
        for row in rows {
            match row {
                Row::RunnerCursor { id, cursor } => {
                    self.move_cursor(id, *cursor);
                    continue;
                }
                Row::Runner(_) | Row::RemoveRunner { .. } => self.store_cursors(conn, now).await?,
                Row::DeleteSession => self.deleted = true,
                Row::Horizon(_) => self.horizon = true,
                _ => {}
            }
            table::apply(conn, place, row).await?;
        }
        for event in &job.write.events {
            self.assembly.push(event);
        }
        Ok(())
    }

    fn move_cursor(&mut self, id: &str, cursor: u64) {
        match self.cursors.iter_mut().find(|(known, _)| known == id) {
            Some((_, known)) => *known = cursor,
            None => self.cursors.push((id.to_owned(), cursor)),
        }
    }

    async fn store_cursors(&mut self, conn: &mut SqliteConnection, now: Timestamp) -> Result<(), StoreError> {
        let place = Place { session: self.session, first_seq: 0, now };
        for (id, cursor) in self.cursors.drain(..) {
            table::apply(conn, place, &Row::RunnerCursor { id, cursor }).await?;
        }
        Ok(())
    }

    async fn store(mut self, conn: &mut SqliteConnection, now: Timestamp) -> Result<Change, StoreError> {
        let session = self.session;
        if self.deleted {
            return Ok(Change { session, frames: Vec::new(), last: self.base, horizon: None, deleted: true, listed: true });
        }
        self.store_cursors(conn, now).await?;
        let drafts = self.assembly.finish();
        let last = self.base + drafts.len() as u64;
        if !drafts.is_empty() {
            let id: Arc<str> = session.to_string().into();
            event::insert(conn, &id, self.base, &drafts).await?;
            sqlx::query("UPDATE sessions SET last_seq = $2, updated_at = $3 WHERE id = $1")
                .bind(id)
                .bind(number(last))
                .bind(time(now))
                .execute(&mut *conn)
                .await?;
        }
        let horizon = match self.horizon {
            true => event::bounds(conn, session).await?.map(|(_, horizon)| horizon),
            false => None,
        };
        let frames = drafts.into_iter().zip(self.base + 1..).map(|(draft, seq)| draft.number(session, seq)).collect();
        Ok(Change { session, frames, last, horizon, deleted: false, listed: self.listed })
    }
}
