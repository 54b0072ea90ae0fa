//! Reading a journal straight from its files, for a server that finds the runner dead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::{Buf, Bytes};

use super::{list_segments, segment_path};
use crate::record::{self, Peek, Record};
use crate::spec::journal_dir;

/// Reads the journal below a runner's directory: the records after `after`, up to the first that is torn or damaged.
///
/// A directory without a journal has no records. Segments are read one at a time.
pub fn read_journal(dir: &Path, after: u64) -> io::Result<JournalReader> {
    let mut segments = list_segments(dir)?;
    // Only the last segment that begins at or before the first wanted record can hold it.
    let start = segments.partition_point(|first_seq| *first_seq <= after.saturating_add(1)).saturating_sub(1);
    segments.drain(..start);
    segments.reverse();
    Ok(JournalReader { dir: journal_dir(dir), segments, bytes: Bytes::new(), expected: None, whole: None, thinned_through: None, after })
}

/// The first numbers of the pieces in which a journal is kept, in order. Whoever reads it backwards does so piece by piece.
pub fn journal_pieces(dir: &Path) -> io::Result<Vec<u64>> {
    list_segments(dir)
}

/// The records of a journal on disk, in order and without a gap other than those that were made on purpose.
pub struct JournalReader {
    dir: PathBuf,
    /// What is still to be read, the next one last.
    segments: Vec<u64>,
    bytes: Bytes,
    expected: Option<u64>,
    /// The segment being read and how much of it was good.
    whole: Option<(u64, u64)>,
    /// Up to here records of the segment being read may be missing.
    thinned_through: Option<u64>,
    after: u64,
}

impl JournalReader {
    pub(super) fn whole(&self) -> Option<(u64, u64)> {
        self.whole
    }

    /// The next whole record of any number; `None` where the journal ends.
    fn next_record(&mut self) -> Option<Record> {
        loop {
            while self.bytes.is_empty() {
                self.open_next()?;
            }
            let Peek::Whole(total) = record::peek(&self.bytes) else { return self.stop() };
            let frame = self.bytes.slice(..total);
            self.bytes.advance(total);
            if let Some(through) = self.thinned_here(&frame) {
                self.thinned_through = Some(through);
                self.note_good(total);
                continue;
            }
            let record = record::decode(frame).filter(|record| self.follows(record.seq));
            let Some(record) = record else { return self.stop() };
            self.note_good(total);
            self.expected = record.seq.checked_add(1);
            return Some(record);
        }
    }

    fn open_next(&mut self) -> Option<()> {
        let segment = self.segments.pop()?;
        let expected = *self.expected.get_or_insert(segment);
        let behind_thinned = self.thinned_through.take().map_or(0, |through| through.saturating_add(1));
        if segment != expected.max(behind_thinned) {
            return self.stop();
        }
        let Ok(content) = fs::read(segment_path(&self.dir, segment)) else { return self.stop() };
        self.bytes = Bytes::from(content);
        self.expected = Some(segment);
        self.whole = Some((segment, 0));
        Some(())
    }

    fn note_good(&mut self, bytes: usize) {
        if let Some((_, good)) = &mut self.whole {
            *good += bytes as u64;
        }
    }

    /// Up to where records of this segment are missing on purpose, which is said at its beginning and nowhere else.
    fn thinned_here(&self, frame: &[u8]) -> Option<u64> {
        let (segment, _) = self.whole.filter(|(segment, good)| *good == 0 && *segment == record::seq_of(frame))?;
        record::thinned_through(frame).filter(|through| *through >= segment)
    }

    /// Whether a record with this number may come next.
    fn follows(&self, seq: u64) -> bool {
        self.expected
            .is_some_and(|expected| seq == expected || (seq > expected && self.thinned_through.is_some_and(|through| seq <= through)))
    }

    /// What follows damage cannot be trusted to be without a gap.
    fn stop<T>(&mut self) -> Option<T> {
        self.segments.clear();
        self.bytes.clear();
        None
    }
}

impl Iterator for JournalReader {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        loop {
            let record = self.next_record()?;
            if record.seq > self.after {
                return Some(record);
            }
        }
    }
}
