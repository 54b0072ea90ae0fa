//! `glob_search`: files by name.

use crate::arguments::{self, GlobSearch};
use crate::bound::{self, CONTENT_BYTES};
use crate::deadline::Deadline;
use crate::walk::{self, PathGlob};
use crate::work_dir::WorkDir;
use crate::{Answer, Output, Refusal};

const MOST_RESULTS: usize = 1000;

pub(crate) fn run(work_dir: &WorkDir, arguments: GlobSearch, deadline: &Deadline) -> Answer {
    let path = arguments::given(&arguments.path).unwrap_or(".");
    if arguments.pattern.is_empty() {
        return Err(Refusal::new("the pattern of glob_search is empty"));
    }
    let start = work_dir.existing(path)?;
    if !start.is_dir() {
        return Err(Refusal::new(format!("'{}' is not a directory", bound::name(path))));
    }
    let glob = PathGlob::new(&arguments.pattern, work_dir, &start)?;
    let mut found = String::new();
    let mut count = 0;
    for entry in walk::entries(work_dir, &start).flatten() {
        deadline.check()?;
        let is_dir = entry.file_type().is_none_or(|kind| kind.is_dir());
        if is_dir || !glob.wants(entry.path()) {
            continue;
        }
        let line = work_dir.shown(entry.path()) + "\n";
        if count == MOST_RESULTS || found.len() + line.len() > CONTENT_BYTES {
            return Ok(Output::text(format!("[the first {count} files; there are more: use a narrower pattern or path]\n{found}")));
        }
        found.push_str(&line);
        count += 1;
    }
    if count == 0 {
        return Ok(Output::text(format!("no file matches '{}'", bound::name(&arguments.pattern))));
    }
    Ok(Output::text(found))
}
