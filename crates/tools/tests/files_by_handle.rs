//! Whoever opens a path for an agent, a model or a project goes through `tools::beneath`. This test reads the sources of the two crates that
//! do so: a file that touches the disk by a path stands in the list below, with what it touches.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// What opens, changes or resolves by a path. Calls with a handle of a directory have other names.
const BY_PATH: [&str; 17] = [
    "fs::read(",
    "fs::read_to_string(",
    "fs::read_dir(",
    "fs::read_link(",
    "fs::write(",
    "fs::rename(",
    "fs::copy(",
    "fs::metadata(",
    "fs::remove_",
    "fs::create_dir",
    "File::open(",
    "File::create",
    "OpenOptions::new(",
    ".canonicalize(",
    ".symlink_metadata(",
    ".read_dir(",
    "tokio::fs::",
];

/// Files that may, and why.
const ALLOWED: [(&str, &str); 16] = [
    ("tools/src/beneath/names.rs", "finds out where a name leads, to show or judge it; opens nothing"),
    ("tools/src/fingerprint.rs", "reads what the person's own configuration names"),
    ("tools/src/git/checkout.rs", "our own directories"),
    ("tools/src/git/copy.rs", "writes copies into our own directories"),
    ("tools/src/git/index.rs", "reads the copy of an index in our own directory"),
    ("tools/src/git/snapshot.rs", "our own directories"),
    ("tools/src/git/stand_in.rs", "our own directory"),
    ("tools/src/git/touched.rs", "asks when a name was changed last; opens nothing"),
    ("engine/src/abilities.rs", "a file of the data directory"),
    ("engine/src/agent/terminals.rs", "asks where a shell lies; runs what was found"),
    ("engine/src/changes/trees.rs", "the data directory"),
    ("engine/src/disk.rs", "sizes in the data directory"),
    ("engine/src/recover.rs", "the data directory"),
    ("engine/src/rules.rs", "the name of the work directory"),
    ("engine/src/settings.rs", "the name of the work directory, when a session is made"),
    ("engine/src/trace/kept.rs", "the data directory"),
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() && name != "tests" {
            sources(&entry, found);
        } else if name.ends_with(".rs") && !name.contains("tests") {
            found.push(entry);
        }
    }
}

/// The lines of a file before its tests that act by a path.
fn by_path(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.filter(|line| !line.contains("rustix::fs::") && BY_PATH.iter().any(|call| line.contains(call))).collect()
}

#[test]
fn nothing_is_opened_by_a_path_that_is_not_listed() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for name in ["tools/src", "engine/src"] {
        sources(&crates.join(name), &mut found);
    }
    let mut acting = Vec::new();
    for path in found {
        let name = path.strip_prefix(crates).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let lines = by_path(&text);
        if lines.is_empty() {
            continue;
        }
        assert!(ALLOWED.iter().any(|(known, _)| *known == name), "{name} acts by a path: use tools::beneath\n{}", lines.join("\n"));
        acting.push(name);
    }
    for (known, _) in ALLOWED {
        assert!(acting.iter().any(|name| name == known), "{known} is allowed for nothing: take it off the list");
    }
}

#[test]
fn a_call_by_a_path_is_seen() {
    for line in ["std::fs::read(path)", "let x = File::open(path)?;", "work_dir.join(x).canonicalize()", "tokio::fs::write(a, b).await"] {
        assert_eq!(by_path(line).len(), 1, "{line}");
    }
    for line in ["rustix::fs::renameat(a, b, c, d)", "// fs::read(path)", "root.open_file(path)", "#[cfg(test)]\nmod tests {\nfs::read(x)"]
    {
        assert!(by_path(line).is_empty(), "{line}");
    }
}
