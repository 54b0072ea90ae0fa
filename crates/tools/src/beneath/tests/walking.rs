//! Where paths lead, by both walks.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::fstat;

use crate::beneath::walk::{by_hand, by_kernel, parts};
use crate::beneath::{Kind, Links, Lost, Root, Spot};

/// A directory with links of every kind, beside what they must not lead to.
fn disk() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    for path in ["work/a/b/c", "outside/deep", "work-other"] {
        fs::create_dir_all(home.path().join(path)).unwrap();
    }
    for path in ["work/f", "work/a/f", "work/a/b/c/f", "outside/f", "outside/deep/f", "work-other/f"] {
        fs::write(home.path().join(path), "").unwrap();
    }
    symlink("work", home.path().join("alias")).unwrap();
    for (name, target) in [
        ("to-f", "f"),
        ("to-a", "a"),
        ("to-a-slash", "a/"),
        ("up", ".."),
        ("out", "../outside"),
        ("out-f", "../outside/f"),
        ("a/to-top", "../f"),
        ("chain", "chain-2"),
        ("chain-2", "to-a"),
        ("loop", "loop"),
        ("loop-1", "loop-2"),
        ("loop-2", "loop-1"),
        ("dangling", "nothing"),
        ("dangling-out", "../nothing"),
        ("absolute", "WORK/a"),
        ("absolute-up", "WORK/a/../../outside"),
        ("by-alias", "HOME/alias/a"),
        ("root", "/"),
        ("magic", "/proc/self/root"),
        ("etc", "/etc"),
        ("self", "."),
    ] {
        let target = target.replace("WORK", work.to_str().unwrap()).replace("HOME", home.path().to_str().unwrap());
        symlink(target, work.join(name)).unwrap();
    }
    (home, work)
}

/// The path without links and what is there, or why not.
type Expected = Result<(&'static str, Option<Kind>), Lost>;

const FILE: Option<Kind> = Some(Kind::File);
const DIRECTORY: Option<Kind> = Some(Kind::Directory);

const FOLLOWED: &[(&str, Expected)] = &[
    ("f", Ok(("f", FILE))),
    ("a/b/c/f", Ok(("a/b/c/f", FILE))),
    ("./a/./b//c/f", Ok(("a/b/c/f", FILE))),
    ("a/b/../f", Ok(("a/f", FILE))),
    ("a", Ok(("a", DIRECTORY))),
    ("a/", Ok(("a", DIRECTORY))),
    ("", Ok(("", DIRECTORY))),
    (".", Ok(("", DIRECTORY))),
    ("a/..", Ok(("", DIRECTORY))),
    ("self/self/f", Ok(("f", FILE))),
    ("f/", Err(Lost::NotDirectory)),
    ("f/x", Err(Lost::NotDirectory)),
    ("to-f/x", Err(Lost::NotDirectory)),
    ("new", Ok(("new", None))),
    ("a/new/er/file", Ok(("a/new/er/file", None))),
    ("to-a/new/file", Ok(("a/new/file", None))),
    ("new/../f", Err(Lost::Missing)),
    ("new/../../f", Err(Lost::Outside)),
    ("to-f", Ok(("f", FILE))),
    ("to-a/f", Ok(("a/f", FILE))),
    ("to-a-slash/f", Ok(("a/f", FILE))),
    ("a/to-top", Ok(("f", FILE))),
    ("chain/b/c/f", Ok(("a/b/c/f", FILE))),
    ("to-a/../f", Ok(("f", FILE))),
    ("absolute/f", Ok(("a/f", FILE))),
    ("by-alias/f", Ok(("a/f", FILE))),
    ("WORK/a/f", Ok(("a/f", FILE))),
    ("HOME/alias/a/new", Ok(("a/new", None))),
    ("../work/f", Ok(("f", FILE))),
    ("a/../../work/a/f", Ok(("a/f", FILE))),
    ("up/work/f", Ok(("f", FILE))),
    ("dangling", Ok(("nothing", None))),
    ("dangling/x", Ok(("nothing/x", None))),
    ("dangling-out", Err(Lost::Outside)),
    ("..", Err(Lost::Outside)),
    ("../outside/f", Err(Lost::Outside)),
    ("../work-other/f", Err(Lost::Outside)),
    ("out", Err(Lost::Outside)),
    ("out/f", Err(Lost::Outside)),
    ("out/deep/f", Err(Lost::Outside)),
    ("out/new", Err(Lost::Outside)),
    ("out-f", Err(Lost::Outside)),
    ("up/outside/f", Err(Lost::Outside)),
    ("absolute-up/f", Err(Lost::Outside)),
    ("root/etc/passwd", Err(Lost::Outside)),
    ("magic/etc/passwd", Err(Lost::Outside)),
    ("etc/passwd", Err(Lost::Outside)),
    ("/etc/passwd", Err(Lost::Outside)),
    ("/proc/self/cwd/f", Err(Lost::Outside)),
    ("loop", Err(Lost::Outside)),
    ("loop-1/f", Err(Lost::Outside)),
];

const REFUSED: &[(&str, Expected)] = &[
    ("a/b/c/f", Ok(("a/b/c/f", FILE))),
    ("a/new/er/file", Ok(("a/new/er/file", None))),
    ("to-f", Ok(("to-f", Some(Kind::Link)))),
    ("out-f", Ok(("out-f", Some(Kind::Link)))),
    ("to-a/f", Err(Lost::Link)),
    ("out/f", Err(Lost::Link)),
    ("chain/b/c/f", Err(Lost::Link)),
    ("dangling/x", Err(Lost::Link)),
    ("a/../f", Err(Lost::Outside)),
    ("f/x", Err(Lost::NotDirectory)),
];

fn told(outcome: &Result<Spot, Lost>) -> Result<(&Path, Option<Kind>), Lost> {
    outcome.as_ref().map(|spot| (spot.path.as_path(), spot.kind)).map_err(|lost| *lost)
}

fn inode(spot: &Spot) -> (u64, u64) {
    let about = fstat(spot.parent()).unwrap();
    (about.st_dev, about.st_ino)
}

#[test]
fn both_walks_come_to_the_same_place() {
    let (home, work) = disk();
    let root = Root::open(&work).unwrap();
    let mut by_one_call = 0;
    for (links, table) in [(Links::Follow, FOLLOWED), (Links::Refuse, REFUSED)] {
        for (path, expected) in table {
            let spelled = path.replace("WORK", work.to_str().unwrap()).replace("HOME", home.path().to_str().unwrap());
            let expected = expected.map(|(path, kind)| (Path::new(path), kind));
            let parts = parts(&root, spelled.as_bytes(), links);
            assert_eq!(told(&root.walk(spelled.as_bytes(), links)), expected, "{path}");
            let Ok(parts) = parts else { continue };
            let by_hand = by_hand(&root, parts.clone(), links);
            assert_eq!(told(&by_hand), expected, "{path}, by hand");
            // A link at the end is for the walk by hand, where it is followed.
            let by_kernel = by_kernel(&root, &parts).filter(|spot| links == Links::Refuse || spot.kind != Some(Kind::Link));
            if let (Some(by_kernel), Ok(by_hand)) = (by_kernel, by_hand) {
                assert_eq!((&by_kernel.path, by_kernel.kind, inode(&by_kernel)), (&by_hand.path, by_hand.kind, inode(&by_hand)), "{path}");
                by_one_call += 1;
            }
        }
    }
    if by_one_call == 0 {
        println!("skipped: the kernel has no openat2");
    }
}

#[test]
fn paths_without_links_are_walked_in_one_call() {
    let (_home, work) = disk();
    let root = Root::open(&work).unwrap();
    let walked = |path: &str| by_kernel(&root, &parts(&root, path.as_bytes(), Links::Follow).unwrap()).is_some();
    if !walked("a/b/c/f") {
        println!("skipped: the kernel has no openat2");
        return;
    }
    for path in ["to-a/f", "out/f", "a/../f", "loop/x", "magic/etc/passwd"] {
        assert!(!walked(path), "{path}");
    }
}

#[test]
fn names_that_no_file_can_have_are_refused() {
    let (_home, work) = disk();
    let root = Root::open(&work).unwrap();
    let deep = "d/".repeat(1000);
    for path in ["a\0b", &"x".repeat(300), &"x/".repeat(3000), deep.as_str()] {
        for links in [Links::Follow, Links::Refuse] {
            assert!(matches!(root.walk(path.as_bytes(), links), Err(Lost::System(_))), "{}", path.len());
        }
    }
}

/// The directory that was opened is the one that is used, wherever it is by then.
#[test]
fn a_directory_that_is_moved_keeps_what_is_written_to_it() {
    let (home, work) = disk();
    let root = Root::open(&work).unwrap();
    let spot = root.walk(b"a/b/new", Links::Follow).unwrap();
    fs::rename(work.join("a/b"), work.join("moved")).unwrap();
    symlink(home.path().join("outside"), work.join("a/b")).unwrap();
    spot.replace(b"text", None, crate::beneath::Existing::Replace, false).unwrap();
    assert!(work.join("moved/new").exists() && !home.path().join("outside/new").exists());
}

#[test]
fn a_kernel_file_system_is_not_read_wherever_it_is_mounted() {
    let proc = Root::open(Path::new("/proc")).unwrap();
    let spot = proc.existing("version").unwrap();
    assert!(spot.file("version").unwrap_err().0.contains("belongs to the kernel"));
    let directory = proc.directory().unwrap();
    let why = crate::beneath::open(&directory, std::ffi::OsStr::new("version"), "version").unwrap_err();
    assert!(why.0.contains("belongs to the kernel"), "{}", why.0);
}
