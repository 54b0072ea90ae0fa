//! The course of a runner: when it ends, and how it takes the agent's tree along. The only place that decides either.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitStatus};

use super::agent::Agent;
use super::{Hub, log, reaper};
use crate::processes;
use crate::record::ExitPayload;

/// How often an idle runner looks whether its directory is still there.
const TICK: Duration = Duration::from_secs(1);
/// While a server is attached, that one sees to most of what a look would find.
const ATTACHED_TICK: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(100);
/// The server attaches right after it has started the runner; a shorter TTL counts only from then on.
const FIRST_ATTACH: Duration = Duration::from_secs(10);
/// Left alone with a prompt that never says a word again, a runner gives up after this long.
const SILENT_PROMPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a killed tree may take to go, and how often newborn processes are looked for meanwhile.
const KILL: Duration = Duration::from_secs(10);
const KILL_AGAIN: Duration = Duration::from_millis(50);
/// What an agent that ended unasked has left behind gets this long to go by itself: its end is told only when all are gone, and
/// whoever waits for its answer should hear of it at once.
const ORPHANS: Duration = Duration::from_millis(40);
/// How long after the agent's end it may take to hear that it was the last of its tree.
const NOBODY_LEFT: Duration = Duration::from_millis(10);
/// A pipe that stays open although the tree is gone is held by a stranger.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long the end is offered to a server that has not acknowledged it, and to one that asked for it.
const LINGER: Duration = Duration::from_secs(5);
const LINGER_STOPPED: Duration = Duration::from_secs(2);
const LINGER_LOOK: Duration = Duration::from_millis(10);

pub(super) enum Event {
    AgentExit(WaitStatus),
    /// No process of the agent's tree is left.
    TreeGone,
    StdoutEnd,
    StderrEnd,
    Stop(&'static str),
    /// A server has left.
    Company,
    /// The journal cannot be written: it is to be tried again soon.
    Fault,
}

pub(super) struct Life {
    hub: Arc<Hub>,
    inbox: Receiver<Event>,
    /// Device and inode of the directory at the start: another one of the same name is not ours.
    home: Option<(u64, u64)>,
    exit: Option<WaitStatus>,
    tree_gone: bool,
    stdout_ended: bool,
    stderr_ended: bool,
    stop: Option<&'static str>,
    faulty: bool,
    last_seq: u64,
    last_line: Instant,
}

impl Life {
    pub(super) fn new(hub: &Arc<Hub>, inbox: Receiver<Event>) -> Self {
        Self {
            hub: Arc::clone(hub),
            inbox,
            home: home(hub),
            exit: None,
            tree_gone: false,
            stdout_ended: false,
            stderr_ended: false,
            stop: None,
            faulty: false,
            last_seq: 0,
            last_line: Instant::now(),
        }
    }

    /// Runs until the agent is gone for whatever reason, with its whole tree and its last words.
    pub(super) fn until_the_end(&mut self, agent: &Agent) -> ExitPayload {
        let reason = loop {
            match self.end_reason() {
                Ok(reason) => break reason,
                Err(wait) => self.pump(wait),
            }
        };
        log::line(format_args!("ending: {reason}"));
        self.end_tree(agent);
        self.hear_out();
        let (code, signal) = self.exit.map_or((None, None), reaper::code_and_signal);
        ExitPayload { code, signal, stderr_tail: agent.stderr.text() }
    }

    /// Stays until the last record is on disk and a server has had a fair chance to hear it.
    pub(super) fn linger(&mut self, exit_seq: u64) {
        let patience = Instant::now() + Duration::from_secs(self.hub.spec.ttl_s).max(LINGER);
        while !self.hub.journal.flushed() && Instant::now() < patience && home(&self.hub) == self.home {
            self.pump(RETRY);
        }
        let begun = Instant::now();
        loop {
            let company = self.hub.attach.company();
            let acknowledged = company.acknowledged >= exit_seq;
            // Attached but not reading yet is about to read.
            let stopped = self.stop.is_some() && (!company.attached || company.delivered >= exit_seq || begun.elapsed() >= LINGER_STOPPED);
            if acknowledged || stopped || begun.elapsed() >= LINGER {
                return;
            }
            self.pump(LINGER_LOOK);
        }
    }

    /// Why it is time to end, or how long to wait before asking again.
    fn end_reason(&mut self) -> Result<&'static str, Duration> {
        if let Some(reason) = self.stop {
            return Ok(reason);
        }
        if self.exit.is_some() {
            return Ok("the agent has ended");
        }
        if self.stdout_ended {
            // It usually means that it is about to exit; if not, nothing more can ever come from it.
            self.wait_for(self.grace(), |life| life.exit.is_some());
            return Ok("the agent has closed its output");
        }
        if home(&self.hub) != self.home {
            self.stop = Some("the directory is gone");
            return Err(Duration::ZERO);
        }
        let company = self.hub.attach.company();
        if company.attached {
            return Err(ATTACHED_TICK);
        }
        let ttl = Duration::from_secs(self.hub.spec.ttl_s);
        let (since, limit) = if company.busy {
            (company.alone_since.max(self.last_line), SILENT_PROMPT.max(ttl))
        } else if company.ever_attached {
            (company.alone_since, ttl)
        } else {
            (company.alone_since, ttl.max(FIRST_ATTACH))
        };
        match limit.checked_sub(since.elapsed()) {
            None | Some(Duration::ZERO) => {
                self.stop = Some("nobody came back within the time to live");
                Err(Duration::ZERO)
            }
            Some(left) => Err(left.min(TICK)),
        }
    }

    /// Input closed, then asked, then killed: the agent, its group, and whatever else descends from it.
    fn end_tree(&mut self, agent: &Agent) {
        let grace = if self.exit.is_some() { ORPHANS } else { self.grace() };
        self.hub.stdin.finish();
        self.wait_for(grace, |life| life.exit.is_some());
        // Usually the agent leaves nobody behind, and that is known at once.
        if self.wait_for(NOBODY_LEFT, |life| life.tree_gone) {
            return;
        }
        agent.group.signal(Signal::TERM);
        signal_descendants(Signal::TERM);
        if self.wait_for(grace, |life| life.tree_gone) {
            return;
        }
        log::line(format_args!("killing what is left of the agent's processes"));
        let deadline = Instant::now() + KILL;
        while Instant::now() < deadline {
            agent.group.signal(Signal::KILL);
            signal_descendants(Signal::KILL);
            if self.wait_for(KILL_AGAIN, |life| life.tree_gone) {
                return;
            }
        }
        log::line(format_args!("some of the agent's processes cannot be killed"));
    }

    /// Waits until everything the agent ever wrote is in the journal. While the disk is full that may take its time.
    fn hear_out(&mut self) {
        let deadline = Instant::now() + LAST_WORDS;
        let patience = Instant::now() + Duration::from_secs(self.hub.spec.ttl_s).max(LAST_WORDS);
        while !(self.stdout_ended && self.stderr_ended) {
            let now = Instant::now();
            if now >= patience || (now >= deadline && !self.faulty) {
                log::line(format_args!("the agent's output is still held open by somebody; leaving it"));
                return;
            }
            self.pump(RETRY);
        }
    }

    fn grace(&self) -> Duration {
        Duration::from_millis(self.hub.spec.term_grace_ms)
    }

    fn wait_for(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        while !done(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.pump(left);
        }
        true
    }

    /// Takes what has happened, waiting for it at most so long; meanwhile a faulty journal is tried again.
    fn pump(&mut self, limit: Duration) {
        let limit = if self.faulty { limit.min(RETRY) } else { limit };
        match self.inbox.recv_timeout(limit) {
            Ok(Event::AgentExit(status)) => self.exit = Some(status),
            Ok(Event::TreeGone) => self.tree_gone = true,
            Ok(Event::StdoutEnd) => self.stdout_ended = true,
            Ok(Event::StderrEnd) => self.stderr_ended = true,
            Ok(Event::Stop(reason)) => self.stop = Some(reason),
            Ok(Event::Company | Event::Fault) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        let seq = self.hub.journal.last_seq();
        if seq != self.last_seq {
            (self.last_seq, self.last_line) = (seq, Instant::now());
        }
        self.retry_journal();
    }

    fn retry_journal(&mut self) {
        let fault = self.hub.journal.fault_reason();
        if let (Some(reason), false) = (&fault, self.faulty) {
            log::line(format_args!("the journal cannot be written: {reason}"));
        }
        if fault.is_some() {
            self.hub.journal.retry();
        }
        self.faulty = self.hub.journal.fault_reason().is_some();
        if fault.is_some() && !self.faulty {
            log::line(format_args!("the journal is written again"));
        }
    }
}

/// The subreaper's descendants are the agent's whole tree, whatever groups and sessions they have made for themselves.
fn signal_descendants(signal: Signal) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    for process in processes::descendants(&processes::all(), &HashSet::from([own])) {
        processes::signal(&process, signal);
    }
}

fn home(hub: &Hub) -> Option<(u64, u64)> {
    fs::metadata(&hub.dir).ok().map(|home| (home.dev(), home.ino()))
}
