//! The hot tails: the latest committed events of the sessions in use, in memory, and the bell that wakes their readers.
//!
//! A tail is a cache of the log and never says anything that the database would not; the writer alone fills it, after the commit.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use domain::ids::SessionId;
use tokio::sync::watch;

use crate::frame::Frame;

const TAIL_BYTES: usize = 2 * 1024 * 1024;
const TAIL_FRAMES: usize = 8192;
/// A batch ends after this much data, so that a reader of large events holds no more than it can send.
pub(crate) const BATCH_BYTES: usize = 1024 * 1024;
const UNUSED: Duration = Duration::from_secs(60);

/// What the tail can say to a reader.
#[derive(Debug)]
pub(crate) enum Glance {
    Frames(Vec<Frame>),
    /// The reader has everything: wait for the bell.
    UpToDate,
    /// Ask the database.
    Elsewhere,
    Deleted,
    Closed,
}

#[derive(Default)]
struct State {
    /// The end of the log as far as it is known here; `None` until the writer or a reader has learned it.
    last: Option<u64>,
    /// The events up to `last`, without a gap.
    frames: VecDeque<Frame>,
    bytes: usize,
    deleted: bool,
    closed: bool,
    used: Option<Instant>,
}

pub(crate) struct Tail {
    state: Mutex<State>,
    bell: watch::Sender<()>,
}

impl Tail {
    fn new() -> Tail {
        Tail { state: Mutex::default(), bell: watch::Sender::new(()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change under this lock is complete at any point where it could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }

    pub(crate) fn glance(&self, cursor: u64, limit: usize) -> Glance {
        let mut state = self.state();
        state.used = Some(Instant::now());
        if state.deleted {
            return Glance::Deleted;
        }
        if state.closed {
            return Glance::Closed;
        }
        let Some(last) = state.last else { return Glance::Elsewhere };
        if cursor == last {
            return Glance::UpToDate;
        }
        let first = last + 1 - state.frames.len() as u64;
        if cursor > last || cursor + 1 < first {
            return Glance::Elsewhere;
        }
        let skip = (cursor + 1 - first) as usize;
        let mut frames = Vec::new();
        let mut bytes = 0;
        for frame in state.frames.iter().skip(skip).take(limit) {
            bytes += frame.data.len();
            frames.push(frame.clone());
            if bytes >= BATCH_BYTES {
                break;
            }
        }
        Glance::Frames(frames)
    }

    /// A reader learned from the database where the log ends. The writer knows better, if it has spoken.
    pub(crate) fn learn(&self, last: u64) {
        let mut state = self.state();
        if state.last.is_none() {
            state.last = Some(last);
        }
    }

    fn publish(&self, frames: Vec<Frame>, last: u64) {
        {
            let mut state = self.state();
            state.used = Some(Instant::now());
            if let Some(first) = frames.first()
                && state.last != Some(first.seq - 1)
            {
                state.frames.clear();
                state.bytes = 0;
            }
            state.last = Some(last);
            state.bytes += frames.iter().map(|frame| frame.data.len()).sum::<usize>();
            state.frames.extend(frames);
            while state.bytes > TAIL_BYTES || state.frames.len() > TAIL_FRAMES {
                let Some(frame) = state.frames.pop_front() else { break };
                state.bytes -= frame.data.len();
            }
        }
        self.bell.send_replace(());
    }

    fn cut(&self, horizon: u64) {
        {
            let mut state = self.state();
            while state.frames.front().is_some_and(|frame| frame.seq <= horizon) {
                let Some(frame) = state.frames.pop_front() else { break };
                state.bytes -= frame.data.len();
            }
        }
        self.bell.send_replace(());
    }

    fn end(&self, deleted: bool) {
        {
            let mut state = self.state();
            state.deleted |= deleted;
            state.closed = true;
            state.frames = VecDeque::new();
            state.bytes = 0;
        }
        self.bell.send_replace(());
    }
}

#[derive(Default)]
struct Shelf {
    tails: HashMap<SessionId, Arc<Tail>>,
    closed: bool,
}

/// The tails of the sessions in use.
#[derive(Default)]
pub(crate) struct Tails {
    shelf: Mutex<Shelf>,
}

impl Tails {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tail(&self, session: SessionId) -> Arc<Tail> {
        let mut shelf = self.shelf();
        let closed = shelf.closed;
        let tail = shelf.tails.entry(session).or_insert_with(|| Arc::new(Tail::new()));
        if closed {
            tail.end(false);
        }
        Arc::clone(tail)
    }

    pub(crate) fn publish(&self, session: SessionId, frames: Vec<Frame>, last: u64) {
        self.tail(session).publish(frames, last);
    }

    pub(crate) fn cut(&self, session: SessionId, horizon: u64) {
        self.tail(session).cut(horizon);
    }

    pub(crate) fn delete(&self, session: SessionId) {
        let tail = self.shelf().tails.remove(&session);
        if let Some(tail) = tail {
            tail.end(true);
        }
    }

    /// Drops the tails that nobody holds and nobody has used for a while.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        self.shelf().tails.retain(|_, tail| {
            let used = tail.state().used;
            Arc::strong_count(tail) > 1 || used.is_some_and(|used| now.duration_since(used) < UNUSED)
        });
    }

    pub(crate) fn close(&self) {
        let mut shelf = self.shelf();
        shelf.closed = true;
        for tail in shelf.tails.values() {
            tail.end(false);
        }
    }
}
