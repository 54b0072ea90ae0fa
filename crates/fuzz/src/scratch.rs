//! Where targets put files: a directory of this process, in memory where the system has a place for that.

use std::path::{Path, PathBuf};

const MEMORY: &str = "/dev/shm";

/// An empty directory with this name.
pub fn dir(name: &str) -> PathBuf {
    let dir = of_process(std::process::id()).join(name);
    let _there_was_none = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory for the files of a target");
    dir
}

/// Removes what a process has left.
pub fn remove(process: u32) {
    let _there_was_none = std::fs::remove_dir_all(of_process(process));
}

fn of_process(process: u32) -> PathBuf {
    let base = if Path::new(MEMORY).is_dir() { PathBuf::from(MEMORY) } else { std::env::temp_dir() };
    base.join(format!("voxpilot-fuzz-{process}"))
}
