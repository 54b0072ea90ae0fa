//! What is in a directory that is held open.

use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;

use super::walk::kind;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Pipe,
    Socket,
    Device,
}

impl Kind {
    pub(super) fn of(mode: RawMode) -> Self {
        Self::from_type(FileType::from_raw_mode(mode)).unwrap_or(Kind::Device)
    }

    /// None where a directory does not say what its entry is.
    fn from_type(kind: FileType) -> Option<Self> {
        Some(match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            FileType::Fifo => Kind::Pipe,
            FileType::Socket => Kind::Socket,
            FileType::Unknown => return None,
            _ => Kind::Device,
        })
    }
}

pub(crate) struct Directory(OwnedFd);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub name: OsString,
    pub kind: Kind,
}

impl Directory {
    /// `name` may be `.`, and is not a link.
    pub(crate) fn open(parent: impl AsFd, name: &OsStr) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(parent, name, flags, Mode::empty()).map(Self)
    }

    /// The entries as they come, at most so many.
    pub(crate) fn entries(&self, most: usize) -> Result<Vec<Entry>, Errno> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let Ok(entry) = entry else { break };
            if is_itself(entry.file_name()) {
                continue;
            }
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            let found = Kind::from_type(entry.file_type()).map_or_else(|| kind(&self.0, &name), |kind| Ok(Some(kind)));
            if let Ok(Some(kind)) = found {
                entries.push(Entry { name, kind });
            }
            if entries.len() == most {
                break;
            }
        }
        Ok(entries)
    }

    pub(crate) fn about(&self, name: &OsStr) -> Result<Stat, Errno> {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// What a link says, wherever that is.
    pub(crate) fn target(&self, name: &OsStr) -> Option<OsString> {
        rustix::fs::readlinkat(&self.0, name, Vec::new()).ok().map(|target| OsStr::from_bytes(target.to_bytes()).to_owned())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.about(OsStr::new(name)).is_ok()
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn is_itself(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}
