//! Which files changed lately: evidence for a person, not a diff.

use std::time::SystemTime;

use crate::work_dir::WorkDir;
use crate::{Project, walk};

/// More names than this help nobody.
const NAMED: usize = 20;

/// The files below the work directory that were written since then, by their relative paths; the last entry says how many more.
pub fn changed_since(project: &Project, since: SystemTime) -> Vec<String> {
    let Ok(work_dir) = WorkDir::of(project) else { return Vec::new() };
    let changed = |entry: &ignore::DirEntry| {
        let metadata = entry.metadata().ok()?;
        (metadata.is_file() && metadata.modified().ok()? >= since).then_some(())
    };
    let mut paths: Vec<String> = walk::entries(&work_dir, work_dir.root())
        .flatten()
        .filter(|entry| changed(entry).is_some())
        .filter_map(|entry| Some(entry.path().strip_prefix(work_dir.root()).ok()?.display().to_string()))
        .collect();
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
