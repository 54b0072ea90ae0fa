//! Every numbered requirement of the integration document (S2) is named by a test that holds it.
//!
//! A test names requirements in its doc comment (`/// S2-19: …`) or in its own name (`s2_19_…`). What cannot be tested is listed here, with the reason.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const REQUIREMENTS: u32 = 62;
const NOT_TESTABLE: [(u32, &str); 1] = [(2, "a list of references")];

#[test]
fn every_requirement_of_s2_is_named_by_a_test() {
    let mut named = BTreeSet::new();
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")) {
        let text = fs::read_to_string(&file).expect("a source file can be read");
        named.extend(named_by_tests(&text));
    }
    let missing: Vec<u32> =
        (1..=REQUIREMENTS).filter(|number| !named.contains(number) && NOT_TESTABLE.iter().all(|(left, _)| left != number)).collect();
    assert!(missing.is_empty(), "no test names S2-{missing:?}");
    let unknown: Vec<&u32> = named.iter().filter(|number| !(1..=REQUIREMENTS).contains(*number)).collect();
    assert!(unknown.is_empty(), "there is no S2-{unknown:?}");
}

/// The numbers in the names of tests, and in the comments that stand right above them.
fn named_by_tests(text: &str) -> BTreeSet<u32> {
    let mut named = BTreeSet::new();
    let mut comment = String::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            comment.push_str(words);
        } else if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            named.extend(numbers(&comment, "S2-"));
            is_test = true;
        } else if !line.starts_with("#[") {
            named.extend(numbers(line, "s2_").filter(|_| is_test));
            is_test = false;
            comment.clear();
        }
    }
    named
}

fn numbers(text: &str, mark: &str) -> impl Iterator<Item = u32> {
    let after_mark = text.split(mark).skip(1);
    after_mark.filter_map(|rest| rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok())
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory of the project can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false if path.extension().is_some_and(|extension| extension == "rs") => vec![path],
            false => Vec::new(),
        })
        .collect()
}

#[test]
fn only_tests_count() {
    let text = "/// S2-1, S2-22: it works\n#[test]\n#[expect(x)]\nfn a() {}\n/// S2-3\nfn s2_5_b() {}\n/// S2-4\n#[tokio::test(flavor = \"x\")]\nasync fn s2_6_s2_7_c() {}";
    assert_eq!(named_by_tests(text), BTreeSet::from([1, 22, 4, 6, 7]));
}
