//! By way of local sockets that programs outside listen at.

use std::fs;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use crate::{Outcome, check, held, outside, shared, variable};

/// Enough for a race that can be won to be won.
const TRIES: usize = 500;
const CHANGES: usize = 20;
/// As many connections of a sandbox are waited for at a time, and more than that.
const WAITING: usize = 64;
const OVERFILLED: usize = 100;

pub(crate) fn try_way(way: &str) -> Option<Outcome> {
    let socket = outside("socket");
    Some(match way {
        "connect" => UnixStream::connect(&socket).map(drop),
        "connect-relative" => std::env::set_current_dir(outside("")).and_then(|()| UnixStream::connect("socket")).map(drop),
        "connect-by-link" => symlink(&socket, "linked").and_then(|()| UnixStream::connect("linked")).map(drop),
        "connect-by-handle" => {
            let path = std::ffi::CString::new(socket.as_os_str().as_bytes()).unwrap();
            let opened = check(unsafe { libc::open(path.as_ptr(), libc::O_PATH) });
            opened.and_then(|fd| UnixStream::connect(format!("/proc/self/fd/{fd}"))).map(drop)
        }
        "connect-shared" => UnixStream::connect(shared("socket")).map(drop),
        "connect-moved" => fs::rename(shared("place"), "moved").and_then(|()| UnixStream::connect("moved/socket")).map(drop),
        "connect-under-own-name" => under_own_name(),
        "connect-sequence" => connect_raw(libc::SOCK_SEQPACKET, &outside("sequence")),
        "connect-datagram" => connect_raw(libc::SOCK_DGRAM, &outside("datagram")),
        "send-datagram" => send(socket_of(libc::SOCK_DGRAM), &outside("datagram")),
        "send-datagram-of-pair" => {
            let mut pair = [0; 2];
            let made = check(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_DGRAM, 0, pair.as_mut_ptr()) });
            made.and_then(|_| send(Ok(pair[0]), &outside("datagram")))
        }
        "connect-abstract" => {
            SocketAddr::from_abstract_name(variable("ABSTRACT")).and_then(|name| UnixStream::connect_addr(&name)).map(drop)
        }
        "race-address" => race_address(&socket),
        "race-socket" => race_socket(&socket),
        "ring" => ring(),
        "listen" => UnixListener::bind(outside("listening")).map(drop),
        #[cfg(target_arch = "x86_64")]
        "old-convention" => old_convention(&socket),
        _ => return None,
    })
}

/// What an honest program does: it listens and connects in its own places.
pub(crate) fn of_its_own(way: &str) -> Option<Outcome> {
    let name = || std::env::args().nth(2).unwrap();
    Some(match way {
        "serve-own" => UnixListener::bind(name()).and_then(|listener| {
            println!();
            loop {
                listener.accept()?;
            }
        }),
        "fill-own" => fill(&name()),
        "overfill-own" => overfill(&name()),
        "connect-own" => UnixStream::connect(name()).map(drop),
        _ => return None,
    })
}

/// More connections than a listener takes wait; one to another listener is made meanwhile.
fn fill(name: &str) -> Outcome {
    let slow = UnixListener::bind(name)?;
    check(unsafe { libc::listen(std::os::fd::AsRawFd::as_raw_fd(&slow), 0) })?;
    let quick = UnixListener::bind("quick.sock")?;
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| UnixStream::connect(name))).collect();
        let made = (0..32).try_for_each(|_| UnixStream::connect("quick.sock").and_then(|_| quick.accept()).map(drop));
        waiting.iter().for_each(|_| drop(slow.accept()));
        let all_made = waiting.into_iter().all(|thread| thread.join().unwrap().is_ok());
        made.and_then(|()| if all_made { Ok(()) } else { held("one that waited was refused") })
    })
}

/// More of them than are waited for: the others are told so, and do not hang.
fn overfill(name: &str) -> Outcome {
    let slow = UnixListener::bind(name)?;
    check(unsafe { libc::listen(std::os::fd::AsRawFd::as_raw_fd(&slow), 0) })?;
    let refused = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..OVERFILLED {
            scope.spawn(|| match UnixStream::connect(name) {
                Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => _ = refused.fetch_add(1, Ordering::Relaxed),
                _ => {}
            });
        }
        // As many as wait and the one that the listener keeps; the rest is refused, sooner or later.
        while refused.load(Ordering::Relaxed) < OVERFILLED - WAITING - 1 {
            std::thread::yield_now();
        }
        (0..=WAITING).for_each(|_| drop(slow.accept()));
    });
    if refused.load(Ordering::Relaxed) == OVERFILLED - WAITING - 1 { Ok(()) } else { held("more or fewer were refused") }
}

fn address(path: &Path) -> libc::sockaddr_un {
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
        *to = from.cast_signed();
    }
    address
}

const LENGTH: libc::socklen_t = size_of::<libc::sockaddr_un>() as libc::socklen_t;

fn socket_of(kind: i32) -> io::Result<i32> {
    Ok(check(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })? as i32)
}

fn connect_raw(kind: i32, path: &Path) -> Outcome {
    let (socket, address) = (socket_of(kind)?, address(path));
    check(unsafe { libc::connect(socket, (&raw const address).cast(), LENGTH) }).map(drop)
}

fn send(socket: io::Result<i32>, path: &Path) -> Outcome {
    let address = address(path);
    check(unsafe { libc::sendto(socket?, c"x".as_ptr().cast(), 1, 0, (&raw const address).cast(), LENGTH) } as i64).map(drop)
}

/// A socket of its own has the very path that the other one has by now.
fn under_own_name() -> Outcome {
    fs::create_dir("spot")?;
    let path = std::env::current_dir()?.join("spot");
    let _own = UnixListener::bind(path.join("socket"))?;
    fs::remove_dir_all("spot")?;
    fs::rename(shared("place"), "spot")?;
    UnixStream::connect(path.join("socket")).map(drop)
}

/// Who is at the other end, by the name it was bound to.
fn reached(stream: &UnixStream, path: &Path) -> bool {
    stream.peer_addr().is_ok_and(|peer| peer.as_pathname() == Some(path))
}

/// The address becomes another while it is looked at.
fn race_address(path: &Path) -> Outcome {
    let own = std::env::current_dir()?.join("own");
    let _listener = UnixListener::bind(&own)?;
    let (first, second) = (address(&own), address(path));
    let mut changing = first;
    let target = (&raw mut changing) as usize;
    let (stop, changes) = (AtomicBool::new(false), AtomicUsize::new(0));
    let won = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                unsafe { std::ptr::write_volatile(target as *mut libc::sockaddr_un, second) };
                unsafe { std::ptr::write_volatile(target as *mut libc::sockaddr_un, first) };
                changes.fetch_add(1, Ordering::Relaxed);
            }
        });
        let won = (0..TRIES).any(|_| {
            let Ok(socket) = socket_of(libc::SOCK_STREAM) else { return false };
            let before = changes.load(Ordering::Relaxed);
            while changes.load(Ordering::Relaxed) == before {
                std::thread::yield_now();
            }
            unsafe { libc::connect(socket, target as *const libc::sockaddr, LENGTH) };
            let stream: UnixStream = unsafe { std::os::fd::FromRawFd::from_raw_fd(socket) };
            reached(&stream, path)
        });
        stop.store(true, Ordering::Relaxed);
        won
    });
    if won { Ok(()) } else { held("the race was not won") }
}

/// The socket becomes another, of another kind, while it is looked at.
fn race_socket(path: &Path) -> Outcome {
    let target = address(path);
    let stop = AtomicBool::new(false);
    let at = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };
    let (local, changes) = (AtomicI32::new(-1), AtomicUsize::new(0));
    let won = std::thread::scope(|scope| {
        scope.spawn(|| {
            let internet = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0) };
            while !stop.load(Ordering::Relaxed) {
                unsafe { libc::dup2(local.load(Ordering::Relaxed), at) };
                // As long the one as the other, so that each is met.
                std::thread::yield_now();
                unsafe { libc::dup2(internet, at) };
                changes.fetch_add(1, Ordering::Relaxed);
            }
        });
        let won = (0..TRIES / CHANGES).any(|_| {
            let Ok(stream) = socket_of(libc::SOCK_STREAM) else { return false };
            local.store(stream, Ordering::Relaxed);
            let until = changes.load(Ordering::Relaxed) + CHANGES;
            while changes.load(Ordering::Relaxed) < until {
                unsafe { libc::connect(at, (&raw const target).cast(), LENGTH) };
            }
            let stream: UnixStream = unsafe { std::os::fd::FromRawFd::from_raw_fd(stream) };
            let reached = reached(&stream, path);
            local.store(-1, Ordering::Relaxed);
            reached
        });
        stop.store(true, Ordering::Relaxed);
        won
    });
    if won { Ok(()) } else { held("the race was not won") }
}

/// A ring makes connections without the system call.
fn ring() -> Outcome {
    let mut parameters = [0u8; 120];
    check(unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, parameters.as_mut_ptr()) }).map(drop)
}

/// The calls of 32-bit programs have other numbers.
#[cfg(target_arch = "x86_64")]
fn old_convention(path: &Path) -> Outcome {
    let socket = socket_of(libc::SOCK_STREAM)?;
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT,
            -1,
            0,
        )
    };
    unsafe { page.cast::<libc::sockaddr_un>().write(address(path)) };
    let mut returned: i64 = 362;
    unsafe {
        std::arch::asm!(
            "push rbx", "mov ebx, {socket:e}", "int 0x80", "pop rbx",
            socket = in(reg) socket, inout("rax") returned, in("rcx") page, in("rdx") u64::from(LENGTH),
        );
    }
    if returned as i32 == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-(returned as i32))) }
}
