//! Which real places a confinement comes to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Confinement;

/// More entries than this beside what is hidden cannot be let through one by one.
const MOST_ENTRIES: usize = 20_000;

/// Everything by its real path, so that no link leads around it.
pub(super) struct Places {
    pub writable: Vec<PathBuf>,
    pub hidden: Vec<PathBuf>,
    pub shown: Vec<PathBuf>,
}

impl Places {
    /// Makes what the agent has of its own and is not there yet.
    pub(super) fn of(confinement: &Confinement) -> io::Result<Self> {
        for path in &confinement.own {
            // Where it cannot be made, the agent says what it lacks.
            if !path.exists() {
                let _ = fs::create_dir_all(path);
            }
        }
        let writable = confinement.writable.iter().chain(&confinement.own);
        let places = Self {
            writable: real(writable),
            hidden: confinement.hidden.iter().map(|path| future(path)).collect(),
            shown: real(confinement.shown.iter()),
        };
        let is_hidden = |path: &&PathBuf| places.hidden.contains(path);
        if places.writable.iter().any(|path| is_hidden(&path)) || places.hidden.iter().any(|path| path.parent().is_none()) {
            return Err(io::Error::other("what is to be hidden is also where it shall write"));
        }
        Ok(places)
    }

    /// The parts of `path` that hold nothing hidden. A part of what is hidden that is named itself is meant.
    pub(super) fn open_parts(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
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

/// Where a path really is, or will be once it is made.
fn future(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match found.and_then(|(above, real)| Some((real, path.strip_prefix(above).ok()?))) {
        Some((real, below)) if below.as_os_str().is_empty() => real,
        Some((real, below)) => real.join(below),
        None => path.to_owned(),
    }
}

fn real<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    paths.filter_map(|path| path.canonicalize().ok()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_parts_of_a_directory_are_all_but_the_way_to_what_is_hidden() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("share/voxpilot/sub")).unwrap();
        fs::create_dir_all(root.join("share/other")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink("share/voxpilot", root.join("link")).unwrap();
        let hidden = vec![root.join("link")];
        let places = Places::of(&Confinement { hidden, ..Confinement::default() }).unwrap();
        let mut parts = places.open_parts(&root).unwrap();
        parts.sort();
        assert_eq!(parts, [root.join("file"), root.join("share/other")]);
        assert_eq!(places.open_parts(&root.join("share/voxpilot/sub")).unwrap(), [root.join("share/voxpilot/sub")]);
        assert!(places.open_parts(&root.join("share/voxpilot")).unwrap().is_empty());
    }

    #[test]
    fn what_is_hidden_may_come_later() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        fs::create_dir(root.join("config")).unwrap();
        fs::write(root.join("config/other"), "").unwrap();
        let hidden = vec![root.join("config/voxpilot")];
        let places = Places::of(&Confinement { hidden, ..Confinement::default() }).unwrap();
        assert_eq!(places.open_parts(&root).unwrap(), [root.join("config/other")]);
    }

    #[test]
    fn what_is_hidden_cannot_be_written() {
        let home = tempfile::tempdir().unwrap();
        let path = vec![home.path().to_owned()];
        assert!(Places::of(&Confinement { writable: path.clone(), hidden: path, ..Confinement::default() }).is_err());
    }
}
