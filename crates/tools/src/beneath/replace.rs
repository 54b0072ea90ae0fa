//! New content for a name: written beside it, in the directory that is held open, and put in its place in one step.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::{Directory, Kind, Spot, duplicate};
use crate::bound;

/// What a file is called while it is being written: `.name.random.voxpilot-new`.
const SUFFIX: &str = ".voxpilot-new";
const NAME_BYTES: usize = 100;
/// A file that is still called so after this time was left by a server that was killed.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);
const MOST_LOOKED_AT: usize = 10_000;

/// What happens to whatever has the name already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Existing {
    Replace,
    /// It stays, and the new content is not used.
    Keep,
}

/// A file that has no name of its own yet. Dropped, it is removed.
pub(super) struct Draft {
    directory: OwnedFd,
    name: OsString,
    file: File,
}

impl Draft {
    /// `mode` is what is left of by the process's own mask.
    fn new(directory: impl AsFd, beside: &OsStr, mode: u32) -> Result<Self, Errno> {
        let directory = duplicate(directory)?;
        let name = fresh_name(beside);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&directory, &name, flags, Mode::from_raw_mode(mode))?);
        Ok(Self { directory, name, file })
    }

    /// Gives it its name.
    fn place(self, name: &OsStr, existing: Existing) -> Result<(), Errno> {
        place(&self.directory, &self.name, name, existing)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// A name for a name of the same directory. What is there is neither opened nor followed.
pub(super) fn place(directory: &OwnedFd, from: &OsStr, to: &OsStr, existing: Existing) -> Result<(), Errno> {
    if existing == Existing::Keep {
        match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
            // Some file systems do not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            outcome => return outcome,
        }
        rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())?;
        return rustix::fs::unlinkat(directory, from, AtFlags::empty());
    }
    rustix::fs::renameat(directory, from, directory, to)
}

impl Spot {
    /// Makes the file hold exactly `content`, with the permissions that it had. With `to_disk` it is there after a loss of power too.
    pub(crate) fn replace(&self, content: &[u8], permissions: Option<u32>, existing: Existing, to_disk: bool) -> io::Result<()> {
        let directories = self.make_directories()?;
        let directory = directories.last().unwrap_or(self.parent());
        sweep(directory, self.name());
        let mut draft = Draft::new(directory, self.name(), 0o666)?;
        draft.file.write_all(content)?;
        if let Some(mode) = permissions {
            draft.file.set_permissions(Permissions::from_mode(mode & 0o777))?;
        }
        if to_disk {
            draft.file.sync_all()?;
        }
        draft.place(self.name(), existing)?;
        if to_disk {
            directories.iter().rev().chain([self.parent()]).try_for_each(sync)?;
        }
        Ok(())
    }

    /// The same with the permissions of a new file.
    pub(crate) fn put(&self, content: &[u8], mode: u32, existing: Existing) -> io::Result<()> {
        let directories = self.make_directories()?;
        let mut draft = Draft::new(directories.last().unwrap_or(self.parent()), self.name(), mode)?;
        draft.file.write_all(content)?;
        Ok(draft.place(self.name(), existing)?)
    }

    /// A new file, where there is nothing yet.
    pub(crate) fn create(&self, mode: u32) -> Result<File, Errno> {
        let directories = self.make_directories()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = directories.last().unwrap_or(self.parent());
        rustix::fs::openat(directory, self.name(), flags, Mode::from_raw_mode(mode)).map(File::from)
    }

    /// The file that is there, to write at its end.
    pub(crate) fn append(&self) -> Result<File, Errno> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::openat(self.parent(), self.name(), flags, Mode::empty()).map(File::from)
    }

    /// Another name for a file, where there is nothing yet.
    pub(crate) fn link(&self, file: &Spot, name: &OsStr) -> Result<(), Errno> {
        let directories = self.make_directories()?;
        let directory = directories.last().unwrap_or(self.parent());
        rustix::fs::linkat(file.parent(), name, directory, self.name(), AtFlags::empty())
    }

    /// A new symbolic link, where there is nothing yet.
    pub(crate) fn make_link(&self, target: &[u8]) -> Result<(), Errno> {
        let directories = self.make_directories()?;
        rustix::fs::symlinkat(OsStr::from_bytes(target), directories.last().unwrap_or(self.parent()), self.name())
    }

    /// Makes what is missing on the way, each below the one before, and returns them from the outermost.
    pub(crate) fn make_directories(&self) -> Result<Vec<OwnedFd>, Errno> {
        let mut made: Vec<OwnedFd> = Vec::new();
        for name in &self.missing {
            let parent = made.last().unwrap_or(self.parent());
            match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(why) => return Err(why),
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let handle = rustix::fs::openat(parent, name, flags, Mode::empty())?;
            made.push(handle);
        }
        Ok(made)
    }
}

/// Waits until the names of a directory are on the disk.
fn sync(directory: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::fsync(rustix::fs::openat(directory, ".", flags, Mode::empty())?)?)
}

/// A name beside another that nobody else uses.
pub(super) fn fresh_name(beside: &OsStr) -> OsString {
    OsString::from(format!("{}{:016x}{SUFFIX}", prefix(beside), random()))
}

fn prefix(name: &OsStr) -> String {
    format!(".{}.", bound::prefix(&name.to_string_lossy(), NAME_BYTES))
}

/// Removes what a killed server left of this very file.
fn sweep(directory: &OwnedFd, name: &OsStr) {
    let prefix = prefix(name);
    let Ok(directory) = Directory::open(directory, OsStr::new(".")) else { return };
    let entries = directory.entries(MOST_LOOKED_AT).unwrap_or_default();
    let is_ours = |name: &OsStr| name.as_bytes().starts_with(prefix.as_bytes()) && name.as_bytes().ends_with(SUFFIX.as_bytes());
    for entry in entries.into_iter().filter(|entry| entry.kind == Kind::File && is_ours(&entry.name)) {
        let written = directory.about(&entry.name).ok().map(|about| Duration::from_secs(about.st_mtime.unsigned_abs()));
        let age = written.and_then(|at| SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + at).ok());
        if age.is_some_and(|age| age > LEFT_BEHIND) {
            let _ = rustix::fs::unlinkat(&directory, &entry.name, AtFlags::empty());
        }
    }
}

/// Enough to meet no other name.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
