//! The event log and the tables beside it: one SQLite file, one writer that commits in groups, readers that are cursors.
//!
//! The promise: an event is durable before anyone can see it, numbers are dense in each session, and a write that was not stored
//! is never passed over in silence. This crate alone names the database; it knows nothing of HTTP, agents or models.

mod blocking;
mod board;
mod connect;
mod copies;
mod counts;
mod error;
mod feed;
mod frame;
mod look;
mod moving;
mod open;
mod reading;
mod restore;
mod retention;
mod row;
mod search;
mod shape;
mod snapshot;
mod statement;
mod table;
mod tail;
mod unreadable;
mod wal;
mod writer;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::event::{Message, PermissionRequest, Queue, ReviewArtifact, ToolCall};
use domain::host::AgentSession;
use domain::ids::{ArtifactId, AttachmentId, MessageId, SessionId, TurnId};
use domain::review::{Comment, Viewed};
use rusqlite::Connection;
use serde_json::Value;
use tokio::sync::OnceCell;

use board::Board;
pub use board::ListFeed;
use counts::Tally;
pub use counts::{COMMIT_TIMES_US, Counts};
pub use error::{FeedError, OpenError, StoreError};
pub use feed::{Batch, Feed};
pub use frame::Frame;
pub use look::{Look, agent_sessions_of, look};
pub use moving::{back_up, vacuum};
use open::Opened;
pub use open::in_use;
use reading::Reading;
pub use restore::{LeftOut, Restore};
pub use row::{Committed, Row, ServerRow, Write};
pub use search::{Found, Hit};
pub use snapshot::Snapshot;
use statement::Read;
pub use table::artifact::ArtifactRow;
pub use table::attachment::AttachmentRow;
pub use table::audit::AuditRow;
pub use table::credit::{CreditRow, Evidence, WindowRow};
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
use writer::{Command, Readers, Writer};

type Result<T> = std::result::Result<T, StoreError>;

/// The store. A clone is another handle to the same one.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    writer: Writer,
    reading: Reading,
    tails: Arc<Tails>,
    board: Arc<Board>,
    closed: OnceCell<()>,
}

impl Store {
    /// Opens or makes the database, migrating an older one after a copy of it was made. `durability_disk` makes every commit survive
    /// a power loss, not only a kill.
    pub async fn open(path: &Path, durability_disk: bool) -> std::result::Result<Store, OpenError> {
        Store::start(open::open(path, durability_disk, open::MIGRATIONS).await?)
    }

    fn start(opened: Opened) -> std::result::Result<Store, OpenError> {
        let path = opened.access.path.clone();
        let (tails, board) = (Arc::new(Tails::default()), Arc::new(Board::default()));
        let tally = Arc::new(Tally::default());
        let reading = Reading::new(opened.access.clone(), Arc::clone(&tally));
        let readers = Readers { tails: Arc::clone(&tails), board: Arc::clone(&board) };
        let writer = Writer::start(opened, readers, tally).map_err(|error| OpenError::io(&path, error))?;
        Ok(Store { inner: Arc::new(Inner { path, writer, reading, tails, board, closed: OnceCell::new() }) })
    }

    /// Writes everything that was handed over, ends the feeds, brings the file into one piece and lets go of it.
    pub async fn close(&self) {
        self.inner.closed.get_or_init(|| self.shut()).await;
    }

    async fn shut(&self) {
        let inner = &self.inner;
        inner.writer.end().await;
        inner.tails.close();
        inner.board.close();
        inner.reading.close().await;
        inner.writer.release().await;
    }

    /// Durable, and visible to readers, when it returns. Stored in the order in which one caller handed over. A failure is the caller's
    /// to act on and concerns no other write; one who means to try again keeps a share of the write.
    pub async fn commit(&self, write: impl Into<Arc<Write>>) -> Result<Committed> {
        self.inner.writer.commit(write.into()).await
    }

    /// Like [`Store::commit`], for what belongs to no session: all of the rows or none.
    pub async fn save(&self, rows: Vec<ServerRow>) -> Result<()> {
        self.inner.writer.ask(|done| Command::Save { rows, done }).await
    }

    /// What the database has done so far.
    pub fn counts(&self) -> Counts {
        self.inner.writer.counts()
    }

    /// The one way to the tables for whoever reads.
    async fn read<T: Send + 'static>(&self, read: impl FnOnce(&Connection) -> Read<T> + Send + 'static) -> Result<T> {
        self.inner.reading.read(read).await
    }

    /// Live reading from any cursor.
    pub fn feed(&self, id: SessionId) -> Feed {
        Feed::new(id, self.inner.tails.tail(id), self.inner.reading.clone())
    }

    /// The changes of the list of sessions, from now on.
    pub fn list_feed(&self) -> ListFeed {
        ListFeed::new(Arc::clone(&self.inner.board))
    }

    /// Newest activity first.
    pub async fn sessions(&self, before: Option<SessionCursor>, limit: u32) -> Result<Vec<SessionRow>> {
        self.find_sessions(SessionFilter::default(), before, limit).await
    }

    /// Likewise, of some of them.
    pub async fn find_sessions(&self, filter: SessionFilter<'_>, before: Option<SessionCursor>, limit: u32) -> Result<Vec<SessionRow>> {
        let (query, archived) = (filter.query.map(str::to_owned), filter.archived);
        self.read(move |conn| session::list(conn, SessionFilter { query: query.as_deref(), archived }, before, limit)).await
    }

    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRow>> {
        self.read(move |conn| session::one(conn, id)).await
    }

    /// Those with exactly this title, newest activity first.
    pub async fn sessions_titled(&self, title: &str, limit: u32) -> Result<Vec<SessionRow>> {
        let title = title.to_owned();
        self.read(move |conn| session::titled(conn, &title, limit)).await
    }

    /// The models that sessions have, those of the latest activity first.
    pub async fn models(&self) -> Result<Vec<String>> {
        self.read(session::models).await
    }

    /// Titles and messages that hold the text, in whatever case.
    pub async fn search(&self, query: &str, limit: usize) -> Result<Found> {
        search::search(self, query, limit).await
    }

    pub async fn session_count(&self) -> Result<u64> {
        self.read(session::count).await
    }

    /// The latest messages before the given one, or the latest of all.
    pub async fn messages(&self, id: SessionId, before: Option<MessageId>, limit: u32) -> Result<Page> {
        self.read(move |conn| message::page(conn, id, before, limit)).await
    }

    /// The latest turns as a model needs them, oldest first and without `display`: as many as hold about so many bytes of text, and the
    /// latest in any case.
    pub async fn history(&self, id: SessionId, bytes: usize) -> Result<Page> {
        self.read(move |conn| message::latest_turns(conn, id, bytes)).await
    }

    /// The latest results of a named agent session, the latest first and without `display`.
    pub async fn results(&self, id: SessionId, name: &str, most: u32) -> Result<Vec<Message>> {
        let name = name.to_owned();
        self.read(move |conn| message::results(conn, id, &name, most)).await
    }

    /// What agents did in the session, oldest first and without `display`: from the latest back, as far as it fits into so many bytes.
    pub async fn delegated(&self, id: SessionId, bytes: usize) -> Result<Vec<Message>> {
        self.read(move |conn| message::delegated(conn, id, bytes)).await
    }

    /// Which of these tool calls had a result in the session before.
    pub async fn known_calls(&self, id: SessionId, calls: Vec<String>) -> Result<HashSet<String>> {
        self.read(move |conn| message::known_calls(conn, id, &calls)).await
    }

    pub async fn message(&self, session: SessionId, id: MessageId) -> Result<Option<Message>> {
        self.read(move |conn| message::one(conn, session, id)).await
    }

    /// What was answered when a message with this client-made id first came: its id, its turn, and whether it was queued then.
    pub async fn message_by_client_id(&self, session: SessionId, client_id: &str) -> Result<Option<(MessageId, TurnId, bool)>> {
        let client_id = client_id.to_owned();
        self.read(move |conn| message::receipt(conn, session, &client_id)).await
    }

    /// Everything of one moment: the state after event `seq`, so that a feed from `seq` on neither misses nor repeats anything.
    pub async fn snapshot(&self, id: SessionId, message_limit: u32) -> Result<Option<Snapshot>> {
        self.inner.reading.snapshot(move |conn| snapshot::read(conn, id, message_limit)).await
    }

    pub async fn queue(&self, id: SessionId) -> Result<Queue> {
        self.read(move |conn| queue::of_session(conn, id)).await
    }

    /// The turns that were running when the server stopped.
    pub async fn open_turns(&self) -> Result<Vec<(SessionId, TurnRow)>> {
        self.read(turn::all_running).await
    }

    /// The working tree before and after each turn, in the order of the turns.
    pub async fn trees(&self, session: SessionId) -> Result<Vec<TreeRow>> {
        self.read(move |conn| table::tree::all(conn, session)).await
    }

    /// When tool calls of the session's agents could write, in one turn or in all.
    pub async fn windows(&self, session: SessionId, turn: Option<TurnId>) -> Result<Vec<WindowRow>> {
        self.read(move |conn| table::credit::windows(conn, session, turn)).await
    }

    /// Those of calls that had not ended.
    pub async fn open_windows(&self, session: SessionId) -> Result<Vec<WindowRow>> {
        self.read(move |conn| table::credit::open_windows(conn, session)).await
    }

    /// The files that the session's agents wrote, in one turn or in all.
    pub async fn credits(&self, session: SessionId, turn: Option<TurnId>) -> Result<Vec<CreditRow>> {
        self.read(move |conn| table::credit::all(conn, session, turn)).await
    }

    /// What the agents of other sessions in the same work directory have reported since then to have written.
    pub async fn reported_by_others(&self, session: SessionId, since_ms: i64) -> Result<Vec<CreditRow>> {
        self.read(move |conn| table::credit::of_others(conn, session, since_ms)).await
    }

    /// Which other sessions in the same work directory are credited with changes since then: path, session and its title.
    pub async fn writers_beside(&self, session: SessionId, since_ms: i64) -> Result<Vec<(String, SessionId, String)>> {
        self.read(move |conn| table::credit::writers_beside(conn, session, since_ms)).await
    }

    pub async fn turn(&self, session: SessionId, id: TurnId) -> Result<Option<TurnRow>> {
        self.read(move |conn| turn::one(conn, session, id)).await
    }

    /// The one that began last.
    pub async fn latest_turn(&self, session: SessionId) -> Result<Option<TurnRow>> {
        self.read(move |conn| turn::latest(conn, session)).await
    }

    /// Whether a message with a client-made id was ever answered with this turn, be it that it was withdrawn before it began.
    pub async fn was_promised(&self, session: SessionId, turn: TurnId) -> Result<bool> {
        self.read(move |conn| message::was_promised(conn, session, turn)).await
    }

    /// All messages of the turn, oldest first.
    pub async fn turn_messages(&self, session: SessionId, turn: TurnId) -> Result<Vec<Message>> {
        self.read(move |conn| message::of_turn(conn, session, turn)).await
    }

    /// The sessions in which messages wait.
    pub async fn queued_sessions(&self) -> Result<Vec<SessionId>> {
        self.read(queue::sessions).await
    }

    /// What the agent of a runner has asked of its client and is still owed.
    pub async fn requests(&self, id: SessionId, runner: &str) -> Result<Vec<RequestRow>> {
        let runner = runner.to_owned();
        self.read(move |conn| request::of_runner(conn, id, &runner)).await
    }

    /// The permissions that wait for an answer, with what is needed to give it.
    pub async fn permissions(&self, id: SessionId) -> Result<Vec<PermissionRow>> {
        self.read(move |conn| permission::waiting(conn, id)).await
    }

    /// The calls of the main AI's own tools that wait for a person's consent.
    pub async fn confirms(&self, id: SessionId) -> Result<Vec<ToolCall>> {
        self.read(move |conn| confirm::all(conn, id)).await
    }

    /// The answers to the agent of a runner that the runner has not taken yet.
    pub async fn answers(&self, id: SessionId, runner: &str) -> Result<Vec<AnswerRow>> {
        let runner = runner.to_owned();
        self.read(move |conn| permission::answers(conn, id, &runner)).await
    }

    /// Everything that the agent of a runner asked, answered or not.
    pub async fn asked(&self, id: SessionId, runner: &str) -> Result<Vec<PermissionRequest>> {
        let runner = runner.to_owned();
        self.read(move |conn| permission::asked(conn, id, &runner)).await
    }

    /// The remembered answers of all sessions and work directories, oldest first.
    pub async fn rules(&self) -> Result<Vec<RuleRow>> {
        self.read(rule::all).await
    }

    pub async fn agent_sessions(&self, id: SessionId) -> Result<Vec<AgentSession>> {
        self.read(move |conn| agent_session::all(conn, id)).await
    }

    /// Which of the agent's sessions belong to which of ours.
    pub async fn agent_session_owners(&self, agent: &str) -> Result<HashMap<String, SessionId>> {
        let agent = agent.to_owned();
        self.read(move |conn| agent_session::owners(conn, &agent)).await
    }

    pub async fn attachment(&self, session: SessionId, id: AttachmentId) -> Result<Option<AttachmentRow>> {
        self.read(move |conn| attachment::one(conn, session, id)).await
    }

    /// How many bytes were sent along with all messages of the session.
    pub async fn attachment_bytes(&self, session: SessionId) -> Result<u64> {
        self.read(move |conn| attachment::total(conn, session)).await
    }

    /// What was sent along with the message that began the turn, in the order given.
    pub async fn turn_attachments(&self, session: SessionId, turn: TurnId) -> Result<Vec<AttachmentRow>> {
        self.read(move |conn| attachment::of_turn(conn, session, turn)).await
    }

    /// Those of the session among these, as the stream shows them.
    pub async fn artifact_summaries(&self, session: SessionId, ids: Vec<ArtifactId>) -> Result<Vec<ReviewArtifact>> {
        self.read(move |conn| artifact::summaries(conn, session, &ids)).await
    }

    pub async fn artifact(&self, id: ArtifactId) -> Result<Option<ArtifactRow>> {
        self.read(move |conn| artifact::one(conn, id)).await
    }

    /// The comments of a scope that are not resolved, whether they were sent or not; oldest first.
    pub async fn comments(&self, session: SessionId, scope: &str) -> Result<Vec<Comment>> {
        let scope = scope.to_owned();
        self.read(move |conn| review::comments(conn, session, &scope)).await
    }

    pub async fn viewed(&self, session: SessionId, scope: &str) -> Result<Vec<Viewed>> {
        let scope = scope.to_owned();
        self.read(move |conn| review::viewed(conn, session, &scope)).await
    }

    /// How many comments and how many looked at files a session has.
    pub async fn review_counts(&self, session: SessionId) -> Result<(u64, u64)> {
        self.read(move |conn| review::counts(conn, session)).await
    }

    pub async fn runners(&self) -> Result<Vec<RunnerRow>> {
        self.read(runner::all).await
    }

    /// The runners of one session, one for each agent that works in it.
    pub async fn session_runners(&self, session: SessionId) -> Result<Vec<RunnerRow>> {
        self.read(move |conn| runner::of_session(conn, session)).await
    }

    /// What this version of an agent calls the protocol's methods, where it was found out.
    pub async fn method_names(&self, agent: &str, version: &str) -> Result<Option<Value>> {
        let (agent, version) = (agent.to_owned(), version.to_owned());
        self.read(move |conn| method_names::of(conn, &agent, &version)).await
    }

    /// Everybody who is let in, expired ones included.
    pub async fn devices(&self) -> Result<Vec<DeviceRow>> {
        self.read(device::all).await
    }

    /// The links that were made, used and expired ones included.
    pub async fn links(&self) -> Result<Vec<LinkRow>> {
        self.read(link::all).await
    }

    /// What people did, newest first, before the given entry or from the newest on.
    pub async fn audit(&self, before: Option<u64>, limit: u32) -> Result<Vec<AuditRow>> {
        self.read(move |conn| audit::page(conn, before, limit)).await
    }

    /// What a person chose for the whole server.
    pub async fn preference(&self, key: &str) -> Result<Option<String>> {
        let key = key.to_owned();
        self.read(move |conn| preference::of(conn, &key)).await
    }

    pub async fn preferences(&self) -> Result<BTreeMap<String, String>> {
        self.read(preference::all).await
    }

    /// The devices that asked for notifications.
    pub async fn pushes(&self) -> Result<Vec<PushRow>> {
        self.read(push::all).await
    }
}
