//! `read_file` and `read_file_external`: a range of lines, streamed, so that the size of the file does not matter.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use crate::arguments::ReadFile;
use crate::beneath::{self, reason};
use crate::bound::{self, CONTENT_BYTES};
use crate::deadline::Deadline;
use crate::work_dir::WorkDir;
use crate::{Answer, Output, Refusal};

const CHUNK_BYTES: usize = 64 * 1024;

/// A NUL this early is how git, too, tells binary files from text.
const SNIFF_BYTES: usize = 8 * 1024;

/// Lines after the range are only counted, and only so far.
const COUNT_BYTES: u64 = 256 * 1024 * 1024;

pub(crate) fn inside(work_dir: &WorkDir, arguments: ReadFile, deadline: &Deadline) -> Answer {
    let opened = work_dir.root().existing(&arguments.path)?.file(&arguments.path)?;
    read(opened, &arguments, deadline)
}

/// The caller has asked a person, who saw the path as it is in the arguments. So that very path is opened, and no link is followed:
/// what it led to might have changed since.
pub(crate) fn outside(_: &WorkDir, arguments: ReadFile, deadline: &Deadline) -> Answer {
    if !Path::new(&arguments.path).is_absolute() {
        let shown = bound::name(&arguments.path);
        return Err(Refusal::new(format!("'{shown}' is not an absolute path; use read_file for files in the workspace")));
    }
    read(beneath::open_shown(&arguments.path)?, &arguments, deadline)
}

fn read((file, metadata): (File, Metadata), arguments: &ReadFile, deadline: &Deadline) -> Answer {
    let shown = bound::name(&arguments.path);
    let first = arguments.start_line.unwrap_or(1).max(1);
    let last = arguments.end_line.unwrap_or(u64::MAX);
    if last < first {
        return Err(Refusal::new(format!("end_line {last} is before start_line {first}")));
    }
    let part = scan(file, first, last, deadline, &shown)?;
    if part.is_binary {
        let size = bound::size(metadata.len());
        return Err(Refusal::new(format!("'{shown}' is a binary file ({size}) and is not shown")));
    }
    if part.total == 0 {
        return Ok(Output::text(format!("[{shown} is empty]")));
    }
    if first > part.total {
        return Err(Refusal::new(format!("'{shown}' has {} lines; start_line {first} is past its end", part.count())));
    }
    Ok(Output::text(part.into_text(first, last)))
}

/// What one pass over the file found.
struct Part {
    /// The wanted lines, at most a little more than the bound.
    bytes: Vec<u8>,
    /// Lines seen in the whole file, and whether the counting went to its end.
    total: u64,
    total_is_exact: bool,
    is_binary: bool,
}

fn scan(mut file: File, first: u64, last: u64, deadline: &Deadline, shown: &str) -> Result<Part, Refusal> {
    let mut part = Part { bytes: Vec::new(), total: 0, total_is_exact: true, is_binary: false };
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut seen: u64 = 0;
    let mut line = 1;
    let mut ends_with_newline = true;
    loop {
        deadline.check()?;
        let length = file.read(&mut chunk).map_err(|why| Refusal::new(format!("cannot read '{shown}': {}", reason(&why))))?;
        let bytes = &chunk[..length];
        if length == 0 {
            break;
        }
        if seen == 0 && bytes[..length.min(SNIFF_BYTES)].contains(&0) {
            part.is_binary = true;
            return Ok(part);
        }
        seen += length as u64;
        ends_with_newline = bytes[length - 1] == b'\n';
        if line > last || part.bytes.len() > CONTENT_BYTES {
            line += newlines(bytes);
            if seen > COUNT_BYTES {
                part.total_is_exact = false;
                break;
            }
        } else {
            line = part.take(bytes, line, first, last);
        }
    }
    part.total = if ends_with_newline { line - 1 } else { line };
    Ok(part)
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

impl Part {
    /// Keeps what falls into the range; returns the number of the line that the next byte belongs to.
    fn take(&mut self, bytes: &[u8], mut line: u64, first: u64, last: u64) -> u64 {
        if line + newlines(bytes) < first {
            return line + newlines(bytes);
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if (first..=last).contains(&line) && self.bytes.len() <= CONTENT_BYTES {
                self.bytes.extend_from_slice(piece);
            }
            line += u64::from(piece.ends_with(b"\n"));
        }
        line
    }

    fn count(&self) -> String {
        let more = if self.total_is_exact { "" } else { "more than " };
        format!("{more}{}", self.total)
    }

    fn into_text(self, first: u64, last: u64) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let kept = bound::whole_lines(&text, CONTENT_BYTES);
        let was_cut = kept.len() < text.len();
        let cut_in_line = was_cut && !kept.ends_with('\n');
        let lines = kept.lines().count().max(1) as u64;
        let end = first + lines - 1;
        let mut notes = Vec::new();
        if first > 1 || end < self.total {
            notes.push(format!("lines {first}-{end} of {}", self.count()));
        }
        if cut_in_line {
            notes.push(format!("line {first} is cut at {}", bound::size(kept.len() as u64)));
        }
        if was_cut && end < last.min(self.total) {
            let limit = bound::size(CONTENT_BYTES as u64);
            notes.push(format!("cut at {limit}; continue with start_line={}", end + 1));
        }
        if matches!(text, std::borrow::Cow::Owned(_)) {
            notes.push("bytes that are not UTF-8 are shown as \u{fffd}".to_owned());
        }
        let body = bound::clean(kept);
        if notes.is_empty() { body } else { format!("[{}]\n{body}", notes.join("; ")) }
    }
}
