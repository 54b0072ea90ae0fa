//! What is exchanged for what, and the path that is used meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::disk::write;
use crate::swap::Pair;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// `WORK` stands for the work directory. Beside it lies `outside`.
    pub(crate) path: &'static str,
    pub(crate) pair: Pair,
    pub(crate) prepare: fn(&Path),
}

const fn case(name: &'static str, path: &'static str, pair: Pair, prepare: fn(&Path)) -> Case {
    Case { name, path, pair, prepare }
}

/// A directory with the same names as outside, and a link to that.
fn directory(work: &Path, name: &str, link: &str, target: &str) {
    for path in ["x", "y", "deep/x", "deep/er/x"] {
        write(&work.join(name).join(path), "inside");
    }
    symlink(target, work.join(link)).unwrap();
}

fn link(work: &Path, name: &str, target: &str) {
    symlink(target.replace("WORK", work.to_str().unwrap()), work.join(name)).unwrap();
}

pub(crate) const CASES: &[Case] = &[
    case("a directory and a relative link", "a/x", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a directory and an absolute link", "a/x", ("a", "b"), |work| {
        let target = work.parent().unwrap().join("outside");
        directory(work, "a", "b", target.to_str().unwrap());
    }),
    case("a directory further up", "a/deep/er/x", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a directory in the middle", "a/deep/x", ("a/deep", "a/link"), |work| {
        directory(work, "a", "a/link", "../../outside/deep");
    }),
    case("the last directory", "a/deep/er/x", ("a/deep/er", "a/link"), |work| {
        directory(work, "a", "a/link", "../../outside/deep/er");
    }),
    case("a file and a link", "f", ("f", "l"), |work| {
        write(&work.join("f"), "inside");
        link(work, "l", "../outside/x");
    }),
    case("a file and an absolute link", "f", ("f", "l"), |work| {
        write(&work.join("f"), "inside");
        link(work, "l", "WORK/../outside/x");
    }),
    case("two links, one of which leads out", "one", ("one", "two"), |work| {
        link(work, "one", "kept/x");
        link(work, "two", "../outside/x");
    }),
    case("two links to directories", "one/x", ("one", "two"), |work| {
        link(work, "one", "kept");
        link(work, "two", "../outside");
    }),
    case("a link of a chain", "first", ("second", "third"), |work| {
        link(work, "first", "second");
        link(work, "second", "x");
        link(work, "third", "../outside/x");
    }),
    case("a path that goes up and down", "a/../a/deep/../x", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a path with dots", "./a/./x", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a path with a slash at its end", "a/deep/", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("an absolute path", "WORK/a/x", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a path that leaves and comes back", "a/../../work/a/x", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a new file", "a/new", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a new file in new directories", "a/new/er/file", ("a", "b"), |work| directory(work, "a", "b", "../outside")),
    case("a link that leads nowhere yet", "l", ("l", "m"), |work| {
        link(work, "l", "not-there");
        link(work, "m", "../outside/new");
    }),
    case("a directory that moves up while it is left by its parent", "a/deep/er/../../x", ("a/deep", "moved"), |work| {
        directory(work, "a", "b", "../outside");
        fs::create_dir_all(work.join("moved/er")).unwrap();
    }),
    case("a directory and a link to the root by way of a process", "a/x", ("a", "b"), |work| {
        let target = format!("/proc/self/root{}", work.parent().unwrap().join("outside").display());
        directory(work, "a", "b", &target);
    }),
    case("a file and a link to a process's own files", "f", ("f", "l"), |work| {
        write(&work.join("f"), "inside");
        link(work, "l", "/proc/self/environ");
    }),
    case("a file and a pipe", "f", ("f", "p"), |work| {
        write(&work.join("f"), "inside");
        assert!(Command::new("mkfifo").arg(work.join("p")).status().unwrap().success());
    }),
    case("a file and a directory", "f", ("f", "d"), |work| {
        write(&work.join("f"), "inside");
        link(work, "out", "../outside");
        fs::create_dir(work.join("d")).unwrap();
    }),
    case("instructions and a link", "AGENTS.md", ("AGENTS.md", "l"), |work| link(work, "l", "../outside/AGENTS.md")),
    case("a directory below one that is a link itself", "alias/deep/x", ("a/deep", "a/link"), |work| {
        directory(work, "a", "a/link", "../../outside/deep");
        link(work, "alias", "a");
    }),
];
