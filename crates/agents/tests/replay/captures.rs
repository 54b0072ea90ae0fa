//! The captures, as they lie in a directory of the tests.

use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) fn all_in(directory: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(directory);
    let mut captures: Vec<_> = dir.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    captures.sort();
    captures
}

pub(crate) fn name(capture: &Path) -> &str {
    capture.file_stem().unwrap().to_str().unwrap()
}

pub(crate) fn entries(capture: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(capture).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
