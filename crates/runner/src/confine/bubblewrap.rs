//! Confinement by `bwrap`: the agent gets a view of the file system in which only some of it can be written, and processes of its own.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::places::Places;
use crate::find_program;

/// The program, by a path that no agent can write to.
pub(super) fn find(search_path: Option<&OsStr>, untrusted: &[PathBuf]) -> Option<PathBuf> {
    let places: Vec<PathBuf> = untrusted.iter().flat_map(|path| [Some(path.clone()), path.canonicalize().ok()]).flatten().collect();
    let is_inside = |path: &Path| places.iter().any(|place| path.starts_with(place));
    let directories = std::env::split_paths(search_path?).filter(|directory| !is_inside(directory));
    let search_path = std::env::join_paths(directories).ok()?;
    let found = find_program(Path::new("bwrap"), Some(&search_path))?.canonicalize().ok()?;
    (!is_inside(&found)).then_some(found)
}

/// A later argument covers what an earlier one shows.
pub(super) fn arguments(places: &Places) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
            .map(Into::into)
            .to_vec();
    let mut add = |flag: &str, paths: &[&PathBuf]| {
        words.push(flag.into());
        words.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
    };
    let is_inside = |path: &PathBuf| places.hidden.iter().any(|hidden| path.starts_with(hidden));
    let (inside, outside): (Vec<&PathBuf>, Vec<&PathBuf>) = places.writable.iter().partition(|path| is_inside(path));
    for path in outside {
        add("--bind", &[path, path]);
    }
    let (directories, files): (Vec<&PathBuf>, Vec<&PathBuf>) = places.hidden.iter().partition(|path| path.is_dir());
    for path in &directories {
        add("--tmpfs", &[path]);
    }
    for path in files.into_iter().filter(|path| path.exists()) {
        add("--ro-bind", &[&PathBuf::from("/dev/null"), path]);
    }
    for path in inside {
        add("--bind", &[path, path]);
    }
    for path in &places.shown {
        add("--ro-bind", &[path, path]);
    }
    for path in directories {
        add("--remount-ro", &[path]);
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{Permissions, create_dir_all, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_program_that_an_agent_could_have_made_is_not_taken() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        for directory in ["work/bin", "linked/bin", "bin"] {
            create_dir_all(at(directory)).unwrap();
        }
        for program in ["work/bin/bwrap", "bin/bwrap"] {
            write(at(program), "").unwrap();
            set_permissions(at(program), Permissions::from_mode(0o755)).unwrap();
        }
        symlink(at("work/bin/bwrap"), at("linked/bin/bwrap")).unwrap();
        let find = |directories: &[&str]| {
            let path = std::env::join_paths(directories.iter().map(|directory| at(directory))).unwrap();
            find(Some(&path), &[at("work")])
        };
        assert_eq!(find(&["work/bin", "bin"]), Some(at("bin/bwrap")));
        assert_eq!(find(&["work/bin"]), None);
        assert_eq!(find(&["linked/bin", "bin"]), None, "what it is called does not matter");
        assert_eq!(super::find(None, &[]), None);
    }
}
