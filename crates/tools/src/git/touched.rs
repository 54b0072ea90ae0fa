//! When the files of a comparison were last changed on the disk.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use super::checkout::Checkout;
use super::compare::{Comparison, Entry, Status, shown};

const MOST_COMMITS: usize = 500;

/// When a file was last changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touched {
    pub path: String,
    /// In ms since 1970. Several where it was moved: of the file and of the directory it left.
    pub times_ms: Vec<i64>,
}

impl Checkout {
    /// When the status of each file on the disk last changed: a time that no program can set back. Of one that is gone it is the time of
    /// the nearest directory that is left.
    pub async fn touched(&self, comparison: &Comparison) -> Vec<Touched> {
        let (work_dir, entries) = (Arc::clone(&self.work_dir), comparison.entries.clone());
        let work = move || entries.iter().map(|entry| touched(work_dir.path(), entry)).collect();
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }
}

impl Checkout {
    /// When files were last committed, in seconds since 1970, by the latest commits since then.
    pub async fn committed_since(&self, since_s: i64) -> HashMap<String, i64> {
        let (since, most) = (format!("--since=@{since_s}"), format!("--max-count={MOST_COMMITS}"));
        let command = ["log", "-z", "--format=%x01%ct", "--name-only", "--no-renames", "--relative", "--no-show-signature", &since, &most];
        match self.run(&command, None).await.and_then(|printed| printed.succeeded("git log")) {
            Ok(printed) => committed(&printed.stdout),
            // There is no commit yet.
            Err(_) => HashMap::new(),
        }
    }
}

impl Comparison {
    /// Parts it into the files of these names, and the others.
    pub fn part(mut self, paths: &HashSet<String>) -> (Comparison, Comparison) {
        let is_named = |path: &[u8]| paths.contains(&shown(path));
        let is_one = |entry: &Entry| is_named(&entry.path) || entry.old_path.as_deref().is_some_and(is_named);
        let (named, others) = std::mem::take(&mut self.entries).into_iter().partition(is_one);
        let rest = Comparison { entries: others, cut: false, version: self.version.clone() };
        (Comparison { entries: named, ..self }, rest)
    }
}

/// Reads `SOH time NUL LF path NUL path NUL` over and over, the latest commit first.
fn committed(printed: &[u8]) -> HashMap<String, i64> {
    let (mut times, mut time) = (HashMap::new(), 0);
    for field in printed.split(|byte| *byte == 0) {
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        if let Some(digits) = field.strip_prefix(b"\x01") {
            time = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or_default();
        } else if !field.is_empty() {
            times.entry(shown(field)).or_insert(time);
        }
    }
    times
}

fn touched(work_dir: &Path, entry: &Entry) -> Touched {
    let at = |path: &[u8]| work_dir.join(OsStr::from_bytes(path));
    let is_gone = entry.status == Status::Deleted;
    let left = entry.old_path.as_deref().or(is_gone.then_some(entry.path.as_slice()));
    let here = (!is_gone).then(|| changed_ms(&at(&entry.path))).flatten();
    let there = left.and_then(|path| nearest_ms(work_dir, &at(path)));
    Touched { path: shown(&entry.path), times_ms: here.into_iter().chain(there).collect() }
}

fn changed_ms(path: &Path) -> Option<i64> {
    let about = path.symlink_metadata().ok()?;
    Some(about.ctime() * 1000 + about.ctime_nsec() / 1_000_000)
}

fn nearest_ms(work_dir: &Path, path: &Path) -> Option<i64> {
    path.ancestors().skip(1).take_while(|ancestor| ancestor.starts_with(work_dir)).find_map(changed_ms)
}
