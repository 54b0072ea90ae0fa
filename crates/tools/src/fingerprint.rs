//! What a file is by its content, for comparing it later. Blocking, but never for ever: no pipe or device is read.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

/// A larger file is not read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const PIECE_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fingerprint {
    File {
        /// In hexadecimal.
        sha256: String,
        bytes: u64,
        /// How it begins.
        start: Vec<u8>,
    },
    Directory,
}

/// The fingerprint of what a path leads to, links followed, and at most `start_bytes` of its beginning.
pub fn fingerprint(path: &Path, start_bytes: usize) -> io::Result<Fingerprint> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Ok(Fingerprint::Directory);
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let (mut digest, mut bytes, mut start) = (Sha256::new(), 0, Vec::new());
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let length = file.read(&mut piece)?;
        if length == 0 {
            break;
        }
        bytes += length as u64;
        if bytes > MAX_BYTES {
            return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
        }
        digest.update(&piece[..length]);
        let wanted = start_bytes.saturating_sub(start.len()).min(length);
        start.extend_from_slice(&piece[..wanted]);
    }
    let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Fingerprint::File { sha256, bytes, start })
}
