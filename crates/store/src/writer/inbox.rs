//! What waits for the writer's thread. Bounded: whoever finds it full waits, without holding up a thread, until it is his turn.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::Command;
use crate::error::StoreError;

/// How many writes may wait; beyond that, callers wait before they can hand over.
const QUEUE: usize = 4096;
/// How many writes share a transaction.
pub(super) const GROUP: usize = 1024;
/// How long writes gather in a crowd before they are taken.
const GATHERING: Duration = Duration::from_millis(1);

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    /// What the thread waits for, so that it is not woken for anything else.
    sleep: Sleep,
    /// Somebody came who is not to wait until others have gathered.
    hurried: bool,
    /// The thread is to look after the write-ahead log.
    reminded: bool,
    closed: bool,
    abandoned: bool,
}

#[derive(Default, PartialEq, Eq)]
enum Sleep {
    #[default]
    Awake,
    /// Until there is something.
    Idle,
    /// Until there is much.
    Gathering,
}

/// Why the thread was woken.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Woken {
    Commands,
    /// By a reminder or by the time.
    Otherwise,
    /// There is nothing left and nothing will come.
    Ended,
}

pub(super) struct Inbox {
    state: Mutex<State>,
    bell: Condvar,
    /// Passed one at a time, so that those who wait for room get it in the order in which they came.
    turnstile: tokio::sync::Mutex<()>,
    room: Semaphore,
    waiting: AtomicUsize,
}

/// Counts a command until the thread has begun with it, or its sender has given up.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Counted<'a> {
        count.fetch_add(1, Ordering::AcqRel);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Inbox {
    pub(super) fn new() -> Inbox {
        Inbox {
            state: Mutex::default(),
            bell: Condvar::new(),
            turnstile: tokio::sync::Mutex::default(),
            room: Semaphore::new(QUEUE),
            waiting: AtomicUsize::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change under this lock is complete at any point where it could panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many have come and were not begun with yet, those included that wait for room.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    pub(super) async fn hand_over(&self, command: Command) -> Result<(), StoreError> {
        let counted = Counted::new(&self.waiting);
        let _turn = self.turnstile.lock().await;
        let place = self.room.acquire().await.map_err(|_| StoreError::Closed)?;
        self.push(command)?;
        place.forget();
        std::mem::forget(counted);
        Ok(())
    }

    fn push(&self, command: Command) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.closed {
            return Err(StoreError::Closed);
        }
        state.hurried |= !matches!(command, Command::Write(_));
        state.commands.push_back(command);
        let is_awaited = match state.sleep {
            Sleep::Awake => false,
            Sleep::Idle => true,
            Sleep::Gathering => state.hurried || state.commands.len() >= GROUP,
        };
        if is_awaited {
            self.bell.notify_one();
        }
        Ok(())
    }

    /// Waits for commands until a time and takes those that are there, in a crowd after some have gathered.
    pub(super) fn take(&self, into: &mut Vec<Command>, until: Instant, crowded: bool) -> Woken {
        let mut state = self.state();
        loop {
            if state.abandoned || (state.closed && state.commands.is_empty()) {
                return Woken::Ended;
            }
            if !state.commands.is_empty() {
                break;
            }
            let left = until.saturating_duration_since(Instant::now());
            if state.reminded || left.is_zero() {
                return Woken::Otherwise;
            }
            state = self.sleep(state, Sleep::Idle, left);
        }
        let gathered = Instant::now() + GATHERING;
        while crowded && !state.hurried && !state.closed && state.commands.len() < GROUP {
            let left = gathered.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.sleep(state, Sleep::Gathering, left);
        }
        let count = state.commands.len().min(GROUP);
        into.extend(state.commands.drain(..count));
        state.hurried = state.commands.iter().any(|command| !matches!(command, Command::Write(_)));
        drop(state);
        self.room.add_permits(count);
        Woken::Commands
    }

    fn sleep<'a>(&'a self, mut state: MutexGuard<'a, State>, sleep: Sleep, most: Duration) -> MutexGuard<'a, State> {
        state.sleep = sleep;
        let (mut state, _) = self.bell.wait_timeout(state, most).unwrap_or_else(PoisonError::into_inner);
        state.sleep = Sleep::Awake;
        state
    }

    /// So many of those that were taken wait no more.
    pub(super) fn done(&self, count: usize) {
        self.waiting.fetch_sub(count, Ordering::AcqRel);
    }

    pub(super) fn remind(&self) {
        self.state().reminded = true;
        self.bell.notify_one();
    }

    /// Whether the thread was reminded since it last asked.
    pub(super) fn was_reminded(&self) -> bool {
        std::mem::take(&mut self.state().reminded)
    }

    /// Nobody can hand over any more; what is there is still taken.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.room.close();
        self.bell.notify_one();
    }

    /// Nothing is taken any more either: whoever waits learns that it was not stored.
    pub(super) fn abandon(&self) {
        self.close();
        let mut state = self.state();
        state.abandoned = true;
        let forgotten = std::mem::take(&mut state.commands);
        drop(state);
        self.bell.notify_one();
        self.done(forgotten.len());
    }
}
