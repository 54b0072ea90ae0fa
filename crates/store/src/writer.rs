//! The one writer. It takes what has arrived, writes it in one transaction, commits, shows it to the readers, and then answers.
//!
//! It owns the only connection that may write. Whoever waits for a write is answered after the readers could see it, and a write
//! that was not stored is never passed over: its sender is told, and no other write is concerned.

mod batch;
mod piece;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use domain::ids::SessionId;
use jiff::Timestamp;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row as _, SqliteConnection};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::board::Board;
use crate::error::StoreError;
use crate::open::BUSY;
use crate::row::{Committed, Row, ServerRow, Write};
use crate::table::{self, event};
use crate::tail::Tails;
use batch::Batch;
use piece::Piece;

/// How many writes may wait; beyond that, callers wait before they can hand over.
pub(crate) const QUEUE: usize = 4096;
/// How many writes share a transaction.
const GROUP: usize = 1024;
const SWEEP: Duration = Duration::from_secs(30);
/// A session keeps its latest events up to this many, and more only where they are of one turn.
pub(crate) const EVENTS_MOST: u64 = 100_000;
/// How many events are dropped at a time: whoever writes waits no longer than that takes.
const DROPPED_AT_ONCE: u64 = 2000;
/// How long the write-ahead log waits for those who read it to be done, and how soon that is tried again.
const ERASE_PATIENCE_MS: u32 = 20;
const ERASE_AGAIN: Duration = Duration::from_millis(250);
/// How many ends of logs are remembered; they are read again when needed.
const REMEMBERED: usize = 10_000;

type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

pub(crate) enum Command {
    Write(Job),
    Save {
        rows: Vec<ServerRow>,
        done: Answer<()>,
    },
    /// Drops some of the events that nobody needs any more, and says whether there are more of them.
    Compact {
        session: SessionId,
        older_than: Timestamp,
        done: Answer<bool>,
    },
    /// What was deleted shall not stay in the write-ahead log either.
    Erase,
    Close,
}

pub(crate) struct Job {
    pub write: Arc<Write>,
    pub done: Answer<Committed>,
}

/// Those who see what is committed.
pub(crate) struct Readers {
    pub tails: Arc<Tails>,
    pub board: Arc<Board>,
}

pub(crate) struct Writer {
    commands: mpsc::Receiver<Command>,
    options: SqliteConnectOptions,
    /// `None` after a failure that may have left it in the middle of a transaction.
    conn: Option<SqliteConnection>,
    readers: Readers,
    ends: HashMap<SessionId, u64>,
    swept: Instant,
    /// When the write-ahead log, which holds something that was deleted, is to be emptied.
    erase_at: Option<Instant>,
    /// Held as long as this task may write.
    _lock: Arc<File>,
}

impl Writer {
    pub(crate) fn new(
        commands: mpsc::Receiver<Command>,
        options: SqliteConnectOptions,
        conn: SqliteConnection,
        readers: Readers,
        lock: Arc<File>,
    ) -> Writer {
        Writer { commands, options, conn: Some(conn), readers, ends: HashMap::new(), swept: Instant::now(), erase_at: None, _lock: lock }
    }

    /// Runs until it is told to close or nobody can send any more, and everything that was sent is written. Gives the connection back.
    pub(crate) async fn run(mut self) -> Option<SqliteConnection> {
        let mut inbox = Vec::with_capacity(GROUP);
        loop {
            let wake = self.erase_at.unwrap_or_else(|| Instant::now() + SWEEP);
            match tokio::time::timeout_at(wake, self.commands.recv_many(&mut inbox, GROUP)).await {
                Ok(0) => break,
                Ok(_) => self.handle(&mut inbox).await,
                Err(_) => {}
            }
            if self.erase_at.is_some_and(|at| at <= Instant::now()) {
                self.erase_at = (!self.erase().await).then(|| Instant::now() + ERASE_AGAIN);
            }
            if self.swept.elapsed() >= SWEEP {
                self.readers.tails.sweep();
                self.swept = Instant::now();
            }
            if self.ends.len() > REMEMBERED {
                self.ends.clear();
            }
        }
        self.conn
    }

    async fn handle(&mut self, inbox: &mut Vec<Command>) {
        let mut jobs = Vec::with_capacity(inbox.len());
        for command in inbox.drain(..) {
            match command {
                Command::Write(job) if !job.write.rows.iter().any(Row::is_exclusive) => jobs.push(job),
                command => {
                    self.write(std::mem::take(&mut jobs)).await;
                    self.handle_alone(command).await;
                }
            }
        }
        self.write(jobs).await;
    }

    async fn handle_alone(&mut self, command: Command) {
        match command {
            Command::Write(job) => self.write(vec![job]).await,
            Command::Save { rows, done } => {
                let saved = self.save(&rows).await;
                if let Err(error) = &saved {
                    tracing::error!(%error, source = ?std::error::Error::source(error), "a change of the server's own was not stored");
                }
                let _ = done.send(saved);
            }
            Command::Compact { session, older_than, done } => {
                let _ = done.send(self.compact(session, older_than).await);
            }
            Command::Erase => self.erase_at = Some(Instant::now()),
            Command::Close => self.commands.close(),
        }
    }

    /// Writes the jobs together; where that fails, one by one, so that a bad one harms no other.
    async fn write(&mut self, jobs: Vec<Job>) {
        if let [job] = jobs.as_slice()
            && let Some(batch) = self.transact_piece(job).await
        {
            return self.publish(batch, jobs);
        }
        if jobs.len() > 1 {
            match self.transact(&jobs).await {
                Ok(batch) => return self.publish(batch, jobs),
                Err(error) => tracing::debug!(%error, writes = jobs.len(), "a group of writes failed, trying them one by one"),
            }
        }
        for job in jobs {
            match self.transact(std::slice::from_ref(&job)).await {
                Ok(batch) => self.publish(batch, vec![job]),
                Err(error) => {
                    let session = job.write.session;
                    tracing::error!(%session, %error, source = ?std::error::Error::source(&error), "a write was not stored");
                    let _ = job.done.send(Err(error));
                }
            }
        }
    }

    /// Takes the connection, or makes a new one.
    async fn connection(&mut self) -> Result<SqliteConnection, StoreError> {
        match self.conn.take() {
            Some(conn) => Ok(conn),
            None => Ok(self.options.connect().await?),
        }
    }

    /// The connection is put back only if it is known to be outside of a transaction: after some failures the database has rolled
    /// back by itself, which sqlx does not know.
    async fn transact(&mut self, jobs: &[Job]) -> Result<Batch, StoreError> {
        let mut conn = self.connection().await?;
        let mut tx = conn.begin_with("BEGIN IMMEDIATE").await?;
        match batch::fill(&mut tx, &self.ends, jobs).await {
            Ok(batch) => {
                tx.commit().await?;
                self.conn = Some(conn);
                Ok(batch)
            }
            Err(error) => {
                if tx.rollback().await.is_ok() {
                    self.conn = Some(conn);
                }
                Err(error)
            }
        }
    }

    /// The connection is put back as [`Writer::transact`] does.
    async fn save(&mut self, rows: &[ServerRow]) -> Result<(), StoreError> {
        let mut conn = self.connection().await?;
        let mut tx = conn.begin_with("BEGIN IMMEDIATE").await?;
        let mut applied = Ok(());
        for row in rows {
            applied = table::apply_server(&mut tx, row).await;
            if applied.is_err() {
                break;
            }
        }
        match applied {
            Ok(()) => tx.commit().await?,
            Err(error) => {
                if tx.rollback().await.is_ok() {
                    self.conn = Some(conn);
                }
                return Err(error);
            }
        }
        self.conn = Some(conn);
        Ok(())
    }

    /// `None` where the general way has to be taken, be it to learn what is wrong.
    async fn transact_piece(&mut self, job: &Job) -> Option<Batch> {
        let base = *self.ends.get(&job.write.session)?;
        let piece = Piece::of(job)?;
        let mut conn = self.conn.take()?;
        let stored = piece.store(&mut conn, base).await.ok()?;
        self.conn = Some(conn);
        stored
    }

    /// The transaction is committed: now, and only now, it may be seen.
    fn publish(&mut self, batch: Batch, jobs: Vec<Job>) {
        let mut listed = Vec::new();
        for change in batch.changes {
            let session = change.session;
            if change.listed {
                listed.push(session);
            }
            if change.deleted {
                self.ends.remove(&session);
                self.readers.tails.delete(session);
                self.erase_at = Some(Instant::now());
                continue;
            }
            self.ends.insert(session, change.last);
            if !change.frames.is_empty() {
                self.readers.tails.publish(session, change.frames, change.last);
            }
            if let Some(horizon) = change.horizon {
                self.readers.tails.cut(session, horizon);
            }
        }
        listed.into_iter().for_each(|session| self.readers.board.changed(session));
        for (job, answer) in jobs.into_iter().zip(batch.answers) {
            let _ = job.done.send(answer);
        }
    }

    async fn compact(&mut self, id: SessionId, older_than: Timestamp) -> Result<bool, StoreError> {
        let mut conn = self.connection().await?;
        let droppable = event::droppable(&mut conn, id, older_than, EVENTS_MOST).await;
        self.conn = Some(conn);
        let Some((horizon, target)) = droppable? else { return Ok(false) };
        let next = target.min(horizon + DROPPED_AT_ONCE);
        let write = Write { session: id, events: Vec::new(), rows: vec![Row::Horizon(next)] };
        let (done, answer) = oneshot::channel();
        self.write(vec![Job { write: Arc::new(write), done }]).await;
        answer.await.map_err(|_| StoreError::Closed)??;
        Ok(next < target)
    }

    /// Brings the write-ahead log into the file and empties it. Says whether that was done; somebody who reads may be in the way.
    async fn erase(&mut self) -> bool {
        let Ok(mut conn) = self.connection().await else { return false };
        let emptied = empty_log(&mut conn).await;
        match emptied {
            Ok(emptied) => {
                self.conn = Some(conn);
                emptied
            }
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log could not be emptied; trying again");
                false
            }
        }
    }
}

async fn empty_log(conn: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let patience = |ms: u128| AssertSqlSafe(format!("PRAGMA busy_timeout = {ms}"));
    sqlx::query(patience(ERASE_PATIENCE_MS.into())).execute(&mut *conn).await?;
    let row = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *conn).await?;
    sqlx::query(patience(BUSY.as_millis())).execute(conn).await?;
    Ok(row.try_get::<i64, _>(0)? == 0)
}
