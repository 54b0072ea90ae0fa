//! When blocking work has to stop: its time is up, or nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Refusal;

pub(crate) struct Deadline {
    at: Instant,
    limit: Duration,
    abandoned: Arc<AtomicBool>,
}

/// Held by whoever waits; dropping it makes the deadline pass at once.
pub(crate) struct Waiting(Arc<AtomicBool>);

impl Deadline {
    pub(crate) fn new(limit: Duration) -> (Self, Waiting) {
        let abandoned = Arc::new(AtomicBool::new(false));
        let deadline = Self { at: Instant::now() + limit, limit, abandoned: Arc::clone(&abandoned) };
        (deadline, Waiting(abandoned))
    }

    pub(crate) fn passed(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed) || Instant::now() >= self.at
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.passed() {
            return Err(Refusal::new(format!("stopped: it took longer than {:?}; narrow it down, for example with a path", self.limit)));
        }
        Ok(())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
