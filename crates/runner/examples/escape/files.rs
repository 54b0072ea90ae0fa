//! By way of files: their content, names, metadata, and the mounts that they are seen through.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::SystemTime;

use crate::{Outcome, check, held, other, outside};

const FS_IOC_SETFLAGS: u64 = 0x4008_6602;
static NO_DUMP: libc::c_long = 0x40;
const SUBVOL_CREATE: u64 = 0x5000_940e;
const FCHMODAT2: libc::c_long = 452;

pub(crate) fn try_way(way: &str) -> Option<Outcome> {
    let kept = outside("kept");
    let path = c_string(&kept);
    Some(match way {
        "write" => fs::write(&kept, "changed"),
        "truncate" => check(unsafe { libc::truncate(path.as_ptr(), 0) }).map(drop),
        "make" => fs::write(outside("made"), ""),
        "make-directory" => fs::create_dir(outside("made-directory")),
        "make-pipe" => check(unsafe { libc::mkfifo(c_string(&outside("pipe")).as_ptr(), 0o600) }).map(drop),
        "make-device" => check(unsafe { libc::mknod(c"device".as_ptr(), libc::S_IFCHR | 0o600, libc::makedev(1, 3)) }).map(drop),
        "rename" => fs::rename(&kept, "stolen"),
        "hard-link" => fs::hard_link(&kept, "linked").and_then(|()| fs::write("linked", "changed")),
        "link" => symlink(&kept, "pointing").and_then(|()| fs::write("pointing", "changed")),
        "own-root" => fs::write(Path::new("/proc/self/root").join(kept.strip_prefix("/").unwrap()), "changed"),
        "chmod" => fs::set_permissions(&kept, fs::Permissions::from_mode(0o777)),
        "chmod-directory" => fs::set_permissions(outside(""), fs::Permissions::from_mode(0o777)),
        "chmod-opened" => File::open(&kept).and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o777))),
        "chmod-at" => chmod_by_handle(&kept),
        "chown" => check(unsafe { libc::chown(path.as_ptr(), libc::getuid(), libc::getgid()) }).map(drop),
        "chown-opened" => File::open(&kept).and_then(|file| std::os::unix::fs::fchown(&file, None, Some(unsafe { libc::getgid() }))),
        "times" => check(unsafe { libc::utimes(path.as_ptr(), std::ptr::null()) }).map(drop),
        "times-opened" => File::open(&kept).and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH)),
        "attribute" => check(unsafe { libc::setxattr(path.as_ptr(), c"user.x".as_ptr(), c"x".as_ptr().cast(), 1, 0) }).map(drop),
        "attribute-opened" => {
            let set = |file: File| unsafe { libc::fsetxattr(file.as_raw_fd(), c"user.x".as_ptr(), c"x".as_ptr().cast(), 1, 0) };
            File::open(&kept).and_then(|file| check(set(file)).map(drop))
        }
        "attribute-removed" => check(unsafe { libc::removexattr(path.as_ptr(), c"user.kept".as_ptr()) }).map(drop),
        "flags" => File::open(&kept)
            .and_then(|file| check(unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_SETFLAGS, &raw const NO_DUMP) }).map(drop)),
        "volume" => volume(),
        "handle" => by_handle(&path),
        "mount" => mount(c"tmpfs", &outside(""), 0),
        "remount" => mount(c"none", Path::new("/"), libc::MS_REMOUNT | libc::MS_BIND).and_then(|()| chmod(&kept)),
        "remount-new" => clear_read_only().and_then(|()| chmod(&kept)),
        "new-namespace" => new_namespace().and_then(|()| chmod(&kept)),
        "other-namespace" => {
            let namespace = File::open(format!("/proc/{}/ns/mnt", other()));
            namespace.and_then(|file| check(unsafe { libc::setns(file.as_raw_fd(), 0) })).and_then(|_| chmod(&kept))
        }
        "other-root" => {
            let root = CString::new(format!("/proc/{}/root", other())).unwrap();
            check(unsafe { libc::chroot(root.as_ptr()) }).and_then(|_| chmod(&kept))
        }
        "shared-memory-file" => File::options().write(true).open(Path::new("/dev/shm").join(crate::variable("SHM_FILE"))).map(drop),
        "secret" => fs::read(outside("../hidden/secret")).map(drop),
        _ => return None,
    })
}

fn chmod(path: &Path) -> Outcome {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777))
}

/// By a handle that may not even be read through.
fn chmod_by_handle(path: &Path) -> Outcome {
    let fd = check(unsafe { libc::open(c_string(path).as_ptr(), libc::O_PATH) })?;
    check(unsafe { libc::syscall(FCHMODAT2, fd, c"".as_ptr(), 0o777, libc::AT_EMPTY_PATH) }).map(drop)
}

fn volume() -> Outcome {
    let directory = File::open(outside(""))?;
    let done = check(unsafe { libc::ioctl(directory.as_raw_fd(), SUBVOL_CREATE, std::ptr::null::<u8>()) });
    // On another file system the request is unknown, so it got through.
    match done {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
        _ => Ok(()),
    }
}

fn by_handle(path: &CString) -> Outcome {
    let mut handle = [0u64; 18];
    let header = handle.as_mut_ptr().cast::<u32>();
    let mut mount = 0i32;
    unsafe { *header = 128 };
    check(unsafe { libc::syscall(libc::SYS_name_to_handle_at, libc::AT_FDCWD, path.as_ptr(), header, &raw mut mount, 0) })?;
    let root = File::open("/")?;
    check(unsafe { libc::syscall(libc::SYS_open_by_handle_at, root.as_raw_fd(), header, libc::O_WRONLY) }).map(drop)
}

fn mount(kind: &std::ffi::CStr, target: &Path, flags: libc::c_ulong) -> Outcome {
    let target = c_string(target);
    check(unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, std::ptr::null()) }).map(drop)
}

fn clear_read_only() -> Outcome {
    let attributes = [0u64, 1, 0, 0];
    check(unsafe { libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, c"/".as_ptr(), 0x8000, attributes.as_ptr(), 32usize) }).map(drop)
}

/// Root in a namespace of its own, where it may mount.
fn new_namespace() -> Outcome {
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) })?;
    let _ = fs::write("/proc/self/setgroups", "deny");
    let _ = fs::write("/proc/self/uid_map", format!("0 {uid} 1"));
    let _ = fs::write("/proc/self/gid_map", format!("0 {gid} 1"));
    let cleared = clear_read_only();
    let remounted = mount(c"none", Path::new("/"), libc::MS_REMOUNT | libc::MS_BIND);
    if cleared.is_err() && remounted.is_err() { held("neither way makes it writable") } else { Ok(()) }
}

fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other).unwrap()
}
