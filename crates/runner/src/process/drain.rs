//! Reads what the agent writes, always: stdout into the journal, stderr into a bounded tail. While the agent has said nothing yet, the last
//! line on stderr can also be read by others: it may be all there is to see of a long start.

use std::io::{self, Read};
use std::process::{ChildStderr, ChildStdout};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::life::Event;
use super::lines::{Lines, Piece};
use super::{Hub, log, spawn_thread};
use crate::record::{Kind, MAX_LINE_BYTES};

const PIPE_BYTES: usize = 1024 * 1024;
/// What comes of one read fits into the server's socket, so that it is handed on at once.
const READ_BYTES: usize = 64 * 1024;
const STDERR_TAIL_BYTES: usize = 64 * 1024;

/// A read that fills less than this, right after another, means that the agent writes line by line and fast.
const SMALL_READ_BYTES: usize = 32 * 1024;
const FAST_READ: Duration = Duration::from_micros(300);
/// Then lines are let gather in the pipe for this long, so that a flood costs a few thousand wake-ups a second, not one for
/// each line. A line after a pause is never delayed.
const GATHER: Duration = Duration::from_micros(500);

/// The last bytes the agent wrote to stderr.
#[derive(Clone)]
pub(super) struct StderrTail(Arc<Mutex<Vec<u8>>>);

pub(super) fn stdout(hub: &Arc<Hub>, pipe: ChildStdout) -> io::Result<()> {
    // More room means fewer switches; the default does as well if the system refuses.
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_BYTES);
    spawn_thread(hub, "stdout", move |hub| {
        if let Err(error) = drain_stdout(hub, pipe) {
            log::line(format_args!("reading the agent's stdout: {error}"));
        }
        let _ = hub.events.send(Event::StdoutEnd);
    })
}

pub(super) fn stderr(hub: &Arc<Hub>, mut pipe: ChildStderr) -> io::Result<StderrTail> {
    let tail = StderrTail(Arc::default());
    let kept = tail.clone();
    spawn_thread(hub, "stderr", move |hub| {
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(length @ 1..) = read_some(&mut pipe, &mut chunk) {
            kept.push(&chunk[..length]);
            if !hub.spoke.load(Ordering::Relaxed) {
                crate::starting::tell(&hub.dir, &kept.text());
            }
        }
        let _ = hub.events.send(Event::StderrEnd);
    })?;
    Ok(tail)
}

fn drain_stdout(hub: &Hub, mut pipe: ChildStdout) -> io::Result<()> {
    let mut lines = Lines::new(MAX_LINE_BYTES);
    let mut chunk = vec![0; READ_BYTES];
    loop {
        let before = Instant::now();
        let length = read_some(&mut pipe, &mut chunk)?;
        if length == 0 {
            break;
        }
        hub.spoke.store(true, Ordering::Relaxed);
        let fast = before.elapsed() < FAST_READ;
        if !hub.journal.append(|batch| lines.feed(&chunk[..length], |piece| push(batch, &piece))) {
            // One that is on its way already says the same.
            let _ = hub.events.try_send(Event::Fault);
        }
        if fast && length < SMALL_READ_BYTES {
            gather();
        }
    }
    hub.journal.append(|batch| lines.finish(|piece| push(batch, &piece)));
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a bound on the rate of wake-ups, not a wait for something to happen")]
fn gather() {
    thread::sleep(GATHER);
}

fn push(batch: &mut crate::journal::Batch<'_>, piece: &Piece<'_>) {
    match piece {
        Piece::Line(line) => batch.push(Kind::FromAgent, &[line]),
        Piece::Oversized(bytes) => batch.push(Kind::Oversized, &[&bytes.to_le_bytes()]),
    }
}

fn read_some(pipe: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    loop {
        match pipe.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl StderrTail {
    pub(super) fn text(&self) -> String {
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail[tail.len().saturating_sub(STDERR_TAIL_BYTES)..]).into_owned()
    }

    fn push(&self, bytes: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(bytes);
        // Cutting only at twice the size moves each byte once at most.
        if tail.len() > 2 * STDERR_TAIL_BYTES {
            let excess = tail.len() - STDERR_TAIL_BYTES;
            tail.drain(..excess);
        }
    }
}
