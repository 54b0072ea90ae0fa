//! A reader that follows the journal as it grows, by position: what is published is handed on as the bytes on disk.
//!
//! A reader that has everything leaves word how it takes more, and sleeps: whoever appends next hands it the bytes, without waking it and
//! without reading them again. It wakes when it could not take them at once.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, PoisonError};

use super::{Journal, Published, segment_path};
use crate::record::{self, HEADER_BYTES};
use crate::spec::journal_dir;

const CHUNK_BYTES: usize = 128 * 1024;

/// Takes what fits of the bytes, without waiting, and says how much. The number is that of the last record in them.
pub(crate) type Take = Box<dyn FnMut(&[u8], u64) -> usize + Send>;

/// A reader that has everything and sleeps.
pub(crate) struct Sleeper {
    reader: u64,
    first_seq: u64,
    at: u64,
    take: Take,
}

impl Sleeper {
    /// Hands over what was just written at `from` in that segment. False where the reader has to see to it itself.
    pub(super) fn hand(&mut self, segment: u64, from: u64, bytes: &[u8], last_seq: u64) -> bool {
        if (segment, from) != (self.first_seq, self.at) {
            return false;
        }
        let taken = (self.take)(bytes, last_seq);
        self.at += taken as u64;
        taken == bytes.len()
    }
}

static READERS: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Tail {
    reader: u64,
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
        let reader = READERS.fetch_add(1, Ordering::Relaxed);
        Self { reader, dir: journal_dir(dir), cursor, open: None, fault: None }
    }

    /// Waits for news, and takes what comes meanwhile by `take`. `wanted` is asked whenever the journal has changed or was roused.
    pub(crate) fn next(&mut self, journal: &Journal, wanted: impl Fn() -> bool, take: impl Fn() -> Take) -> io::Result<Step> {
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
                published = self.sleep(journal, published, &take);
            };
            drop(published);
            match found {
                Found::Bytes { to, through } => return Ok(Step::Bytes { to, through }),
                Found::Segment { first_seq } => self.enter(first_seq)?,
            }
        }
    }

    /// Until something has to be looked at. Where another reader sleeps already, this one is woken for everything.
    fn sleep<'a>(
        &mut self,
        journal: &'a Journal,
        mut published: MutexGuard<'a, Published>,
        take: &impl Fn() -> Take,
    ) -> MutexGuard<'a, Published> {
        if let (Some(open), None) = (&self.open, &published.sleeper) {
            published.sleeper = Some(Sleeper { reader: self.reader, first_seq: open.first_seq, at: open.at, take: take() });
        }
        let mine = |published: &Published| published.sleeper.as_ref().is_some_and(|sleeper| sleeper.reader == self.reader);
        let awake = u32::from(!mine(&published));
        published.awake += awake;
        published = journal.news.wait(published).unwrap_or_else(PoisonError::into_inner);
        published.awake -= awake;
        if let Some(sleeper) = mine(&published).then(|| published.sleeper.take()).flatten()
            && let Some(open) = &mut self.open
        {
            open.at = sleeper.at;
        }
        published
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
