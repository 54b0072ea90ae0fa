//! By way of other processes, and of what processes of one user share.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

use crate::{Outcome, check, held, other, variable};

pub(crate) fn try_way(way: &str) -> Option<Outcome> {
    let process = |name: &str| format!("/proc/{}/{name}", other());
    Some(match way {
        "signal" => check(unsafe { libc::kill(other(), libc::SIGCONT) }).map(drop),
        "signal-handle" => {
            let opened = check(unsafe { libc::syscall(libc::SYS_pidfd_open, other(), 0) });
            opened.and_then(|fd| check(unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGCONT, 0, 0) })).map(drop)
        }
        "trace" => check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, other(), 0, 0) }).map(drop),
        "memory" => File::open(process("mem")).map(drop),
        "memory-read" => read_memory(),
        "environment" => fs::read(process("environ")).and_then(|read| if read.is_empty() { held("it is empty") } else { Ok(()) }),
        "root" => fs::read_dir(process("root")).map(drop),
        "directory" => fs::read_dir(process("cwd")).map(drop),
        "opened" => fs::read_link(process("fd/1")).map(drop),
        "take-opened" => {
            let opened = check(unsafe { libc::syscall(libc::SYS_pidfd_open, other(), 0) });
            opened.and_then(|fd| check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, fd, 1, 0) })).map(drop)
        }
        "limit" => {
            let none = libc::rlimit64 { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
            check(unsafe { libc::prlimit64(other(), libc::RLIMIT_MEMLOCK, &raw const none, std::ptr::null_mut()) }).map(drop)
        }
        "key" => {
            let user_keyring = -4;
            check(unsafe { libc::syscall(libc::SYS_add_key, c"user".as_ptr(), c"escape".as_ptr(), c"x".as_ptr(), 1, user_keyring) })
                .map(drop)
        }
        "type" => type_into_terminal(),
        "other-terminal" => OpenOptions::new().write(true).open(variable("TERMINAL")).map(drop),
        "own-terminal" => OpenOptions::new().write(true).open("/dev/tty").map(drop),
        "segment" => check(unsafe { libc::shmget(variable("SEGMENT").parse().unwrap(), 16, 0) }).map(drop),
        "queue" => {
            let name = std::ffi::CString::new(variable("QUEUE")).unwrap();
            check(unsafe { libc::mq_open(name.as_ptr(), libc::O_RDONLY) }).map(drop)
        }
        "inherited" => check(unsafe { libc::fcntl(variable("INHERITED").parse().unwrap(), libc::F_GETFD) }).map(drop),
        _ => return None,
    })
}

fn read_memory() -> Outcome {
    let mut byte = 0u8;
    let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // Whether there is something does not matter: who may not read is told so first.
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(4096), iov_len: 1 };
    let read = check(unsafe { libc::process_vm_readv(other(), &raw const local, 1, &raw const remote, 1, 0) } as i64);
    match read {
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(()),
        other => other.map(drop),
    }
}

fn type_into_terminal() -> Outcome {
    let screen = OpenOptions::new().read(true).write(true).open("/dev/ptmx")?;
    let mut locked = 0;
    check(unsafe { libc::ioctl(screen.as_raw_fd(), libc::TIOCSPTLCK, &raw mut locked) })?;
    let side = check(unsafe { libc::ioctl(screen.as_raw_fd(), libc::TIOCGPTPEER, libc::O_RDWR | libc::O_NOCTTY) })? as i32;
    // One that is not the process's own is refused for that, unless it may do everything: so it becomes its own.
    unsafe { libc::setsid() };
    check(unsafe { libc::ioctl(side, libc::TIOCSCTTY, 0) })?;
    // With the upper half of the number set, as the kernel does not mind.
    let request = libc::TIOCSTI | 0xdead_0000_0000;
    check(unsafe { libc::ioctl(side, request, c"x".as_ptr()) }).map(drop).map_err(|error| io::Error::other(format!("typing: {error}")))
}

/// What the test makes and removes around an attack.
pub(crate) fn for_the_test(action: &str) -> Option<Outcome> {
    let segment = || variable("SEGMENT").parse::<i32>().unwrap();
    let queue = || std::ffi::CString::new(variable("QUEUE")).unwrap();
    Some(match action {
        "shared-make" => {
            let made = check(unsafe { libc::shmget(segment(), 16, libc::IPC_CREAT | 0o600) });
            let queue = queue();
            let mode: libc::mode_t = 0o600;
            let open = || check(unsafe { libc::mq_open(queue.as_ptr(), libc::O_CREAT | libc::O_RDWR, mode, std::ptr::null::<u8>()) });
            made.and_then(|_| open()).map(drop)
        }
        "shared-remove" => {
            let id = check(unsafe { libc::shmget(segment(), 16, 0) });
            unsafe { libc::mq_unlink(queue().as_ptr()) };
            id.and_then(|id| check(unsafe { libc::shmctl(id as i32, libc::IPC_RMID, std::ptr::null_mut()) })).map(drop)
        }
        _ => return None,
    })
}
