//! The journal of one agent: append, then publish, then wake. Readers see only what has been published.
//!
//! It owns the segment files, the sequence and the backlog of a full disk. It must not know who reads or why.

mod reader;
mod segment;
mod tail;
mod thin;

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::record::{self, Kind};
use crate::spec::{Durability, journal_dir};
use segment::Segments;

pub use reader::{JournalReader, journal_pieces, read_journal};
pub(crate) use segment::{list as list_segments, path as segment_path};
use tail::Sleeper;
pub(crate) use tail::{Step, Tail, Take};

/// Lines that could not be written are kept in memory up to here; only then does the agent feel it.
const BACKLOG_BYTES: usize = 64 * 1024 * 1024;
/// How much of the lines that are stored is kept while the journal may not be trimmed yet.
const STORED_BYTES: u64 = 64 * 1024 * 1024;
/// A batch buffer that a huge line has blown up is given back.
const SCRATCH_KEEP_BYTES: usize = 1024 * 1024;

pub(crate) struct Journal {
    writer: Mutex<Writer>,
    published: Mutex<Published>,
    /// Rung when `published` has changed.
    news: Condvar,
    /// Rung when the backlog has shrunk or the journal was sealed.
    room: Condvar,
}

struct Writer {
    segments: Segments,
    next_seq: u64,
    scratch: Vec<u8>,
    backlog: VecDeque<Block>,
    backlog_bytes: usize,
    sealed: bool,
}

/// Whole records that belong together in one write.
struct Block {
    bytes: Vec<u8>,
    first_seq: u64,
    last_seq: u64,
}

/// What readers may see.
pub(crate) struct Published {
    pub segments: VecDeque<PublishedSegment>,
    pub last_seq: u64,
    /// Why the journal cannot be written just now.
    pub fault: Option<String>,
    /// Who has everything and takes what comes from whoever appends it.
    sleeper: Option<Sleeper>,
    /// How many others wait to be woken.
    awake: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct PublishedSegment {
    pub first_seq: u64,
    pub bytes: u64,
    pub is_thin: bool,
}

/// Records being put together for one write.
pub(crate) struct Batch<'a> {
    out: &'a mut Vec<u8>,
    next_seq: &'a mut u64,
    time_ms: u64,
}

impl Batch<'_> {
    pub(crate) fn push(&mut self, kind: Kind, parts: &[&[u8]]) {
        record::encode(self.out, *self.next_seq, self.time_ms, kind, parts);
        *self.next_seq += 1;
    }
}

impl Journal {
    /// Opens or makes the journal below `dir`. Calls `seen` with every whole record that is already there; what follows the
    /// last of them is cut off.
    pub(crate) fn open(dir: &Path, durability: Durability, mut seen: impl FnMut(&record::Record)) -> io::Result<Self> {
        let mut reader = read_journal(dir, 0)?;
        let mut last_seq = 0;
        for record in reader.by_ref() {
            seen(&record);
            last_seq = record.seq;
        }
        let segments = Segments::open(dir, durability, last_seq + 1, reader.whole())?;
        let published = Published { segments: segments.lengths()?, last_seq, fault: None, sleeper: None, awake: 0 };
        let writer =
            Writer { segments, next_seq: last_seq + 1, scratch: Vec::new(), backlog: VecDeque::new(), backlog_bytes: 0, sealed: false };
        Ok(Self { writer: Mutex::new(writer), published: Mutex::new(published), news: Condvar::new(), room: Condvar::new() })
    }

    /// Appends what comes from the agent. It is never refused: with a full disk it waits in memory, and when that is full too
    /// the caller waits here. Says whether it is written.
    pub(crate) fn append(&self, fill: impl FnOnce(&mut Batch<'_>)) -> bool {
        let mut writer = self.writer();
        while writer.backlog_bytes >= BACKLOG_BYTES && !writer.sealed {
            writer = self.room.wait(writer).unwrap_or_else(PoisonError::into_inner);
        }
        self.append_now(&mut writer, fill)
    }

    /// Appends the last records without waiting for room, then takes no more. Returns the last sequence number.
    pub(crate) fn seal(&self, fill: impl FnOnce(&mut Batch<'_>)) -> u64 {
        let mut writer = self.writer();
        self.append_now(&mut writer, fill);
        writer.sealed = true;
        self.room.notify_all();
        writer.next_seq - 1
    }

    /// Appends what goes to the agent, or refuses it with the reason: a prompt that is not on disk must not be sent.
    pub(crate) fn append_or_refuse(&self, fill: impl FnOnce(&mut Batch<'_>)) -> Result<(), String> {
        let mut writer = self.writer();
        if writer.sealed {
            return Err("the journal is closed".to_owned());
        }
        if !writer.backlog.is_empty() {
            return Err(self.published().fault.clone().unwrap_or_default());
        }
        let first_seq = writer.next_seq;
        let block = writer.encode(fill);
        match writer.segments.write(&block.bytes, first_seq) {
            Ok(()) => {
                self.publish(&writer, &block);
                writer.keep_scratch(block.bytes);
                Ok(())
            }
            Err(error) => {
                writer.next_seq = first_seq;
                writer.segments.forget_unfinished();
                let reason = error.to_string();
                self.fault(&reason);
                Err(reason)
            }
        }
    }

    /// Tries again after a fault. Once everything is written it says so in the journal itself, which proves it.
    pub(crate) fn retry(&self) {
        let mut writer = self.writer();
        while let Some(block) = writer.backlog.pop_front() {
            if let Err(error) = writer.segments.write(&block.bytes, block.first_seq) {
                writer.backlog.push_front(block);
                drop(writer);
                self.fault(&error.to_string());
                return;
            }
            writer.backlog_bytes -= block.bytes.len();
            self.publish(&writer, &block);
            self.room.notify_all();
        }
        let sealed = writer.sealed;
        drop(writer);
        let Some(reason) = self.fault_reason() else { return };
        let text = format!("the journal could not be written ({reason}) and is written again; nothing was lost");
        if sealed || self.append_or_refuse(|batch| batch.push(Kind::Notice, &[text.as_bytes()])).is_ok() {
            self.published().fault = None;
            self.news.notify_all();
        }
    }

    /// Deletes the segments that hold nothing newer than `seq`; the last one always stays.
    pub(crate) fn trim(&self, seq: u64) {
        let mut published = self.published();
        let mut gone = Vec::new();
        while published.segments.len() > 1 && published.segments[1].first_seq <= seq.saturating_add(1) {
            gone.extend(published.segments.pop_front());
        }
        drop(published);
        if !gone.is_empty() {
            self.writer().segments.remove(gone.iter().map(|segment| segment.first_seq));
        }
    }

    /// Everything up to `seq` is stored. Of the oldest segments that hold nothing newer only what was written to the agent is kept, until
    /// the rest is no more than [`STORED_BYTES`].
    pub(crate) fn thin(&self, dir: &Path, seq: u64) -> io::Result<()> {
        while let Some((first_seq, last_seq)) = self.next_to_thin(seq) {
            let bytes = thin::segment(&journal_dir(dir), first_seq, last_seq)?;
            self.note_thinned(first_seq, bytes);
        }
        Ok(())
    }

    fn next_to_thin(&self, seq: u64) -> Option<(u64, u64)> {
        let published = self.published();
        let total: u64 = published.segments.iter().filter(|segment| !segment.is_thin).map(|segment| segment.bytes).sum();
        let at = published.segments.iter().position(|segment| !segment.is_thin).filter(|_| total > STORED_BYTES)?;
        let last_seq = published.segments.get(at + 1)?.first_seq - 1;
        (last_seq <= seq).then(|| (published.segments[at].first_seq, last_seq))
    }

    fn note_thinned(&self, first_seq: u64, bytes: u64) {
        if let Some(segment) = self.published().segments.iter_mut().find(|segment| segment.first_seq == first_seq) {
            (segment.bytes, segment.is_thin) = (bytes, true);
        }
    }

    pub(crate) fn fault_reason(&self) -> Option<String> {
        self.published().fault.clone()
    }

    /// Whether every record is written, also those a full disk held back.
    pub(crate) fn flushed(&self) -> bool {
        self.writer().backlog.is_empty()
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.published().last_seq
    }

    /// Wakes all readers, so that they look whether they are still wanted.
    pub(crate) fn rouse(&self) {
        drop(self.published());
        self.news.notify_all();
    }

    fn append_now(&self, writer: &mut Writer, fill: impl FnOnce(&mut Batch<'_>)) -> bool {
        if writer.sealed {
            return true;
        }
        let block = writer.encode(fill);
        if block.bytes.is_empty() {
            writer.keep_scratch(block.bytes);
            return true;
        }
        let written = if writer.backlog.is_empty() {
            writer.segments.write(&block.bytes, block.first_seq)
        } else {
            Err(io::Error::other("earlier records wait"))
        };
        match written {
            Ok(()) => {
                self.publish(writer, &block);
                writer.keep_scratch(block.bytes);
            }
            Err(error) => {
                let first = writer.backlog.is_empty();
                let mut block = block;
                block.bytes.shrink_to_fit();
                writer.backlog_bytes += block.bytes.len();
                writer.backlog.push_back(block);
                if first {
                    self.fault(&error.to_string());
                }
                return false;
            }
        }
        true
    }

    /// The block is in the file. It is handed to whoever sleeps for it under the lock, so that nothing is handed out of order.
    fn publish(&self, writer: &Writer, block: &Block) {
        let current = writer.segments.current();
        let mut published = self.published();
        match published.segments.back_mut() {
            Some(last) if last.first_seq == current.first_seq => last.bytes = current.bytes,
            _ => published.segments.push_back(current),
        }
        published.last_seq = block.last_seq;
        let from = current.bytes - block.bytes.len() as u64;
        let handed = published.sleeper.as_mut().map(|sleeper| sleeper.hand(current.first_seq, from, &block.bytes, block.last_seq));
        let asleep = handed == Some(true) && published.awake == 0;
        drop(published);
        if !asleep {
            self.news.notify_all();
        }
    }

    fn fault(&self, reason: &str) {
        self.published().fault.get_or_insert_with(|| reason.to_owned());
        self.news.notify_all();
    }

    // A panic in one thread ends the runner in order; until then the others go on with what is there.
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn published(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writer {
    fn encode(&mut self, fill: impl FnOnce(&mut Batch<'_>)) -> Block {
        let mut bytes = std::mem::take(&mut self.scratch);
        let first_seq = self.next_seq;
        fill(&mut Batch { out: &mut bytes, next_seq: &mut self.next_seq, time_ms: now_ms() });
        Block { bytes, first_seq, last_seq: self.next_seq - 1 }
    }

    fn keep_scratch(&mut self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= SCRATCH_KEEP_BYTES {
            bytes.clear();
            self.scratch = bytes;
        }
    }
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
