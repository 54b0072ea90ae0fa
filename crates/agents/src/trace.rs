//! The raw traffic of an agent, read back from its journal for people: what was said, in which direction, with secrets masked.
//!
//! It reads and shows; it must not decide anything by what it reads, nor let a line out that has not gone through [`Mask`].

mod filter;
mod mask;
#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use domain::trace::{Direction, Kind};
use runner::{Body, JournalReader, Record, journal_pieces, read_journal};
use serde_json::json;
use serde_json::value::RawValue;

use crate::jsonrpc::{self, Message, RpcId};

pub use filter::Filter;
pub use mask::{Mask, sounds_secret};

/// How many pieces of a journal are looked through for one page; a search that finds nothing goes on with the next page.
const PIECES: usize = 4;

#[derive(Clone, Debug)]
pub enum Payload {
    Json(Box<RawValue>),
    Text(String),
}

/// One line of the traffic, masked.
#[derive(Clone, Debug)]
pub struct Entry {
    pub seq: u64,
    pub time_ms: u64,
    pub direction: Direction,
    pub kind: Kind,
    pub method: Option<String>,
    pub id: Option<RpcId>,
    pub payload: Payload,
    /// The length of the line on the wire.
    pub bytes: u64,
}

/// The newest entries before a record, newest first.
#[derive(Debug, Default)]
pub struct Page {
    pub entries: Vec<Entry>,
    /// Give it back as `before` to go on; `None` where the journal begins.
    pub older: Option<u64>,
}

/// Up to `limit` entries of the journal below `dir` that fit, from the one before `before` backwards.
pub fn page(dir: &Path, before: Option<u64>, limit: usize, filter: &Filter, mask: &Mask) -> io::Result<Page> {
    let mut end = before.unwrap_or(u64::MAX);
    let mut entries = Vec::new();
    let pieces = journal_pieces(dir)?.into_iter().rev().filter(|first| *first < end);
    let mut left = PIECES;
    for first in pieces.collect::<Vec<_>>() {
        if begins_behind(dir, first, filter)? {
            end = first;
            continue;
        }
        if left == 0 {
            break;
        }
        left -= 1;
        let records: Vec<Record> = read_journal(dir, first.saturating_sub(1))?.take_while(|record| record.seq < end).collect();
        for record in records.iter().rev() {
            if entries.len() == limit {
                return Ok(Page { entries, older: Some(record.seq + 1) });
            }
            if filter.is_before(record) {
                return Ok(Page { entries, older: None });
            }
            entries.extend(filter.admit(record, mask));
        }
        end = first;
    }
    let older = (oldest(dir)?.is_some_and(|oldest| oldest < end)).then_some(end);
    Ok(Page { entries, older })
}

/// Nothing of a piece is wanted where its first record is too new.
fn begins_behind(dir: &Path, first: u64, filter: &Filter) -> io::Result<bool> {
    if filter.until_ms.is_none() {
        return Ok(false);
    }
    Ok(read_journal(dir, first.saturating_sub(1))?.next().is_some_and(|record| filter.is_behind(&record)))
}

/// One entry, whole.
pub fn one(dir: &Path, seq: u64, mask: &Mask) -> io::Result<Option<Entry>> {
    let record = read_journal(dir, seq.saturating_sub(1))?.next();
    Ok(record.filter(|record| record.seq == seq).map(|record| Entry::read(&record, mask)))
}

/// The number of the oldest record that is kept: 1 unless the beginning was trimmed, `None` where nothing is.
pub fn oldest(dir: &Path) -> io::Result<Option<u64>> {
    Ok(journal_pieces(dir)?.into_iter().next())
}

/// All entries that are kept, oldest first.
pub fn all(dir: &Path) -> io::Result<JournalReader> {
    read_journal(dir, 0)
}

impl Entry {
    pub fn read(record: &Record, mask: &Mask) -> Entry {
        let (seq, time_ms) = (record.seq, record.time_ms);
        let remark = |kind, payload: serde_json::Value, bytes| {
            let payload = Payload::Json(mask.json(payload));
            Entry { seq, time_ms, direction: Direction::Remark, kind, method: None, id: None, payload, bytes }
        };
        match &record.body {
            Body::FromAgent(line) => Entry::line(seq, time_ms, Direction::FromAgent, line, mask),
            Body::ToAgent { line, .. } => Entry::line(seq, time_ms, Direction::ToAgent, line, mask),
            Body::Exit { code, signal, stderr_tail } => {
                remark(Kind::Exit, json!({ "exit": { "code": code, "signal": signal, "stderr": stderr_tail } }), 0)
            }
            Body::Oversized { bytes } => remark(Kind::Notice, json!({ "notice": "a line was too long to keep" }), *bytes),
            Body::Notice(text) => remark(Kind::Notice, json!({ "notice": text }), 0),
        }
    }

    fn line(seq: u64, time_ms: u64, direction: Direction, line: &[u8], mask: &Mask) -> Entry {
        let text = jsonrpc::text(line);
        let payload = mask.line(&text);
        let envelope = match &payload {
            Payload::Json(raw) => envelope(raw.get()),
            Payload::Text(_) => (Kind::Text, None, None),
        };
        let (kind, method, id) = envelope;
        Entry { seq, time_ms, direction, kind, method, id, payload, bytes: line.len() as u64 }
    }

    /// The line as it would stand in a capture: `t` in seconds since `start_ms`, who spoke, and what was said. A text that is no JSON
    /// says so, since it could look like a JSON string.
    pub fn captured(&self, start_ms: u64) -> String {
        let mark = match self.direction {
            Direction::ToAgent => ">",
            Direction::FromAgent => "<",
            Direction::Remark => "#",
        };
        let millis = self.time_ms.saturating_sub(start_ms);
        let head = format!("{{\"t\":{}.{:03},\"dir\":\"{mark}\",\"msg\":", millis / 1000, millis % 1000);
        match &self.payload {
            Payload::Json(raw) => format!("{head}{}}}\n", raw.get()),
            Payload::Text(text) => format!("{head}{},\"raw\":true}}\n", json!(text)),
        }
    }
}

impl Payload {
    pub fn text(&self) -> &str {
        match self {
            Payload::Json(raw) => raw.get(),
            Payload::Text(text) => text,
        }
    }
}

fn envelope(text: &str) -> (Kind, Option<String>, Option<RpcId>) {
    if text.starts_with('[') {
        return (Kind::Batch, None, None);
    }
    match jsonrpc::message(text) {
        Ok(Message::Request { id, method, .. }) => (Kind::Request, Some(method.into_owned()), Some(id)),
        Ok(Message::Notification { method, .. }) => (Kind::Notification, Some(method.into_owned()), None),
        Ok(Message::Response { id, outcome: Some(Err(_)) }) => (Kind::Error, None, Some(id)),
        Ok(Message::Response { id, .. }) => (Kind::Response, None, Some(id)),
        Err(_) => (Kind::Text, None, None),
    }
}
