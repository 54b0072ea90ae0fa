//! Which system calls a confined process may make: a program for the kernel's filter.
//!
//! What Landlock does not decide is decided here, by numbers alone, since the filter cannot follow pointers: connections are handed to
//! the [broker](super::broker), and what would get around it or reach other processes of the same user is refused.

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_RSH, BPF_W, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO,
    SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_USER_NOTIF, c_long, sock_filter,
};

#[cfg(target_arch = "x86_64")]
const NATIVE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const NATIVE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: Option<u32> = None;

const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The numbers of another convention of the same processor, which has its own way to make every call.
const X32: u32 = 0x4000_0000;
/// What a type of a socket says besides its kind.
const KIND_MASK: u32 = 0xf;
/// Btrfs makes and fills directories by requests of its own, which nothing else decides on. Sharing the data of files is among them.
const BTRFS: u32 = 0x94;
/// Requests that type into a terminal. A request has 32 bits; how C libraries declare it differs.
const TYPE: [u32; 2] = [libc::TIOCSTI as u32, libc::TIOCLINUX as u32];
const SHARE_DATA: [u32; 3] = [0x4004_9409, 0x4020_940d, 0xc018_9436];

/// Those that reach keys of the user, go around this filter, around Landlock, or to files without their names.
const REFUSED: [(c_long, i32); 8] = [
    (libc::SYS_add_key, libc::EPERM),
    (libc::SYS_request_key, libc::EPERM),
    (libc::SYS_keyctl, libc::EPERM),
    (libc::SYS_io_uring_setup, libc::ENOSYS),
    (libc::SYS_io_uring_enter, libc::ENOSYS),
    (libc::SYS_io_uring_register, libc::ENOSYS),
    (libc::SYS_open_by_handle_at, libc::EPERM),
    (libc::SYS_mount_setattr, libc::EPERM),
];

/// The program; none for a processor whose numbers are not known here.
pub(super) fn program() -> Option<Vec<sock_filter>> {
    let mut all = vec![load(ARCHITECTURE), equal(NATIVE?, 1, 0), give(SECCOMP_RET_KILL_PROCESS), load(NUMBER)];
    all.extend([jump(BPF_JGE, X32, 0, 1), refuse(libc::ENOSYS)]);
    for (call, error) in REFUSED {
        on(call, vec![refuse(error)], &mut all);
    }
    on(libc::SYS_connect, vec![give(SECCOMP_RET_USER_NOTIF)], &mut all);
    on(libc::SYS_socket, stream_or_not_local(), &mut all);
    on(libc::SYS_socketpair, stream_or_not_local(), &mut all);
    on(libc::SYS_ioctl, harmless_request(), &mut all);
    on(libc::SYS_prlimit64, own_limits(), &mut all);
    all.push(give(SECCOMP_RET_ALLOW));
    Some(all)
}

/// A local datagram socket sends to any address without a connection, so there is none.
fn stream_or_not_local() -> Vec<sock_filter> {
    vec![
        load(argument(0)),
        equal(libc::AF_UNIX.cast_unsigned(), 0, 4),
        load(argument(1)),
        alu(BPF_AND, KIND_MASK),
        equal(libc::SOCK_STREAM.cast_unsigned(), 1, 0),
        equal(libc::SOCK_SEQPACKET.cast_unsigned(), 0, 1),
        give(SECCOMP_RET_ALLOW),
        refuse(libc::EACCES),
    ]
}

/// Not what types into a terminal, and nothing of Btrfs but sharing data. The kernel looks at the lower half of the number alone.
fn harmless_request() -> Vec<sock_filter> {
    let ([push, console], [first, second, third]) = (TYPE, SHARE_DATA);
    vec![
        load(argument(1)),
        equal(push, 8, 0),
        equal(console, 7, 0),
        equal(first, 5, 0),
        equal(second, 4, 0),
        equal(third, 3, 0),
        alu(BPF_RSH, 8),
        alu(BPF_AND, 0xff),
        equal(BTRFS, 1, 0),
        give(SECCOMP_RET_ALLOW),
        refuse(libc::EPERM),
    ]
}

/// Limits of other processes can be read, not set.
fn own_limits() -> Vec<sock_filter> {
    vec![
        load(argument(0)),
        equal(0, 4, 0),
        load(argument(2)),
        equal(0, 0, 3),
        load(argument(2) + 4),
        equal(0, 0, 1),
        give(SECCOMP_RET_ALLOW),
        refuse(libc::EPERM),
    ]
}

/// Where the call is this one, `then` decides, every way through it.
fn on(call: c_long, then: Vec<sock_filter>, all: &mut Vec<sock_filter>) {
    let call = u32::try_from(call).expect("system calls have small numbers");
    let over = u8::try_from(then.len()).expect("a decision is a few instructions long");
    all.push(equal(call, 0, over));
    all.extend(then);
}

/// Where the lower half of an argument lies: first, on the processors above.
fn argument(index: u32) -> u32 {
    16 + 8 * index
}

fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0)
}

fn alu(operation: u32, value: u32) -> sock_filter {
    instruction(BPF_ALU | operation | BPF_K, value, 0, 0)
}

fn equal(value: u32, if_so: u8, if_not: u8) -> sock_filter {
    jump(BPF_JEQ, value, if_so, if_not)
}

fn jump(comparison: u32, value: u32, if_so: u8, if_not: u8) -> sock_filter {
    instruction(BPF_JMP | comparison | BPF_K, value, if_so, if_not)
}

fn give(verdict: u32) -> sock_filter {
    instruction(BPF_RET | BPF_K, verdict, 0, 0)
}

fn refuse(error: i32) -> sock_filter {
    give(SECCOMP_RET_ERRNO | error.cast_unsigned())
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: u16::try_from(code).expect("codes are small"), jt, jf, k }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Runs the program as the kernel does.
    fn verdict(architecture: u32, number: u32, args: [u64; 6]) -> u32 {
        let program = program().unwrap();
        let word = |offset: u32| match offset {
            NUMBER => number,
            ARCHITECTURE => architecture,
            _ => (args[(offset as usize - 16) / 8] >> (8 * (offset % 8))) as u32,
        };
        let (mut at, mut value) = (0, 0u32);
        loop {
            let now = program[at];
            at += 1;
            let code = u32::from(now.code);
            let go = |so: bool| at + usize::from(if so { now.jt } else { now.jf });
            match code & 7 {
                BPF_LD => value = word(now.k),
                BPF_ALU if code & 0xf0 == BPF_AND => value &= now.k,
                BPF_ALU if code & 0xf0 == BPF_RSH => value >>= now.k,
                BPF_JMP if code & 0xf0 == BPF_JEQ => at = go(value == now.k),
                BPF_JMP if code & 0xf0 == BPF_JGE => at = go(value >= now.k),
                BPF_RET => return now.k,
                other => panic!("{other}"),
            }
        }
    }

    fn native(call: c_long, args: &[u64]) -> u32 {
        let mut all = [0; 6];
        all[..args.len()].copy_from_slice(args);
        verdict(NATIVE.unwrap(), u32::try_from(call).unwrap(), all)
    }

    #[test]
    fn decides_by_the_call_and_its_numbers() {
        let (local, internet) = (libc::AF_UNIX as u64, libc::AF_INET as u64);
        let (stream, datagram) = (libc::SOCK_STREAM as u64, libc::SOCK_DGRAM as u64);
        let sequence = libc::SOCK_SEQPACKET as u64 | libc::SOCK_CLOEXEC as u64;
        let (acces, perm) = (SECCOMP_RET_ERRNO | 13, SECCOMP_RET_ERRNO | 1);
        // Some libraries give the request as a number with its sign, and the kernel does not mind what stands above.
        let high = 0xdead_beef_0000_0000;
        let push = u64::from(TYPE[0]);
        for (call, args, expected) in [
            (libc::SYS_read, vec![], SECCOMP_RET_ALLOW),
            (libc::SYS_connect, vec![], SECCOMP_RET_USER_NOTIF),
            (libc::SYS_keyctl, vec![], perm),
            (libc::SYS_io_uring_setup, vec![], SECCOMP_RET_ERRNO | 38),
            (libc::SYS_socket, vec![local, stream], SECCOMP_RET_ALLOW),
            (libc::SYS_socket, vec![local, sequence], SECCOMP_RET_ALLOW),
            (libc::SYS_socket, vec![local, datagram], acces),
            (libc::SYS_socket, vec![local | high, datagram | high], acces),
            (libc::SYS_socket, vec![local, libc::SOCK_RAW as u64], acces),
            (libc::SYS_socket, vec![local, datagram | libc::SOCK_NONBLOCK as u64], acces),
            (libc::SYS_socketpair, vec![local, datagram], acces),
            (libc::SYS_socketpair, vec![local, stream], SECCOMP_RET_ALLOW),
            (libc::SYS_socket, vec![internet, datagram], SECCOMP_RET_ALLOW),
            (libc::SYS_ioctl, vec![0, push], perm),
            (libc::SYS_ioctl, vec![0, push | high], perm),
            (libc::SYS_ioctl, vec![0, u64::from(TYPE[1])], perm),
            (libc::SYS_ioctl, vec![0, libc::TIOCGWINSZ], SECCOMP_RET_ALLOW),
            (libc::SYS_ioctl, vec![0, 0x5000_9418], perm),
            (libc::SYS_ioctl, vec![0, 0x4004_9409], SECCOMP_RET_ALLOW),
            (libc::SYS_prlimit64, vec![0, 7, 1, 0], SECCOMP_RET_ALLOW),
            (libc::SYS_prlimit64, vec![77, 7, 0, 1], SECCOMP_RET_ALLOW),
            (libc::SYS_prlimit64, vec![77, 7, 1, 0], perm),
            (libc::SYS_prlimit64, vec![77, 7, 1 << 32, 0], perm),
        ] {
            assert_eq!(native(call, &args), expected, "{call} {args:x?}");
        }
    }

    #[test]
    fn refuses_the_numbers_of_other_conventions() {
        assert_eq!(verdict(0x4000_0003, 1, [0; 6]), SECCOMP_RET_KILL_PROCESS);
        assert_eq!(verdict(NATIVE.unwrap(), X32 | 42, [0; 6]), SECCOMP_RET_ERRNO | 38);
    }
}
