//! What lists of the project say is not to be looked at: `.gitignore`, `.ignore`, git's own `info/exclude`, and the person's own list for
//! all projects. Those of the project are read here and not by a library, since a project can make any of them a pipe, a device, a
//! gigabyte or a link.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use crate::beneath::{self, Directory, Entry, Root};

/// A list that is longer than this counts as none.
const LIST_BYTES: u64 = 1024 * 1024;

/// The lists that apply to everything below a directory: the person's, and those of the directories above it.
pub(crate) struct Ignored {
    own: Gitignore,
    /// The nearest first.
    above: Vec<Lists>,
}

/// The lists of one directory.
pub(crate) struct Lists {
    ignore: Gitignore,
    git_ignore: Gitignore,
    git_exclude: Gitignore,
    is_repository: bool,
}

impl Ignored {
    /// For a search that starts at a directory of the root.
    pub(crate) fn above(root: &Root, start: &Path) -> Self {
        let mut above = between(root, start);
        above.reverse();
        if !above.iter().any(|lists| lists.is_repository) && !root.has(".git") {
            above.extend(outside(root));
        }
        Self { own: Gitignore::global().0, above }
    }

    /// Whether a list covers the entry itself; what lies in a covered directory is never come to. `nearer` are the lists of the
    /// directories between the start and the entry, the nearest first.
    pub(crate) fn covers<'a>(&'a self, nearer: impl Iterator<Item = &'a Lists>, path: &Path, is_dir: bool) -> bool {
        let (mut by_ignore, mut by_git, mut in_repository) = (Match::<()>::None, Match::<()>::None, true);
        for lists in nearer.chain(&self.above) {
            by_ignore = first(by_ignore, lists.ignore.matched(path, is_dir));
            if in_repository {
                by_git = first(by_git, lists.git_ignore.matched(path, is_dir));
                by_git = first(by_git, lists.git_exclude.matched(path, is_dir));
            }
            // What git ignores in one repository says nothing about another one inside of it.
            in_repository &= !lists.is_repository;
        }
        by_ignore.or(by_git).or(self.own.matched(path, is_dir).map(|_| ())).is_ignore()
    }
}

/// The lists from the root down to the directory above the start.
fn between(root: &Root, start: &Path) -> Vec<Lists> {
    let mut lists = Vec::new();
    let (mut place, mut directory) = (root.path().to_owned(), root.directory());
    for part in start.components() {
        let Ok(here) = directory else { break };
        lists.push(Lists::of(&here, &place));
        place.push(part);
        directory = Directory::open(&here, part.as_os_str());
    }
    lists
}

/// Those of the directories above the root, up to the repository that it lies in. Without one nothing says where lists stop to apply,
/// so none of them does.
fn outside(root: &Root) -> Vec<Lists> {
    let mut lists = Vec::new();
    let mut directory = Directory::open(root.handle(), OsStr::new(".."));
    for place in root.path().ancestors().skip(1) {
        let Ok(here) = directory else { break };
        lists.push(Lists::of(&here, place));
        if here.has(".git") {
            return lists;
        }
        directory = Directory::open(&here, OsStr::new(".."));
    }
    Vec::new()
}

impl Lists {
    /// `entries` is what is known to be in the directory.
    pub(crate) fn read(directory: &Directory, entries: &[Entry], place: &Path) -> Self {
        let has = |name: &str| entries.iter().any(|entry| entry.name == name);
        let list = |name: &str| if has(name) { list(directory, name, place) } else { Gitignore::empty() };
        let is_repository = has(".git");
        let git_exclude = if is_repository { exclude(directory, place) } else { Gitignore::empty() };
        Self { ignore: list(".ignore"), git_ignore: list(".gitignore"), git_exclude, is_repository }
    }

    fn of(directory: &Directory, place: &Path) -> Self {
        Self {
            ignore: list(directory, ".ignore", place),
            git_ignore: list(directory, ".gitignore", place),
            git_exclude: exclude(directory, place),
            is_repository: directory.has(".git"),
        }
    }
}

fn exclude(directory: &Directory, place: &Path) -> Gitignore {
    let info = Directory::open(directory, OsStr::new(".git")).and_then(|git| Directory::open(&git, OsStr::new("info")));
    info.map_or_else(|_| Gitignore::empty(), |info| list(&info, "exclude", place))
}

fn list(directory: impl AsFd, name: &str, place: &Path) -> Gitignore {
    let opened = beneath::open(directory, OsStr::new(name), name);
    let Ok(text) = opened.and_then(|(file, _)| beneath::text(file, LIST_BYTES, name)) else { return Gitignore::empty() };
    let mut rules = GitignoreBuilder::new(place);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A broken line is no reason to fail a search.
        let _ = rules.add_line(None, line);
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}

/// What a nearer list says goes before what one further away says.
fn first(one: Match<()>, other: Match<&Glob>) -> Match<()> {
    if one.is_none() { other.map(|_| ()) } else { one }
}
