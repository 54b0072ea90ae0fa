//! Finding a program, the way a shell does.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const EXECUTABLE: u32 = 0o111;

/// A bare name is looked up in `search_path`, the value of `PATH`; anything with a slash is taken as it is. Of `PATH` only absolute
/// directories count: any other would be one of the project in which the program is started.
pub fn find_program(program: &Path, search_path: Option<&OsStr>) -> Option<PathBuf> {
    if program.as_os_str().is_empty() {
        return None;
    }
    if program.components().count() > 1 || program.is_absolute() {
        return is_executable(program).then(|| program.to_owned());
    }
    let directories = std::env::split_paths(search_path?).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(program)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & EXECUTABLE != 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions, write};

    use super::*;

    #[test]
    fn a_bare_name_is_looked_up_and_only_in_absolute_directories() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        for name in ["first", "second", "first/tool"] {
            create_dir(place(name)).unwrap();
        }
        for (name, mode) in [("second/tool", 0o755), ("second/text", 0o644)] {
            write(place(name), "").unwrap();
            set_permissions(place(name), Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([place("first"), place("second")]).unwrap();
        let find = |program: &str| find_program(Path::new(program), Some(&path));
        assert_eq!(find("tool"), Some(place("second/tool")), "a directory of that name is no program");
        assert_eq!((find("text"), find("none"), find("")), (None, None, None));
        assert_eq!(find_program(&place("second/tool"), None), Some(place("second/tool")));

        let here = std::env::current_dir().unwrap();
        let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
        let relative = up.join(place("second").strip_prefix("/").unwrap());
        assert!(relative.join("tool").is_file(), "it would be found");
        assert_eq!(find_program(Path::new("tool"), Some(relative.as_os_str())), None);
    }
}
