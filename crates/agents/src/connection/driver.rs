//! The reading half of a connection: journal records in, batches of signals out, answers to whoever waits for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use runner::{Body, JournalReader, Record, Records, read_journal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::peer::{self, Peer};
use super::pending::Prompt;
use crate::acp::decoder::{Decoded, Decoder, Refusal, rejected};
use crate::jsonrpc;
use crate::signal::{Batch, Exit, RpcError, Signal};

/// Records taken from the disk at a time.
const DISK_RECORDS: usize = 1024;

/// Where the records come from. A runner that dies leaves the rest in its directory.
pub(super) struct Source {
    dir: PathBuf,
    live: Option<Records>,
    disk: Option<JournalReader>,
}

impl Source {
    pub fn live(records: Records, dir: &Path) -> Self {
        Self { dir: dir.to_owned(), live: Some(records), disk: None }
    }

    pub fn disk(dir: &Path) -> Self {
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
            let records: Vec<Record> = disk.by_ref().take(DISK_RECORDS).collect();
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
    heard: bool,
    signals: mpsc::Sender<Batch>,
    /// What has to be written in reply; the reader does not wait for it.
    replies: JoinSet<Result<(), (String, RpcError)>>,
}

impl Driver {
    pub fn new(peer: Arc<Peer>, source: Source, decoder: Decoder, cursor: u64, signals: mpsc::Sender<Batch>) -> Self {
        // The first record is our greeting; a cursor beyond it has been moved there by what the agent said.
        Self { peer, source, decoder, cursor, heard: cursor > 1, signals, replies: JoinSet::new() }
    }

    /// Ends with the agent, or when nobody takes the signals any more.
    pub async fn run(mut self) {
        let exit = loop {
            let mut decoded = Decoded::default();
            let exit = tokio::select! {
                records = self.source.next(self.cursor) => match records {
                    Some(records) => self.consume(records, &mut decoded),
                    None => Some(Exit::default()),
                },
                Some(reply) = self.replies.join_next() => {
                    self.replied(reply, &mut decoded);
                    None
                }
            };
            self.reply(&mut decoded);
            if let Some(exit) = exit {
                break (exit, decoded);
            }
            if !self.send(decoded).await {
                return;
            }
        };
        let (mut exit, mut decoded) = exit;
        if self.heard {
            exit.drop_false_blame();
        }
        let text = exit.sentence();
        self.peer.pending.fail(&text);
        decoded.signals.push(Signal::Gone { exit, text });
        self.send(decoded).await;
    }

    /// Takes the meaning of the records; the exit, if it is among them.
    fn consume(&mut self, records: Vec<Record>, decoded: &mut Decoded) -> Option<Exit> {
        let mut exit = None;
        for record in records {
            self.cursor = record.seq;
            match record.body {
                Body::FromAgent(line) => {
                    self.heard = true;
                    self.decoder.from_agent(&line, decoded);
                }
                Body::ToAgent { line, .. } => self.decoder.to_agent(&line),
                Body::Oversized { bytes } => {
                    decoded.signals.push(Signal::BadLine { text: String::new(), oversized_bytes: Some(bytes) });
                }
                Body::Notice(text) => decoded.signals.push(Signal::Notice(text)),
                Body::Exit { code, signal, stderr_tail } => exit = Some(Exit { code, signal, stderr_tail }),
            }
        }
        exit
    }

    /// Hands out the answers and sees to it that every request of the agent's gets one.
    fn reply(&mut self, decoded: &mut Decoded) {
        for (id, answer) in decoded.answers.drain(..) {
            self.peer.pending.resolve(&id, answer);
        }
        for refusal in decoded.refusals.drain(..) {
            self.replies.spawn(refuse(self.peer.clone(), refusal));
        }
        for (call_id, error) in std::mem::take(&mut decoded.unknown_prompts) {
            match self.peer.pending.rename_prompt(&call_id) {
                Some(prompt) => _ = self.replies.spawn(prompt_again(self.peer.clone(), call_id, prompt)),
                None => self.decoder.end(&call_id, Err(rejected(error)), &mut decoded.signals),
            }
        }
    }

    fn replied(&mut self, reply: Result<Result<(), (String, RpcError)>, tokio::task::JoinError>, decoded: &mut Decoded) {
        if let Ok(Err((call_id, error))) = reply {
            self.peer.pending.prompt_failed(&call_id);
            self.decoder.end(&call_id, Err(error), &mut decoded.signals);
        }
    }

    /// Whether anybody still listens.
    async fn send(&mut self, mut decoded: Decoded) -> bool {
        if decoded.signals.is_empty() {
            return true;
        }
        let signals = decoded.take_signals();
        for signal in &signals {
            if let Signal::TurnEnd { call_id, .. } = signal {
                self.peer.pending.prompt_ended(call_id);
            }
        }
        let heard = self.signals.send(Batch { cursor: self.cursor, signals }).await.is_ok();
        if !heard {
            self.peer.pending.fail("nobody takes the agent's signals any more");
        }
        heard
    }
}

async fn refuse(peer: Arc<Peer>, refusal: Refusal) -> Result<(), (String, RpcError)> {
    let line = jsonrpc::refusal(&refusal.id, refusal.code, &refusal.message);
    if let Err(error) = peer.write(peer::answer_write(&refusal.id), line).await {
        tracing::debug!(id = %refusal.id, %error, "a request of the agent's could not be refused");
    }
    Ok(())
}

async fn prompt_again(peer: Arc<Peer>, call_id: String, prompt: Prompt) -> Result<(), (String, RpcError)> {
    peer.prompt_again(&call_id, &prompt).await.map_err(|error| (call_id, error))
}
