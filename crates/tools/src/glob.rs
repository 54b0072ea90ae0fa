//! `glob_search`: files by name.

use crate::arguments::{self, GlobSearch};
use crate::beneath::Kind;
use crate::bound::{self, CONTENT_BYTES};
use crate::deadline::Deadline;
use crate::walk::{Entries, PathGlob};
use crate::work_dir::WorkDir;
use crate::{Answer, Output, Refusal};

const MOST_RESULTS: usize = 1000;

pub(crate) fn run(work_dir: &WorkDir, arguments: GlobSearch, deadline: &Deadline) -> Answer {
    let path = arguments::given(&arguments.path).unwrap_or(".");
    if arguments.pattern.is_empty() {
        return Err(Refusal::new("the pattern of glob_search is empty"));
    }
    let start = work_dir.root().existing(path)?;
    if start.kind != Some(Kind::Directory) {
        return Err(Refusal::new(format!("'{}' is not a directory", bound::name(path))));
    }
    let glob = PathGlob::new(&arguments.pattern, work_dir, &start.path)?;
    let mut found = String::new();
    let mut count = 0;
    for item in Entries::below(work_dir, &start)? {
        deadline.check()?;
        if item.kind == Kind::Directory || !glob.wants(&item.path) {
            continue;
        }
        let line = WorkDir::shown(&item.path) + "\n";
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
