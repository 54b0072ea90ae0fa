//! Confinement by `bwrap`: the agent gets a view of the file system in which only some of it can be written, and processes of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::places::Places;

const DROPPED: [&str; 7] =
    ["CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_BOOT", "CAP_MKNOD", "CAP_DAC_READ_SEARCH"];

/// Whether it may make such a view here; some systems forbid that.
pub(super) fn works(program: &Path) -> bool {
    let mut tried = Command::new(program);
    tried.args(arguments(&Places { writable: Vec::new(), hidden: Vec::new(), shown: Vec::new() })).args(["--", "true"]);
    tried.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    tried.status().is_ok_and(|status| status.success())
}

/// A later argument covers what an earlier one shows.
pub(super) fn arguments(places: &Places) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        ["--die-with-parent", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(Into::into).to_vec();
    // Root keeps its rights otherwise, that to undo the view among them.
    if rustix::process::geteuid().is_root() {
        words.extend(DROPPED.iter().flat_map(|right| ["--cap-drop", right]).map(OsString::from));
    }
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
