//! The way to the agent: each write id once, journalled first, then queued; a thread of its own does the writing, so that an
//! agent which does not read holds up nobody.

use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};
use std::process::ChildStdin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::{Hub, log, spawn_thread};
use crate::journal::Journal;
use crate::record::Kind;
use crate::wire::Status;

/// More than this unread by the agent, and further writes are refused.
const QUEUE_BYTES: usize = 64 * 1024 * 1024;

pub(super) struct Stdin {
    queue: Mutex<Queue>,
    changed: Condvar,
}

struct Queue {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Every id ever accepted: a server that died before it heard the answer asks again.
    written: HashSet<Uuid>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing more is taken; what is queued is still written.
    Finishing,
    Closed,
}

impl Stdin {
    pub(super) fn new() -> Self {
        let queue = Queue { lines: VecDeque::new(), bytes: 0, written: HashSet::new(), state: State::Open };
        Self { queue: Mutex::new(queue), changed: Condvar::new() }
    }

    pub(super) fn already_written(&self, write_id: Uuid) {
        self.queue().written.insert(write_id);
    }

    /// Journals and queues a line, or answers why not. The lock is held over both, so the journal has the agent's order.
    pub(super) fn write(&self, journal: &Journal, write_id: Uuid, mut line: Vec<u8>) -> (Status, String) {
        let mut queue = self.queue();
        if queue.written.contains(&write_id) {
            return (Status::Done, String::new());
        }
        if queue.state != State::Open {
            return (Status::Gone, "the agent takes no more input".to_owned());
        }
        if queue.bytes > 0 && queue.bytes + line.len() > QUEUE_BYTES {
            return (Status::Stuck, format!("the agent has left {} bytes unread", queue.bytes));
        }
        let journalled = journal.append_or_refuse(|batch| batch.push(Kind::ToAgent, &[write_id.as_bytes(), &line]));
        if let Err(reason) = journalled {
            return (Status::DiskFull, reason);
        }
        line.push(b'\n');
        queue.written.insert(write_id);
        queue.bytes += line.len();
        queue.lines.push_back(line);
        self.changed.notify_all();
        (Status::Done, String::new())
    }

    /// Closes the pipe behind what is queued: the agent hears everything that it was told before, if it still reads.
    pub(super) fn finish(&self) {
        let mut queue = self.queue();
        if queue.state == State::Open {
            queue.state = State::Finishing;
        }
        self.changed.notify_all();
    }

    /// Closes the pipe as soon as a write in progress lets go of it; what is still queued is dropped.
    pub(super) fn close(&self) {
        let mut queue = self.queue();
        queue.state = State::Closed;
        queue.lines.clear();
        queue.bytes = 0;
        self.changed.notify_all();
    }

    fn take(&self) -> Option<Vec<u8>> {
        let mut queue = self.queue();
        loop {
            match (queue.state, queue.lines.pop_front()) {
                (State::Open | State::Finishing, Some(line)) => return Some(line),
                (State::Open, None) => {}
                (State::Finishing, None) | (State::Closed, _) => return None,
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A line counts as unread until it is written.
    fn done(&self, bytes: usize) {
        let mut queue = self.queue();
        queue.bytes = queue.bytes.saturating_sub(bytes);
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn begin(hub: &Arc<Hub>, mut pipe: ChildStdin) -> io::Result<()> {
    spawn_thread(hub, "stdin", move |hub| {
        while let Some(line) = hub.stdin.take() {
            if let Err(error) = pipe.write_all(&line) {
                log::line(format_args!("writing to the agent: {error}"));
                hub.stdin.close();
                return;
            }
            hub.stdin.done(line.len());
        }
    })
}
