//! Paths of the work directory as people name them: found by a part of their name, or mentioned in a text as `@path`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::beneath::Kind;
use crate::deadline::Deadline;
use crate::walk::Entries;
use crate::work_dir::WorkDir;
use crate::{Project, bound};

/// Somebody is typing: what is not found by then is not worth waiting for.
const TIME_LIMIT: Duration = Duration::from_secs(2);
const MOST_VISITED: usize = 50_000;
const MOST_MENTIONS: usize = 20;

/// A file or directory inside the work directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// Relative to the work directory, with slashes.
    pub path: String,
    /// Where it really is.
    pub real: PathBuf,
    pub is_dir: bool,
    pub size: u64,
}

/// The file or directory at `path`, or a sentence that says why there is none.
pub fn find(work_dir: &Path, path: &str) -> Result<Named, String> {
    let work_dir = WorkDir::open(work_dir).map_err(|refusal| refusal.0)?;
    named(&work_dir, path)
}

fn named(work_dir: &WorkDir, path: &str) -> Result<Named, String> {
    let spot = work_dir.root().existing(path).map_err(|refusal| refusal.0)?;
    let is_dir = spot.kind == Some(Kind::Directory);
    if !(is_dir || spot.kind == Some(Kind::File)) || spot.is_kernel() {
        return Err(format!("'{}' is neither a file nor a directory", bound::name(path)));
    }
    let size = if is_dir { 0 } else { spot.size().ok_or_else(|| format!("'{}' cannot be looked at", bound::name(path)))? };
    Ok(Named { path: WorkDir::shown(&spot.path), is_dir, real: work_dir.path().join(&spot.path), size })
}

/// What a text mentions as `@path` or `@"path with spaces"` and is there, each once. Anything else behind an @ is only text.
pub fn mentioned(work_dir: &Path, text: &str) -> Vec<Named> {
    let Ok(work_dir) = WorkDir::open(work_dir) else { return Vec::new() };
    let mut found: Vec<Named> = Vec::new();
    for candidate in mentions(text) {
        // A sentence may go on right behind a path.
        let shorter = candidate.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '"']);
        let hit = [candidate, shorter].into_iter().filter(|path| !path.is_empty()).find_map(|path| named(&work_dir, path).ok());
        if let Some(hit) = hit.filter(|hit| !found.contains(hit)) {
            found.push(hit);
        }
        if found.len() == MOST_MENTIONS {
            break;
        }
    }
    found
}

fn mentions(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('@').filter_map(|(at, _)| {
        let begins = text[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || "([{'\"`".contains(before));
        let rest = begins.then(|| &text[at + 1..])?;
        match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(path, _)| path),
            None => rest.split(char::is_whitespace).next(),
        }
    })
}

/// The paths that fit `query` best, directories with a slash at their end. What git or the person ignores is left out.
pub async fn search(project: &Project, query: &str, limit: usize) -> Vec<String> {
    let (project, query) = (project.clone(), query.trim_start_matches("./").to_lowercase());
    let (deadline, _passes_on_drop) = Deadline::new(TIME_LIMIT);
    let task = tokio::task::spawn_blocking(move || {
        let Ok(entries) = WorkDir::of(&project).and_then(|work_dir| Entries::all(&work_dir)) else { return Vec::new() };
        let mut hits: Vec<(u32, usize, String)> = Vec::new();
        for item in entries.take(MOST_VISITED).take_while(|_| !deadline.passed()) {
            let path = WorkDir::shown(&item.path) + if item.kind == Kind::Directory { "/" } else { "" };
            if let Some(rank) = rank(&path.to_lowercase(), &query) {
                hits.push((rank, path.len(), path));
            }
        }
        hits.sort();
        hits.into_iter().take(limit).map(|(_, _, path)| path).collect()
    });
    task.await.unwrap_or_default()
}

/// How well a path fits, best first; `None` if it does not.
fn rank(path: &str, query: &str) -> Option<u32> {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    if path.starts_with(query) {
        Some(0)
    } else if name.starts_with(query) {
        Some(1)
    } else if path.contains(query) {
        Some(2)
    } else {
        // The letters in their order, wherever they stand.
        let mut letters = path.chars();
        query.chars().all(|wanted| letters.any(|letter| letter == wanted)).then_some(3)
    }
}
