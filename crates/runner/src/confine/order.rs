//! What the process that confines itself is told, and how: over a socket that is its stdin at first.
//!
//! Neither its command line nor its environment holds anything of the agent's. The first could be read by everybody on this machine, and
//! the second decides what the loader and the C library do before the first line of ours runs.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags,
    SocketType, recvmsg, sendmsg, socketpair,
};
use serde::{Deserialize, Serialize};

use super::{Base, Confinement, Layers};
use crate::directory::Directory;

/// The order itself is in a file in memory, so that its size does not matter to the socket.
const MESSAGE: &[u8] = b"o";

#[derive(Serialize, Deserialize, Debug)]
pub(super) struct Order {
    pub program: PathBuf,
    pub args: Vec<String>,
    /// The whole environment of the program.
    pub env: Vec<(String, String)>,
    /// Where it runs; where the process is anyway, without one.
    pub cwd: Option<Directory>,
    pub base: Base,
    pub layers: Layers,
    pub confinement: Confinement,
}

impl Order {
    /// As a file without a name.
    pub(super) fn write(&self) -> io::Result<File> {
        let mut file = File::from(memfd_create("order", MemfdFlags::CLOEXEC)?);
        file.write_all(&serde_json::to_vec(self).map_err(io::Error::other)?)?;
        file.rewind()?;
        Ok(file)
    }

    pub(super) fn read(mut file: File) -> io::Result<Self> {
        let mut text = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut text)?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }
}

/// Both ends of the socket; messages on it stay whole.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Does not wait: the message is small, and the socket keeps it until it is read.
pub(super) fn send(socket: &OwnedFd, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("too many files in one message"));
    }
    sendmsg(socket, &[IoSlice::new(MESSAGE)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The files of the next message; none when the other end has closed.
pub(super) fn receive(socket: impl AsFd) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0; MESSAGE.len()];
    rustix::io::retry_on_intr(|| recvmsg(&socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC))?;
    let mut files = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_order_arrives_as_it_was_given() {
        let confinement = Confinement {
            writable: vec!["/work".into(), "/tmp".into()],
            own: vec!["/home/x/.agent".into()],
            hidden: vec!["/data".into()],
            shown: vec!["/data/mcp.json".into()],
            untrusted: vec!["/work".into()],
        };
        let order = Order {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), "a\nb \u{e9}".into(), String::new()],
            env: vec![("A".into(), "x".repeat(1 << 20)), ("LD_PRELOAD".into(), "/work/x.so".into())],
            cwd: Some("/work".into()),
            base: Base::Bubblewrap("/usr/bin/bwrap".into()),
            layers: Layers { view: true, calls: false },
            confinement: confinement.clone(),
        };
        let (ours, theirs) = pair().unwrap();
        let null = File::open("/dev/null").unwrap();
        send(&ours, &[order.write().unwrap().as_fd(), null.as_fd()]).unwrap();
        let mut files = receive(&theirs).unwrap();
        assert_eq!(files.len(), 2);
        let read = Order::read(File::from(files.remove(0))).unwrap();
        assert_eq!((read.program, read.args, read.env), (order.program, order.args, order.env));
        assert_eq!(read.cwd.unwrap().path(), order.cwd.unwrap().path());
        assert_eq!((read.base, read.layers, read.confinement), (order.base, order.layers, confinement));
        drop(ours);
        assert!(receive(&theirs).unwrap().is_empty());
    }
}
