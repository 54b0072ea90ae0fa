//! Files of the work directory, put back as they were: text, binary or link. Every directory on the way is opened without following
//! links, so that nothing outside is ever reached, whoever moves things meanwhile. Blocking.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

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
pub(crate) fn read(root: &Path, path: &[u8]) -> Result<State, Refusal> {
    let Some((parent, name)) = opened(root, path, false)? else { return Ok(State::Absent) };
    state(&parent, name, path)
}

/// Makes `path` be `wanted`, if it is `expected`. A file takes its place in one step.
pub(crate) fn put(root: &Path, path: &[u8], expected: &State, wanted: &State) -> Result<(), ChangeError> {
    if read(root, path)? != *expected {
        return Err(ChangeError::Changed(format!("'{}' has changed meanwhile: look at it again", shown(path))));
    }
    let cannot = |why: Errno| ChangeError::Refused(format!("cannot write '{}': {why}", shown(path)));
    let Some((parent, name)) = opened(root, path, *wanted != State::Absent)? else { return Ok(()) };
    let fresh = format!(".{:016x}.voxpilot-new", rand());
    let fresh = OsStr::new(&fresh);
    match wanted {
        State::Absent => {
            return match rustix::fs::unlinkat(&parent, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(why) => Err(cannot(why)),
            };
        }
        State::Link { target } => rustix::fs::symlinkat(OsStr::from_bytes(target), &parent, fresh).map_err(cannot)?,
        State::File { content, executable } => {
            let mode = if *executable { 0o777 } else { 0o666 };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&parent, fresh, flags, Mode::from_raw_mode(mode)).map_err(cannot)?;
            if let Err(why) = File::from(file).write_all(content) {
                let _ = rustix::fs::unlinkat(&parent, fresh, AtFlags::empty());
                return Err(ChangeError::Refused(format!("cannot write '{}': {}", shown(path), crate::work_dir::reason(&why))));
            }
        }
    }
    rustix::fs::renameat(&parent, fresh, &parent, name).map_err(|why| {
        let _ = rustix::fs::unlinkat(&parent, fresh, AtFlags::empty());
        cannot(why)
    })
}

/// The directory that the path is in, and its name there; none where the directory is not and should not be made.
fn opened<'a>(root: &Path, path: &'a [u8], make: bool) -> Result<Option<(OwnedFd, &'a OsStr)>, Refusal> {
    let relative = Path::new(OsStr::from_bytes(path));
    let mut parts = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) if !name.eq_ignore_ascii_case(".git") => parts.push(name),
            _ => return Err(Refusal::new(format!("'{}' is not a file of the project", shown(path)))),
        }
    }
    let Some(name) = parts.pop().filter(|_| !path.contains(&0)) else {
        return Err(Refusal::new("the path is empty"));
    };
    let cannot = |why: Errno| Refusal::new(format!("cannot open the directory of '{}': {why}", shown(path)));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = rustix::fs::open(root, flags, Mode::empty()).map_err(cannot)?;
    for part in parts {
        let flags = flags | OFlags::NOFOLLOW;
        let mut next = rustix::fs::openat(&directory, part, flags, Mode::empty());
        if next.as_ref().err() == Some(&Errno::NOENT) {
            if !make {
                return Ok(None);
            }
            match rustix::fs::mkdirat(&directory, part, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => next = rustix::fs::openat(&directory, part, flags, Mode::empty()),
                Err(why) => return Err(cannot(why)),
            }
        }
        // A file or a link where a directory was: what is looked for is not there.
        if !make && matches!(next, Err(Errno::NOTDIR | Errno::LOOP)) {
            return Ok(None);
        }
        directory = next.map_err(cannot)?;
    }
    Ok(Some((directory, name)))
}

fn state(parent: &OwnedFd, name: &OsStr, path: &[u8]) -> Result<State, Refusal> {
    let cannot = |why: Errno| Refusal::new(format!("cannot read '{}': {why}", shown(path)));
    let about = match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => about,
        Err(Errno::NOENT) => return Ok(State::Absent),
        Err(why) => return Err(cannot(why)),
    };
    match FileType::from_raw_mode(about.st_mode) {
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(parent, name, Vec::new()).map_err(cannot)?;
            return Ok(State::Link { target: target.into_bytes() });
        }
        FileType::RegularFile => {}
        _ => return Err(Refusal::new(format!("'{}' is not a file any more", shown(path)))),
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(parent, name, flags, Mode::empty()).map_err(cannot)?);
    let lost = |why: std::io::Error| Refusal::new(format!("cannot read '{}': {}", shown(path), crate::work_dir::reason(&why)));
    if !file.metadata().map_err(lost)?.is_file() {
        return Err(Refusal::new(format!("'{}' is not a file any more", shown(path))));
    }
    let mut content = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut content).map_err(lost)?;
    if content.len() as u64 > MOST_BYTES {
        return Err(Refusal::new(format!("'{}' is too large: at most {} are put back here", shown(path), bound::size(MOST_BYTES))));
    }
    Ok(State::File { content, executable: about.st_mode & 0o100 != 0 })
}

fn shown(path: &[u8]) -> String {
    bound::name(&String::from_utf8_lossy(path))
}

/// Enough to meet no other name.
fn rand() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
