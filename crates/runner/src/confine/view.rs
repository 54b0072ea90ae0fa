//! A view of the file system for one agent: the same files, of which only its own places can be changed in any way.
//!
//! Landlock decides on content, names and devices; the mode, owner, times and attributes of a file it leaves alone. In this view they can
//! be changed nowhere else either. With it come shared memory, message queues and terminals of the agent's own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount, open_tree};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::places::{Places, open_plain};
use super::sys;

/// OpenSSH refuses to start where a file of these is owned by somebody whose name is not known, which in a namespace is root.
const SSH_SNIPPETS: &str = "/etc/ssh/ssh_config.d";

/// Whether other users have names in the new view.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Known,
    Unknown,
}

/// Takes this process, which must have one thread, into a view that can be changed without anybody noticing.
pub(super) fn enter() -> io::Result<Names> {
    let own = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    let (uid, gid) = (geteuid(), getegid());
    let names = match sys::unshare(own) {
        Ok(()) => Names::Known,
        // Only root may do that; anybody else may where they are the only one that there is.
        Err(Errno::PERM) => {
            sys::unshare(own | UnshareFlags::NEWUSER)?;
            let map = |id: u32| format!("{id} {id} 1");
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", map(uid.as_raw()))?;
            std::fs::write("/proc/self/gid_map", map(gid.as_raw()))?;
            Names::Unknown
        }
        Err(error) => return Err(error.into()),
    };
    // What is mounted elsewhere later is seen; nothing goes the other way.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    Ok(names)
}

/// Makes everything read-only but the agent's places. What is hidden stays read-only inside of them.
pub(super) fn fix(places: &Places, names: Names) -> io::Result<()> {
    let inside = |path: &Path, of: &[PathBuf]| of.iter().any(|place| path.starts_with(place));
    if places.writable.iter().any(|path| path.parent().is_none()) {
        return Ok(());
    }
    let mut parts = Vec::new();
    for path in &places.writable {
        parts.push((path, copy(path)?));
    }
    for path in places.hidden.iter().filter(|path| inside(path, &places.writable) && path.exists()) {
        let tree = copy(path)?;
        sys::make_read_only(Some(tree.as_fd()))?;
        parts.push((path, tree));
    }
    // What lies deeper covers what lies above.
    parts.sort_by_key(|(path, _)| path.components().count());
    sys::make_read_only(None)?;
    for (path, tree) in parts {
        put(&tree, path)?;
    }
    own_devices()?;
    if names == Names::Unknown && Path::new(SSH_SNIPPETS).is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
        mount("tmpfs", SSH_SNIPPETS, "tmpfs", flags, c"mode=755")?;
    }
    Ok(())
}

/// Terminals and shared memory in which nobody else has anything.
fn own_devices() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    if Path::new("/dev/pts").is_dir() {
        mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")?;
    }
    if Path::new("/dev/shm").is_dir() {
        mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=1777")?;
    }
    Ok(())
}

/// What is at a path and below it, as it can be used now, to be put somewhere.
fn copy(path: &Path) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(open_plain(path)?, "", flags)?)
}

fn put(tree: &OwnedFd, path: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    // The directory as it is covered by now.
    let at = open_plain(path)?;
    Ok(move_mount(tree, "", at, "", flags)?)
}
