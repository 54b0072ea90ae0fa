//! Brings the write-ahead log into the file while others write and read, on a thread and a connection of its own.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::Shared;
use crate::connect::Access;
use crate::wal;

#[derive(Default)]
struct State {
    wanted: bool,
    ended: bool,
}

/// Wakes the thread.
#[derive(Default)]
pub(super) struct Bell {
    state: Mutex<State>,
    rung: Condvar,
}

impl Bell {
    pub(super) fn ring(&self) {
        self.change(|state| state.wanted = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.rung.notify_one();
    }

    /// Says whether there is something to do; otherwise it is over.
    fn wait(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |state: &mut State| !state.wanted && !state.ended;
        let mut state = self.rung.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
        state.wanted = false;
        !state.ended
    }
}

/// Dropping it ends the thread after what it is doing.
pub(super) struct Checkpointer {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    pub(super) fn start(shared: Arc<Shared>, access: Access, bell: Arc<Bell>) -> std::io::Result<Checkpointer> {
        let heard = Arc::clone(&bell);
        let run = move || {
            while heard.wait() {
                checkpoint(&shared, &access);
            }
        };
        let thread = std::thread::Builder::new().name("store-checkpoint".into()).spawn(run)?;
        Ok(Checkpointer { bell, thread: Some(thread) })
    }
}

/// The connection is made anew each time: it is needed seldom, and costs memory as long as it is there.
fn checkpoint(shared: &Shared, access: &Access) {
    match access.checkpointer().and_then(|conn| wal::checkpoint(&conn)) {
        Ok(whole) => {
            shared.tally.checkpointed();
            if whole {
                shared.begins_anew.store(true, Ordering::Relaxed);
            }
        }
        Err(error) => tracing::warn!(%error, "the write-ahead log could not be brought into the database"),
    }
    shared.inbox.remind();
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.bell.change(|state| state.ended = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
