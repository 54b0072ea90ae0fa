//! Which files a search looks at: those git would not ignore, never `.git` itself, never through a symlink.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, Walk, WalkBuilder};

use crate::ignored::Ignored;
use crate::project::LeftOut;
use crate::work_dir::WorkDir;
use crate::{Refusal, bound, open};

/// All entries below `start`, in a stable order.
pub(crate) fn entries(work_dir: &WorkDir, start: &Path) -> Walk {
    let (ignored, left_out) = (Ignored::new(work_dir), work_dir.left_out());
    WalkBuilder::new(start)
        .standard_filters(false)
        .git_global(true)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_path(|a, b| a.cmp(b))
        .filter_entry(move |entry| is_wanted(entry, &ignored, &left_out))
        .build()
}

fn is_wanted(entry: &DirEntry, ignored: &Ignored, left_out: &LeftOut) -> bool {
    if entry.depth() == 0 {
        return true;
    }
    let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
    let path = entry.path();
    let is_plain = entry.file_name() != OsStr::new(".git") && !open::is_kernel_tree(path);
    is_plain && !left_out.covers(path, is_dir) && !ignored.covers(path, is_dir)
}

/// A glob over paths. Without a slash it looks at the file name; with one, at the path below the start or the work directory.
pub(crate) struct PathGlob {
    matcher: GlobMatcher,
    by_name: bool,
    excludes: bool,
    bases: [PathBuf; 2],
}

impl PathGlob {
    pub(crate) fn new(pattern: &str, work_dir: &WorkDir, start: &Path) -> Result<Self, Refusal> {
        let (excludes, positive) = match pattern.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, pattern),
        };
        let root = format!("{}/", work_dir.root().display());
        let relative = positive.strip_prefix(&root).unwrap_or(positive);
        let relative = relative.trim_start_matches("./").trim_start_matches('/');
        let matcher = GlobBuilder::new(relative)
            .literal_separator(true)
            .build()
            .map_err(|why| Refusal::new(format!("'{}' is not a valid glob: {}", bound::name(pattern), why.kind())))?
            .compile_matcher();
        Ok(Self { matcher, by_name: !relative.contains('/'), excludes, bases: [start.to_owned(), work_dir.root().to_owned()] })
    }

    pub(crate) fn wants(&self, path: &Path) -> bool {
        let matches = if self.by_name {
            path.file_name().is_some_and(|name| self.matcher.is_match(name))
        } else {
            let mut relative = self.bases.iter().filter_map(|base| path.strip_prefix(base).ok());
            relative.any(|path| self.matcher.is_match(path))
        };
        matches != self.excludes
    }
}
