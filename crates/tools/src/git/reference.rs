//! A branch, moved to another commit by handle, with its logs. No link below the repository is followed, and nothing is written to a
//! file that has another name elsewhere.
//!
//! The locks are git's own: `HEAD.lock` and `<branch>.lock`. Blocking.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::SystemTime;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::module::is_hash;
use super::repository::Repository;
use crate::beneath::{ChangeError, Kind, Links, Lost, Root, Spot, duplicate, reason};

const LINE_BYTES: u64 = 4 * 1024;
const PACKED_BYTES: u64 = 64 * 1024 * 1024;

/// A lock as git takes it: a new file beside what it locks, which then takes its place. Dropped, it is removed.
pub(super) struct Lock {
    directory: OwnedFd,
    name: OsString,
    pub file: File,
}

impl Lock {
    /// None where another git holds it.
    pub(super) fn take(directory: impl AsFd, name: &str) -> io::Result<Option<Self>> {
        let name = OsString::from(format!("{name}.lock"));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&directory, &name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => Ok(Some(Self { directory: duplicate(directory)?, name, file: file.into() })),
            Err(Errno::EXIST) => Ok(None),
            Err(why) => Err(why.into()),
        }
    }

    /// Puts what was written to it in the place of what it locks.
    pub(super) fn place(self, name: &str) -> io::Result<()> {
        self.file.sync_all()?;
        Ok(rustix::fs::renameat(&self.directory, &self.name, &self.directory, name)?)
    }

    /// As what it replaces had them.
    pub(super) fn keep(&self, mode: u32, modified: SystemTime) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode & 0o777))?;
        self.file.set_modified(modified)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty());
    }
}

/// Where a branch goes, and what its logs say of it.
pub(super) struct Move<'a> {
    /// The whole name of the branch.
    pub reference: &'a str,
    pub old: Option<&'a str>,
    pub new: &'a str,
    /// Who, and when: as the commit has it.
    pub committer: &'a str,
    pub message: &'a str,
}

impl Move<'_> {
    /// Only if nobody has moved the branch meanwhile.
    pub(super) fn run(&self, repository: &Repository) -> Result<(), ChangeError> {
        let (own, common) = (&repository.git_dir, &repository.common_dir);
        let spot = common.walk(self.reference.as_bytes(), Links::Refuse).map_err(lost)?;
        let directories = spot.make_directories().map_err(|why| failed(&why.into()))?;
        let directory = directories.last().unwrap_or(spot.parent());
        let name = self.reference.rsplit('/').next().unwrap_or(self.reference);
        let locked = |lock: io::Result<Option<Lock>>| lock.map_err(|why| failed(&why))?.ok_or_else(busy);
        let _head = locked(Lock::take(own.handle(), "HEAD"))?;
        let mut lock = locked(Lock::take(directory, name))?;
        if line(own, "HEAD")?.as_deref() != Some(format!("ref: {}", self.reference).as_str())
            || self.current(common)?.as_deref() != self.old
        {
            return Err(moved());
        }
        // Before anything has happened: a log that is no plain file is a reason not to commit.
        let logs = [log(own, "logs/HEAD")?, log(common, &format!("logs/{}", self.reference))?];
        lock.file.write_all(format!("{}\n", self.new).as_bytes()).map_err(|why| failed(&why))?;
        lock.place(name).map_err(|why| failed(&why))?;
        let nothing = "0".repeat(self.new.len());
        let entry = format!("{} {} {}\t{}\n", self.old.unwrap_or(&nothing), self.new, self.committer, self.message);
        for mut log in logs {
            // The branch has moved: a log that lacks an entry is no reason to say that it has not.
            let _ = log.write_all(entry.as_bytes());
        }
        Ok(())
    }

    /// The commit that the branch is at.
    fn current(&self, common: &Root) -> Result<Option<String>, ChangeError> {
        if let Some(loose) = line(common, self.reference)? {
            return if is_hash(&loose) { Ok(Some(loose)) } else { Err(elsewhere()) };
        }
        if kind(common, "packed-refs")?.is_none() {
            return Ok(None);
        }
        let packed = common.small_file("packed-refs", PACKED_BYTES)?.ok_or_else(elsewhere)?;
        let packed = String::from_utf8_lossy(&packed);
        let mut known = packed.lines().filter_map(|line| line.split_once(' ')).filter(|(hash, _)| is_hash(hash));
        if let Some((hash, _)) = known.clone().find(|(_, name)| *name == self.reference) {
            return Ok(Some(hash.to_owned()));
        }
        // A branch cannot be a directory of another one.
        let is_above = |one: &str, other: &str| one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'));
        let collides = known.any(|(_, name)| is_above(name, self.reference) || is_above(self.reference, name));
        if collides { Err(refused("there is another branch whose name begins like this one: rename one of them")) } else { Ok(None) }
    }
}

/// The whole of a small file; none where there is nothing of that name. Anything else than a file is refused.
fn line(root: &Root, name: &str) -> Result<Option<String>, ChangeError> {
    match kind(root, name)? {
        None => Ok(None),
        Some(Kind::File) => {
            let bytes = root.small_file(name, LINE_BYTES)?.ok_or_else(elsewhere)?;
            Ok(Some(String::from_utf8_lossy(&bytes).trim_end().to_owned()))
        }
        Some(_) => Err(elsewhere()),
    }
}

fn kind(root: &Root, name: &str) -> Result<Option<Kind>, ChangeError> {
    root.walk(name.as_bytes(), Links::Refuse).map(|spot| spot.kind).map_err(lost)
}

/// A log to append to; it is made where it is missing.
fn log(root: &Root, name: &str) -> Result<File, ChangeError> {
    let spot: Spot = root.walk(name.as_bytes(), Links::Refuse).map_err(lost)?;
    let file = match spot.kind {
        None => spot.create(0o666),
        Some(Kind::File) => spot.append(),
        Some(_) => return Err(elsewhere()),
    };
    let file = file.map_err(|why| failed(&why.into()))?;
    let about = file.metadata().map_err(|why| failed(&why))?;
    // With a second name it may be somebody's file elsewhere.
    if about.is_file() && about.nlink() == 1 { Ok(file) } else { Err(elsewhere()) }
}

fn lost(lost: Lost) -> ChangeError {
    match lost {
        Lost::System(why) => failed(&why.into()),
        _ => elsewhere(),
    }
}

fn failed(why: &io::Error) -> ChangeError {
    refused(&format!("the branch cannot be moved: {}", reason(why)))
}

fn elsewhere() -> ChangeError {
    refused("the repository's branches lie somewhere else: commit with git itself")
}

fn busy() -> ChangeError {
    refused("another git works on this branch (it is locked): try again when it is done")
}

fn moved() -> ChangeError {
    ChangeError::Changed("the branch has moved meanwhile, so nothing was committed: look at the changes again".to_owned())
}

fn refused(sentence: &str) -> ChangeError {
    ChangeError::Refused(sentence.to_owned())
}

/// Whether a name can be that of a branch below `refs/heads`.
pub(super) fn is_branch(reference: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let is_plain = |c: char| !c.is_control() && !" ~^:?*[\\".contains(c);
    let name = reference.strip_prefix("refs/heads/");
    name.is_some_and(|name| name.split('/').all(is_part) && name.chars().all(is_plain) && !name.contains(".."))
        && OsStr::new(reference).len() < 1024
}
