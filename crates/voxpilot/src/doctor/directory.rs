//! The directories: may we write, is it a repository.

use std::path::Path;

use rustix::fs::{Access, access};

use super::{Check, Verdict};
use crate::config::ConfigError;

pub(super) fn data(path: &Path) -> Check {
    let name = "data directory";
    let shown = path.display();
    // It is made at first start, so what counts is the nearest directory that is there.
    let Some(nearest) = path.ancestors().find(|ancestor| ancestor.exists()) else {
        return Check::bad(name, Verdict::Fail, format!("{shown} has no parent"), format!("mkdir -p {shown}"));
    };
    if !nearest.is_dir() {
        return Check::bad(
            name,
            Verdict::Fail,
            format!("{} is not a directory", nearest.display()),
            "set VOXPILOT_DATA_DIR to another path",
        );
    }
    if access(nearest, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let mend = format!("sudo install -d -m 700 -o \"$USER\" {shown}");
        return Check::bad(name, Verdict::Fail, format!("{} is not writable", nearest.display()), mend);
    }
    Check::ok(name, if nearest == path { format!("{shown}") } else { format!("{shown} (will be made at first start)") })
}

/// One that a server refuses.
pub(super) fn data_inside(error: ConfigError) -> Check {
    Check::bad("data directory", Verdict::Fail, error.problems.join("; "), "set VOXPILOT_DATA_DIR to a path outside of the work directory")
}

pub(super) fn work(path: &Path) -> Check {
    let name = "work directory";
    let shown = path.display();
    // A worktree and a submodule have a file there instead of a directory.
    if path.ancestors().any(|ancestor| ancestor.join(".git").exists()) {
        return Check::ok(name, format!("{shown}, a git repository"));
    }
    let detail = format!("{shown} is not a git repository: no diffs, no reviews");
    Check::bad(name, Verdict::Warn, detail, format!("git -C {shown} init"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_that_is_still_to_be_made_is_fine() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(data(&dir.path().join("a/b")).verdict, Verdict::Ok);
        assert_eq!(data(dir.path()).verdict, Verdict::Ok);
    }

    #[test]
    fn a_file_in_the_place_of_the_data_directory_fails() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(data(&file).verdict, Verdict::Fail);
        assert_eq!(data(&file.join("below")).verdict, Verdict::Fail);
    }

    #[test]
    fn a_repository_is_seen_from_below() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(work(&below).verdict, Verdict::Warn);
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        assert_eq!(work(&below).verdict, Verdict::Ok);
    }
}
