//! The event log and the tables beside it: one SQLite file, one writer that commits in groups, readers that are cursors.
//!
//! The promise: an event is durable before anyone can see it, numbers are dense in each session, and a write that was not stored
//! is never passed over in silence. This crate alone names the database; it knows nothing of HTTP, agents or models.

mod board;
mod copies;
mod error;
mod feed;
mod frame;
mod look;
mod moving;
mod open;
mod retention;
mod row;
mod search;
mod snapshot;
mod table;
mod tail;
mod unreadable;
mod writer;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use domain::event::{Message, PermissionRequest, QueueItem, ToolCall};
use domain::host::AgentSession;
use domain::ids::{ArtifactId, AttachmentId, MessageId, SessionId, TurnId};
use domain::review::{Comment, Viewed};
use serde_json::Value;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{Connection, Sqlite, SqliteConnection, SqlitePool};
use tokio::sync::{OnceCell, mpsc, oneshot};
use tokio::task::JoinSet;

use board::Board;
pub use board::ListFeed;
pub use error::{FeedError, OpenError, StoreError};
pub use feed::{Batch, Feed};
pub use frame::Frame;
pub use look::{Look, agent_sessions_of, look};
pub use moving::{Restore, back_up, vacuum};
use open::Opened;
pub use open::in_use;
pub use row::{Committed, Row, ServerRow, Write};
pub use search::{Found, Hit};
pub use snapshot::Snapshot;
pub use table::artifact::ArtifactRow;
pub use table::attachment::AttachmentRow;
pub use table::audit::AuditRow;
pub use table::device::DeviceRow;
pub use table::link::LinkRow;
pub use table::message::Page;
pub use table::permission::{AnswerRow, PermissionRow};
pub use table::push::PushRow;
pub use table::request::RequestRow;
pub use table::rule::RuleRow;
pub use table::runner::RunnerRow;
pub use table::session::{ChangeCounts, Marks, NewSession, SessionCursor, SessionFilter, SessionRow};
pub use table::tree::TreeRow;
pub use table::turn::{RunningTurn, TurnRow};
use table::{agent_session, artifact, attachment, audit, confirm, device, link, message, method_names, permission, preference};
use table::{push, queue, request, review, rule, runner, session, turn};
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
    path: PathBuf,
    commands: mpsc::Sender<Command>,
    pool: SqlitePool,
    tails: Arc<Tails>,
    board: Arc<Board>,
    /// The writer's task; taken when the store closes. A store that is dropped instead takes it along, as a crash would.
    writer: Mutex<JoinSet<Option<SqliteConnection>>>,
    lock: Mutex<Option<Arc<File>>>,
    closed: OnceCell<()>,
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
        let board = Arc::new(Board::default());
        let lock = Arc::new(opened.lock);
        let mut task = JoinSet::new();
        let readers = writer::Readers { tails: Arc::clone(&tails), board: Arc::clone(&board) };
        task.spawn(Writer::new(inbox, opened.writing, opened.conn, readers, Arc::clone(&lock)).run());
        let inner = Inner {
            path: opened.path,
            commands,
            pool,
            tails,
            board,
            writer: Mutex::new(task),
            lock: Mutex::new(Some(lock)),
            closed: OnceCell::new(),
        };
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
        inner.board.close();
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

    /// Durable, and visible to readers, when it returns. Stored in the order in which one caller handed over. A failure is the caller's
    /// to act on and concerns no other write; one who means to try again keeps a share of the write.
    pub async fn commit(&self, write: impl Into<Arc<Write>>) -> Result<Committed> {
        let write = write.into();
        self.ask(|done| Command::Write(Job { write, done })).await
    }

    /// Like [`Store::commit`], for what belongs to no session: all of the rows or none.
    pub async fn save(&self, rows: Vec<ServerRow>) -> Result<()> {
        self.ask(|done| Command::Save { rows, done }).await
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<Result<T>>) -> Command) -> Result<T> {
        let (done, answer) = oneshot::channel();
        self.inner.commands.send(command(done)).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Live reading from any cursor.
    pub fn feed(&self, id: SessionId) -> Feed {
        Feed::new(id, self.inner.tails.tail(id), self.inner.pool.clone())
    }

    /// The changes of the list of sessions, from now on.
    pub fn list_feed(&self) -> ListFeed {
        ListFeed::new(Arc::clone(&self.inner.board))
    }

    async fn reader(&self) -> Result<PoolConnection<Sqlite>> {
        Ok(self.inner.pool.acquire().await?)
    }

    /// Newest activity first.
    pub async fn sessions(&self, before: Option<SessionCursor>, limit: u32) -> Result<Vec<SessionRow>> {
        self.find_sessions(SessionFilter::default(), before, limit).await
    }

    /// Likewise, of some of them.
    pub async fn find_sessions(&self, filter: SessionFilter<'_>, before: Option<SessionCursor>, limit: u32) -> Result<Vec<SessionRow>> {
        Ok(session::list(&mut *self.reader().await?, filter, before, limit).await?)
    }

    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRow>> {
        Ok(session::one(&mut *self.reader().await?, id).await?)
    }

    /// Those with exactly this title, newest activity first.
    pub async fn sessions_titled(&self, title: &str, limit: u32) -> Result<Vec<SessionRow>> {
        Ok(session::titled(&mut *self.reader().await?, title, limit).await?)
    }

    /// The models that sessions have, those of the latest activity first.
    pub async fn models(&self) -> Result<Vec<String>> {
        Ok(session::models(&mut *self.reader().await?).await?)
    }

    /// Titles and messages that hold the text, in whatever case.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Found> {
        search::search(self, query, limit).await
    }

    pub async fn session_count(&self) -> Result<u64> {
        Ok(session::count(&mut *self.reader().await?).await?)
    }

    /// The latest messages before the given one, or the latest of all.
    pub async fn messages(&self, id: SessionId, before: Option<MessageId>, limit: u32) -> Result<Page> {
        Ok(message::page(&mut *self.reader().await?, id, before, limit).await?)
    }

    /// The whole conversation as a model needs it, oldest first: without `display`.
    pub async fn history(&self, id: SessionId) -> Result<Vec<Message>> {
        Ok(message::all(&mut *self.reader().await?, id).await?)
    }

    /// The ids of all tool calls of the session that have a result.
    pub async fn tool_call_ids(&self, id: SessionId) -> Result<Vec<String>> {
        Ok(message::tool_call_ids(&mut *self.reader().await?, id).await?)
    }

    pub async fn message(&self, session: SessionId, id: MessageId) -> Result<Option<Message>> {
        Ok(message::one(&mut *self.reader().await?, session, id).await?)
    }

    /// What was answered when a message with this client-made id first came: its id, its turn, and whether it was queued then.
    pub async fn message_by_client_id(&self, session: SessionId, client_id: &str) -> Result<Option<(MessageId, TurnId, bool)>> {
        Ok(message::receipt(&mut *self.reader().await?, session, client_id).await?)
    }

    /// Everything of one moment: the state after event `seq`, so that a feed from `seq` on neither misses nor repeats anything.
    pub async fn snapshot(&self, id: SessionId, message_limit: u32) -> Result<Option<Snapshot>> {
        let mut tx = self.inner.pool.begin().await?;
        let snapshot = snapshot::read(&mut tx, id, message_limit).await?;
        tx.commit().await?;
        Ok(snapshot)
    }

    pub async fn queue(&self, id: SessionId) -> Result<Vec<QueueItem>> {
        Ok(queue::of_session(&mut *self.reader().await?, id).await?)
    }

    /// The turns that were running when the server stopped.
    pub async fn open_turns(&self) -> Result<Vec<(SessionId, TurnRow)>> {
        Ok(turn::all_running(&mut *self.reader().await?).await?)
    }

    /// The working tree before and after each turn, in the order of the turns.
    pub async fn trees(&self, session: SessionId) -> Result<Vec<TreeRow>> {
        Ok(table::tree::all(&mut *self.reader().await?, session).await?)
    }

    pub async fn turn(&self, session: SessionId, id: TurnId) -> Result<Option<TurnRow>> {
        Ok(turn::one(&mut *self.reader().await?, session, id).await?)
    }

    /// The one that began last.
    pub async fn latest_turn(&self, session: SessionId) -> Result<Option<TurnRow>> {
        Ok(turn::latest(&mut *self.reader().await?, session).await?)
    }

    /// Whether a message with a client-made id was ever answered with this turn, be it that it was withdrawn before it began.
    pub async fn was_promised(&self, session: SessionId, turn: TurnId) -> Result<bool> {
        Ok(message::was_promised(&mut *self.reader().await?, session, turn).await?)
    }

    /// All messages of the turn, oldest first.
    pub async fn turn_messages(&self, session: SessionId, turn: TurnId) -> Result<Vec<Message>> {
        Ok(message::of_turn(&mut *self.reader().await?, session, turn).await?)
    }

    /// The sessions in which messages wait.
    pub async fn queued_sessions(&self) -> Result<Vec<SessionId>> {
        Ok(queue::sessions(&mut *self.reader().await?).await?)
    }

    /// What the agent of a runner has asked of its client and is still owed.
    pub async fn requests(&self, id: SessionId, runner: &str) -> Result<Vec<RequestRow>> {
        Ok(request::of_runner(&mut *self.reader().await?, id, runner).await?)
    }

    /// The permissions that wait for an answer, with what is needed to give it.
    pub async fn permissions(&self, id: SessionId) -> Result<Vec<PermissionRow>> {
        Ok(permission::waiting(&mut *self.reader().await?, id).await?)
    }

    /// The calls of the main AI's own tools that wait for a person's consent.
    pub async fn confirms(&self, id: SessionId) -> Result<Vec<ToolCall>> {
        Ok(confirm::all(&mut *self.reader().await?, id).await?)
    }

    /// The answers to the agent of a runner that the runner has not taken yet.
    pub async fn answers(&self, id: SessionId, runner: &str) -> Result<Vec<AnswerRow>> {
        Ok(permission::answers(&mut *self.reader().await?, id, runner).await?)
    }

    /// Everything that the agent of a runner asked, answered or not.
    pub async fn asked(&self, id: SessionId, runner: &str) -> Result<Vec<PermissionRequest>> {
        Ok(permission::asked(&mut *self.reader().await?, id, runner).await?)
    }

    /// The remembered answers of all sessions and work directories, oldest first.
    pub async fn rules(&self) -> Result<Vec<RuleRow>> {
        Ok(rule::all(&mut *self.reader().await?).await?)
    }

    pub async fn agent_sessions(&self, id: SessionId) -> Result<Vec<AgentSession>> {
        Ok(agent_session::all(&mut *self.reader().await?, id).await?)
    }

    /// Which of the agent's sessions belong to which of ours.
    pub async fn agent_session_owners(&self, agent: &str) -> Result<HashMap<String, SessionId>> {
        Ok(agent_session::owners(&mut *self.reader().await?, agent).await?)
    }

    pub async fn attachment(&self, session: SessionId, id: AttachmentId) -> Result<Option<AttachmentRow>> {
        Ok(attachment::one(&mut *self.reader().await?, session, id).await?)
    }

    /// How many bytes were sent along with all messages of the session.
    pub async fn attachment_bytes(&self, session: SessionId) -> Result<u64> {
        Ok(attachment::total(&mut *self.reader().await?, session).await?)
    }

    /// What was sent along with the message that began the turn, in the order given.
    pub async fn turn_attachments(&self, session: SessionId, turn: TurnId) -> Result<Vec<AttachmentRow>> {
        Ok(attachment::of_turn(&mut *self.reader().await?, session, turn).await?)
    }

    pub async fn artifact(&self, id: ArtifactId) -> Result<Option<ArtifactRow>> {
        Ok(artifact::one(&mut *self.reader().await?, id).await?)
    }

    /// The comments of a scope that were not sent yet, oldest first.
    pub async fn comments(&self, session: SessionId, scope: &str) -> Result<Vec<Comment>> {
        Ok(review::comments(&mut *self.reader().await?, session, scope).await?)
    }

    pub async fn viewed(&self, session: SessionId, scope: &str) -> Result<Vec<Viewed>> {
        Ok(review::viewed(&mut *self.reader().await?, session, scope).await?)
    }

    /// How many comments and how many looked at files a session has.
    pub async fn review_counts(&self, session: SessionId) -> Result<(u64, u64)> {
        Ok(review::counts(&mut *self.reader().await?, session).await?)
    }

    pub async fn runners(&self) -> Result<Vec<RunnerRow>> {
        Ok(runner::all(&mut *self.reader().await?).await?)
    }

    /// The runners of one session, one for each agent that works in it.
    pub async fn session_runners(&self, session: SessionId) -> Result<Vec<RunnerRow>> {
        Ok(runner::of_session(&mut *self.reader().await?, session).await?)
    }

    /// What this version of an agent calls the protocol's methods, where it was found out.
    pub async fn method_names(&self, agent: &str, version: &str) -> Result<Option<Value>> {
        Ok(method_names::of(&mut *self.reader().await?, agent, version).await?)
    }

    /// Everybody who is let in, expired ones included.
    pub async fn devices(&self) -> Result<Vec<DeviceRow>> {
        Ok(device::all(&mut *self.reader().await?).await?)
    }

    /// The links that were made, used and expired ones included.
    pub async fn links(&self) -> Result<Vec<LinkRow>> {
        Ok(link::all(&mut *self.reader().await?).await?)
    }

    /// What people did, newest first, before the given entry or from the newest on.
    pub async fn audit(&self, before: Option<u64>, limit: u32) -> Result<Vec<AuditRow>> {
        Ok(audit::page(&mut *self.reader().await?, before, limit).await?)
    }

    /// What a person chose for the whole server.
    pub async fn preference(&self, key: &str) -> Result<Option<String>> {
        Ok(preference::of(&mut *self.reader().await?, key).await?)
    }

    pub async fn preferences(&self) -> Result<BTreeMap<String, String>> {
        Ok(preference::all(&mut *self.reader().await?).await?)
    }

    /// The devices that asked for notifications.
    pub async fn pushes(&self) -> Result<Vec<PushRow>> {
        Ok(push::all(&mut *self.reader().await?).await?)
    }
}
