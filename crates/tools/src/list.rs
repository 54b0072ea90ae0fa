//! `list_directory`: the entries of one directory, links shown as links and never followed.

use std::fs::DirEntry;
use std::os::unix::fs::FileTypeExt;

use crate::arguments::{self, ListDirectory};
use crate::bound::{self, CONTENT_BYTES};
use crate::deadline::Deadline;
use crate::work_dir::{WorkDir, reason};
use crate::{Answer, Output, Refusal, open};

/// A directory beyond this is not something to read through entry by entry.
const MOST_ENTRIES: usize = 100_000;

pub(crate) fn run(work_dir: &WorkDir, arguments: ListDirectory, deadline: &Deadline) -> Answer {
    let path = arguments::given(&arguments.path).unwrap_or(".");
    let shown = bound::name(path);
    let real = work_dir.existing(path)?;
    if !real.is_dir() {
        return Err(Refusal::new(format!("'{shown}' is not a directory")));
    }
    if open::is_kernel_tree(&real) {
        return Err(Refusal::new(format!("'{shown}' belongs to the kernel and is not listed")));
    }
    let entries = std::fs::read_dir(&real).map_err(|why| Refusal::new(format!("cannot list '{shown}': {}", reason(&why))))?;
    let (left_out, mut lines) = (work_dir.left_out(), Vec::new());
    for entry in entries.flatten().take(MOST_ENTRIES) {
        deadline.check()?;
        if left_out.covers(&entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            continue;
        }
        lines.push(describe(&entry));
    }
    if lines.is_empty() {
        return Ok(Output::text(format!("[{shown} is empty]")));
    }
    lines.sort();
    let total = lines.len();
    let text: String = lines.into_iter().map(|(_, _, line)| line + "\n").collect();
    let kept = bound::whole_lines(&text, CONTENT_BYTES);
    let count = kept.lines().count();
    if count == total {
        return Ok(Output::text(text));
    }
    let more = if total == MOST_ENTRIES { "at least " } else { "" };
    Ok(Output::text(format!("[the first {count} of {more}{total} entries; use glob_search with path and a pattern for the rest]\n{kept}")))
}

/// Sort key (directories first, then by name) and the line itself.
fn describe(entry: &DirEntry) -> (bool, String, String) {
    let name = bound::name(&entry.file_name().to_string_lossy());
    let Ok(kind) = entry.file_type() else {
        return (true, name.clone(), name);
    };
    let line = if kind.is_dir() {
        format!("{name}/")
    } else if kind.is_symlink() {
        match std::fs::read_link(entry.path()) {
            Ok(target) => format!("{name} -> {}", bound::name(&target.to_string_lossy())),
            Err(_) => format!("{name} -> ?"),
        }
    } else if kind.is_fifo() {
        format!("{name} (named pipe)")
    } else if kind.is_socket() {
        format!("{name} (socket)")
    } else if kind.is_file() {
        let size = entry.metadata().map_or(0, |metadata| metadata.len());
        format!("{name} ({})", bound::size(size))
    } else {
        format!("{name} (device)")
    };
    (!kind.is_dir(), name, line)
}
