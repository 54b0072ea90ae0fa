//! Files of a project, put back as they were: text, binary or link. No link on the way is followed. Blocking.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::{Existing, Kind, Links, Lost, Root, Spot, file, reason, replace};
use crate::{Refusal, bound};

/// The largest file that is put back.
pub(crate) const MOST_BYTES: u64 = 5 * 1024 * 1024;

/// What is at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Absent,
    File { content: Vec<u8>, executable: bool },
    Link { target: Vec<u8> },
}

impl State {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            State::Absent => 0,
            State::File { content, .. } => content.len(),
            State::Link { target } => target.len(),
        }
    }
}

/// Why a path was not changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeError {
    /// It is no longer what it was taken for.
    Changed(String),
    Refused(String),
}

impl From<Refusal> for ChangeError {
    fn from(refusal: Refusal) -> Self {
        ChangeError::Refused(refusal.0)
    }
}

/// What is there now. `path` is relative to the root.
pub(crate) fn read(root: &Root, path: &[u8]) -> Result<State, Refusal> {
    match walk(root, path) {
        Ok(spot) => state(&spot, path),
        // A file or a link where a directory was: what is looked for is not there.
        Err(Lost::Link | Lost::NotDirectory | Lost::Missing) => Ok(State::Absent),
        Err(lost) => Err(refusal(lost, path)),
    }
}

/// Makes `path` be `wanted`, if it is `expected`. A file takes its place in one step.
pub(crate) fn put(root: &Root, path: &[u8], expected: &State, wanted: &State) -> Result<(), ChangeError> {
    let changed = || ChangeError::Changed(format!("'{}' has changed meanwhile: look at it again", shown(path)));
    let cannot = |why: std::io::Error| match why.kind() {
        std::io::ErrorKind::AlreadyExists => changed(),
        _ => ChangeError::Refused(format!("cannot write '{}': {}", shown(path), reason(&why))),
    };
    let spot = match walk(root, path) {
        Ok(spot) => spot,
        Err(Lost::Link | Lost::NotDirectory | Lost::Missing) if *expected == State::Absent && *wanted == State::Absent => return Ok(()),
        Err(Lost::Link | Lost::NotDirectory | Lost::Missing) if *expected != State::Absent => return Err(changed()),
        Err(lost) => return Err(refusal(lost, path).into()),
    };
    // The same handle is looked at and written to.
    if state(&spot, path)? != *expected {
        return Err(changed());
    }
    let existing = if *expected == State::Absent { Existing::Keep } else { Existing::Replace };
    match wanted {
        State::Absent if *expected == State::Absent => Ok(()),
        State::Absent => match rustix::fs::unlinkat(spot.parent(), spot.name(), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(why) => Err(cannot(why.into())),
        },
        State::Link { target } => link(&spot, target, existing).map_err(|why| cannot(why.into())),
        State::File { content, executable } => {
            let new = if *executable { 0o777 } else { 0o666 };
            spot.put(content, new, existing).map_err(cannot)
        }
    }
}

fn link(spot: &Spot, target: &[u8], existing: Existing) -> Result<(), Errno> {
    let directories = spot.make_directories()?;
    let directory = directories.last().unwrap_or(spot.parent());
    let fresh = replace::fresh_name(spot.name());
    rustix::fs::symlinkat(OsStr::from_bytes(target), directory, &fresh)?;
    replace::place(directory, &fresh, spot.name(), existing).inspect_err(|_| {
        let _ = rustix::fs::unlinkat(directory, &fresh, AtFlags::empty());
    })
}

/// Files of the project are outside of its repository, and have names.
fn walk(root: &Root, path: &[u8]) -> Result<Spot, Lost> {
    let relative = Path::new(OsStr::from_bytes(path));
    let is_plain = |part: Component| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
    if path.is_empty() || !relative.components().all(is_plain) {
        return Err(Lost::Outside);
    }
    root.walk(path, Links::Refuse)
}

fn refusal(lost: Lost, path: &[u8]) -> Refusal {
    match lost {
        Lost::Outside => Refusal::new(format!("'{}' is not a file of the project", shown(path))),
        lost => Refusal::new(format!("cannot open the directory of '{}': {}", shown(path), lost.errno())),
    }
}

fn state(spot: &Spot, path: &[u8]) -> Result<State, Refusal> {
    let name = String::from_utf8_lossy(path);
    match spot.kind {
        None => Ok(State::Absent),
        Some(Kind::Link) => {
            let target = spot.target().ok_or_else(|| Refusal::new(format!("'{}' is not a link any more", shown(path))))?;
            Ok(State::Link { target })
        }
        Some(Kind::File) => {
            let (file, about) = spot.file(&name)?;
            if about.len() > MOST_BYTES {
                let most = bound::size(MOST_BYTES);
                return Err(Refusal::new(format!("'{}' is too large: at most {most} are put back here", shown(path))));
            }
            Ok(State::File { content: file::bytes(file, MOST_BYTES, &name)?, executable: about.mode() & 0o100 != 0 })
        }
        Some(_) => Err(Refusal::new(format!("'{}' is not a file any more", shown(path)))),
    }
}

fn shown(path: &[u8]) -> String {
    bound::name(&String::from_utf8_lossy(path))
}
