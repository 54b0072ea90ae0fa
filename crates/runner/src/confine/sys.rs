//! The system calls that no safe library offers: the filter for system calls and its listener, namespaces, and mounts as a whole.
#![allow(unsafe_code, reason = "each block is one system call on values that outlive it")]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::thread::UnshareFlags;

const FIRST_AFTER_STDERR: libc::c_uint = 3;
const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
const AT_RECURSIVE: libc::c_int = 0x8000;
const MOUNT_ATTR_RDONLY: u64 = 1;

/// A system call that waits for an answer.
pub(super) struct Call {
    pub id: u64,
    /// The thread that made it.
    pub thread: i32,
    pub args: [u64; 6],
}

#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Filters the system calls of this process and all that it starts, and returns where calls that wait for an answer are read.
pub(super) fn install_filter(instructions: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let len = u16::try_from(instructions.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len, filter: instructions.as_ptr().cast_mut() };
    // A signal must not make a program repeat a connection that was already made for it.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the kernel copies the program, which lives until the call returns, and only reads it.
    let fd = unsafe { libc::syscall(libc::SYS_seccomp, libc::c_long::from(libc::SECCOMP_SET_MODE_FILTER), flags, &raw const program) };
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The next call that waits for an answer.
pub(super) fn next_call(listener: &OwnedFd) -> io::Result<Call> {
    // SAFETY: all zeros is what the kernel wants to be given, and a valid value of these numbers.
    let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most the size of the struct, which the request encodes.
    let done = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Call { id: call.id, thread: call.pid.cast_signed(), args: call.data.args })
}

/// Whether the thread still waits, so that its number cannot have become somebody else's.
pub(super) fn still_waits(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: the kernel only reads the number.
    unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
}

/// One that no longer waits needs no answer.
pub(super) fn answer(listener: &OwnedFd, id: u64, outcome: Result<(), Errno>) {
    let error = outcome.err().map_or(0, |error| -error.raw_os_error());
    let mut response = libc::seccomp_notif_resp { id, val: 0, error, flags: 0 };
    // SAFETY: the kernel reads the struct, which lives until the call returns.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
}

/// Connects to an address of whatever kind, as it was given.
pub(super) fn connect(socket: &OwnedFd, address: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel reads `length` bytes, all of which are there; it needs no alignment.
    let done = unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), length) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Gives this process, which must have one thread, namespaces of its own.
pub(super) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: unsafe only because of `FILES`, by which threads could lose sight of each other's descriptors.
    unsafe { rustix::thread::unshare_unsafe(flags - UnshareFlags::FILES) }
}

/// Makes a mount and all below it read-only. `None` is everything.
pub(super) fn make_read_only(tree: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
    let attributes = MountAttributes { set: MOUNT_ATTR_RDONLY, clear: 0, propagation: 0, user_namespace: 0 };
    let (fd, path, flags) = match tree {
        Some(tree) => (tree.as_raw_fd(), c"", libc::AT_EMPTY_PATH | AT_RECURSIVE),
        None => (libc::AT_FDCWD, c"/", AT_RECURSIVE),
    };
    let size = size_of::<MountAttributes>();
    // SAFETY: the kernel reads the path and the struct of the given size; both live until the call returns.
    let done = unsafe { libc::syscall(libc::SYS_mount_setattr, fd, path.as_ptr(), flags, &raw const attributes, size) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// What this process has open besides its stdin, stdout and stderr, it does not pass on.
pub(super) fn close_rest_on_exec() -> Result<(), Errno> {
    // SAFETY: nothing is closed now, so no descriptor that is in use changes its meaning.
    let done = unsafe { libc::syscall(libc::SYS_close_range, FIRST_AFTER_STDERR, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Gives up the terminal that this process was started from.
pub(super) fn leave_terminal(terminal: impl AsFd) -> Result<(), Errno> {
    // SAFETY: the request has no argument.
    let done = unsafe { libc::ioctl(terminal.as_fd().as_raw_fd(), libc::TIOCNOTTY) };
    if done == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Which version of Landlock the kernel has; 0 where it has none.
pub(super) fn landlock_version() -> u32 {
    let nothing: *const libc::c_void = std::ptr::null();
    // SAFETY: asked for its version alone, the kernel reads no memory of ours.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, 1u32) };
    u32::try_from(version).unwrap_or(0)
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}
