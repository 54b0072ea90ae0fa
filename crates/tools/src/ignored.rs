//! What lists of the project say is not to be looked at: `.gitignore`, `.ignore`, git's own `info/exclude`. They are read here and not by
//! the walker, since a project can make any of them a pipe, a device or a gigabyte.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use crate::open;
use crate::work_dir::WorkDir;

/// A list that is longer than this counts as none.
const LIST_BYTES: u64 = 1024 * 1024;

/// Directories whose lists are kept; beyond that they are read anew.
const MOST_KEPT: usize = 10_000;

pub(crate) struct Ignored {
    /// Lists above this directory do not apply.
    top: PathBuf,
    kept: Mutex<HashMap<PathBuf, Arc<Lists>>>,
}

/// The lists of one directory.
struct Lists {
    ignore: Gitignore,
    git_ignore: Gitignore,
    git_exclude: Gitignore,
    is_repository: bool,
}

impl Ignored {
    pub(crate) fn new(work_dir: &WorkDir) -> Self {
        // Without a repository nothing says where lists stop to apply, so those above the work directory do not.
        let repository = work_dir.root().ancestors().find(|directory| directory.join(".git").exists());
        let top = repository.unwrap_or(work_dir.root()).to_owned();
        Self { top, kept: Mutex::default() }
    }

    /// Whether a list covers the entry itself; what lies in a covered directory is never come to.
    pub(crate) fn covers(&self, path: &Path, is_dir: bool) -> bool {
        let (mut by_ignore, mut by_git, mut in_repository) = (Match::<()>::None, Match::<()>::None, true);
        for directory in path.ancestors().skip(1).take_while(|directory| directory.starts_with(&self.top)) {
            let lists = self.lists(directory);
            by_ignore = nearer(by_ignore, lists.ignore.matched(path, is_dir));
            if in_repository {
                by_git = nearer(by_git, lists.git_ignore.matched(path, is_dir));
                by_git = nearer(by_git, lists.git_exclude.matched(path, is_dir));
            }
            // What git ignores in one repository says nothing about another one inside of it.
            in_repository &= !lists.is_repository;
        }
        by_ignore.or(by_git).is_ignore()
    }

    fn lists(&self, directory: &Path) -> Arc<Lists> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lists) = kept.get(directory) {
            return Arc::clone(lists);
        }
        let lists = Arc::new(Lists::read(directory));
        if kept.len() < MOST_KEPT {
            kept.insert(directory.to_owned(), Arc::clone(&lists));
        }
        lists
    }
}

impl Lists {
    fn read(directory: &Path) -> Self {
        Self {
            ignore: list(directory, ".ignore"),
            git_ignore: list(directory, ".gitignore"),
            git_exclude: list(directory, ".git/info/exclude"),
            is_repository: directory.join(".git").exists(),
        }
    }
}

fn list(directory: &Path, name: &str) -> Gitignore {
    let Ok(text) = open::regular_file(&directory.join(name), name).and_then(|(file, _)| open::text(file, LIST_BYTES, name)) else {
        return Gitignore::empty();
    };
    let mut rules = GitignoreBuilder::new(directory);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A broken line is no reason to fail a search.
        let _ = rules.add_line(None, line);
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}

/// What a nearer list says goes before what one further away says.
fn nearer(one: Match<()>, other: Match<&Glob>) -> Match<()> {
    if one.is_none() { other.map(|_| ()) } else { one }
}
