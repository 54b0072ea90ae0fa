//! The one writer. It takes what has arrived, writes it in one transaction, commits, shows it to the readers, and then answers.
//!
//! It owns the only connection that may write, the pen. A thread of its own has it, and a small write that is alone takes it for a
//! moment where it stands, which saves the way to the thread and back. Whoever waits for a write is answered after the readers could
//! see it, and a write that was not stored is never passed over: its sender is told, and no other write is concerned.

mod batch;
mod checkpointer;
mod crowd;
mod inbox;
mod pen;
#[cfg(test)]
mod tests;
mod thread;

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;

use domain::ids::SessionId;
use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::board::Board;
use crate::counts::{Counts, Tally};
use crate::error::StoreError;
use crate::open::Opened;
use crate::row::{Committed, ServerRow, Write};
use crate::tail::Tails;
use crate::{Result, blocking};
use checkpointer::Bell;
use inbox::Inbox;
use pen::Pen;
use thread::Thread;

/// A session keeps its latest events up to this many, and more only where they are of one turn.
pub(crate) const EVENTS_MOST: u64 = 100_000;
/// A write of more text is not made where it stands, where it would hold up others.
const PIECE_BYTES: usize = 64 * 1024;

type Answer<T> = oneshot::Sender<Result<T>>;

pub(crate) enum Command {
    Write(Job),
    Save {
        rows: Vec<ServerRow>,
        done: Answer<()>,
    },
    /// Drops some of the events that nobody needs any more, and says whether there are more of them.
    Compact {
        session: SessionId,
        older_than: Timestamp,
        done: Answer<bool>,
    },
    /// What was deleted shall not stay in the write-ahead log either.
    Erase,
    Close,
    #[cfg(test)]
    Panic,
}

pub(crate) struct Job {
    pub write: Arc<Write>,
    pub done: Answer<Committed>,
}

/// An answer that is still to be given: whoever gets it may write again at once, so the pen is put down before.
enum Reply {
    Written(Answer<Committed>, Result<Committed>),
    Saved(Answer<()>, Result<()>),
    Compacted(Answer<bool>, Result<bool>),
}

impl Reply {
    /// Where nobody waits any more, nobody needs to know.
    fn give(self) {
        match self {
            Reply::Written(done, answer) => drop(done.send(answer)),
            Reply::Saved(done, answer) => drop(done.send(answer)),
            Reply::Compacted(done, answer) => drop(done.send(answer)),
        }
    }
}

/// Those who see what is committed.
pub(crate) struct Readers {
    pub tails: Arc<Tails>,
    pub board: Arc<Board>,
}

/// What the thread has in common with those who write.
struct Shared {
    inbox: Inbox,
    pen: Mutex<Pen>,
    /// Many sessions write at once, so that writes had better share commits.
    crowded: AtomicBool,
    /// The next commit begins the write-ahead log anew, which waits for the disk.
    begins_anew: AtomicBool,
    tally: Arc<Tally>,
}

/// The writer as the rest of the store has it. Dropping it ends the thread in the middle of its work, as a crash would.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    disk: bool,
    /// Taken when the store closes.
    thread: Mutex<Option<JoinHandle<()>>>,
    lock: Mutex<Option<Arc<File>>>,
}

impl Writer {
    pub(crate) fn start(opened: Opened, readers: Readers, tally: Arc<Tally>) -> std::io::Result<Writer> {
        let (disk, lock) = (opened.access.disk, Arc::new(opened.lock));
        let bell = Arc::new(Bell::default());
        let shared = Arc::new(Shared {
            inbox: Inbox::new(),
            pen: Mutex::new(Pen::new(opened.access.clone(), opened.conn, readers, Arc::clone(&bell), Arc::clone(&tally))),
            crowded: AtomicBool::new(false),
            begins_anew: AtomicBool::new(true),
            tally,
        });
        let thread = Thread::start(Arc::clone(&shared), opened.access, bell, Arc::clone(&lock))?;
        Ok(Writer { shared, disk, thread: Mutex::new(Some(thread)), lock: Mutex::new(Some(lock)) })
    }

    pub(crate) async fn commit(&self, write: Arc<Write>) -> Result<Committed> {
        if let Some(answer) = self.commit_in_place(&write) {
            return answer;
        }
        self.ask(|done| Command::Write(Job { write, done })).await
    }

    /// `None` where the general way has to be taken, be it to learn what is wrong.
    fn commit_in_place(&self, write: &Write) -> Option<Result<Committed>> {
        let shared = &self.shared;
        let is_busy = self.disk || shared.crowded.load(Ordering::Relaxed) || shared.begins_anew.load(Ordering::Relaxed);
        if is_busy || shared.inbox.waiting() > 0 || !write.is_piece(PIECE_BYTES) {
            return None;
        }
        let mut pen = match shared.pen.try_lock() {
            Ok(pen) => pen,
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(_)) => return Some(Err(StoreError::Closed)),
        };
        let answer = pen.write_piece(write)?;
        shared.crowded.store(pen.is_crowded(), Ordering::Relaxed);
        if std::mem::take(&mut pen.is_overdue) {
            shared.inbox.remind();
        }
        Some(answer)
    }

    pub(crate) async fn ask<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T> {
        let (done, answer) = oneshot::channel();
        self.hand_over(command(done)).await?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    pub(crate) async fn hand_over(&self, command: Command) -> Result<()> {
        self.shared.inbox.hand_over(command).await
    }

    pub(crate) fn counts(&self) -> Counts {
        self.shared.tally.read(self.shared.inbox.waiting())
    }

    /// Writes everything that was handed over. Nothing is written any more when it returns.
    pub(crate) async fn end(&self) {
        let _ = self.hand_over(Command::Close).await;
        if let Some(thread) = taken(&self.thread) {
            // What it panicked of was said when it did.
            let _ = blocking::run(move || thread.join()).await;
        }
    }

    /// Brings the file into one piece and lets go of it. Whoever reads must be done.
    pub(crate) async fn release(&self) {
        let shared = Arc::clone(&self.shared);
        blocking::run(move || held(&shared.pen).put_down()).await;
        taken(&self.lock);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.inbox.abandon();
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken<T>(mutex: &Mutex<Option<T>>) -> Option<T> {
    held(mutex).take()
}
