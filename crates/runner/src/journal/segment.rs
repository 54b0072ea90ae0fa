//! The segment files: numbered by their first record, written at a known place, one after the other.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::PublishedSegment;
use crate::spec::{Durability, create_private_dir, journal_dir};

/// A segment that has reached this length is followed by a new one.
const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;

/// The writer's end of the files.
pub(crate) struct Segments {
    dir: PathBuf,
    durability: Durability,
    file: File,
    first_seq: u64,
    /// Up to here the file holds whole records. Every write goes exactly here, so a failed one is simply repeated.
    bytes: u64,
}

pub(crate) fn path(journal: &Path, first_seq: u64) -> PathBuf {
    journal.join(format!("{first_seq:010}.seg"))
}

/// The first sequence numbers of all segments below the runner's directory, in order.
pub(crate) fn list(dir: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(journal_dir(dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".seg"));
        found.extend(stem.and_then(|stem| stem.parse::<u64>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}

impl Segments {
    /// Opens the last segment for writing behind its last whole record, `whole` being that segment and its good length; what
    /// lies behind it, in this file or in later ones, is cut off.
    pub(super) fn open(dir: &Path, durability: Durability, next_seq: u64, whole: Option<(u64, u64)>) -> io::Result<Self> {
        create_private_dir(&journal_dir(dir))?;
        let (first_seq, bytes) = whole.unwrap_or((next_seq, 0));
        let journal = journal_dir(dir);
        for later in list(dir)?.into_iter().filter(|number| *number > first_seq) {
            fs::remove_file(path(&journal, later))?;
        }
        let file = open_for_writing(&path(&journal, first_seq))?;
        file.set_len(bytes)?;
        let segments = Self { dir: journal, durability, file, first_seq, bytes };
        segments.sync_dir()?;
        Ok(segments)
    }

    pub(super) fn current(&self) -> PublishedSegment {
        PublishedSegment { first_seq: self.first_seq, bytes: self.bytes, is_thin: false }
    }

    pub(super) fn lengths(&self) -> io::Result<VecDeque<PublishedSegment>> {
        let parent = self.dir.parent().unwrap_or(&self.dir);
        let lengths = list(parent)?.into_iter().map(|first_seq| {
            let bytes = fs::metadata(path(&self.dir, first_seq))?.len();
            Ok(PublishedSegment { first_seq, bytes, is_thin: false })
        });
        lengths.collect()
    }

    /// Writes whole records, the first of which is `first_seq`. After an error nothing of them counts as written.
    pub(super) fn write(&mut self, block: &[u8], first_seq: u64) -> io::Result<()> {
        if self.bytes >= SEGMENT_BYTES {
            self.file = open_for_writing(&path(&self.dir, first_seq))?;
            (self.first_seq, self.bytes) = (first_seq, 0);
            self.sync_dir()?;
        }
        self.file.write_all_at(block, self.bytes)?;
        if self.durability == Durability::Disk {
            self.file.sync_data()?;
        }
        self.bytes += block.len() as u64;
        Ok(())
    }

    /// Cuts off what a refused write may have left behind the last whole record.
    pub(super) fn forget_unfinished(&self) {
        // If this fails too, the checksum still tells a reader where to stop.
        let _ = self.file.set_len(self.bytes);
    }

    pub(super) fn remove(&self, segments: impl Iterator<Item = u64>) {
        for first_seq in segments {
            // A file that stays costs room and nothing else.
            let _ = fs::remove_file(path(&self.dir, first_seq));
        }
    }

    fn sync_dir(&self) -> io::Result<()> {
        if self.durability == Durability::Disk {
            File::open(&self.dir)?.sync_all()?;
        }
        Ok(())
    }
}

fn open_for_writing(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
