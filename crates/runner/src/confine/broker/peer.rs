//! Who listens at a socket in the file system. The kernel knows the socket by the file it is bound to, whatever that is called by now; who
//! has the socket open is seen in `/proc`.

use std::collections::HashSet;
use std::fs;
use std::io;

use rustix::net::netlink::SOCK_DIAG;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

const BY_FAMILY: u16 = 20;
const REQUEST_DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const LOCAL: u8 = 1;
const LISTENING: u32 = 1 << 10;
const SHOW_FILE: u32 = 1 << 1;
/// The attribute that names the file, and what comes before the attributes.
const FILE: u16 = 1;
const HEADER_BYTES: usize = 16;
const SOCKET_BYTES: usize = 16;
const ATTRIBUTE_BYTES: usize = 4;
const BUFFER_BYTES: usize = 64 * 1024;

/// A socket that somebody listens at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listener {
    socket: u32,
    /// The lower half of the file's number, and the device of its file system.
    file: u32,
    device: u32,
}

/// The sockets that may be bound to this file: its number is told by its lower half, and each volume of a file system counts anew.
pub(super) fn listeners_at((major, minor): (u32, u32), file: u64) -> io::Result<Vec<u32>> {
    let device = (major << 20) | minor;
    let is_there = |listener: &Listener| listener.file == file as u32 && listener.device == device;
    Ok(all()?.into_iter().filter(is_there).map(|listener| listener.socket).collect())
}

/// Whether each of the sockets is open in one of the processes.
pub(super) fn all_held_by(sockets: &[u32], processes: &HashSet<i32>) -> bool {
    let mut missing: HashSet<String> = sockets.iter().map(|socket| format!("socket:[{socket}]")).collect();
    for process in processes {
        let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else { continue };
        for file in files.flatten() {
            if let Ok(target) = fs::read_link(file.path()) {
                missing.remove(target.to_string_lossy().as_ref());
            }
        }
        if missing.is_empty() {
            return true;
        }
    }
    missing.is_empty()
}

/// Every local socket of this network namespace that somebody listens at.
fn all() -> io::Result<Vec<Listener>> {
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
    send(&kernel, &request(), SendFlags::empty())?;
    let (mut found, mut buffer) = (Vec::new(), vec![0; BUFFER_BYTES]);
    loop {
        let (length, _) = rustix::io::retry_on_intr(|| recv(&kernel, &mut buffer[..], RecvFlags::empty()))?;
        if !read(&buffer[..length], &mut found)? {
            return Ok(found);
        }
    }
}

fn request() -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(40u32.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST_DUMP.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([LOCAL, 0, 0, 0]);
    bytes.extend(LISTENING.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend(SHOW_FILE.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes
}

/// Takes the messages of one answer; whether more will come.
fn read(mut bytes: &[u8], found: &mut Vec<Listener>) -> io::Result<bool> {
    while bytes.len() >= HEADER_BYTES {
        let length = (number(bytes, 0).unwrap_or(0) as usize).clamp(HEADER_BYTES, bytes.len());
        match half(bytes, 4) {
            Some(DONE) => return Ok(false),
            Some(ERROR) => return Err(io::Error::other("the kernel does not tell who listens")),
            Some(BY_FAMILY) => found.extend(listener(&bytes[HEADER_BYTES..length])),
            _ => {}
        }
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    Ok(true)
}

/// One without a file is none that a path leads to.
fn listener(message: &[u8]) -> Option<Listener> {
    let socket = number(message, 4)?;
    let mut attributes = message.get(SOCKET_BYTES..)?;
    while attributes.len() >= ATTRIBUTE_BYTES {
        let length = usize::from(half(attributes, 0)?).clamp(ATTRIBUTE_BYTES, attributes.len());
        if half(attributes, 2)? == FILE {
            return Some(Listener { socket, file: number(attributes, 4)?, device: number(attributes, 8)? });
        }
        attributes = &attributes[length.next_multiple_of(4).min(attributes.len())..];
    }
    None
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn finds_who_listens_at_a_file_also_after_it_was_moved() {
        let dir = tempfile::tempdir().unwrap();
        let _first = UnixListener::bind(dir.path().join("first")).unwrap();
        let _second = UnixListener::bind(dir.path().join("second")).unwrap();
        fs::rename(dir.path().join("first"), dir.path().join("third")).unwrap();
        let at = |name: &str| {
            let about = dir.path().join(name).symlink_metadata().unwrap();
            listeners_at((rustix::fs::major(about.dev()), rustix::fs::minor(about.dev())), about.ino()).unwrap()
        };
        let (first, second) = (at("third"), at("second"));
        assert_eq!((first.len(), second.len()), (1, 1));
        assert_ne!(first, second);
        let own = HashSet::from([i32::try_from(std::process::id()).unwrap()]);
        assert!(all_held_by(&first, &own) && all_held_by(&[first[0], second[0]], &own));
        assert!(!all_held_by(&first, &HashSet::from([1])), "the first process has not opened it");
        assert!(!all_held_by(&[first[0], u32::MAX], &own), "one of them is somebody else's");
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(at("file").is_empty());
    }

    #[test]
    fn a_mutilated_answer_is_survived() {
        let whole = {
            let mut bytes = vec![0; 44];
            bytes[..4].copy_from_slice(&44u32.to_ne_bytes());
            bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
            bytes[32..34].copy_from_slice(&12u16.to_ne_bytes());
            bytes[34..36].copy_from_slice(&FILE.to_ne_bytes());
            bytes
        };
        for end in 0..whole.len() {
            read(&whole[..end], &mut Vec::new()).unwrap();
        }
        let mut found = Vec::new();
        assert!(read(&whole, &mut found).unwrap());
        assert_eq!(found, [Listener { socket: 0, file: 0, device: 0 }]);
    }
}
