//! From a path to a directory handle and one name in it.
//!
//! Two walks give the same answer. `by_kernel` hands the directory part to `openat2`, which fails on the first link. `by_hand` opens one
//! name at a time, and follows links itself: it is what decides wherever the first one does not succeed, whatever the reason.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, statat};
use rustix::io::Errno;

use super::{Directory, Kind, Root, duplicate, is_kernel_tree, reason};
use crate::{Refusal, bound};

/// As many links as the kernel follows in one path.
const MOST_LINKS: usize = 40;
/// The longest path that the kernel takes, and the deepest directory that is gone into.
const MOST_BYTES: usize = 4096;
pub(crate) const MOST_DEPTH: usize = 256;

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What a walk does about links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Links {
    /// Goes where they lead, as long as that is below the root.
    Follow,
    /// Stops at the first one among the directories. One at the end is what was found.
    Refuse,
}

/// Why a walk came to no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lost {
    Outside,
    Missing,
    NotDirectory,
    /// There is a link where none is followed.
    Link,
    System(Errno),
}

/// Where a path leads: a name in a directory that is held open. The name is not a link, unless links are not followed.
pub(crate) struct Spot {
    parent: OwnedFd,
    /// None for the directory itself.
    name: Option<OsString>,
    /// Directories between `parent` and the name that are not there yet.
    pub(super) missing: Vec<OsString>,
    /// Relative to the root, without links; empty for the root itself.
    pub(crate) path: PathBuf,
    /// What was there; none where nothing was.
    pub(crate) kind: Option<Kind>,
    is_kernel: bool,
}

impl Lost {
    pub(crate) fn errno(self) -> Errno {
        match self {
            Lost::Outside => Errno::XDEV,
            Lost::Missing => Errno::NOENT,
            Lost::NotDirectory => Errno::NOTDIR,
            Lost::Link => Errno::LOOP,
            Lost::System(why) => why,
        }
    }

    pub(crate) fn refusal(self, path: &str) -> Refusal {
        let shown = bound::name(path);
        match self {
            Lost::Outside => Refusal::new(format!("'{shown}' is outside the work directory")),
            Lost::Link => Refusal::new(format!("'{shown}' lies behind a symbolic link")),
            lost => Refusal::new(format!("cannot open '{shown}': {}", reason(&lost.errno().into()))),
        }
    }
}

impl Spot {
    pub(crate) fn parent(&self) -> &OwnedFd {
        &self.parent
    }

    pub(super) fn name(&self) -> &OsStr {
        self.name.as_deref().unwrap_or(OsStr::new("."))
    }

    /// Whether it is a name in a directory, and not that directory itself.
    pub(crate) fn is_named(&self) -> bool {
        self.name.is_some()
    }

    /// It lies in a tree that the kernel makes up.
    pub(crate) fn is_kernel(&self) -> bool {
        self.is_kernel
    }

    /// How many bytes the file has by now.
    pub(crate) fn size(&self) -> Option<u64> {
        let about = statat(&self.parent, self.name(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        self.missing.is_empty().then(|| about.st_size.unsigned_abs())
    }

    /// What a link that was not followed says.
    pub(crate) fn target(&self) -> Option<Vec<u8>> {
        rustix::fs::readlinkat(&self.parent, self.name(), Vec::new()).ok().map(std::ffi::CString::into_bytes)
    }

    /// The directory that is there, as a place to start from.
    pub(crate) fn handle(&self) -> Result<OwnedFd, Errno> {
        if self.missing.is_empty() { rustix::fs::openat(&self.parent, self.name(), DIRECTORY, Mode::empty()) } else { Err(Errno::NOENT) }
    }

    /// The directory that is there, to be listed.
    pub(crate) fn directory(&self) -> Result<Directory, Errno> {
        if !self.missing.is_empty() {
            return Err(Errno::NOENT);
        }
        Directory::open(&self.parent, self.name())
    }
}

pub(super) fn walk(root: &Root, path: &[u8], links: Links) -> Result<Spot, Lost> {
    let parts = parts(root, path, links)?;
    match by_kernel(root, &parts) {
        Some(spot) if links == Links::Refuse || spot.kind != Some(Kind::Link) => Ok(spot),
        _ => by_hand(root, parts, links),
    }
}

/// The names of a path below the root. `..` is kept, and a `.` at the end that says that a directory is meant.
pub(super) fn parts(root: &Root, path: &[u8], links: Links) -> Result<VecDeque<OsString>, Lost> {
    if path.contains(&0) {
        return Err(Lost::System(Errno::INVAL));
    }
    if path.len() > MOST_BYTES {
        return Err(Lost::System(Errno::NAMETOOLONG));
    }
    let given = Path::new(OsStr::from_bytes(path));
    let mut parts = VecDeque::new();
    push_front(&mut parts, &below(root, given).ok_or(Lost::Outside)?, path.ends_with(b"/") || path.ends_with(b"/."));
    if links == Links::Refuse && parts.iter().any(|part| part == "..") {
        return Err(Lost::Outside);
    }
    Ok(parts)
}

/// A path as seen from the root, by its spelling. For one that comes to the root by way of a link elsewhere the system is asked; its
/// answer is only another spelling, which is walked like any.
fn below(root: &Root, path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return Some(path.to_owned());
    }
    if let Ok(below) = path.strip_prefix(&root.path) {
        return Some(below.to_owned());
    }
    if is_kernel_tree(path) {
        return None;
    }
    super::names::real_path(path)?.strip_prefix(&root.path).ok().map(Path::to_owned)
}

fn push_front(parts: &mut VecDeque<OsString>, path: &Path, is_directory: bool) {
    if is_directory && parts.is_empty() {
        parts.push_front(OsString::from("."));
    }
    for part in path.components().rev() {
        match part {
            Component::Normal(name) => parts.push_front(name.to_owned()),
            Component::ParentDir => parts.push_front(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
}

/// In one call, where no link and no `..` is on the way. None in every other case, and where the kernel does not know the call.
pub(super) fn by_kernel(root: &Root, parts: &VecDeque<OsString>) -> Option<Spot> {
    let (name, above) = parts.iter().collect::<Vec<_>>().split_last().map(|(name, above)| (*name, above.to_vec()))?;
    if name == "." || parts.iter().any(|part| part == "..") || parts.len() > MOST_DEPTH {
        return None;
    }
    let directory: PathBuf = above.iter().collect();
    let parent = if above.is_empty() {
        duplicate(&root.directory).ok()?
    } else {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        rustix::fs::openat2(&root.directory, &directory, DIRECTORY, Mode::empty(), resolve).ok()?
    };
    let kind = kind(&parent, name).ok()?;
    Some(root.spot_at(parent, Some(name.clone()), Vec::new(), directory, kind))
}

/// Where a walk by hand stands.
struct Walker<'a> {
    root: &'a Root,
    /// The directories below the root that were gone into.
    stack: Vec<(OsString, OwnedFd)>,
    parts: VecDeque<OsString>,
    links: Links,
    followed: usize,
}

pub(super) fn by_hand(root: &Root, parts: VecDeque<OsString>, links: Links) -> Result<Spot, Lost> {
    let mut walker = Walker { root, stack: Vec::new(), parts, links, followed: 0 };
    while let Some(part) = walker.parts.pop_front() {
        match part.as_bytes() {
            b"." => {}
            b".." => walker.up()?,
            _ if walker.parts.is_empty() => {
                if let Some(spot) = walker.last(part)? {
                    return Ok(spot);
                }
            }
            _ => {
                if let Some(spot) = walker.down(part)? {
                    return Ok(spot);
                }
            }
        }
    }
    let handle = duplicate(walker.here()).map_err(Lost::System)?;
    Ok(root.spot_at(handle, None, Vec::new(), walker.path(), Some(Kind::Directory)))
}

impl Walker<'_> {
    fn here(&self) -> &OwnedFd {
        self.stack.last().map_or(&self.root.directory, |(_, handle)| handle)
    }

    fn path(&self) -> PathBuf {
        self.stack.iter().map(|(name, _)| name).collect()
    }

    /// Into a directory, or along a link. A place where a directory is not there ends the walk.
    fn down(&mut self, name: OsString) -> Result<Option<Spot>, Lost> {
        if self.stack.len() >= MOST_DEPTH {
            return Err(Lost::System(Errno::NAMETOOLONG));
        }
        match rustix::fs::openat(self.here(), &name, DIRECTORY, Mode::empty()) {
            Ok(handle) => {
                self.stack.push((name, handle));
                Ok(None)
            }
            Err(Errno::NOENT) => self.nothing(name).map(Some),
            Err(Errno::NOTDIR | Errno::LOOP) => self.follow(&name).map(|()| None),
            Err(why) => Err(Lost::System(why)),
        }
    }

    fn last(&mut self, name: OsString) -> Result<Option<Spot>, Lost> {
        let kind = kind(self.here(), &name).map_err(Lost::System)?;
        if kind == Some(Kind::Link) && self.links == Links::Follow {
            return self.follow(&name).map(|()| None);
        }
        let parent = duplicate(self.here()).map_err(Lost::System)?;
        Ok(Some(self.root.spot_at(parent, Some(name), Vec::new(), self.path(), kind)))
    }

    /// To where the directory above is held, not to what `..` names by now.
    fn up(&mut self) -> Result<(), Lost> {
        if self.stack.pop().is_some() {
            return Ok(());
        }
        // It may come back in. By its spelling: the root's own path has no links.
        self.count()?;
        let mut above = self.root.path.parent().ok_or(Lost::Outside)?;
        while self.parts.front().is_some_and(|part| part == "..") {
            self.parts.pop_front();
            above = above.parent().ok_or(Lost::Outside)?;
        }
        let is_directory = self.parts.back().is_some_and(|part| part == ".");
        let absolute = above.join(self.parts.iter().collect::<PathBuf>());
        self.restart(&absolute, is_directory)
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), Lost> {
        let target = match rustix::fs::readlinkat(self.here(), name, Vec::new()) {
            Ok(target) => PathBuf::from(OsString::from_vec(target.into_bytes())),
            Err(Errno::INVAL) => return Err(Lost::NotDirectory),
            Err(Errno::NOENT) => return Err(Lost::Missing),
            Err(why) => return Err(Lost::System(why)),
        };
        if self.links == Links::Refuse {
            return Err(Lost::Link);
        }
        self.count()?;
        if target.is_absolute() {
            let rest: PathBuf = self.parts.iter().collect();
            let is_directory = self.parts.back().is_some_and(|part| part == ".");
            return self.restart(&if self.parts.is_empty() { target } else { target.join(rest) }, is_directory);
        }
        push_front(&mut self.parts, &target, target.as_os_str().as_bytes().ends_with(b"/"));
        Ok(())
    }

    fn restart(&mut self, absolute: &Path, is_directory: bool) -> Result<(), Lost> {
        let below = below(self.root, absolute).ok_or(Lost::Outside)?;
        self.stack.clear();
        self.parts.clear();
        push_front(&mut self.parts, &below, is_directory);
        Ok(())
    }

    /// More links than this are a loop, which leads nowhere.
    fn count(&mut self) -> Result<(), Lost> {
        self.followed += 1;
        let bytes: usize = self.parts.iter().map(|part| part.len() + 1).sum();
        if self.followed > MOST_LINKS || bytes > MOST_BYTES { Err(Lost::Outside) } else { Ok(()) }
    }

    /// What is not there has no parent to climb to, and may not pretend to lie elsewhere.
    fn nothing(&mut self, first: OsString) -> Result<Spot, Lost> {
        let mut depth = self.stack.len() + 1;
        for part in &self.parts {
            match part.as_bytes() {
                b".." => depth = depth.checked_sub(1).ok_or(Lost::Outside)?,
                b"." => {}
                _ => depth += 1,
            }
        }
        if self.parts.iter().any(|part| part == "..") {
            return Err(Lost::Missing);
        }
        if depth > MOST_DEPTH {
            return Err(Lost::System(Errno::NAMETOOLONG));
        }
        let mut missing: Vec<OsString> = std::iter::once(first).chain(self.parts.drain(..).filter(|part| part != ".")).collect();
        let name = missing.pop();
        let parent = duplicate(self.here()).map_err(Lost::System)?;
        Ok(self.root.spot_at(parent, name, missing, self.path(), None))
    }
}

impl Root {
    fn spot_at(&self, parent: OwnedFd, name: Option<OsString>, missing: Vec<OsString>, above: PathBuf, kind: Option<Kind>) -> Spot {
        let mut path = above;
        path.extend(&missing);
        path.extend(&name);
        let is_kernel = is_kernel_tree(&self.path.join(&path));
        Spot { parent, name, missing, path, kind, is_kernel }
    }
}

/// What a name stands for; none where it stands for nothing.
pub(super) fn kind(parent: impl AsFd, name: &OsStr) -> Result<Option<Kind>, Errno> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(about) => Ok(Some(Kind::of(about.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(why) => Err(why),
    }
}
