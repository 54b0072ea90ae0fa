//! The event log and the tables beside it: one SQLite file, one writer that commits in groups, readers that are cursors.
//!
//! The promise: an event is durable before anyone can see it, numbers are dense in each session, and a write that was not stored
//! is never passed over in silence. This crate alone names the database; it knows nothing of HTTP, agents or models.

mod column;
mod error;
mod feed;
mod frame;
mod open;
mod read;
mod row;
mod tail;
mod writer;

use std::collections::HashMap;
use std::fs::File;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use domain::event::{Message, PermissionRequest, QueueItem};
use domain::ids::{ArtifactId, AttachmentId, MessageId, SessionId, TurnId};
use jiff::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{Connection, Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::{OnceCell, mpsc, oneshot};
use tokio::task::JoinSet;

pub use error::{FeedError, OpenError, StoreError};
pub use feed::{Batch, Feed};
pub use frame::Frame;
use open::Opened;
pub use open::in_use;
pub use row::{
    AgentSessionRow, ArtifactRow, AttachmentRow, Committed, NewSession, Page, PermissionRow, RequestRow, Row, RuleRow, RunnerRow,
    RunningTurn, SessionCursor, SessionRow, Snapshot, TurnRow, Write,
};
use tail::Tails;
use writer::{Command, Job, Writer};

type Result<T> = std::result::Result<T, StoreError>;

const READERS: u32 = 4;

/// The store. A clone is another handle to the same one.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    commands: mpsc::Sender<Command>,
    pool: SqlitePool,
    tails: Arc<Tails>,
    /// The writer's task; taken when the store closes. A store that is dropped instead takes it along, as a crash would.
    writer: Mutex<JoinSet<Option<SqliteConnection>>>,
    lock: Mutex<Option<Arc<File>>>,
    closed: OnceCell<()>,
}

/// The outcome of a submitted write, once it is known. Need not be awaited: what was not stored fences the session.
#[must_use = "a submitted write may fail; await it, or rely on the fence and say so"]
pub struct Pending {
    answer: oneshot::Receiver<Result<Committed>>,
}

impl Future for Pending {
    type Output = Result<Committed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.answer).poll(cx).map(|answer| answer.unwrap_or(Err(StoreError::Closed)))
    }
}

impl Store {
    /// Opens or makes the database, migrating an older one after a copy of it was made. `durability_disk` makes every commit survive
    /// a power loss, not only a kill.
    pub async fn open(path: &Path, durability_disk: bool) -> std::result::Result<Store, OpenError> {
        Ok(Store::start(open::open(path, durability_disk, open::MIGRATIONS).await?))
    }

    fn start(opened: Opened) -> Store {
        let pool = SqlitePoolOptions::new().max_connections(READERS).test_before_acquire(false).connect_lazy_with(opened.reading);
        let (commands, inbox) = mpsc::channel(writer::QUEUE);
        let tails = Arc::new(Tails::default());
        let lock = Arc::new(opened.lock);
        let mut task = JoinSet::new();
        task.spawn(Writer::new(inbox, opened.writing, opened.conn, Arc::clone(&tails), Arc::clone(&lock)).run());
        let inner = Inner { commands, pool, tails, writer: Mutex::new(task), lock: Mutex::new(Some(lock)), closed: OnceCell::new() };
        Store { inner: Arc::new(inner) }
    }

    /// Writes everything that was handed over, ends the feeds, brings the file into one piece and lets go of it.
    pub async fn close(&self) {
        self.inner.closed.get_or_init(|| self.shut()).await;
    }

    async fn shut(&self) {
        let inner = &self.inner;
        let _ = inner.commands.send(Command::Close).await;
        let mut task = std::mem::take(&mut *inner.writer.lock().unwrap_or_else(PoisonError::into_inner));
        let conn = task.join_next().await.and_then(|ended| ended.ok().flatten());
        inner.tails.close();
        inner.pool.close().await;
        if let Some(mut conn) = conn {
            if let Err(error) = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await {
                tracing::warn!(%error, "the database was not checkpointed");
            }
            if let Err(error) = conn.close().await {
                tracing::warn!(%error, "the database was not closed cleanly");
            }
        }
        inner.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Durable, and visible to readers, when it returns. A failure is the caller's to act on and concerns no other write; one who
    /// means to try again keeps a share of the write.
    pub async fn commit(&self, write: impl Into<Arc<Write>>) -> Result<Committed> {
        self.send(write.into(), false).await?.await
    }

    /// Hands over and goes on; stored in the order in which one caller handed over, `commit` included. If it fails, the session
    /// takes no further write until [`Store::mend`], except its deletion: what was sent behind it would leave a hole in the log.
    pub async fn submit(&self, write: impl Into<Arc<Write>>) -> Result<Pending> {
        self.send(write.into(), true).await
    }

    async fn send(&self, write: Arc<Write>, submitted: bool) -> Result<Pending> {
        let (done, answer) = oneshot::channel();
        self.inner.commands.send(Command::Write(Job { write, submitted, done })).await.map_err(|_| StoreError::Closed)?;
        Ok(Pending { answer })
    }

    /// The owner of a session has noticed that a write failed and starts again from what is stored: takes the fence away.
    /// Everything handed over before this call has its answer when it returns.
    pub async fn mend(&self, session: SessionId) -> Result<()> {
        self.ask(|done| Command::Mend { session, done }).await
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<Result<T>>) -> Command) -> Result<T> {
        let (done, answer) = oneshot::channel();
        self.inner.commands.send(command(done)).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Drops the events of sessions that have been quiet since then and in which no turn runs; messages stay. Says how many sessions
    /// it concerned.
    pub async fn compact(&self, older_than: Timestamp) -> Result<u64> {
        let sessions = read::session::compactable(&mut *self.reader().await?, older_than).await?;
        let mut compacted = 0;
        for session in sessions {
            compacted += u64::from(self.ask(|done| Command::Compact { session, older_than, done }).await?);
        }
        Ok(compacted)
    }

    pub async fn set_setting(&self, key: &str, value: &str) -> Result<()> {
        self.ask(|done| Command::Setting { key: key.to_owned(), value: value.to_owned(), done }).await
    }

    pub async fn setting(&self, key: &str) -> Result<Option<String>> {
        Ok(read::session::setting(&mut *self.reader().await?, key).await?)
    }

    /// Live reading from any cursor.
    pub fn feed(&self, id: SessionId) -> Feed {
        Feed::new(id, self.inner.tails.tail(id), self.inner.pool.clone())
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>> {
        Ok(self.inner.pool.acquire().await?)
    }

    /// Newest activity first.
    pub async fn sessions(&self, before: Option<SessionCursor>, limit: u32) -> Result<Vec<SessionRow>> {
        Ok(read::session::list(&mut *self.reader().await?, before, limit).await?)
    }

    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRow>> {
        Ok(read::session::one(&mut *self.reader().await?, id).await?)
    }

    /// The latest messages before the given one, or the latest of all.
    pub async fn messages(&self, id: SessionId, before: Option<MessageId>, limit: u32) -> Result<Page> {
        Ok(read::message::page(&mut *self.reader().await?, id, before, limit).await?)
    }

    /// The whole conversation as a model needs it, oldest first: without `display`.
    pub async fn history(&self, id: SessionId) -> Result<Vec<Message>> {
        Ok(read::message::all(&mut *self.reader().await?, id).await?)
    }

    /// The ids of all tool calls of the session that have a result.
    pub async fn tool_call_ids(&self, id: SessionId) -> Result<Vec<String>> {
        Ok(read::message::tool_call_ids(&mut *self.reader().await?, id).await?)
    }

    pub async fn message(&self, session: SessionId, id: MessageId) -> Result<Option<Message>> {
        Ok(read::message::one(&mut *self.reader().await?, session, id).await?)
    }

    /// What was answered when a message with this client-made id first came: its id, its turn, and whether it was queued then.
    pub async fn message_by_client_id(&self, session: SessionId, client_id: &str) -> Result<Option<(MessageId, TurnId, bool)>> {
        Ok(read::message::receipt(&mut *self.reader().await?, session, client_id).await?)
    }

    pub async fn events(&self, id: SessionId, after: u64, limit: u32) -> Result<Vec<Frame>> {
        Ok(read::log::frames(&mut *self.reader().await?, id, after, limit as usize, usize::MAX).await?)
    }

    /// Everything of one moment: the state after event `seq`, so that a feed from `seq` on neither misses nor repeats anything.
    pub async fn snapshot(&self, id: SessionId, message_limit: u32) -> Result<Option<Snapshot>> {
        let mut tx = self.inner.pool.begin().await?;
        let snapshot = read::snapshot(&mut tx, id, message_limit).await?;
        tx.commit().await?;
        Ok(snapshot)
    }

    pub async fn queue(&self, id: SessionId) -> Result<Vec<QueueItem>> {
        Ok(read::work::queue(&mut *self.reader().await?, id).await?)
    }

    /// The turns that were running when the server stopped.
    pub async fn open_turns(&self) -> Result<Vec<(SessionId, TurnRow)>> {
        Ok(read::work::running_turns(&mut *self.reader().await?).await?)
    }

    /// The sessions in which messages wait.
    pub async fn queued_sessions(&self) -> Result<Vec<SessionId>> {
        Ok(read::work::queued_sessions(&mut *self.reader().await?).await?)
    }

    /// What the agent of a runner has asked of its client and is still owed.
    pub async fn requests(&self, id: SessionId, runner: &str) -> Result<Vec<RequestRow>> {
        Ok(read::work::requests(&mut *self.reader().await?, id, runner).await?)
    }

    /// The permissions that wait for an answer, with what is needed to give it.
    pub async fn permissions(&self, id: SessionId) -> Result<Vec<PermissionRow>> {
        Ok(read::permission::open(&mut *self.reader().await?, id).await?)
    }

    /// The answers that were given to the agent of a runner: its request id and the option, none for "cancelled".
    pub async fn answers(&self, id: SessionId, runner: &str) -> Result<Vec<(String, Option<String>)>> {
        Ok(read::permission::answers(&mut *self.reader().await?, id, runner).await?)
    }

    /// Everything that the agent of a runner asked, answered or not.
    pub async fn asked(&self, id: SessionId, runner: &str) -> Result<Vec<PermissionRequest>> {
        Ok(read::permission::asked(&mut *self.reader().await?, id, runner).await?)
    }

    /// The remembered answers of all sessions and work directories, oldest first.
    pub async fn rules(&self) -> Result<Vec<RuleRow>> {
        Ok(read::permission::rules(&mut *self.reader().await?).await?)
    }

    pub async fn agent_sessions(&self, id: SessionId) -> Result<Vec<AgentSessionRow>> {
        Ok(read::work::agent_sessions(&mut *self.reader().await?, id).await?)
    }

    /// Which of the agent's sessions belong to which of ours.
    pub async fn agent_session_owners(&self, agent: &str) -> Result<HashMap<String, SessionId>> {
        Ok(read::work::agent_session_owners(&mut *self.reader().await?, agent).await?)
    }

    pub async fn attachment(&self, session: SessionId, id: AttachmentId) -> Result<Option<AttachmentRow>> {
        Ok(read::attachment::one(&mut *self.reader().await?, session, id).await?)
    }

    /// What was sent along with the message that began the turn, in the order given.
    pub async fn turn_attachments(&self, session: SessionId, turn: TurnId) -> Result<Vec<AttachmentRow>> {
        Ok(read::attachment::of_turn(&mut *self.reader().await?, session, turn).await?)
    }

    pub async fn artifact(&self, id: ArtifactId) -> Result<Option<ArtifactRow>> {
        Ok(read::work::artifact(&mut *self.reader().await?, id).await?)
    }

    pub async fn runners(&self) -> Result<Vec<RunnerRow>> {
        Ok(read::work::runners(&mut *self.reader().await?).await?)
    }

    /// The runners of one session.
    pub async fn runner(&self, session: SessionId) -> Result<Vec<RunnerRow>> {
        Ok(read::work::session_runners(&mut *self.reader().await?, session).await?)
    }
}
