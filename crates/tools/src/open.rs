//! Opening files without ever waiting: no pipe, socket or device is read, whatever its name promises.

use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::work_dir::reason;
use crate::{Refusal, bound};

/// Kernel trees look like files but block, never end, or hold this server's own environment.
const KERNEL_TREES: [&str; 3] = ["/proc", "/sys", "/dev"];

pub(crate) fn is_kernel_tree(path: &Path) -> bool {
    KERNEL_TREES.iter().any(|tree| path.starts_with(tree))
}

/// Opens a regular file at an already resolved path; `given` is the spelling for messages.
pub(crate) fn regular_file(real: &Path, given: &str) -> Result<(File, Metadata), Refusal> {
    let shown = bound::name(given);
    let cannot = |why: &std::io::Error| Refusal::new(format!("cannot open '{shown}': {}", reason(why)));
    if is_kernel_tree(real) {
        return Err(Refusal::new(format!("'{shown}' belongs to the kernel and is not read")));
    }
    // Looked at before opening, since opening a device can already have an effect, and after, since it may have changed.
    let before = real.symlink_metadata().map_err(|why| cannot(&why))?;
    refuse_special(&before, &shown)?;
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(real).map_err(|why| cannot(&why))?;
    let metadata = file.metadata().map_err(|why| cannot(&why))?;
    refuse_special(&metadata, &shown)?;
    Ok((file, metadata))
}

/// The text of a file that is known to be small; refused where it is not.
pub(crate) fn text(file: File, most_bytes: u64, given: &str) -> Result<String, Refusal> {
    let shown = bound::name(given);
    let mut bytes = Vec::new();
    let read = file.take(most_bytes + 1).read_to_end(&mut bytes);
    read.map_err(|why| Refusal::new(format!("cannot read '{shown}': {}", reason(&why))))?;
    if bytes.len() as u64 > most_bytes {
        return Err(Refusal::new(format!("'{shown}' is too large")));
    }
    String::from_utf8(bytes).map_err(|_| Refusal::new(format!("'{shown}' is not UTF-8 text")))
}

fn refuse_special(metadata: &Metadata, shown: &str) -> Result<(), Refusal> {
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        return Err(Refusal::new(format!("'{shown}' is a directory; use list_directory")));
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_symlink() {
        "a symbolic link that changed while it was opened"
    } else {
        "a device"
    };
    Err(Refusal::new(format!("'{shown}' is {what}, not a regular file")))
}
