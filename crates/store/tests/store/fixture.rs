//! A store in a directory of its own, and events to put into it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use domain::agent::PermissionAsk;
use domain::event::{CopilotDelta, Event, Message, Notice, PermissionRequest, Role, TextDelta};
use domain::ids::{MessageId, PermissionId, SessionId};
use jiff::Timestamp;
use rusqlite::Connection;
use store::{Batch, Committed, Feed, Frame, NewSession, Row, RunnerRow, Store, StoreError, Write};
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) struct Fixture {
    pub dir: TempDir,
    pub store: Store,
}

impl Fixture {
    pub(crate) async fn new() -> Fixture {
        Fixture::open(false).await
    }

    /// Every commit survives a power loss.
    pub(crate) async fn durable() -> Fixture {
        Fixture::open(true).await
    }

    async fn open(durability_disk: bool) -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("log.db"), durability_disk).await.unwrap();
        Fixture { dir, store }
    }

    /// With one session.
    pub(crate) async fn with_session() -> (Fixture, SessionId) {
        let fixture = Fixture::new().await;
        let id = session_id(1);
        fixture.store.commit(create(id)).await.unwrap();
        (fixture, id)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("log.db")
    }

    /// What the file holds of the session's log, read past the store.
    pub(crate) fn stored(&self, session: SessionId) -> Vec<Frame> {
        stored(&self.path(), session)
    }

    /// The file itself, to look into it or to break it.
    pub(crate) fn file(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// Hands over all of them before the first is answered, in the order given, so that they share transactions.
    pub(crate) async fn commit_all(&self, writes: impl IntoIterator<Item = Write>) -> Vec<Result<Committed, StoreError>> {
        commit_all(&self.store, writes).await
    }
}

pub(crate) async fn commit_all(store: &Store, writes: impl IntoIterator<Item = Write>) -> Vec<Result<Committed, StoreError>> {
    let mut all: Vec<_> = writes.into_iter().map(|write| futures::future::maybe_done(Box::pin(store.commit(write)))).collect();
    // Always one after the other: a set of futures that are woken one by one would hand over in another order.
    let in_order = std::future::poll_fn(|context| {
        let mut open = false;
        for write in &mut all {
            open |= Pin::new(write).poll(context).is_pending();
        }
        if open { Poll::Pending } else { Poll::Ready(()) }
    });
    // A task that had to pause after so many steps would come back to them in the middle.
    within(tokio::task::unconstrained(in_order)).await;
    all.iter_mut().map(|write| Pin::new(write).take_output().expect("all are done")).collect()
}

pub(crate) fn stored(path: &Path, session: SessionId) -> Vec<Frame> {
    stored_after(&Connection::open(path).unwrap(), session, 0)
}

/// Likewise, of what follows a number.
pub(crate) fn stored_after(conn: &Connection, session: SessionId, after: i64) -> Vec<Frame> {
    let sql = "SELECT seq, kind, data FROM events WHERE session_id = ?1 AND seq > ?2 ORDER BY seq";
    let mut statement = conn.prepare_cached(sql).unwrap();
    let frames = statement.query_map((session.to_string(), after), |row| {
        let (seq, kind, data): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // As the store has it, so that an event can be told from one of a later version.
        let kind = Event::LOGGED.into_iter().find(|known| *known == kind).map_or(kind.into(), Into::into);
        Ok(Frame { seq: u64::try_from(seq).unwrap(), kind, data: data.into() })
    });
    frames.unwrap().collect::<Result<_, _>>().unwrap()
}

pub(crate) fn runner(session: SessionId, id: &str) -> RunnerRow {
    RunnerRow { id: id.into(), session, agent: "demo".into(), dir: "/d".into(), cursor: 0, capabilities: None, ending: false }
}

pub(crate) fn session_id(n: u128) -> SessionId {
    SessionId(Uuid::from_u128(n))
}

pub(crate) fn message_id(n: u128) -> MessageId {
    MessageId(Uuid::from_u128(n))
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::new(1_700_000_000 + second, 120_000_000).unwrap()
}

pub(crate) fn create(session: SessionId) -> Write {
    let new = NewSession {
        title: format!("session {session}"),
        work_dir: "/work".into(),
        model: "relay".into(),
        agent: "demo".into(),
        permission_policy: None,
        created_at: at(0),
    };
    rows(session, vec![Row::CreateSession(new)])
}

pub(crate) fn rows(session: SessionId, rows: Vec<Row>) -> Write {
    Write { session, events: vec![], rows }
}

pub(crate) fn events(session: SessionId, events: Vec<Event>) -> Write {
    Write { session, events, rows: vec![] }
}

pub(crate) fn notice(text: impl Into<String>) -> Event {
    Event::Notice(Notice { code: "test".into(), level: "info".into(), title: "t".into(), text: text.into(), session_name: None })
}

pub(crate) fn output(call: &str, offset: u64, content: &str) -> Event {
    Event::CopilotDelta(CopilotDelta { tool_call_id: call.into(), session_name: "s".into(), offset, content: content.into() })
}

pub(crate) fn text(message: u128, offset: u64, content: &str) -> Event {
    Event::TextDelta(TextDelta { message_id: message_id(message), offset, content: content.into() })
}

pub(crate) fn message(n: u128, role: Role, content: &str) -> Message {
    Message {
        id: message_id(n),
        role,
        content: content.into(),
        html: None,
        created_at: at(i64::try_from(n).unwrap()),
        turn_id: None,
        client_id: None,
        attachments: vec![],
        tool_calls: vec![],
        tool_call_id: None,
        display: None,
        is_error: false,
        artifact_id: None,
        delegation: None,
    }
}

/// Everything that is waited for has a deadline.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("within the deadline")
}

/// Reads on until the event numbered `last`.
pub(crate) async fn read_to(feed: &mut Feed, mut cursor: u64, last: u64, limit: usize) -> Vec<Frame> {
    let mut all = Vec::new();
    while cursor < last {
        match within(feed.after(cursor, limit)).await.unwrap() {
            Batch::Frames { frames } => {
                assert_eq!(frames[0].seq, cursor + 1);
                cursor = frames.last().unwrap().seq;
                all.extend(frames);
            }
            other => panic!("expected frames after {cursor}, got {other:?}"),
        }
    }
    all
}

pub(crate) fn assert_dense(frames: &[Frame], after: u64) {
    for (frame, seq) in frames.iter().zip(after + 1..) {
        assert_eq!(frame.seq, seq);
    }
}

pub(crate) fn ask() -> PermissionAsk {
    PermissionAsk { title: "run it".into(), ..PermissionAsk::default() }
}

pub(crate) fn request(n: u128, ask: PermissionAsk) -> PermissionRequest {
    PermissionRequest {
        request_id: PermissionId(Uuid::from_u128(n)),
        tool_call_id: "c".into(),
        session_name: "s".into(),
        agent: String::new(),
        scopes: Vec::new(),
        warnings: Vec::new(),
        hunks: Vec::new(),
        asked_at: at(1),
        ask,
    }
}
