//! The writer's thread: it takes what has arrived and writes it, and sees to the write-ahead log when there is nothing to write.

use std::fs::File;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::checkpointer::{Bell, Checkpointer};
use super::inbox::{GROUP, Woken};
use super::pen::Pen;
use super::{Command, Job, Reply, Shared};
use crate::connect::Access;
use crate::row::Row;
use crate::wal::Emptying;

const SWEEP: Duration = Duration::from_secs(30);
/// How long the write-ahead log waits for those who read it to be done, and how soon that is tried again.
const PATIENCE: Duration = Duration::from_millis(20);
const AGAIN: Duration = Duration::from_millis(250);
/// After a checkpoint the log is begun anew at a moment in which nobody writes. That moment is looked for so often.
const QUIET: Duration = Duration::from_millis(5);
const LOOKS: u8 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

pub(super) struct Thread {
    shared: Arc<Shared>,
    swept: Instant,
    /// When a quiet moment is looked for, and how often still.
    look: Option<(Instant, u8)>,
    /// When the write-ahead log, which holds something that was deleted, is to be emptied.
    erase_at: Option<Instant>,
    replies: Vec<Reply>,
    _checkpointer: Checkpointer,
    /// Held as long as this thread may write.
    _lock: Arc<File>,
}

impl Thread {
    pub(super) fn start(shared: Arc<Shared>, access: Access, bell: Arc<Bell>, lock: Arc<File>) -> std::io::Result<JoinHandle<()>> {
        let checkpointer = Checkpointer::start(Arc::clone(&shared), access, bell)?;
        let thread = Thread {
            shared,
            swept: Instant::now(),
            look: None,
            erase_at: None,
            replies: Vec::new(),
            _checkpointer: checkpointer,
            _lock: lock,
        };
        std::thread::Builder::new().name("store-writer".into()).spawn(move || thread.run())
    }

    /// Runs until it is told to close and everything that was handed over is written, or until the store is dropped.
    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut inbox = Vec::with_capacity(GROUP);
        loop {
            let woken = shared.inbox.take(&mut inbox, self.due(), shared.crowded.load(Ordering::Relaxed));
            // Somebody panicked with the pen in his hand: what it would write now cannot be known.
            let Ok(mut pen) = shared.pen.lock() else { return };
            match woken {
                Woken::Ended => return pen.stop(),
                Woken::Commands => {
                    // Whoever comes from here on finds the pen in use.
                    shared.inbox.done(inbox.len());
                    self.handle(&mut pen, &mut inbox);
                    shared.crowded.store(pen.is_crowded(), Ordering::Relaxed);
                }
                Woken::Otherwise => {}
            }
            let is_overdue = std::mem::take(&mut pen.is_overdue);
            drop(pen);
            self.reply();
            if shared.inbox.was_reminded() || is_overdue {
                self.look = Some((Instant::now(), LOOKS));
            }
            if self.due() <= Instant::now() {
                let Ok(mut pen) = shared.pen.lock() else { return };
                self.tidy(&mut pen);
            }
        }
    }

    fn handle(&mut self, pen: &mut MutexGuard<'_, Pen>, inbox: &mut Vec<Command>) {
        let mut jobs = Vec::with_capacity(inbox.len());
        for command in inbox.drain(..) {
            match command {
                Command::Write(job) if !job.write.rows.iter().any(Row::is_exclusive) => jobs.push(job),
                command => {
                    self.write(pen, std::mem::take(&mut jobs));
                    self.reply();
                    self.handle_alone(pen, command);
                }
            }
        }
        self.write(pen, jobs);
    }

    fn write(&mut self, pen: &mut Pen, jobs: Vec<Job>) {
        if !jobs.is_empty() {
            self.shared.begins_anew.store(false, Ordering::Relaxed);
            pen.write(jobs, &mut self.replies);
        }
        if std::mem::take(&mut pen.has_deleted) {
            self.erase_at = Some(Instant::now());
        }
    }

    fn reply(&mut self) {
        self.replies.drain(..).for_each(Reply::give);
    }

    fn handle_alone(&mut self, pen: &mut Pen, command: Command) {
        match command {
            Command::Write(job) => self.write(pen, vec![job]),
            Command::Save { rows, done } => {
                let saved = pen.save(&rows);
                if let Err(error) = &saved {
                    tracing::error!(%error, source = ?std::error::Error::source(error), "a change of the server's own was not stored");
                }
                self.replies.push(Reply::Saved(done, saved));
            }
            Command::Compact { session, older_than, done } => {
                self.replies.push(Reply::Compacted(done, pen.compact(session, older_than)));
            }
            Command::Erase => self.erase_at = Some(Instant::now()),
            Command::Close => self.shared.inbox.close(),
            #[cfg(test)]
            Command::Panic => panic!("asked to"),
        }
    }

    /// When something is due besides writing.
    fn due(&self) -> Instant {
        let look = self.look.map(|(at, _)| at);
        [self.erase_at, look].into_iter().flatten().fold(self.swept + SWEEP, Instant::min)
    }

    fn tidy(&mut self, pen: &mut Pen) {
        let now = Instant::now();
        if self.erase_at.is_some_and(|at| at <= now) {
            self.erase_at = (!self.empty(pen, Emptying::Away, PATIENCE)).then(|| Instant::now() + AGAIN);
        }
        if let Some((at, looks)) = self.look
            && at <= now
        {
            self.look = self.begin_anew(pen, looks).then(|| (now + LOOK_AGAIN, looks - 1));
        }
        if self.swept.elapsed() >= SWEEP {
            pen.sweep();
            self.swept = Instant::now();
        }
    }

    /// Says whether to look again.
    fn begin_anew(&self, pen: &mut Pen, looks: u8) -> bool {
        if pen.log.is_empty() {
            return false;
        }
        let is_quiet = self.shared.inbox.waiting() == 0 && pen.wrote_at.elapsed() >= QUIET;
        // Whoever reads is waited for once, or writing would stand still as long as somebody does.
        let patience = if pen.is_log_too_long() && looks == LOOKS { PATIENCE } else { Duration::ZERO };
        let emptied = (is_quiet || pen.is_log_too_long()) && self.empty(pen, Emptying::Over, patience);
        !emptied && looks > 1
    }

    fn empty(&self, pen: &mut Pen, how: Emptying, patience: Duration) -> bool {
        let emptied = pen.empty_log(how, patience);
        if emptied {
            self.shared.begins_anew.store(true, Ordering::Relaxed);
        }
        emptied
    }
}

impl Drop for Thread {
    /// Also where it panicked: nobody waits for what will never be written.
    fn drop(&mut self) {
        self.shared.inbox.abandon();
    }
}
