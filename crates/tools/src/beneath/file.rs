//! Regular files, opened without ever waiting: no pipe, socket or device is read, whatever its name promises.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::walk::kind;
use super::{Kind, Spot, reason};
use crate::{Refusal, bound};

/// Kernel trees look like files but block, never end, or hold this server's own environment.
const KERNEL_TREES: [&str; 3] = ["/proc", "/sys", "/dev"];
/// What such trees are wherever they are mounted: procfs, sysfs, debugfs, tracefs, both kinds of cgroups, securityfs, bpf.
const KERNEL_FILE_SYSTEMS: [u64; 8] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x27_e0eb, 0x6367_7270, 0x7363_6673, 0xcafe_4a11];

pub(crate) fn is_kernel_tree(path: &Path) -> bool {
    KERNEL_TREES.iter().any(|tree| path.starts_with(tree))
}

impl Spot {
    /// The regular file that is there; `given` is the spelling for messages.
    pub(crate) fn file(&self, given: &str) -> Result<(File, Metadata), Refusal> {
        if self.is_kernel() {
            return Err(Refusal::new(format!("'{}' belongs to the kernel and is not read", bound::name(given))));
        }
        if !self.missing.is_empty() {
            return Err(cannot(given, Errno::NOENT));
        }
        open(self.parent(), self.name(), given)
    }
}

/// A regular file of a directory that is held open.
pub(crate) fn open(parent: impl AsFd, name: &OsStr, given: &str) -> Result<(File, Metadata), Refusal> {
    // Looked at before opening, since opening a device can already have an effect, and after, since it may have changed.
    let before = kind(&parent, name).and_then(|kind| kind.ok_or(Errno::NOENT)).map_err(|why| cannot(given, why))?;
    refuse_special(before, given)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let handle = match rustix::fs::openat(&parent, name, flags, Mode::empty()) {
        Err(Errno::LOOP) => return refuse_special(Kind::Link, given).and(Err(cannot(given, Errno::LOOP))),
        handle => handle.map_err(|why| cannot(given, why))?,
    };
    checked(handle, given)
}

fn checked(handle: OwnedFd, given: &str) -> Result<(File, Metadata), Refusal> {
    let file_system = rustix::fs::fstatfs(&handle).map_err(|why| cannot(given, why))?.f_type;
    if KERNEL_FILE_SYSTEMS.contains(&(file_system as u64)) {
        return Err(Refusal::new(format!("'{}' belongs to the kernel and is not read", bound::name(given))));
    }
    let file = File::from(handle);
    let about = file.metadata().map_err(|why| Refusal::new(format!("cannot open '{}': {}", bound::name(given), reason(&why))))?;
    refuse_special(Kind::of(std::os::unix::fs::MetadataExt::mode(&about)), given)?;
    Ok((file, about))
}

/// The text of a file that is known to be small; refused where it is not.
pub(crate) fn text(file: File, most_bytes: u64, given: &str) -> Result<String, Refusal> {
    let bytes = bytes(file, most_bytes, given)?;
    String::from_utf8(bytes).map_err(|_| Refusal::new(format!("'{}' is not UTF-8 text", bound::name(given))))
}

pub(crate) fn bytes(file: File, most_bytes: u64, given: &str) -> Result<Vec<u8>, Refusal> {
    let shown = bound::name(given);
    let mut bytes = Vec::new();
    let read = file.take(most_bytes + 1).read_to_end(&mut bytes);
    read.map_err(|why| Refusal::new(format!("cannot read '{shown}': {}", reason(&why))))?;
    if bytes.len() as u64 > most_bytes {
        return Err(Refusal::new(format!("'{shown}' is too large: at most {}", bound::size(most_bytes))));
    }
    Ok(bytes)
}

fn cannot(given: &str, why: Errno) -> Refusal {
    Refusal::new(format!("cannot open '{}': {}", bound::name(given), reason(&why.into())))
}

fn refuse_special(kind: Kind, given: &str) -> Result<(), Refusal> {
    let shown = bound::name(given);
    let what = match kind {
        Kind::File => return Ok(()),
        Kind::Directory => return Err(Refusal::new(format!("'{shown}' is a directory; use list_directory"))),
        Kind::Pipe => "a named pipe",
        Kind::Socket => "a socket",
        Kind::Link => "a symbolic link that changed while it was opened",
        Kind::Device => "a device",
    };
    Err(Refusal::new(format!("'{shown}' is {what}, not a regular file")))
}
