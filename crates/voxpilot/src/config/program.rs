//! Finding a program, the way a shell does.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A path is taken as it is; a bare name is looked up in `search_path`, the value of `PATH`.
pub fn find_program(program: &Path, search_path: Option<&str>) -> Option<PathBuf> {
    if program.components().count() > 1 || program.is_absolute() {
        return is_executable(program).then(|| program.to_path_buf());
    }
    std::env::split_paths(search_path?).map(|dir| dir.join(program)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
