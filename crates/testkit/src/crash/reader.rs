//! A browser that never gives up: it holds its cursor over every crash and comes back until it is dropped. What it was sent is
//! checked piece by piece on the way.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

use crate::client::{Client, Transcript};

const COME_BACK: Duration = Duration::from_millis(20);

/// Where a session's stream is.
#[derive(Clone)]
pub(super) struct Address {
    pub http: reqwest::Client,
    pub base: String,
    pub token: String,
    pub session: String,
}

pub(super) struct Reader {
    shared: Arc<Shared>,
    _following: JoinSet<()>,
}

struct Shared {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
    cut: Notify,
}

#[derive(Default)]
struct State {
    seen: Transcript,
    fault: Option<String>,
    connections: usize,
}

impl Address {
    pub(super) async fn open(&self, cursor: Option<u64>) -> Result<Client, String> {
        Client::open(&self.http, &self.base, &self.token, &self.session, cursor).await
    }
}

impl Reader {
    pub(super) fn start(address: Address) -> Reader {
        let shared = Arc::new(Shared { state: Mutex::default(), changes: watch::channel(0).0, cut: Notify::new() });
        let mut following = JoinSet::new();
        following.spawn(follow(address, Arc::clone(&shared)));
        Reader { shared, _following: following }
    }

    /// The connection breaks; the reader comes back with its cursor.
    pub(super) fn cut(&self) {
        self.shared.cut.notify_one();
    }

    pub(super) fn seen(&self) -> Transcript {
        self.shared.state().seen.clone()
    }

    pub(super) fn connections(&self) -> usize {
        self.shared.state().connections
    }

    /// The first thing that was missing or doubled in what was sent.
    pub(super) fn fault(&self) -> Option<String> {
        self.shared.state().fault.clone()
    }

    /// Waits until what was seen so far fits.
    pub(super) async fn until(&self, what: &str, within: Duration, fits: impl Fn(&Transcript) -> bool) -> Result<(), String> {
        let mut changes = self.shared.changes.subscribe();
        let waiting = async {
            loop {
                {
                    let state = self.shared.state();
                    if let Some(fault) = &state.fault {
                        return Err(fault.clone());
                    }
                    if fits(&state.seen) {
                        return Ok(());
                    }
                }
                if changes.changed().await.is_err() {
                    return Err("the reader has ended".to_owned());
                }
            }
        };
        let late = || format!("{what}: not within {} s; seen last:\n{}", within.as_secs(), self.seen().tail());
        tokio::time::timeout(within, waiting).await.unwrap_or_else(|_| Err(late()))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changes.send_modify(|count| *count += 1);
    }
}

async fn follow(address: Address, shared: Arc<Shared>) {
    let mut seen = Transcript::default();
    loop {
        let Ok(client) = address.open(seen.cursor).await else {
            tokio::time::sleep(COME_BACK).await;
            continue;
        };
        shared.note(|state| state.connections += 1);
        let mut client = client.continuing(seen);
        loop {
            // The client stops at the first byte that is missing or doubled.
            let event = tokio::select! {
                event = AssertUnwindSafe(client.next()).catch_unwind() => event,
                () = shared.cut.notified() => Ok(None),
            };
            match event {
                Ok(Some(event)) => shared.note(|state| state.seen.take(event)),
                Ok(None) => break,
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "the client failed".to_owned());
                    return shared.note(|state| state.fault = Some(text));
                }
            }
        }
        seen = client.seen;
    }
}
