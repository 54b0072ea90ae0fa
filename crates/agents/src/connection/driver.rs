//! The reading half of a connection: journal records in, batches of signals out, answers to whoever waits for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use runner::{Body, JournalReader, Record, Records, read_journal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, sleep_until};

use super::dialect::Decoder;
use super::peer::Peer;
use super::pending::Prompt;
use crate::acp::decoder::Decoded;
use crate::catalogue::Quirks;
use crate::fault::RpcError;
use crate::signal::{Batch, Exit, Signal};

/// Records taken from the disk at a time, and about how much of their lines.
const DISK_RECORDS: usize = 1024;
const DISK_BYTES: usize = 1024 * 1024;

/// How long, and behind how many signals and how much of lines, a batch waits for the line that tells what is held.
const HOLD: Duration = Duration::from_secs(2);
const HOLD_SIGNALS: usize = 4096;
const HOLD_BYTES: usize = 8 * 1024 * 1024;

/// Where the records come from. A runner that dies leaves the rest in its directory.
pub(super) struct Source {
    dir: PathBuf,
    live: Option<Records>,
    disk: Option<JournalReader>,
}

impl Source {
    pub(super) fn live(records: Records, dir: &Path) -> Self {
        Self { dir: dir.to_owned(), live: Some(records), disk: None }
    }

    pub(super) fn disk(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), live: None, disk: None }
    }

    /// `None` where nothing more can come. `cursor` is the last record that was taken.
    async fn next(&mut self, cursor: u64) -> Option<Vec<Record>> {
        if let Some(live) = &mut self.live {
            match live.next().await {
                Some(Ok(records)) => return Some(records),
                Some(Err(error)) => tracing::warn!(dir = %self.dir.display(), %error, "reading on from the journal's files"),
                None => {}
            }
            self.live = None;
        }
        let (dir, disk) = (self.dir.clone(), self.disk.take());
        let read = tokio::task::spawn_blocking(move || {
            let mut disk = match disk {
                Some(disk) => disk,
                None => read_journal(&dir, cursor)?,
            };
            let (mut records, mut room) = (Vec::new(), DISK_BYTES);
            while records.len() < DISK_RECORDS && room > 0 {
                let Some(record) = disk.next() else { break };
                room = room.saturating_sub(line_bytes(&record));
                records.push(record);
            }
            Ok::<_, std::io::Error>((disk, records))
        });
        match read.await {
            Ok(Ok((disk, records))) => {
                self.disk = Some(disk);
                (!records.is_empty()).then_some(records)
            }
            Ok(Err(error)) => {
                tracing::warn!(dir = %self.dir.display(), %error, "the journal cannot be read");
                None
            }
            Err(_) => None,
        }
    }
}

pub(super) struct Driver {
    peer: Arc<Peer>,
    source: Source,
    decoder: Decoder,
    cursor: u64,
    /// Whether the agent has ever said a word.
    has_spoken: bool,
    quirks: Quirks,
    signals: mpsc::Sender<Batch>,
    /// What is read but not passed on while the decoder holds something: a cursor beyond it would lose it in a crash.
    waiting: Decoded,
    /// How much the agent has said since something is held.
    waiting_bytes: usize,
    /// When the runner heard the first record since the last batch, and the last.
    since_ms: Option<u64>,
    until_ms: u64,
    /// When it is passed on at the latest.
    overdue: Option<Instant>,
    /// Prompts that are sent again; the reader does not wait for them.
    repeats: JoinSet<Result<(), (String, RpcError)>>,
}

impl Driver {
    pub(super) fn new(
        peer: Arc<Peer>,
        source: Source,
        decoder: Decoder,
        cursor: u64,
        quirks: Quirks,
        signals: mpsc::Sender<Batch>,
    ) -> Self {
        // The first record is our greeting; a cursor beyond it has been moved there by what the agent said.
        let has_spoken = cursor > 1;
        let (waiting, overdue, repeats) = (Decoded::default(), None, JoinSet::new());
        Self {
            peer,
            source,
            decoder,
            cursor,
            has_spoken,
            quirks,
            signals,
            waiting,
            waiting_bytes: 0,
            since_ms: None,
            until_ms: 0,
            overdue,
            repeats,
        }
    }

    /// Ends with the agent, or when nobody takes the signals any more.
    pub(super) async fn run(mut self) {
        let exit = loop {
            let overdue = self.overdue;
            let mut exit = None;
            tokio::select! {
                records = self.source.next(self.cursor) => {
                    let mut decoded = std::mem::take(&mut self.waiting);
                    exit = match records {
                        Some(records) => self.consume(records, &mut decoded),
                        None => Some(Exit::default()),
                    };
                    self.waiting = decoded;
                }
                Some(sent) = self.repeats.join_next() => self.repeated(sent),
                () = async { sleep_until(overdue.unwrap_or_else(Instant::now)).await }, if overdue.is_some() => {
                    self.decoder.release(&mut self.waiting.signals);
                }
            }
            self.hand_out();
            if let Some(exit) = exit {
                break exit;
            }
            if !self.may_wait() && !self.send().await {
                return;
            }
        };
        self.end(exit).await;
    }

    async fn end(mut self, mut exit: Exit) {
        self.decoder.release(&mut self.waiting.signals);
        if let Some(blame) = self.quirks.false_blame.filter(|_| self.has_spoken) {
            exit.drop_false_blame(blame);
        }
        let text = exit.sentence();
        self.peer.pending.fail(&text);
        self.peer.forget_turns();
        self.waiting.signals.push(Signal::Gone { exit, text });
        self.send().await;
    }

    /// Whether what was read waits for what is held.
    fn may_wait(&mut self) -> bool {
        if self.decoder.is_holding() && (self.waiting.signals.len() > HOLD_SIGNALS || self.waiting_bytes > HOLD_BYTES) {
            self.decoder.release(&mut self.waiting.signals);
        }
        let holding = self.decoder.is_holding();
        if !holding {
            self.waiting_bytes = 0;
        }
        self.overdue = holding.then(|| self.overdue.unwrap_or_else(|| Instant::now() + HOLD));
        holding
    }

    /// Takes the meaning of the records; the exit, if it is among them.
    fn consume(&mut self, records: Vec<Record>, decoded: &mut Decoded) -> Option<Exit> {
        let mut exit = None;
        for record in records {
            self.cursor = record.seq;
            self.since_ms.get_or_insert(record.time_ms);
            self.until_ms = record.time_ms;
            match record.body {
                Body::FromAgent(line) => {
                    self.has_spoken = true;
                    self.waiting_bytes += line.len();
                    self.peer.note_said(line.len());
                    self.decoder.theirs(record.seq, &line, decoded);
                }
                Body::ToAgent { line, .. } => self.decoder.ours(&line),
                Body::Oversized { bytes } => decoded.signals.bad_line("", Some(bytes)),
                Body::Notice(text) => decoded.signals.push(Signal::Notice(text)),
                Body::Exit { code, signal, stderr_tail } => exit = Some(Exit { code, signal, stderr_tail }),
            }
        }
        exit
    }

    /// Hands out the answers, and sends again what the agent knows by another name.
    fn hand_out(&mut self) {
        for (id, answer) in self.waiting.answers.drain(..) {
            self.peer.pending.resolve(&id, answer);
        }
        self.peer.note_turns(std::mem::take(&mut self.waiting.turns));
        for (call_id, error) in std::mem::take(&mut self.waiting.unknown_prompts) {
            match self.peer.pending.rename_prompt(&call_id) {
                Ok(prompt) => _ = self.repeats.spawn(prompt_again(self.peer.clone(), call_id, prompt)),
                Err(tried) => {
                    let error = error.into();
                    let error = if tried.is_empty() { error } else { RpcError::unknown_names(&tried, &error) };
                    self.decoder.end_unsent(&call_id, error, &mut self.waiting.signals);
                }
            }
        }
    }

    fn repeated(&mut self, sent: Result<Result<(), (String, RpcError)>, tokio::task::JoinError>) {
        if let Ok(Err((call_id, error))) = sent {
            self.peer.pending.prompt_failed(&call_id);
            self.decoder.end_unsent(&call_id, error, &mut self.waiting.signals);
        }
    }

    /// Whether anybody still listens.
    async fn send(&mut self) -> bool {
        let signals = self.waiting.take_signals();
        let (since_ms, until_ms) = (self.since_ms.take().unwrap_or(self.until_ms), self.until_ms);
        if signals.is_empty() {
            return true;
        }
        for signal in &signals {
            if let Signal::PromptEnded { call_id, .. } = signal {
                self.peer.pending.prompt_ended(call_id);
            }
        }
        let taken = self.signals.send(Batch { cursor: self.cursor, signals, since_ms, until_ms }).await.is_ok();
        if !taken {
            self.peer.pending.fail("nobody takes the agent's signals any more");
            self.peer.forget_turns();
        }
        taken
    }
}

fn line_bytes(record: &Record) -> usize {
    match &record.body {
        Body::FromAgent(line) | Body::ToAgent { line, .. } => line.len(),
        _ => 0,
    }
}

async fn prompt_again(peer: Arc<Peer>, call_id: String, prompt: Prompt) -> Result<(), (String, RpcError)> {
    peer.prompt_again(&call_id, &prompt).await.map_err(|error| (call_id, error))
}
