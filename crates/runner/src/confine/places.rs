//! Which real places a confinement comes to.
//!
//! An agent may have put a link wherever it may write, and may be doing so right now in another session. So links there are not followed,
//! and what is granted is opened by a path without any.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::Confinement;

/// More entries than this beside what is hidden cannot be let through one by one.
const MOST_ENTRIES: usize = 20_000;
/// More links than this on one way are a circle.
const MOST_LINKS: usize = 40;

/// Everything by its real path.
pub(super) struct Places {
    pub writable: Vec<PathBuf>,
    pub hidden: Vec<PathBuf>,
    pub shown: Vec<PathBuf>,
}

impl Places {
    /// Makes what the agent has of its own and is not there yet.
    pub(super) fn of(confinement: &Confinement) -> io::Result<Self> {
        let declared = || confinement.writable.iter().chain(&confinement.own);
        let untrusted: Vec<PathBuf> =
            declared().chain(&confinement.untrusted).flat_map(|path| [Some(path.clone()), path.canonicalize().ok()]).flatten().collect();
        for path in &confinement.own {
            // Where it cannot be made, the agent says what it lacks.
            if !path.exists() && leads_to(path, &untrusted)?.is_none() {
                let _ = fs::create_dir_all(path);
            }
        }
        let mut writable = Vec::new();
        for path in declared() {
            writable.extend(leads_to(path, &untrusted)?);
        }
        let places = Self {
            writable,
            hidden: confinement.hidden.iter().map(|path| future(path)).collect(),
            shown: confinement.shown.iter().filter_map(|path| path.canonicalize().ok()).collect(),
        };
        let is_hidden = |path: &&PathBuf| places.hidden.contains(path);
        if places.writable.iter().any(|path| is_hidden(&path)) || places.hidden.iter().any(|path| path.parent().is_none()) {
            return Err(io::Error::other("what is to be hidden is also where it shall write"));
        }
        Ok(places)
    }

    /// The parts of `path` that hold nothing hidden, opened. A part of what is hidden that is named itself is meant.
    pub(super) fn open_parts(&self, path: &Path) -> io::Result<Vec<OwnedFd>> {
        let parts = self.parts(path)?;
        let opened = parts.iter().map(|part| match open_plain(part) {
            // One that has ended, or become a link, since it was seen is not needed.
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::LOOP)) && part != path => Ok(None),
            other => other.map(Some),
        });
        opened.filter_map(Result::transpose).collect()
    }

    fn parts(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut parts = Vec::new();
        self.gather(path, &mut parts)?;
        Ok(parts)
    }

    fn gather(&self, path: &Path, parts: &mut Vec<PathBuf>) -> io::Result<()> {
        if self.hidden.iter().any(|hidden| hidden == path) {
            return Ok(());
        }
        if !self.hidden.iter().any(|hidden| hidden.starts_with(path)) {
            parts.push(path.to_owned());
            return Ok(());
        }
        // One that only lets through can be passed, not listed: then only the way on is known.
        let Ok(entries) = fs::read_dir(path) else {
            let ways = self.hidden.iter().filter_map(|hidden| hidden.strip_prefix(path).ok()?.components().next());
            return ways.map(|next| path.join(next)).try_for_each(|next| self.gather(&next, parts));
        };
        for entry in entries {
            let entry = entry?;
            if parts.len() >= MOST_ENTRIES {
                return Err(io::Error::other(format!("there are too many files in {}", path.display())));
            }
            // Where a link leads is let through, or not, for its own sake.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.gather(&entry.path(), parts)?;
            }
        }
        Ok(())
    }
}

/// Opens a path that has no link in it.
pub(super) fn open_plain(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS)?)
}

/// Where a path leads; nothing where it leads nowhere, an error where a link on the way lies in an untrusted place.
fn leads_to(path: &Path, untrusted: &[PathBuf]) -> io::Result<Option<PathBuf>> {
    let names = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<VecDeque<OsString>>();
    let (mut ahead, mut reached, mut links) = (names(path), PathBuf::from("/"), 0);
    while let Some(name) = ahead.pop_front() {
        match Path::new(&name).components().next() {
            Some(Component::ParentDir) => _ = reached.pop(),
            Some(Component::Normal(_)) => {
                let next = reached.join(&name);
                let Ok(found) = next.symlink_metadata() else { return Ok(None) };
                if !found.is_symlink() {
                    reached = next;
                    continue;
                }
                links += 1;
                if links > MOST_LINKS || untrusted.iter().any(|place| reached.starts_with(place)) {
                    return Err(io::Error::other(format!("{} is a link that an agent may have made", next.display())));
                }
                let target = fs::read_link(&next)?;
                let mut way = names(&target);
                way.append(&mut ahead);
                ahead = way;
                if target.is_absolute() {
                    reached = PathBuf::from("/");
                }
            }
            _ => reached = if name == "/" { PathBuf::from("/") } else { reached },
        }
    }
    Ok(Some(reached))
}

/// Where a path really is, or will be once it is made.
fn future(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match found.and_then(|(above, real)| Some((real, path.strip_prefix(above).ok()?))) {
        Some((real, below)) if below.as_os_str().is_empty() => real,
        Some((real, below)) => real.join(below),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_parts_of_a_directory_are_all_but_the_way_to_what_is_hidden() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("share/voxpilot/sub")).unwrap();
        fs::create_dir_all(root.join("share/other")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        symlink("share/voxpilot", root.join("link")).unwrap();
        let hidden = vec![root.join("link")];
        let places = Places::of(&Confinement { hidden, ..Confinement::default() }).unwrap();
        let mut parts = places.parts(&root).unwrap();
        parts.sort();
        assert_eq!(parts, [root.join("file"), root.join("share/other")]);
        assert_eq!(places.parts(&root.join("share/voxpilot/sub")).unwrap(), [root.join("share/voxpilot/sub")]);
        assert!(places.parts(&root.join("share/voxpilot")).unwrap().is_empty());
    }

    #[test]
    fn what_is_hidden_may_come_later() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir(root.join("config")).unwrap();
        fs::write(root.join("config/other"), "").unwrap();
        let hidden = vec![root.join("config/voxpilot")];
        let places = Places::of(&Confinement { hidden, ..Confinement::default() }).unwrap();
        assert_eq!(places.parts(&root).unwrap(), [root.join("config/other")]);
    }

    #[test]
    fn what_is_hidden_cannot_be_written() {
        let home = tempfile::tempdir().unwrap();
        let path = vec![home.path().to_owned()];
        assert!(Places::of(&Confinement { writable: path.clone(), hidden: path, ..Confinement::default() }).is_err());
    }

    #[test]
    fn a_link_is_followed_only_where_no_agent_could_have_put_it() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        for directory in ["real/work/sub", "outside"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        symlink("real", root.join("linked")).unwrap();
        symlink(root.join("outside"), root.join("real/work/swapped")).unwrap();
        let at = |path: &str| root.join(path);
        let places = |writable: &[&str], own: &[&str], untrusted: &[&str]| {
            let all = |names: &[&str]| names.iter().map(|name| at(name)).collect();
            Places::of(&Confinement { writable: all(writable), own: all(own), untrusted: all(untrusted), ..Confinement::default() })
                .map(|places| places.writable)
        };
        assert_eq!(places(&["linked/work"], &[], &[]).unwrap(), [at("real/work")], "the person's own link");
        assert_eq!(places(&["linked/work/sub"], &[], &["linked/work"]).unwrap(), [at("real/work/sub")]);
        assert!(places(&["linked/work/nowhere"], &[], &[]).unwrap().is_empty());
        for (writable, own, untrusted) in [
            (&["linked/work/swapped"][..], &[][..], &["linked/work"][..]),
            (&["real/work"], &["real/work/swapped/state"], &[]),
            (&["real/work"], &["linked/work/swapped"], &[]),
            (&["real/work/sub/../swapped"], &[], &["real"]),
        ] {
            let refused = places(writable, own, untrusted).unwrap_err().to_string();
            assert!(refused.contains("a link that an agent may have made"), "{writable:?} {own:?}: {refused}");
        }
        assert!(fs::read_dir(at("outside")).unwrap().next().is_none(), "nothing was made there");
    }
}
