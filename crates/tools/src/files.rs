//! Text files of the work directory, read for an agent that leaves that to its client, or for its project's sake. Blocking; the caller
//! has asked whoever must be asked. How they are written is in `beneath`.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::beneath::{self, Kind, Links, Lost, reason};
use crate::work_dir::WorkDir;
use crate::{Refusal, bound};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileError {
    Missing(String),
    /// Not a path, a file or a size that is let through, or the disk says no.
    Refused(String),
}

impl FileError {
    pub fn message(&self) -> &str {
        match self {
            FileError::Missing(message) | FileError::Refused(message) => message,
        }
    }
}

impl From<Refusal> for FileError {
    fn from(refusal: Refusal) -> Self {
        FileError::Refused(refusal.0)
    }
}

/// The text, or `limit` of its lines from `line` on, counted from 1.
pub fn read_text(work_dir: &Path, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, FileError> {
    let text = current_text(work_dir, path)?.ok_or_else(|| FileError::Missing(format!("there is no file '{}'", bound::name(path))))?;
    if line.is_none() && limit.is_none() {
        return Ok(text);
    }
    let skip = usize::try_from(line.unwrap_or(1).max(1) - 1).unwrap_or(usize::MAX);
    let take = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(text.split_inclusive('\n').skip(skip).take(take).collect())
}

/// The whole text as it is now; `None` where there is no file and one may be made.
pub fn current_text(work_dir: &Path, path: &str) -> Result<Option<String>, FileError> {
    beneath::current_text(WorkDir::open(work_dir)?.root(), path)
}

/// The beginning of a file that a project addresses to whoever works in it, and whether there is more. `None` where there is none.
/// A link may lead to another file of the project, not to git's own.
pub fn beginning(work_dir: &Path, name: &str, most_bytes: usize) -> Result<Option<(String, bool)>, FileError> {
    let work_dir = WorkDir::open(work_dir)?;
    if work_dir.root().spot(name, Links::Refuse)?.kind.is_none() {
        return Ok(None);
    }
    let spot = work_dir.root().existing(name)?;
    if spot.path.components().any(|part| part.as_os_str() == ".git") {
        return Err(FileError::Refused(format!("'{}' leads into a repository", bound::name(name))));
    }
    let (file, _) = spot.file(name)?;
    let mut bytes = Vec::new();
    let read = file.take(most_bytes as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|why| FileError::Refused(format!("cannot read '{}': {}", bound::name(name), reason(&why))))?;
    let text = String::from_utf8_lossy(&bytes);
    let kept = bound::prefix(&text, most_bytes);
    Ok(Some((kept.to_owned(), kept.len() < text.len())))
}

/// A directory inside the work directory, held open, and its path without links.
pub struct OpenDirectory {
    pub path: PathBuf,
    pub handle: OwnedFd,
}

pub fn directory(work_dir: &Path, path: Option<&str>) -> Result<OpenDirectory, FileError> {
    let (work_dir, path) = (WorkDir::open(work_dir)?, path.unwrap_or("."));
    let spot = work_dir.root().existing(path)?;
    if spot.kind != Some(Kind::Directory) {
        return Err(FileError::Refused(format!("'{}' is not a directory", bound::name(path))));
    }
    let handle = spot.handle().map_err(|why| Lost::System(why).refusal(path))?;
    let path = if spot.path.as_os_str().is_empty() { work_dir.path().to_owned() } else { work_dir.path().join(spot.path) };
    Ok(OpenDirectory { path, handle })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::write_text;

    fn work() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let work = home.path().join("work");
        fs::create_dir(&work).unwrap();
        fs::write(home.path().join("secret"), "secret").unwrap();
        (home, work)
    }

    #[test]
    fn lines_are_counted_from_one() {
        let (_home, work) = work();
        fs::write(work.join("a"), "1\n2\n3").unwrap();
        let read = |line, limit| read_text(&work, "a", line, limit).unwrap();
        assert_eq!(read(None, None), "1\n2\n3");
        assert_eq!(read(Some(2), Some(1)), "2\n");
        assert_eq!(read(Some(0), Some(1)), "1\n");
        assert_eq!(read(Some(3), None), "3");
        assert_eq!(read(Some(9), None), "");
        assert!(matches!(read_text(&work, "b", None, None), Err(FileError::Missing(_))));
        fs::write(work.join("binary"), [0xff, 0xfe]).unwrap();
        assert!(matches!(read_text(&work, "binary", None, None), Err(FileError::Refused(_))));
        assert!(matches!(read_text(&work, ".", None, None), Err(FileError::Refused(_))));
    }

    #[test]
    fn nothing_leaves_the_work_directory() {
        let (home, work) = work();
        symlink(home.path(), work.join("out")).unwrap();
        symlink(home.path().join("secret"), work.join("link")).unwrap();
        symlink(home.path().join("new"), work.join("dangling")).unwrap();
        symlink("inner", work.join("inside")).unwrap();
        for path in ["../secret", "out/secret", "link", "dangling", "out/new/file", "a/../../new", "/etc/hostname", ""] {
            assert!(read_text(&work, path, None, None).is_err(), "{path}");
            assert!(write_text(&work, path, "x", false).is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(home.path().join("secret")).unwrap(), "secret");
        assert!(!home.path().join("new").exists());
        // A link that stays inside is followed, and stays a link.
        write_text(&work, "inside", "x", false).unwrap();
        assert_eq!(fs::read_to_string(work.join("inner")).unwrap(), "x");
        assert!(work.join("inside").is_symlink());
        assert!(directory(&work, Some("out")).is_err());
        assert_eq!(directory(&work, None).unwrap().path, work.canonicalize().unwrap());
    }

    #[test]
    fn the_beginning_of_a_file_is_all_that_is_read() {
        let (home, work) = work();
        assert_eq!(beginning(&work, "AGENTS.md", 10).unwrap(), None);
        fs::write(work.join("AGENTS.md"), "0123456789").unwrap();
        assert_eq!(beginning(&work, "AGENTS.md", 10).unwrap(), Some(("0123456789".to_owned(), false)));
        assert_eq!(beginning(&work, "AGENTS.md", 9).unwrap(), Some(("012345678".to_owned(), true)));
        symlink("AGENTS.md", work.join("inside")).unwrap();
        assert_eq!(beginning(&work, "inside", 10).unwrap(), Some(("0123456789".to_owned(), false)));
        fs::File::create(work.join("sparse")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(beginning(&work, "sparse", 10).unwrap(), Some(("\0".repeat(10), true)));

        fs::create_dir(work.join(".git")).unwrap();
        fs::write(work.join(".git/config"), "[remote]").unwrap();
        let outside = home.path().join("secret");
        for (name, target) in [
            ("outside", outside.as_path()),
            ("git", Path::new(".git/config")),
            ("zero", Path::new("/dev/zero")),
            ("self", Path::new("/proc/self/environ")),
            ("loop", Path::new("loop")),
            ("directory", Path::new(".")),
        ] {
            symlink(target, work.join(name)).unwrap();
            assert!(beginning(&work, name, 10).is_err(), "{name}");
        }
        assert!(std::process::Command::new("mkfifo").arg(work.join("pipe")).status().unwrap().success());
        assert!(beginning(&work, "pipe", 10).is_err());
    }
}
