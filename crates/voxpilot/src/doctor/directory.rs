//! The directories: may we write, is there room, is it a repository.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use engine::{Disk, size};
use rustix::fs::{Access, access};

use super::{Check, Verdict};
use crate::config::{Config, ConfigError};

/// With less than this a database cannot be written to.
const FULL_BYTES: u64 = 1024 * 1024;

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
        let fix = format!("sudo install -d -m 700 -o \"$USER\" {shown}");
        return Check::bad(name, Verdict::Fail, format!("{} is not writable", nearest.display()), fix);
    }
    Check::ok(name, if nearest == path { format!("{shown}") } else { format!("{shown} (will be made at first start)") })
}

/// One that a server refuses.
pub(super) fn data_inside(error: ConfigError) -> Check {
    Check::bad("data directory", Verdict::Fail, error.problems.join("; "), "set VOXPILOT_DATA_DIR to a path outside the work directory")
}

/// The data directory's disk and its quota, and every other disk that is written to and full.
pub(super) fn disks(config: &Config) -> Vec<Check> {
    let mut checks = vec![disk(&config.data_dir, config.disk_quota)];
    let device = |path: &Path| existing(path).metadata().ok().map(|about| about.dev());
    if device(&config.work_dir) != device(&config.data_dir) {
        checks.extend(full(&config.work_dir).map(|detail| Check::bad("disk", Verdict::Warn, detail, room(&config.work_dir))));
    }
    checks
}

fn disk(path: &Path, quota: Option<u64>) -> Check {
    let name = "disk";
    if let Some(detail) = full(path) {
        return Check::bad(name, Verdict::Fail, format!("{detail}: nothing more can be stored"), room(path));
    }
    let nearest = existing(path);
    match Disk::measure(nearest, quota, 0) {
        // A directory above it holds what is not ours.
        Ok(disk) if nearest != path => Check::ok(name, format!("{} free", size(disk.free_bytes))),
        Ok(Disk { warning: Some(warning), .. }) => {
            Check::bad(name, Verdict::Warn, warning, "delete sessions in the page, then `voxpilot vacuum` with the server stopped")
        }
        Ok(disk) => Check::ok(name, format!("{} used, {} free", size(disk.used_bytes), size(disk.free_bytes))),
        Err(error) => Check::bad(name, Verdict::Warn, format!("it cannot be measured: {error}"), "look at its file system"),
    }
}

/// What is said of a disk on which nothing more can be written.
fn full(path: &Path) -> Option<String> {
    let nearest = existing(path);
    let disk = rustix::fs::statvfs(nearest).ok()?;
    let free = disk.f_bavail * disk.f_frsize;
    // Some file systems have no fixed number of files, and say zero of zero.
    let no_files = disk.f_files > 0 && disk.f_favail == 0;
    match () {
        () if free < FULL_BYTES => Some(format!("the disk of {} is full: {} left", path.display(), size(free))),
        () if no_files => Some(format!("the disk of {} is full: it takes no more files", path.display())),
        () => None,
    }
}

/// Shows what takes the room: what may go, only a person can say.
fn room(path: &Path) -> String {
    format!("du -xh -d2 {} | sort -h | tail   (shows what takes the room; delete what is not needed)", existing(path).display())
}

fn existing(path: &Path) -> &Path {
    path.ancestors().find(|ancestor| ancestor.is_dir()).unwrap_or(path)
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
