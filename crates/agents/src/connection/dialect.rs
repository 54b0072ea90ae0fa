//! The two dialects of a connection, where they are read.

use std::path::Path;
use std::sync::Arc;

use runner::{Body, read_journal};

use super::Known;
use crate::acp::decoder::Decoded;
use crate::catalogue::{Dialect, Quirks};
use crate::fault::RpcError;
use crate::signal::Signals;
use crate::{acp, codex};

pub(super) enum Decoder {
    Acp(Box<acp::decoder::Decoder>),
    Codex(Box<codex::decoder::Decoder>),
}

impl Decoder {
    pub(super) fn new(dialect: Dialect, quirks: Quirks) -> Self {
        match dialect {
            Dialect::Acp => Decoder::Acp(Box::new(acp::decoder::Decoder::default().with_quirks(quirks))),
            Dialect::Codex => Decoder::Codex(Box::default()),
        }
    }

    /// For a server that reads on at `cursor`.
    pub(super) async fn adopt(dir: &Path, cursor: u64, known: Known) -> Self {
        let Known { calls, loads, prompts, dialect, quirks, .. } = known;
        match dialect {
            Dialect::Acp => Decoder::Acp(Box::new(acp::decoder::Decoder::knowing(calls, loads, prompts).with_quirks(quirks))),
            Dialect::Codex => {
                let dir = dir.to_owned();
                let read = tokio::task::spawn_blocking(move || codex_before(&dir, cursor)).await.unwrap_or_default();
                Decoder::Codex(Box::new(read.with_known(calls, prompts)))
            }
        }
    }

    /// A line of ours.
    pub(super) fn ours(&mut self, line: &[u8]) {
        match self {
            Decoder::Acp(decoder) => decoder.to_agent(line),
            Decoder::Codex(decoder) => decoder.to_agent(line),
        }
    }

    /// A line of the agent's, and its number in the journal.
    pub(super) fn theirs(&mut self, seq: u64, line: &[u8], out: &mut Decoded) {
        match self {
            Decoder::Acp(decoder) => decoder.from_agent(seq, line, out),
            Decoder::Codex(decoder) => decoder.from_agent(seq, line, out),
        }
    }

    /// See [`acp::decoder::Decoder::is_holding`]. Codex says what its lines are.
    pub(super) fn is_holding(&self) -> bool {
        matches!(self, Decoder::Acp(decoder) if decoder.is_holding())
    }

    pub(super) fn release(&mut self, signals: &mut Signals) {
        if let Decoder::Acp(decoder) = self {
            decoder.release(signals);
        }
    }

    /// Ends a prompt that could not be sent under any name, which only ACP agents are asked for.
    pub(super) fn end_unsent(&mut self, call: &str, error: RpcError, signals: &mut Signals) {
        if let Decoder::Acp(decoder) = self {
            decoder.end(call, Err(error), None, signals);
        }
    }

    /// The turns that run, in a dialect that names them.
    pub(super) fn turns(&self) -> Vec<(Arc<str>, Option<String>)> {
        match self {
            Decoder::Acp(_) => Vec::new(),
            Decoder::Codex(decoder) => decoder.turns().map(|(thread, turn)| (thread.clone(), turn.map(str::to_owned))).collect(),
        }
    }
}

/// What an item's end means depends on what was told of it before: the journal is kept from before the prompts that run, so it is read
/// again up to where the signals were stored.
fn codex_before(dir: &Path, cursor: u64) -> codex::decoder::Decoder {
    let mut decoder = codex::decoder::Decoder::default();
    let records = match read_journal(dir, 0) {
        Ok(records) => records,
        Err(error) => {
            tracing::warn!(dir = %dir.display(), %error, "what an agent said before cannot be read again");
            return decoder;
        }
    };
    let mut told = Decoded::default();
    for record in records.take_while(|record| record.seq <= cursor) {
        match record.body {
            Body::ToAgent { line, .. } => decoder.to_agent(&line),
            Body::FromAgent(line) => decoder.from_agent(record.seq, &line, &mut told),
            _ => {}
        }
        told = Decoded::default();
    }
    decoder
}
