//! Makes the connections of confined processes in their place.
//!
//! A socket that lies in the file system belongs to whoever listens there, and Landlock of most kernels lets everybody connect who may
//! write to it: to the person's keys, desktop, containers and terminals. A filter of system calls cannot read the address. So it hands
//! every connection to this end, outside of the sandbox, which reads the address once, looks who listens, and connects by itself. The
//! process has no part in it any more that it could change in between. What is no local socket is connected as it was asked for.

mod peer;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fstat, open};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_domain, socket_type};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use uuid::Uuid;

use super::order;
use super::sys::{self, Call};
use crate::processes::{self, Process};
use crate::spec::MARK;

/// The longest address of any kind.
const ADDRESS_BYTES: usize = 128;
const FAMILY_BYTES: usize = 2;
/// Connections that a program waits for are waited for on threads of their own, so many at a time.
const MOST_WAITING: usize = 64;
const STACK_BYTES: usize = 128 * 1024;

/// The end of a sandbox that is outside of it.
pub struct Broker {
    control: OwnedFd,
}

/// While it is there, connections are made.
pub struct BrokerGuard {
    /// Closed with this value, which ends the broker.
    _alive: OwnedFd,
}

/// The processes that belong together in a sandbox.
#[derive(Clone, Debug)]
pub struct Family {
    ancestor: i32,
    mark: Option<Uuid>,
}

impl Family {
    /// Everything that descends from this process.
    pub fn below_this_process(mark: Option<Uuid>) -> Self {
        Self { ancestor: getpid().as_raw_nonzero().get(), mark }
    }

    /// That process and everything that descends from it.
    pub fn of(process: u32, mark: Option<Uuid>) -> Self {
        Self { ancestor: process.cast_signed(), mark }
    }
}

impl Broker {
    pub(super) fn new(control: OwnedFd) -> Self {
        Self { control }
    }

    /// Makes connections on a thread, which ends with the last process in the sandbox or with the guard. Not one of an async runtime's:
    /// that would wait for it, and what a hostile program wants to connect to may not answer for minutes.
    pub fn start(self, family: Family) -> io::Result<BrokerGuard> {
        let (ended, alive) = pipe_with(PipeFlags::CLOEXEC)?;
        thread::Builder::new().name("broker".to_owned()).stack_size(STACK_BYTES).spawn(move || self.serve(&ended, &family))?;
        Ok(BrokerGuard { _alive: alive })
    }

    fn serve(self, ended: &OwnedFd, family: &Family) {
        if !wait_for(&self.control, ended) {
            return;
        }
        // None where the process could not be confined, or makes its connections itself.
        let Some(listener) = order::receive(&self.control).ok().and_then(|files| files.into_iter().next()) else { return };
        drop(self.control);
        let listener = Arc::new(listener);
        let waiting = Arc::new(AtomicUsize::new(0));
        while wait_for(&listener, ended) {
            match sys::next_call(&listener) {
                Ok(call) => decide(&listener, &call, family, &waiting),
                // It was killed before it could be read.
                Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::INTR)) => {}
                Err(_) => return,
            }
        }
    }
}

/// Whether there is something to read before the end.
fn wait_for(source: &OwnedFd, ended: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(ended, PollFlags::IN), PollFd::new(source, PollFlags::IN)];
    loop {
        match poll(&mut watched, None) {
            Err(Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return watched[0].revents().is_empty() && watched[1].revents().contains(PollFlags::IN),
        }
    }
}

fn decide(listener: &Arc<OwnedFd>, call: &Call, family: &Family, waiting: &Arc<AtomicUsize>) {
    let wanted = match Wanted::of(call) {
        Ok(wanted) => wanted,
        Err(error) => return sys::answer(listener, call.id, Err(error)),
    };
    // The numbers of thread and process mean whom they meant only if it still waits.
    if !sys::still_waits(listener, call.id) {
        return;
    }
    if !wanted.may_wait() {
        return sys::answer(listener, call.id, wanted.connect(family));
    }
    if waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
        waiting.fetch_sub(1, Ordering::Relaxed);
        return sys::answer(listener, call.id, Err(Errno::AGAIN));
    }
    let (shared, id, family, count) = (Arc::clone(listener), call.id, family.clone(), Arc::clone(waiting));
    let work = move || {
        sys::answer(&shared, id, wanted.connect(&family));
        count.fetch_sub(1, Ordering::Relaxed);
    };
    if thread::Builder::new().name("connect".to_owned()).stack_size(STACK_BYTES).spawn(work).is_err() {
        waiting.fetch_sub(1, Ordering::Relaxed);
        sys::answer(listener, call.id, Err(Errno::AGAIN));
    }
}

/// A connection that a process wants to make.
struct Wanted {
    thread: i32,
    process: i32,
    /// The same socket as the process has.
    socket: OwnedFd,
    address: Vec<u8>,
}

impl Wanted {
    fn of(call: &Call) -> Result<Self, Errno> {
        let [fd, address, length, ..] = call.args;
        // As the kernel takes them: both are numbers of 32 bits.
        let (fd, length) = (fd as i32, length as u32 as usize);
        if length > ADDRESS_BYTES {
            return Err(Errno::INVAL);
        }
        let process = group_of(call.thread).ok_or(Errno::PERM)?;
        let leader = pidfd_open(Pid::from_raw(process).ok_or(Errno::PERM)?, PidfdFlags::empty()).map_err(|_| Errno::PERM)?;
        let socket = pidfd_getfd(&leader, fd, PidfdGetfdFlags::empty())?;
        let mut bytes = vec![0; length];
        let memory = File::open(format!("/proc/{}/mem", call.thread)).map_err(|_| Errno::PERM)?;
        memory.read_exact_at(&mut bytes, address).map_err(|_| Errno::FAULT)?;
        Ok(Self { thread: call.thread, process, socket, address: bytes })
    }

    /// Whether the process waits for the connection: then somebody has to.
    fn may_wait(&self) -> bool {
        let waits = fcntl_getfl(&self.socket).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK));
        waits && socket_type(&self.socket).is_ok_and(|kind| kind != SocketType::DGRAM)
    }

    fn connect(&self, family: &Family) -> Result<(), Errno> {
        // Of which kind a socket is never changes, and one of another kind takes no local address.
        if socket_domain(&self.socket)? != AddressFamily::UNIX {
            return sys::connect(&self.socket, &self.address);
        }
        let (family_bytes, path) = self.address.split_at_checked(FAMILY_BYTES).ok_or(Errno::INVAL)?;
        if family_bytes != AddressFamily::UNIX.as_raw().to_ne_bytes() || path.is_empty() {
            return Err(Errno::INVAL);
        }
        let name = path.split(|byte| *byte == 0).next().unwrap_or_default();
        // A name without a file: who has it cannot be held on to while it is looked at.
        if name.is_empty() {
            return Err(Errno::ACCESS);
        }
        let found = open(self.place(name), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let about = fstat(&found)?;
        if FileType::from_raw_mode(about.st_mode) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        let device = device_of(&found, self.thread).ok_or(Errno::ACCESS)?;
        let listeners = peer::listeners_at(device, about.st_ino).map_err(|_| Errno::ACCESS)?;
        if listeners.is_empty() {
            return Err(Errno::CONNREFUSED);
        }
        if !family.holds(&listeners, self.process) {
            return Err(Errno::ACCESS);
        }
        let held = SocketAddrUnix::new(format!("/proc/self/fd/{}", found.as_raw_fd()))?;
        rustix::net::connect(&self.socket, &held)
    }

    /// The path as this process has to say it.
    fn place(&self, name: &[u8]) -> PathBuf {
        let (name, all) = (Path::new(OsStr::from_bytes(name)), Path::new("/proc"));
        if let Ok(rest) = name.strip_prefix("/proc/self") {
            return all.join(self.process.to_string()).join(rest);
        }
        let own = all.join(self.thread.to_string());
        match name.strip_prefix("/") {
            Ok(rest) => own.join("root").join(rest),
            Err(_) => own.join("cwd").join(name),
        }
    }
}

/// The device of the file system that an open file is in, which a file system of several volumes tells otherwise by its files: by the mount
/// that it was opened through, as the thread sees it.
fn device_of(opened: &OwnedFd, thread: i32) -> Option<(u32, u32)> {
    let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", opened.as_raw_fd())).ok()?;
    let mount = about.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim();
    let mounts = fs::read_to_string(format!("/proc/{thread}/mountinfo")).ok()?;
    let line = mounts.lines().find(|line| line.split(' ').next() == Some(mount))?;
    let (major, minor) = line.split(' ').nth(2)?.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The process that a thread belongs to.
fn group_of(thread: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

impl Family {
    /// Whether all of these sockets are its own. `asking` is one of it, and often the one that listens.
    fn holds(&self, sockets: &[u32], asking: i32) -> bool {
        if peer::all_held_by(sockets, &HashSet::from([asking])) {
            return true;
        }
        let all = processes::all();
        let mut roots = HashSet::from([self.ancestor]);
        if peer::all_held_by(sockets, &self.below(&all, &roots)) {
            return true;
        }
        let Some(mark) = self.mark.map(|mark| mark.to_string()) else { return false };
        let marked = |process: &&Process| processes::has_variable(process.pid, MARK, &mark);
        roots.extend(all.iter().filter(marked).map(|process| process.pid));
        peer::all_held_by(sockets, &self.below(&all, &roots))
    }

    /// The roots and their descendants, but for this process, which is in no sandbox.
    fn below(&self, all: &[Process], roots: &HashSet<i32>) -> HashSet<i32> {
        let mut members: HashSet<i32> = processes::descendants(all, roots).iter().map(|process| process.pid).collect();
        members.extend(roots);
        members.remove(&getpid().as_raw_nonzero().get());
        members
    }
}
