//! Where the tools work, and what of it they leave out.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::beneath::real_path;

/// More patterns than this are no list that somebody wrote.
const MOST_PATTERNS: usize = 1000;

/// The work directory of a session, and the files that a person does not want to see there.
#[derive(Clone, Debug)]
pub struct Project {
    pub work_dir: PathBuf,
    /// What lists and searches leave out besides what git ignores; the syntax is that of a `.gitignore` in `ignore_root`.
    pub ignore: Vec<String>,
    pub ignore_root: PathBuf,
}

impl Project {
    pub(crate) fn left_out(&self) -> LeftOut {
        let root = real_path(&self.ignore_root).unwrap_or_else(|| self.ignore_root.clone());
        let mut rules = GitignoreBuilder::new(root);
        for pattern in self.ignore.iter().take(MOST_PATTERNS) {
            // A pattern that is none is no reason to fail a search.
            let _ = rules.add_line(None, pattern);
        }
        LeftOut(rules.build().unwrap_or_else(|_| Gitignore::empty()))
    }
}

/// The patterns, ready for use.
#[derive(Clone)]
pub(crate) struct LeftOut(Gitignore);

impl LeftOut {
    pub(crate) fn nothing() -> Self {
        Self(Gitignore::empty())
    }

    pub(crate) fn covers(&self, path: &Path, is_dir: bool) -> bool {
        path.starts_with(self.0.path()) && self.0.matched(path, is_dir).is_ignore()
    }
}
