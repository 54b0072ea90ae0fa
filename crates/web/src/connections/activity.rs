//! What a connection is doing: whether we work for its peer, or wait for it, and since when.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::Limits;

pub(crate) struct Activity {
    state: Mutex<State>,
    /// Something else is waited for than before.
    changed: Notify,
}

/// What a connection waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// For nothing of its peer, or for the rest of a body, which has a deadline of its own.
    Working,
    Sending,
    Head,
    Idle,
}

struct State {
    /// The last thing that happened.
    since: Instant,
    /// Some of a request's head has come, or the connection is new: the rest is due.
    head: bool,
    /// Heads are told from other traffic by their first byte, which HTTP/2 does not allow.
    http2: bool,
    /// The peer does not read, and no more can be written.
    blocked: bool,
    handling: u32,
    /// Of those that are handled: how many wait for the rest of their body.
    receiving: u32,
    sending: u32,
    streaming: u32,
}

impl Default for Activity {
    fn default() -> Activity {
        let state =
            State { since: Instant::now(), head: true, http2: false, blocked: false, handling: 0, receiving: 0, sending: 0, streaming: 0 };
        Activity { state: Mutex::new(state), changed: Notify::new() }
    }
}

type Counter = fn(&mut State) -> &mut u32;

/// One thing that a connection does, counted until it is dropped.
pub(crate) struct Doing {
    activity: Arc<Activity>,
    counter: Counter,
}

impl Activity {
    /// We work on a request, or on more of its response.
    pub(crate) fn handle(self: &Arc<Activity>) -> Doing {
        self.begin(|state| &mut state.handling)
    }

    /// A handler waits for the rest of its request's body.
    pub(crate) fn receive(self: &Arc<Activity>) -> Doing {
        self.begin(|state| &mut state.receiving)
    }

    /// The peer is to take some of a response.
    pub(crate) fn send(self: &Arc<Activity>) -> Doing {
        self.begin(|state| &mut state.sending)
    }

    /// A response without an end: the peer takes it whenever it likes.
    pub(crate) fn stream(self: &Arc<Activity>) -> Doing {
        self.begin(|state| &mut state.streaming)
    }

    /// The peer has sent something.
    pub(crate) fn heard(&self) {
        self.with(|state| {
            if state.is_quiet() && !state.http2 && !state.head {
                state.head = true;
                state.since = Instant::now();
            }
        });
    }

    /// Something was written, or could not be.
    pub(crate) fn wrote(&self, blocked: bool) {
        self.with(|state| {
            if state.blocked != blocked {
                (state.blocked, state.since) = (blocked, Instant::now());
            }
        });
    }

    /// The connection is set up, and speaks HTTP/2.
    pub(crate) fn is_http2(&self) {
        self.with(|state| (state.http2, state.head) = (true, false));
    }

    /// Since when it waits for its peer; `None` while we are at work for it.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        self.with(|state| (state.handling <= state.receiving && state.streaming == 0).then_some(state.since))
    }

    /// No request is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.with(|state| state.is_quiet())
    }

    /// Ends when the peer has kept the connection waiting for too long.
    pub(crate) async fn overdue(&self, limits: &Limits) {
        loop {
            match self.with(|state| state.due(limits)) {
                Some(due) if due <= Instant::now() => return,
                Some(due) => tokio::select! {
                    () = tokio::time::sleep_until(due) => {}
                    () = self.changed.notified() => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    fn begin(self: &Arc<Activity>, counter: Counter) -> Doing {
        self.with(|state| {
            *counter(state) += 1;
            (state.since, state.head) = (Instant::now(), false);
        });
        Doing { activity: self.clone(), counter }
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let before = state.phase();
        let seen = look(&mut state);
        if state.phase() != before {
            self.changed.notify_one();
        }
        seen
    }
}

impl State {
    fn is_quiet(&self) -> bool {
        self.handling + self.sending + self.streaming == 0
    }

    fn phase(&self) -> Phase {
        match self {
            state if state.sending > 0 || state.blocked && state.streaming == 0 => Phase::Sending,
            state if !state.is_quiet() => Phase::Working,
            state if state.head => Phase::Head,
            _ => Phase::Idle,
        }
    }

    /// By when the peer must have done something.
    fn due(&self, limits: &Limits) -> Option<Instant> {
        let within = match self.phase() {
            Phase::Working => return None,
            Phase::Sending => limits.send_timeout,
            Phase::Head => limits.header_timeout,
            Phase::Idle => limits.idle_timeout,
        };
        Some(self.since + within)
    }
}

impl Drop for Doing {
    fn drop(&mut self) {
        self.activity.with(|state| {
            *(self.counter)(state) -= 1;
            state.since = Instant::now();
        });
    }
}
