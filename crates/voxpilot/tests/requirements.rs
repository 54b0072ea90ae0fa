//! Every numbered requirement of `docs/requirements.md` is held by tests, which the file names, and every number that a test cites is in the file.
//!
//! A test cites in the comment right above it (`/// S2-19: …`, in TypeScript `// …`) or in its own name (`s2_19_…`). The names in the file
//! are written by `UPDATE_REQUIREMENTS=1 cargo test --release -p voxpilot --test requirements`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// How a line of the list is marked.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Mark {
    /// Nothing: a test must cite it.
    Held,
    Fact,
    /// This verdict has taken its place.
    See(String),
    Untested(String),
}

/// What cites a requirement: the file from the root of the project, and the test's name in it.
type Test = (String, String);

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says whether the list is to be written")]
fn every_requirement_names_the_tests_that_hold_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("docs/requirements.md");
    let text = fs::read_to_string(&file).expect("the list can be read");
    let list = listed(&text);
    let cited = cited_below(&root);
    let missing: Vec<&String> =
        list.iter().filter(|(number, mark)| **mark == Mark::Held && !cited.contains_key(*number)).map(|(number, _)| number).collect();
    assert!(missing.is_empty(), "no test cites {missing:?}");
    let unknown: Vec<_> = cited.iter().filter(|(number, _)| !list.contains_key(*number)).collect();
    assert!(unknown.is_empty(), "cited, and not in the list: {unknown:?}");
    let expected = with_tests(&text, &cited);
    if std::env::var_os("UPDATE_REQUIREMENTS").is_some() {
        fs::write(&file, &expected).expect("the list can be written");
    } else if let Some((found, wanted)) = text.lines().zip(expected.lines()).find(|(found, wanted)| found != wanted) {
        panic!("docs/requirements.md names other tests than there are: `{found}` should be `{wanted}`. UPDATE_REQUIREMENTS=1 writes them");
    } else {
        assert_eq!(text.lines().count(), expected.lines().count(), "UPDATE_REQUIREMENTS=1 writes the missing names");
    }
    let untested: Vec<_> = list.iter().filter(|(_, mark)| matches!(mark, Mark::Untested(_))).collect();
    println!("{} requirements, {} of them untested: {untested:?}", list.len(), untested.len());
}

fn cited_below(root: &Path) -> BTreeMap<String, BTreeSet<Test>> {
    let mut cited: BTreeMap<String, BTreeSet<Test>> = BTreeMap::new();
    for part in ["crates", "e2e/journeys", "ui/src"] {
        for file in sources(&root.join(part)) {
            let text = fs::read_to_string(&file).expect("a source file can be read");
            let path = file.strip_prefix(root).expect("it is below the root").display().to_string();
            for (number, test) in citations(&text) {
                cited.entry(number).or_default().insert((path.clone(), test));
            }
        }
    }
    cited
}

const TEST_LINE: &str = "  - `";

/// The list with the tests of each requirement beneath it, in place of those that it names now.
fn with_tests(text: &str, cited: &BTreeMap<String, BTreeSet<Test>>) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with(TEST_LINE)) {
        out.push_str(line);
        out.push('\n');
        let number = line.strip_prefix("- ").and_then(|line| line.split_once(": ")).map(|(number, _)| number);
        for (path, test) in number.and_then(|number| cited.get(number)).into_iter().flatten() {
            out.push_str(&format!("{TEST_LINE}{path}`: {test}\n"));
        }
    }
    out
}

#[test]
fn the_list_is_whole_and_its_marks_make_sense() {
    let list = listed(include_str!("../../../docs/requirements.md"));
    let series = [("S0-", 63), ("S1-", 82), ("S1-V", 17), ("S2-", 62), ("S3-", 18), ("S3-V", 4), ("S4-", 38), ("S4-V", 10), ("C", 40)];
    let all: BTreeSet<String> =
        series.iter().flat_map(|(prefix, last)| (1..=*last).map(move |number| format!("{prefix}{number}"))).collect();
    assert_eq!(list.keys().cloned().collect::<BTreeSet<_>>(), all);
    for (number, mark) in &list {
        match mark {
            Mark::See(verdict) => assert!(verdict.starts_with('C') && list.get(verdict) == Some(&Mark::Held), "{number}: see {verdict}"),
            Mark::Untested(reason) => assert!(reason.len() > 10, "{number} has no reason"),
            Mark::Held | Mark::Fact => {}
        }
    }
}

/// The numbers of the list, each with its mark: `- S0-3: what it asks. [see C2]`.
fn listed(text: &str) -> BTreeMap<String, Mark> {
    let mut list = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("- ")) {
        let (number, rest) = line.split_once(": ").unwrap_or_else(|| panic!("no number in: {line}"));
        let mark = match rest.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
            None => Mark::Held,
            Some((_, "fact")) => Mark::Fact,
            Some((_, mark)) => match (mark.strip_prefix("see "), mark.strip_prefix("untested: ")) {
                (Some(verdict), _) => Mark::See(verdict.to_owned()),
                (_, Some(reason)) => Mark::Untested(reason.to_owned()),
                _ => panic!("an unknown mark: {line}"),
            },
        };
        assert_eq!(list.insert(number.to_owned(), mark), None, "{number} stands there twice");
    }
    list
}

/// The numbers in the names of tests and in the comments right above them, each with the test's name.
fn citations(text: &str) -> BTreeSet<(String, String)> {
    let mut cited = BTreeSet::new();
    let mut comment = String::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let is_script = ["test(", "it("].iter().any(|start| line.starts_with(start));
        if let Some(words) = line.strip_prefix("///").or_else(|| line.strip_prefix("// ")) {
            comment.push_str(words);
            comment.push(' ');
        } else if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        } else if !line.starts_with("#[") {
            if is_test || is_script {
                let in_name = numbers(&line.to_uppercase().replace('_', "-")).into_iter().filter(|number| !number.starts_with('C'));
                let name = test_name(line);
                cited.extend(numbers(&comment).into_iter().chain(in_name).map(|number| (number, name.clone())));
            }
            is_test = false;
            comment.clear();
        }
    }
    cited
}

/// The name in `async fn name()`, the title in `test("title", …)`.
fn test_name(line: &str) -> String {
    let name = match line.split_once("fn ") {
        Some((_, rest)) if !line.contains('"') => rest.split(['(', '<']).next(),
        _ => line.split_once('"').map(|(_, rest)| rest.rsplit_once("\",").map_or(rest, |(title, _)| title)),
    };
    name.unwrap_or(line).to_owned()
}

/// Whatever has the form of a number: `S1-5`, `S1-V5`, `C5`.
fn numbers(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    words.filter_map(first_number).chain(text.match_indices("-S").filter_map(|(at, _)| first_number(&text[at + 1..]))).collect()
}

fn first_number(word: &str) -> Option<String> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(rest) = word.strip_prefix('C') {
        let whole = !rest.is_empty() && rest.len() <= 2 && digits(rest) == rest.len();
        return whole.then(|| word.to_owned());
    }
    let rest = word.strip_prefix('S')?;
    let mut at = 1 + digits(rest).min(1);
    if at != 2 || word.as_bytes().get(at) != Some(&b'-') {
        return None;
    }
    at += 1 + usize::from(word[at + 1..].starts_with('V'));
    let count = digits(&word[at..]);
    (count > 0).then(|| word[..at + count].to_owned())
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory of the project can be read");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    paths
        .flat_map(|path| match path.is_dir() {
            true if path.ends_with("node_modules") => Vec::new(),
            true => sources(&path),
            false if path.extension().is_some_and(|extension| ["rs", "ts", "tsx"].iter().any(|known| extension == *known)) => vec![path],
            false => Vec::new(),
        })
        .collect()
}

#[test]
fn only_tests_count() {
    let text = "/// S2-1, S2-22 and C3: it works\n#[test]\n#[expect(x)]\nfn a() {}\n/// S2-3\nfn s2_5_b() {}\n/// Holds S1-V4.\n#[tokio::test(flavor = \"x\")]\nasync fn s2_6_s2_7_c() {}\n  // S0-9, C40\n  test(\"S3-2 does it\", async () => {\n// S4-4\nconst x = 1;";
    let expected = ["C3", "C40", "S0-9", "S1-V4", "S2-1", "S2-22", "S2-6", "S2-7", "S3-2"];
    let cited = citations(text);
    assert_eq!(cited.iter().map(|(number, _)| number.as_str()).collect::<BTreeSet<_>>(), expected.into());
    let of = |number: &str| cited.iter().find(|(found, _)| found == number).map(|(_, test)| test.as_str());
    assert_eq!((of("S2-1"), of("S1-V4"), of("S3-2")), (Some("a"), Some("s2_6_s2_7_c"), Some("S3-2 does it")));
}

#[test]
fn the_marks_of_the_list_are_read() {
    let list = listed("- S0-1: a. [fact]\n- S0-2: b [c] d.\n- C1: e. [untested: because of f]\n- S0-3: g. [see C1]\n# h");
    let expected = [
        ("C1", Mark::Untested("because of f".to_owned())),
        ("S0-1", Mark::Fact),
        ("S0-2", Mark::Held),
        ("S0-3", Mark::See("C1".to_owned())),
    ];
    assert_eq!(list, expected.map(|(number, mark)| (number.to_owned(), mark)).into());
}
