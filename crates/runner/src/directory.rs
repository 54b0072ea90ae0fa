//! The directory that a program runs in. One that was opened before is that one, whatever its name leads to by now.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Directory {
    path: PathBuf,
    /// Which one it has to be; none where whatever has the name is meant.
    identity: Option<Identity>,
    /// Keeps the number of the inode from being given to another one, as long as this value lives.
    #[serde(skip)]
    _held: Option<Arc<OwnedFd>>,
}

/// The same in every view of the file system, and over every way that leads there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Directory {
    /// The one that is open as `handle`, at the path where it was found.
    pub fn opened(path: PathBuf, handle: OwnedFd) -> io::Result<Self> {
        Ok(Self { path, identity: Some(Identity::of(&handle)?), _held: Some(Arc::new(handle)) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it the working directory of this process.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let found = rustix::fs::openat(CWD, &self.path, flags, Mode::empty())?;
        let found_identity = Identity::of(&found)?;
        if self.identity.is_some_and(|identity| identity != found_identity) {
            return Err(io::Error::other(format!("{} was moved or replaced since it was opened", self.path.display())));
        }
        Ok(rustix::process::fchdir(&found)?)
    }
}

impl From<PathBuf> for Directory {
    fn from(path: PathBuf) -> Self {
        Self { path, identity: None, _held: None }
    }
}

impl From<&str> for Directory {
    fn from(path: &str) -> Self {
        PathBuf::from(path).into()
    }
}

impl Identity {
    fn of(handle: impl AsFd) -> io::Result<Self> {
        let about = rustix::fs::fstat(handle)?;
        Ok(Self { device: about.st_dev, inode: about.st_ino })
    }
}
