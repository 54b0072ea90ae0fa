//! The connection that writes, with what is known of the logs it writes to. Whoever holds it is the writer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::ids::SessionId;
use jiff::Timestamp;
use rusqlite::Connection;

use super::batch::{self, Batch};
use super::checkpointer::Bell;
use super::crowd::Crowd;
use super::{EVENTS_MOST, Job, Readers, Reply};
use crate::Result;
use crate::connect::{Access, BUSY};
use crate::counts::Tally;
use crate::error::StoreError;
use crate::row::{Committed, Row, ServerRow, Write};
use crate::statement;
use crate::table::{self, event};
use crate::wal::{self, Emptying, Growth};

/// How many events are dropped at a time: whoever writes waits no longer than that takes.
const DROPPED_AT_ONCE: u64 = 2000;
/// How many ends of logs are remembered; they are read again when needed.
const REMEMBERED: usize = 10_000;

/// What is remembered of a session.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// The end of its log.
    pub last: u64,
    /// When it was last noted that it is active.
    pub touched: Option<Instant>,
}

pub(super) struct Pen {
    access: Access,
    /// `None` after a failure that has left it in the middle of a transaction.
    conn: Option<Connection>,
    readers: Readers,
    ends: HashMap<SessionId, End>,
    crowd: Crowd,
    checkpoints: Arc<Bell>,
    tally: Arc<Tally>,
    pub log: Growth,
    pub wrote_at: Instant,
    /// The write-ahead log holds something that was deleted.
    pub has_deleted: bool,
    /// It is too long, and to be emptied whether or not the moment is a quiet one.
    pub is_overdue: bool,
    stopped: bool,
}

impl Pen {
    pub(super) fn new(access: Access, conn: Connection, readers: Readers, checkpoints: Arc<Bell>, tally: Arc<Tally>) -> Pen {
        Pen {
            access,
            conn: Some(conn),
            readers,
            ends: HashMap::new(),
            crowd: Crowd::default(),
            checkpoints,
            tally,
            log: Growth::default(),
            wrote_at: Instant::now(),
            has_deleted: false,
            is_overdue: false,
            stopped: false,
        }
    }

    /// The write-ahead log holds more than it should.
    pub(super) fn is_log_too_long(&self) -> bool {
        self.log.bytes() > u64::from(self.access.log_bytes_most)
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.crowd.is_there()
    }

    /// Writes the jobs together; where that fails, one by one, so that a bad one harms no other.
    pub(super) fn write(&mut self, jobs: Vec<Job>, replies: &mut Vec<Reply>) {
        if jobs.len() > 1 {
            let writes: Vec<&Write> = jobs.iter().map(|job| &*job.write).collect();
            match self.transact(&writes, BUSY) {
                Ok(batch) => {
                    let answers = self.publish(batch);
                    return replies.extend(jobs.into_iter().zip(answers).map(|(job, answer)| Reply::Written(job.done, answer)));
                }
                Err(error) => tracing::debug!(%error, writes = jobs.len(), "a group of writes failed, trying them one by one"),
            }
        }
        for Job { write, done } in jobs {
            let answer = self.write_alone(&write, BUSY);
            if let Err(error) = &answer {
                let session = write.session;
                tracing::error!(%session, %error, source = ?std::error::Error::source(error), "a write was not stored");
            }
            replies.push(Reply::Written(done, answer));
        }
    }

    fn write_alone(&mut self, write: &Write, patience: Duration) -> Result<Committed> {
        let batch = self.transact(&[write], patience)?;
        self.publish(batch).pop().unwrap_or(Err(StoreError::Closed))
    }

    /// Waits for nobody. `None` where it cannot be written like that.
    pub(super) fn write_piece(&mut self, write: &Write) -> Option<Result<Committed>> {
        if self.stopped {
            return Some(Err(StoreError::Closed));
        }
        self.conn.as_ref()?;
        let written = self.write_alone(write, Duration::ZERO).ok()?;
        self.tally.committed_in_place();
        Some(Ok(written))
    }

    /// Runs one transaction. The connection is kept only if it is outside of it afterwards.
    fn transaction<T>(&mut self, patience: Duration, write: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let conn = self.connection()?;
        conn.busy_timeout(patience)?;
        let written = statement::transaction(conn, write);
        if !conn.is_autocommit() {
            self.conn = None;
        }
        self.wrote_at = Instant::now();
        self.tally.spent(statement::spent());
        if written.is_ok() {
            self.tally.committed(self.wrote_at.duration_since(began));
        }
        if let Some(frames) = wal::frames()
            && self.log.grown(frames)
        {
            self.checkpoints.ring();
            self.is_overdue |= self.is_log_too_long();
        }
        written
    }

    /// The connection, made anew where it was lost.
    fn connection(&mut self) -> Result<&Connection> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.access.writer()?,
        };
        Ok(self.conn.insert(conn))
    }

    fn transact(&mut self, writes: &[&Write], patience: Duration) -> Result<Batch> {
        let began = Instant::now();
        let ends = std::mem::take(&mut self.ends);
        let filled = self.transaction(patience, |conn| batch::fill(conn, &ends, writes, began));
        self.ends = ends;
        let batch = filled?;
        self.tally.wrote(writes.len(), batch.changes.iter().map(|change| change.frames.len()).sum());
        if let Some(first) = batch.changes.first() {
            self.crowd.committed(first.session, batch.changes.len(), self.wrote_at);
        }
        Ok(batch)
    }

    /// All of the rows or none.
    pub(super) fn save(&mut self, rows: &[ServerRow]) -> Result<()> {
        self.transaction(BUSY, |conn| rows.iter().try_for_each(|row| table::apply_server(conn, row)))
    }

    /// The transaction is committed: now, and only now, it may be seen. Gives the answers.
    fn publish(&mut self, batch: Batch) -> Vec<Result<Committed>> {
        if self.ends.len() > REMEMBERED {
            self.ends.clear();
        }
        let mut listed = Vec::new();
        for change in batch.changes {
            let session = change.session;
            if change.listed {
                listed.push(session);
            }
            if change.deleted {
                self.ends.remove(&session);
                self.readers.tails.delete(session);
                self.has_deleted = true;
                continue;
            }
            self.ends.insert(session, change.end);
            if !change.frames.is_empty() {
                self.readers.tails.publish(session, change.frames, change.end.last);
            }
            if let Some(horizon) = change.horizon {
                self.readers.tails.cut(session, horizon);
            }
        }
        listed.into_iter().for_each(|session| self.readers.board.changed(session));
        batch.answers
    }

    pub(super) fn compact(&mut self, id: SessionId, older_than: Timestamp) -> Result<bool> {
        let droppable = event::droppable(self.connection()?, id, older_than, EVENTS_MOST)?;
        let Some((horizon, target)) = droppable else { return Ok(false) };
        let next = target.min(horizon + DROPPED_AT_ONCE);
        let write = Write { session: id, events: Vec::new(), rows: vec![Row::Horizon(next)] };
        self.write_alone(&write, BUSY)?;
        Ok(next < target)
    }

    /// Says whether the write-ahead log is empty now; somebody who reads may be in the way.
    pub(super) fn empty_log(&mut self, how: Emptying, patience: Duration) -> bool {
        let emptied = self.connection().and_then(|conn| Ok(wal::empty(conn, how, patience)?));
        if let Err(error) = &emptied {
            self.conn = None;
            tracing::warn!(%error, "the write-ahead log could not be emptied; trying again");
        }
        let emptied = emptied.unwrap_or(false);
        if emptied {
            self.log.emptied();
        }
        emptied
    }

    pub(super) fn sweep(&self) {
        self.readers.tails.sweep();
    }

    /// Nothing is written any more.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Brings the file into one piece and closes it.
    pub(super) fn put_down(&mut self) {
        self.stopped = true;
        let Some(conn) = self.conn.take() else { return };
        if let Err(error) = wal::empty(&conn, Emptying::Away, BUSY) {
            tracing::warn!(%error, "the database was not checkpointed");
        }
        if let Err((_, error)) = conn.close() {
            tracing::warn!(%error, "the database was not closed cleanly");
        }
    }
}
