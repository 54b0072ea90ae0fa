//! `docs/LIMITS.md` names a test for each of its rows, and each of them exists.

use std::path::{Path, PathBuf};

/// Every Rust file below the crates.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in dir.read_dir().unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_limit_has_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    sources(&root.join("crates"), &mut files);
    let code: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let table = std::fs::read_to_string(root.join("docs/LIMITS.md")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what |")).collect();
    assert!(rows.len() >= 20, "the table was not found");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [_, limit, _, owner, test] = cells[..] else { panic!("a row has five columns: {row}") };
        assert!(limit.bytes().any(|byte| byte.is_ascii_digit()), "a limit is a number: {row}");
        assert!(owner.starts_with('`'), "a limit has an owner: {row}");
        let function = format!("fn {}(", test.trim_matches('`'));
        assert!(code.iter().any(|text| text.contains(&function)), "no test is called {test}: {row}");
    }
}
