//! Where names lead, for those who show or judge them. Nothing is opened by what is found here: by the time it is read, it may be
//! somebody else's.

use std::path::{Component, Path, PathBuf};

/// A chain of dangling links longer than this is a loop.
const MOST_LINKS: usize = 16;

/// Where a path leads once every link is followed, whether or not there is anything yet; none where that cannot be known.
pub fn real_path(path: &Path) -> Option<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        let (there, found) = target.ancestors().find_map(|path| match path.canonicalize() {
            Ok(real) => Some((path.to_owned(), Some(real))),
            Err(_) => path.is_symlink().then(|| (path.to_owned(), None)),
        })?;
        let below = target.strip_prefix(&there).ok()?.to_owned();
        match found {
            // What does not exist has no parent to climb to.
            Some(_) if below.components().any(|part| !matches!(part, Component::Normal(_))) => return None,
            Some(real) if below.as_os_str().is_empty() => return Some(real),
            Some(real) => return Some(real.join(below)),
            None => target = there.parent()?.join(std::fs::read_link(&there).ok()?).join(below),
        }
    }
    None
}

/// Whether a name is taken, by a link that leads nowhere too.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
