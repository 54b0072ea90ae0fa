//! The inputs that a target starts from, and those of a run that turned out to be worth mutating.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::random::Random;

/// So many are kept in a run; beyond it a new one replaces another.
const MAX_ENTRIES: usize = 4096;

pub struct Corpus {
    entries: Vec<Vec<u8>>,
    /// Those of the repository, which are never replaced.
    kept: usize,
}

impl Corpus {
    pub fn new(entries: Vec<Vec<u8>>) -> Corpus {
        Corpus { kept: entries.len(), entries }
    }

    pub fn pick(&self, random: &mut Random) -> &[u8] {
        // What was found last is tried more often: it is where something new may be.
        let recent = self.entries.len().saturating_sub(32);
        let at = if random.one_in(3) { recent + random.below(self.entries.len() - recent) } else { random.below(self.entries.len()) };
        self.entries.get(at).map_or(&[], Vec::as_slice)
    }

    pub fn add(&mut self, entry: Vec<u8>, random: &mut Random) {
        if self.entries.len() < MAX_ENTRIES {
            return self.entries.push(entry);
        }
        let replaced = self.kept + random.below(MAX_ENTRIES - self.kept);
        if let Some(place) = self.entries.get_mut(replaced) {
            *place = entry;
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The directory of this crate: `fuzz` runs where it was built.
pub fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files of `corpus/<target>` with their names, in order.
pub fn files(target: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let dir = home().join("corpus").join(target);
    let mut files = Vec::new();
    for entry in dir.read_dir().with_context(|| format!("reading {}", dir.display()))? {
        let path = entry?.path();
        files.push((name(&path), std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?));
    }
    files.sort();
    Ok(files)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
