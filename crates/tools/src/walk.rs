//! Which files a search looks at: those git would not ignore, never `.git` itself, never through a symlink. Every directory is opened
//! from the one above it, and every file from its directory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use globset::{GlobBuilder, GlobMatcher};
use rustix::fs::Stat;

use crate::beneath::{self, Directory, Entry, Kind, Spot};
use crate::ignored::{Ignored, Lists};
use crate::project::LeftOut;
use crate::work_dir::WorkDir;
use crate::{Refusal, bound};

/// A directory beyond this is not searched to its end, and one that is deeper not at all.
const MOST_ENTRIES: usize = 200_000;
const MOST_DEPTH: usize = 256;

/// All entries below a directory, in a stable order, each directory before what is in it.
pub(crate) struct Entries {
    /// Where the work directory is, since lists of ignored files go by whole paths.
    root: PathBuf,
    ignored: Ignored,
    left_out: LeftOut,
    frames: Vec<Frame>,
}

struct Frame {
    directory: Rc<Directory>,
    /// Relative to the work directory.
    path: PathBuf,
    lists: Lists,
    entries: std::vec::IntoIter<Entry>,
}

/// One of them, in the directory where it was found.
pub(crate) struct Item {
    directory: Rc<Directory>,
    name: OsString,
    /// Relative to the work directory.
    pub path: PathBuf,
    pub kind: Kind,
}

impl Item {
    pub(crate) fn open(&self, given: &str) -> Result<File, Refusal> {
        beneath::open(&*self.directory, &self.name, given).map(|(file, _)| file)
    }

    pub(crate) fn about(&self) -> Option<Stat> {
        self.directory.about(&self.name).ok()
    }
}

impl Entries {
    /// `start` is a directory of the work directory.
    pub(crate) fn below(work_dir: &WorkDir, start: &Spot) -> Result<Self, Refusal> {
        let shown = bound::name(&start.path.to_string_lossy());
        let directory =
            start.directory().map_err(|why| Refusal::new(format!("cannot list '{shown}': {}", beneath::reason(&why.into()))))?;
        let ignored = Ignored::above(work_dir.root(), &start.path);
        let mut entries = Self { root: work_dir.path().to_owned(), ignored, left_out: work_dir.left_out(), frames: Vec::new() };
        entries.enter(directory, start.path.clone());
        Ok(entries)
    }

    pub(crate) fn all(work_dir: &WorkDir) -> Result<Self, Refusal> {
        Self::below(work_dir, &work_dir.root().existing(".")?)
    }

    /// A directory that cannot be listed counts as empty: one broken directory must not hide the others.
    fn enter(&mut self, directory: Directory, path: PathBuf) {
        let mut entries = directory.entries(MOST_ENTRIES).unwrap_or_default();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        let lists = Lists::read(&directory, &entries, &self.root.join(&path));
        self.frames.push(Frame { directory: Rc::new(directory), path, lists, entries: entries.into_iter() });
    }

    fn is_wanted(&self, path: &Path, entry: &Entry) -> bool {
        let (whole, is_dir) = (self.root.join(path), entry.kind == Kind::Directory);
        let is_plain = entry.name != OsStr::new(".git") && !beneath::is_kernel_tree(&whole);
        let nearer = self.frames.iter().rev().map(|frame| &frame.lists);
        is_plain && !self.left_out.covers(&whole, is_dir) && !self.ignored.covers(nearer, &whole, is_dir)
    }
}

impl Iterator for Entries {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let frame = self.frames.last_mut()?;
            let Some(entry) = frame.entries.next() else {
                self.frames.pop();
                continue;
            };
            let (directory, path) = (Rc::clone(&frame.directory), frame.path.join(&entry.name));
            if !self.is_wanted(&path, &entry) {
                continue;
            }
            if entry.kind == Kind::Directory
                && self.frames.len() < MOST_DEPTH
                && let Ok(inner) = Directory::open(&*directory, &entry.name)
            {
                self.enter(inner, path.clone());
            }
            return Some(Item { directory, name: entry.name, path, kind: entry.kind });
        }
    }
}

/// A glob over paths. Without a slash it looks at the file name; with one, at the path below the start or the work directory.
pub(crate) struct PathGlob {
    matcher: GlobMatcher,
    by_name: bool,
    excludes: bool,
    start: PathBuf,
}

impl PathGlob {
    pub(crate) fn new(pattern: &str, work_dir: &WorkDir, start: &Path) -> Result<Self, Refusal> {
        let (excludes, positive) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let root = format!("{}/", work_dir.path().display());
        let relative = positive.strip_prefix(&root).unwrap_or(positive);
        let relative = relative.trim_start_matches("./").trim_start_matches('/');
        let matcher = GlobBuilder::new(relative)
            .literal_separator(true)
            .build()
            .map_err(|why| Refusal::new(format!("'{}' is not a valid glob: {}", bound::name(pattern), why.kind())))?
            .compile_matcher();
        Ok(Self { matcher, by_name: !relative.contains('/'), excludes, start: start.to_owned() })
    }

    pub(crate) fn wants(&self, path: &Path) -> bool {
        let matches = if self.by_name {
            path.file_name().is_some_and(|name| self.matcher.is_match(name))
        } else {
            let below = path.strip_prefix(&self.start).ok();
            below.into_iter().chain([path]).any(|path| self.matcher.is_match(path))
        };
        matches != self.excludes
    }
}
