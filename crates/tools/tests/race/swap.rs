//! Whoever exchanges two names in a loop, as a confined agent can.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

const MOST: usize = 5_000_000;
/// Ends a loop that has been at it for long enough; nothing is concluded from it.
const LONG_ENOUGH: Duration = Duration::from_millis(600);

pub(crate) type Pair = (&'static str, &'static str);

pub(crate) fn exchange(work: &Path, (one, other): Pair) {
    renameat_with(CWD, work.join(one), CWD, work.join(other), RenameFlags::EXCHANGE).unwrap();
}

pub(crate) struct Swap {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicUsize>,
    started: Instant,
    thread: JoinHandle<()>,
}

impl Swap {
    pub(crate) fn start(work: &Path, (one, other): Pair) -> Self {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (one, other): (PathBuf, PathBuf) = (work.join(one), work.join(other));
        let (stopped, counter) = (Arc::clone(&stop), Arc::clone(&done));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) && counter.fetch_add(1, Ordering::Relaxed) < MOST {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        Self { stop, done, started: Instant::now(), thread }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.started.elapsed() > LONG_ENOUGH
    }

    pub(crate) fn stop(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        self.done.load(Ordering::Relaxed)
    }
}
