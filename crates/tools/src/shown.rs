//! A file as a person was shown it before it is written: where it is and what was in it. It is written only as long as it is that.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files::{FileError, current_text};
use crate::work_dir::WorkDir;
use crate::{bound, write_text};

/// Where a path led when it was looked at, and what was there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shown {
    /// Relative to the work directory, links resolved: there is none in it.
    pub path: String,
    /// SHA-256 of the text that was there; none where there was no file.
    pub before: Option<String>,
}

/// Where `path` leads, and the text there.
pub fn look(work_dir: &Path, path: &str) -> Result<(Shown, Option<String>), FileError> {
    let root = WorkDir::open(work_dir)?;
    let place = root.place(path)?;
    let relative = place.strip_prefix(root.root()).ok().and_then(Path::to_str);
    let relative = relative.ok_or_else(|| FileError::Refused(format!("'{}' is not a name that can be shown", bound::name(path))))?;
    let text = current_text(work_dir, relative)?;
    Ok((Shown { path: relative.to_owned(), before: text.as_deref().map(digest) }, text))
}

/// Writes what was shown, if it still is what was shown. Returns the text that it replaces.
pub fn write_shown(work_dir: &Path, shown: &Shown, content: &str, to_disk: bool) -> Result<Option<String>, FileError> {
    let name = bound::name(&shown.path);
    let (now, _) = look(work_dir, &shown.path)?;
    if now.path != shown.path {
        return Err(FileError::Refused(format!("'{name}' leads to another file than the one that was shown")));
    }
    if now.before != shown.before {
        return Err(FileError::Refused(format!("'{name}' has changed since it was shown: read it again")));
    }
    write_text(work_dir, &shown.path, content, to_disk)
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_was_shown_is_written() {
        let home = tempfile::tempdir().unwrap();
        let work = home.path();
        fs::create_dir_all(work.join("src")).unwrap();
        fs::create_dir_all(work.join(".git")).unwrap();
        fs::write(work.join(".git/config"), "old").unwrap();
        fs::write(work.join("src/config"), "old").unwrap();
        symlink("src/config", work.join("link")).unwrap();
        let (shown, text) = look(work, "link").unwrap();
        assert_eq!((shown.path.as_str(), text.as_deref()), ("src/config", Some("old")));
        assert_eq!(write_shown(work, &shown, "new", false).unwrap().as_deref(), Some("old"));
        assert!(write_shown(work, &shown, "again", false).is_err(), "it is not what was shown any more");
        let (shown, _) = look(work, "src/config").unwrap();
        fs::remove_dir_all(work.join("src")).unwrap();
        symlink(".git", work.join("src")).unwrap();
        assert!(write_shown(work, &shown, "evil", false).is_err());
        assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), "old");
        let (fresh, text) = look(work, "fresh").unwrap();
        assert_eq!((fresh.before.as_deref(), text), (None, None));
        fs::write(work.join("fresh"), "by another").unwrap();
        assert!(write_shown(work, &fresh, "x", false).is_err());
    }
}
