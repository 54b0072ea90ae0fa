//! `list_directory`: the entries of one directory, links shown as links and never followed.

use crate::arguments::{self, ListDirectory};
use crate::beneath::{Directory, Entry, Kind, reason};
use crate::bound::{self, CONTENT_BYTES};
use crate::deadline::Deadline;
use crate::work_dir::WorkDir;
use crate::{Answer, Output, Refusal};

/// A directory beyond this is not something to read through entry by entry.
const MOST_ENTRIES: usize = 100_000;

pub(crate) fn run(work_dir: &WorkDir, arguments: ListDirectory, deadline: &Deadline) -> Answer {
    let path = arguments::given(&arguments.path).unwrap_or(".");
    let shown = bound::name(path);
    let spot = work_dir.root().existing(path)?;
    if spot.kind != Some(Kind::Directory) {
        return Err(Refusal::new(format!("'{shown}' is not a directory")));
    }
    if spot.is_kernel() {
        return Err(Refusal::new(format!("'{shown}' belongs to the kernel and is not listed")));
    }
    let cannot = |why: rustix::io::Errno| Refusal::new(format!("cannot list '{shown}': {}", reason(&why.into())));
    let directory = spot.directory().map_err(cannot)?;
    let place = work_dir.path().join(&spot.path);
    let (left_out, mut lines) = (work_dir.left_out(), Vec::new());
    for entry in directory.entries(MOST_ENTRIES).map_err(cannot)? {
        deadline.check()?;
        if !left_out.covers(&place.join(&entry.name), entry.kind == Kind::Directory) {
            lines.push(describe(&directory, &entry));
        }
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
fn describe(directory: &Directory, entry: &Entry) -> (bool, String, String) {
    let name = bound::name(&entry.name.to_string_lossy());
    let line = match entry.kind {
        Kind::Directory => format!("{name}/"),
        Kind::Link => match directory.target(&entry.name) {
            Some(target) => format!("{name} -> {}", bound::name(&target.to_string_lossy())),
            None => format!("{name} -> ?"),
        },
        Kind::Pipe => format!("{name} (named pipe)"),
        Kind::Socket => format!("{name} (socket)"),
        Kind::File => {
            let size = directory.about(&entry.name).map_or(0, |about| about.st_size.unsigned_abs());
            format!("{name} ({})", bound::size(size))
        }
        Kind::Device => format!("{name} (device)"),
    };
    (entry.kind != Kind::Directory, name, line)
}
