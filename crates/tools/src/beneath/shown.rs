//! Text files that are written for an agent: what is there is shown, and what was shown is what is replaced.
//!
//! Blocking; the caller has asked whoever must be asked.

use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::text::digest;
use serde::{Deserialize, Serialize};

use super::{Existing, Kind, Links, Lost, Root, Spot, file, reason};
use crate::bound;
use crate::files::FileError;
use crate::work_dir::WorkDir;

/// The largest file that is handed over; an agent that wants more of it asks for a range.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// How often a path may turn out to lead elsewhere before its writer gives up.
const TRIES: usize = 8;

/// Who writes to a file holds the lock that its path falls to. Two files may share one, and then wait for each other.
static WRITERS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// A file as a person was shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Relative to the work directory, with every link resolved.
    pub path: String,
    /// The SHA-256 of the text that was there, in hexadecimal; none where there was no file.
    pub before: Option<String>,
}

/// Where a path leads, and the text that is there now.
pub fn look(work_dir: &Path, path: &str) -> Result<(Shown, Option<String>), FileError> {
    let work_dir = WorkDir::open(work_dir)?;
    let spot = place(work_dir.root(), path)?;
    let text = current(&spot, path)?.map(|(text, _)| text);
    let resolved =
        spot.path.to_str().ok_or_else(|| FileError::Refused(format!("'{}' leads to a name that is not UTF-8", bound::name(path))))?;
    Ok((Shown { path: resolved.to_owned(), before: text.as_deref().map(digest) }, text))
}

/// Writes to the file that was shown, in one step, if it is still what was shown: no link leads there now, and its text is the same.
/// Returns the text that it replaces.
pub fn write_shown(work_dir: &Path, shown: &Shown, content: &str, to_disk: bool) -> Result<Option<String>, FileError> {
    let changed = || FileError::Refused(format!("'{}' has changed since it was shown", bound::name(&shown.path)));
    let work_dir = WorkDir::open(work_dir)?;
    let _alone = writer(&work_dir.root().path().join(&shown.path));
    let spot = work_dir.root().walk(shown.path.as_bytes(), Links::Refuse).map_err(|lost| match lost {
        Lost::System(_) => FileError::from(lost.refusal(&shown.path)),
        _ => changed(),
    })?;
    if spot.kind == Some(Kind::Link) {
        return Err(changed());
    }
    let before = current(&spot, &shown.path)?;
    if before.as_ref().map(|(text, _)| digest(text)) != shown.before {
        return Err(changed());
    }
    let existing = if before.is_some() { Existing::Replace } else { Existing::Keep };
    write(&spot, before, &shown.path, content, existing, to_disk)
}

/// Makes the file hold exactly `content`, in one step: nobody ever sees half of it, and of two at once the second replaces the first
/// whole. With `to_disk` it is there after a loss of power too. Returns the text that it replaces.
pub fn write_text(work_dir: &Path, path: &str, content: &str, to_disk: bool) -> Result<Option<String>, FileError> {
    let work_dir = WorkDir::open(work_dir)?;
    let root = work_dir.root();
    for _ in 0..TRIES {
        let expected = place(root, path)?.path;
        let _alone = writer(&root.path().join(&expected));
        let spot = place(root, path)?;
        if spot.path == expected {
            let before = current(&spot, path)?;
            return write(&spot, before, path, content, Existing::Replace, to_disk);
        }
    }
    Err(FileError::Refused(format!("'{}' leads to another place each time it is looked at", bound::name(path))))
}

/// The whole text as it is now; `None` where there is no file and one may be made.
pub(crate) fn current_text(root: &Root, path: &str) -> Result<Option<String>, FileError> {
    Ok(current(&place(root, path)?, path)?.map(|(text, _)| text))
}

fn write(
    spot: &Spot,
    before: Option<(String, Metadata)>,
    path: &str,
    content: &str,
    existing: Existing,
    to_disk: bool,
) -> Result<Option<String>, FileError> {
    let mode = before.as_ref().map(|(_, about)| about.mode());
    spot.replace(content.as_bytes(), mode, existing, to_disk).map_err(|why| match why.kind() {
        io::ErrorKind::AlreadyExists => FileError::Refused(format!("'{}' has changed since it was shown", bound::name(path))),
        _ => FileError::Refused(format!("cannot write '{}': {}", bound::name(path), reason(&why))),
    })?;
    Ok(before.map(|(text, _)| text))
}

/// The place of a file, whether or not there is one yet.
fn place(root: &Root, path: &str) -> Result<Spot, FileError> {
    if path.is_empty() {
        return Err(Lost::Outside.refusal(path).into());
    }
    let lost = |lost| if lost == Lost::Missing { Lost::Outside } else { lost };
    Ok(root.walk(path.as_bytes(), Links::Follow).map_err(|why| lost(why).refusal(path))?)
}

/// The text that is there, and what else is known of the file.
fn current(spot: &Spot, path: &str) -> Result<Option<(String, Metadata)>, FileError> {
    if spot.kind.is_none() && spot.is_named() && !spot.is_kernel() {
        return Ok(None);
    }
    let (file, about) = spot.file(path)?;
    if about.len() > MOST_BYTES {
        let (size, most) = (bound::size(about.len()), bound::size(MOST_BYTES));
        return Err(FileError::Refused(format!("'{}' is too large: {size} of at most {most}", bound::name(path))));
    }
    Ok(Some((file::text(file, MOST_BYTES, path)?, about)))
}

fn writer(place: &Path) -> MutexGuard<'static, ()> {
    let mut hasher = DefaultHasher::new();
    place.hash(&mut hasher);
    let lock = &WRITERS[(hasher.finish() % WRITERS.len() as u64) as usize];
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
