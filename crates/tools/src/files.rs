//! Text files of the work directory, read and written for an agent that leaves both to its client. Blocking; the caller has asked
//! whoever must be asked.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::work_dir::{WorkDir, reason};
use crate::{Refusal, bound, open};

/// The largest file that is handed over; an agent that wants more of it asks for a range.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

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
    let place = WorkDir::open(work_dir)?.place(path)?;
    if place.symlink_metadata().is_err() {
        return Ok(None);
    }
    let shown = bound::name(path);
    let (file, metadata) = open::regular_file(&place, path)?;
    if metadata.len() > MOST_BYTES {
        let sentence = format!("'{shown}' is too large: {} of at most {}", bound::size(metadata.len()), bound::size(MOST_BYTES));
        return Err(FileError::Refused(sentence));
    }
    let mut bytes = Vec::new();
    let read = file.take(MOST_BYTES).read_to_end(&mut bytes);
    read.map_err(|why| FileError::Refused(format!("cannot read '{shown}': {}", reason(&why))))?;
    String::from_utf8(bytes).map(Some).map_err(|_| FileError::Refused(format!("'{shown}' is not UTF-8 text")))
}

/// Makes the file hold exactly `content`, in one step: nobody ever sees half of it. Returns the text that it replaces.
pub fn write_text(work_dir: &Path, path: &str, content: &str) -> Result<Option<String>, FileError> {
    let before = current_text(work_dir, path)?;
    let root = WorkDir::open(work_dir)?;
    let place = root.place(path)?;
    let cannot = |why: std::io::Error| FileError::Refused(format!("cannot write '{}': {}", bound::name(path), reason(&why)));
    let dir = place.parent().unwrap_or(root.root()).to_owned();
    fs::create_dir_all(&dir).map_err(cannot)?;
    // Somebody may have put a link there meanwhile.
    if !dir.canonicalize().is_ok_and(|real| real.starts_with(root.root())) {
        return Err(FileError::Refused(format!("'{}' is outside the work directory", bound::name(path))));
    }
    let fresh = beside(&place);
    let written = fill(&fresh, content).and_then(|()| {
        if let Ok(metadata) = place.metadata() {
            fs::set_permissions(&fresh, metadata.permissions())?;
        }
        fs::rename(&fresh, &place)
    });
    written.map_err(|why| {
        let _ = fs::remove_file(&fresh);
        cannot(why)
    })?;
    Ok(before)
}

/// The real place of a directory inside the work directory.
pub fn directory(work_dir: &Path, path: Option<&str>) -> Result<PathBuf, FileError> {
    let root = WorkDir::open(work_dir)?;
    let real = root.existing(path.unwrap_or("."))?;
    if real.is_dir() { Ok(real) } else { Err(FileError::Refused(format!("'{}' is not a directory", bound::name(path.unwrap_or("."))))) }
}

fn fill(fresh: &Path, content: &str) -> std::io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file: File = OpenOptions::new().write(true).create_new(true).custom_flags(flags.bits() as i32).open(fresh)?;
    file.write_all(content.as_bytes())
}

/// A name in the same directory that nobody else uses.
fn beside(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!(".{}.{}.new", bound::prefix(&name, 100), std::process::id()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

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
    fn a_write_replaces_the_whole_file_and_keeps_its_mode() {
        let (_home, work) = work();
        assert_eq!(write_text(&work, "deep/er/a", "one").unwrap(), None);
        let absolute = work.join("deep/er/a");
        fs::set_permissions(&absolute, fs::Permissions::from_mode(0o750)).unwrap();
        assert_eq!(write_text(&work, absolute.to_str().unwrap(), "two").unwrap().as_deref(), Some("one"));
        assert_eq!(fs::read_to_string(&absolute).unwrap(), "two");
        assert_eq!(absolute.metadata().unwrap().permissions().mode() & 0o777, 0o750);
        assert_eq!(fs::read_dir(work.join("deep/er")).unwrap().count(), 1, "nothing is left beside it");
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
            assert!(write_text(&work, path, "x").is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(home.path().join("secret")).unwrap(), "secret");
        assert!(!home.path().join("new").exists());
        // A link that stays inside is followed, and stays a link.
        write_text(&work, "inside", "x").unwrap();
        assert_eq!(fs::read_to_string(work.join("inner")).unwrap(), "x");
        assert!(work.join("inside").is_symlink());
        assert!(directory(&work, Some("out")).is_err());
        assert_eq!(directory(&work, None).unwrap(), work.canonicalize().unwrap());
    }
}
