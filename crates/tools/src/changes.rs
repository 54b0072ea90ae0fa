//! Which files changed lately: evidence for a person, not a diff.

use std::time::{Duration, SystemTime};

use crate::Project;
use crate::beneath::Kind;
use crate::walk::{Entries, Item};
use crate::work_dir::WorkDir;

/// More names than this help nobody.
const NAMED: usize = 20;

/// The files below the work directory that were written since then, by their relative paths; the last entry says how many more.
pub fn changed_since(project: &Project, since: SystemTime) -> Vec<String> {
    let Ok(entries) = WorkDir::of(project).and_then(|work_dir| Entries::all(&work_dir)) else { return Vec::new() };
    let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let changed = |item: &Item| {
        let written =
            item.about().map(|about| Duration::new(about.st_mtime.unsigned_abs(), u32::try_from(about.st_mtime_nsec).unwrap_or(0)));
        item.kind == Kind::File && written.is_some_and(|written| written >= since)
    };
    let mut paths: Vec<String> = entries.filter(changed).map(|item| item.path.display().to_string()).collect();
    if paths.len() > NAMED {
        let more = paths.len() - NAMED;
        paths.truncate(NAMED);
        paths.push(format!("and {more} more"));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_since_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("old"), "x").unwrap();
        let old = SystemTime::now() - std::time::Duration::from_secs(3600);
        std::fs::File::options().write(true).open(dir.path().join("old")).unwrap().set_modified(old).unwrap();
        std::fs::write(dir.path().join("new"), "x").unwrap();
        let project = Project { work_dir: dir.path().to_owned(), ignore: Vec::new(), ignore_root: dir.path().to_owned() };
        assert_eq!(changed_since(&project, SystemTime::now() - std::time::Duration::from_secs(60)), ["new"]);
    }
}
