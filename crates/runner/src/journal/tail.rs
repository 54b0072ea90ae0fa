//! A reader that follows the journal as it grows, by position: what is published is handed on as the bytes on disk.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::{Journal, Published, segment_path};
use crate::record::{self, HEADER_BYTES};
use crate::spec::journal_dir;

const CHUNK_BYTES: usize = 128 * 1024;

pub(crate) struct Tail {
    dir: PathBuf,
    /// Only records after this one are wanted.
    cursor: u64,
    open: Option<OpenSegment>,
    fault: Option<String>,
}

struct OpenSegment {
    first_seq: u64,
    file: File,
    at: u64,
}

pub(crate) enum Step {
    /// Bytes `from..to` of the open segment are news and end with a whole record; with them everything up to `through` has
    /// been handed on.
    Bytes { to: u64, through: u64 },
    /// The journal has become unwritable, or (`None`) writable again.
    Fault(Option<String>),
    /// The reader is no longer wanted.
    Unwanted,
}

enum Found {
    Segment { first_seq: u64 },
    Bytes { to: u64, through: u64 },
}

impl Tail {
    pub(crate) fn new(dir: &Path, cursor: u64) -> Self {
        Self { dir: journal_dir(dir), cursor, open: None, fault: None }
    }

    /// Waits for news. `wanted` is asked whenever the journal has changed or was roused.
    pub(crate) fn next(&mut self, journal: &Journal, wanted: impl Fn() -> bool) -> io::Result<Step> {
        loop {
            let mut published = journal.published();
            let found = loop {
                if !wanted() {
                    return Ok(Step::Unwanted);
                }
                if published.fault != self.fault {
                    self.fault.clone_from(&published.fault);
                    return Ok(Step::Fault(self.fault.clone()));
                }
                if let Some(found) = self.look(&published) {
                    break found;
                }
                published = journal.news.wait(published).unwrap_or_else(PoisonError::into_inner);
            };
            drop(published);
            match found {
                Found::Bytes { to, through } => return Ok(Step::Bytes { to, through }),
                Found::Segment { first_seq } => self.enter(first_seq)?,
            }
        }
    }

    /// Copies what a step announced, in large pieces.
    pub(crate) fn copy(&mut self, to: u64, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let wanted = usize::try_from(to - open.at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        let mut chunk = vec![0; wanted];
        while open.at < to {
            let length = usize::try_from(to - open.at).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            open.file.read_exact_at(&mut chunk[..length], open.at)?;
            sink(&chunk[..length])?;
            open.at += length as u64;
        }
        Ok(())
    }

    fn look(&self, published: &Published) -> Option<Found> {
        let Some(open) = &self.open else {
            let past = published.segments.partition_point(|segment| segment.first_seq <= self.cursor.saturating_add(1));
            let segment = published.segments.get(past.saturating_sub(1))?;
            return Some(Found::Segment { first_seq: segment.first_seq });
        };
        let behind = published.segments.partition_point(|segment| segment.first_seq < open.first_seq);
        let mut rest = published.segments.iter().skip(behind).peekable();
        if let Some(same) = rest.next_if(|segment| segment.first_seq == open.first_seq)
            && same.bytes > open.at
        {
            let through = rest.peek().map_or(published.last_seq, |next| next.first_seq - 1);
            return Some(Found::Bytes { to: same.bytes, through });
        }
        rest.next().map(|next| Found::Segment { first_seq: next.first_seq })
    }

    fn enter(&mut self, first_seq: u64) -> io::Result<()> {
        let file = File::open(segment_path(&self.dir, first_seq))?;
        let at = if first_seq <= self.cursor { position_after(&file, self.cursor)? } else { 0 };
        self.open = Some(OpenSegment { first_seq, file, at });
        Ok(())
    }
}

/// Where the records after `cursor` begin, or the end of the file.
fn position_after(file: &File, cursor: u64) -> io::Result<u64> {
    let mut reader = BufReader::with_capacity(CHUNK_BYTES, file);
    let length = file.metadata()?.len();
    let mut at = 0;
    let mut header = [0; HEADER_BYTES];
    while at < length {
        match reader.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            other => other?,
        }
        if record::seq_of(&header) > cursor {
            break;
        }
        let Some(total) = record::frame_bytes(&header) else { break };
        reader.seek_relative((total - HEADER_BYTES) as i64)?;
        at += total as u64;
        if record::seq_of(&header) == cursor {
            break;
        }
    }
    Ok(at)
}
