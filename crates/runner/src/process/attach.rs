//! Who is attached. One server at a time: a new one takes the place of the old, whose connections are closed.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub(super) struct Attach {
    state: Mutex<State>,
    /// A copy of the state's, to be asked without a lock.
    epoch: AtomicU64,
    /// The last record that went into the current server's socket, and the last it has said it stored.
    delivered: AtomicU64,
    acknowledged: AtomicU64,
}

struct State {
    epoch: u64,
    control: Option<UnixStream>,
    records: Option<UnixStream>,
    busy: bool,
    /// When the last server left, or the runner began.
    alone_since: Instant,
    closed: bool,
}

/// What the end of a runner depends on.
pub(super) struct Company {
    pub attached: bool,
    pub ever_attached: bool,
    pub busy: bool,
    pub alone_since: Instant,
    pub delivered: u64,
    pub acknowledged: u64,
}

impl Attach {
    pub(super) fn new() -> Self {
        let state = State { epoch: 0, control: None, records: None, busy: false, alone_since: Instant::now(), closed: false };
        Self { state: Mutex::new(state), epoch: AtomicU64::new(0), delivered: AtomicU64::new(0), acknowledged: AtomicU64::new(0) }
    }

    /// Makes this the control connection. Returns the epoch that names the attachment from now on.
    pub(super) fn take_over(&self, control: UnixStream) -> Option<u64> {
        let mut state = self.state();
        if state.closed {
            return None;
        }
        state.hang_up();
        state.epoch += 1;
        state.control = Some(control);
        self.epoch.store(state.epoch, Ordering::Release);
        self.delivered.store(0, Ordering::Release);
        Some(state.epoch)
    }

    /// Makes this the records connection of that attachment; false if it has been replaced already.
    pub(super) fn follow(&self, epoch: u64, records: UnixStream) -> bool {
        let mut state = self.state();
        if state.closed || state.epoch != epoch || state.control.is_none() {
            return false;
        }
        if let Some(old) = state.records.replace(records) {
            let _ = old.shutdown(Shutdown::Both);
        }
        true
    }

    pub(super) fn leave(&self, epoch: u64) {
        let mut state = self.state();
        if state.epoch == epoch {
            state.hang_up();
            state.alone_since = Instant::now();
            // The epoch has passed even if nobody follows: its records thread must not go on.
            state.epoch += 1;
            self.epoch.store(state.epoch, Ordering::Release);
        }
    }

    pub(super) fn is_current(&self, epoch: u64) -> bool {
        self.epoch.load(Ordering::Acquire) == epoch
    }

    pub(super) fn set_busy(&self, busy: bool) {
        self.state().busy = busy;
    }

    pub(super) fn set_delivered(&self, epoch: u64, seq: u64) {
        if self.is_current(epoch) {
            self.delivered.store(seq, Ordering::Release);
        }
    }

    pub(super) fn acknowledge(&self, seq: u64) {
        self.acknowledged.fetch_max(seq, Ordering::AcqRel);
    }

    pub(super) fn company(&self) -> Company {
        let state = self.state();
        Company {
            attached: state.control.is_some(),
            ever_attached: state.epoch > 0,
            busy: state.busy,
            alone_since: state.alone_since,
            delivered: self.delivered.load(Ordering::Acquire),
            acknowledged: self.acknowledged.load(Ordering::Acquire),
        }
    }

    /// The runner ends: nobody may attach any more, and whoever is attached sees the end.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.hang_up();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn hang_up(&mut self) {
        for connection in [self.control.take(), self.records.take()].into_iter().flatten() {
            // It may be closed already, which is what is wanted.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}
