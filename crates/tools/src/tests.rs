#![allow(clippy::unwrap_used)]

mod naming;
mod paths;
mod reading;
mod searching;

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn project(root: &Path) -> Project {
    Project { work_dir: root.to_owned(), ignore: Vec::new(), ignore_root: root.to_owned() }
}

/// As the tools are run where nothing is left out.
pub(crate) async fn run(root: &Path, name: &str, arguments: &str) -> Output {
    super::run(&project(root), name, arguments).await
}

async fn call(root: &Path, name: &str, arguments: Value) -> Output {
    // Through a spawned task, as callers do: the future has to be Send.
    let (root, name) = (root.to_owned(), name.to_owned());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { run(&root, &name, &arguments.to_string()).await });
    let output = tasks.join_next().await.unwrap().unwrap();
    assert!(output.content.len() <= bound::CONTENT_BYTES + 1024, "{} bytes", output.content.len());
    output
}

async fn content(root: &Path, name: &str, arguments: Value) -> String {
    let output = call(root, name, arguments).await;
    assert!(!output.is_error, "{}", output.content);
    output.content
}

async fn refusal(root: &Path, name: &str, arguments: Value) -> String {
    let output = call(root, name, arguments).await;
    assert!(output.is_error, "{}", output.content);
    assert!(!output.content.contains('\0'));
    output.content
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named() {
    let root = directory();
    for (tool, arguments, expected) in [
        ("read_file", "{\"path\": \"x", "the arguments of read_file are not valid JSON"),
        ("read_file", "[]", "the arguments of read_file must be a JSON object"),
        ("read_file", "", "missing field `path`"),
        ("read_file", "null", "missing field `path`"),
        ("read_file", "{}", "missing field `path`"),
        ("read_file", "{\"path\": 5}", "expected a string"),
        ("read_file", "{\"path\": \"x\", \"start_line\": -1}", "-1 is not a whole number"),
        ("read_file", "{\"path\": \"x\", \"start_line\": \"two\"}", "\"two\" is not a whole number"),
        ("grep_search", "{\"path\": \"x\"}", "missing field `pattern`"),
        ("grep_search", "{\"pattern\": \"\"}", "the pattern of grep_search is empty"),
        ("grep_search", "{\"pattern\": \"x\", \"case_sensitive\": 3}", "3 is neither true nor false"),
        ("glob_search", "{}", "missing field `pattern`"),
        ("git_show", "{}", "missing field `commit`"),
        ("delete_everything", "{}", "there is no tool named 'delete_everything'; the tools are read_file"),
        ("copilot_agent", "{}", "copilot_agent is a delegation"),
        ("read_file", "\u{0}\u{ffff}", "not valid JSON"),
    ] {
        let output = run(root.path(), tool, arguments).await;
        assert!(output.is_error, "{tool} {arguments}");
        assert!(output.content.contains(expected), "{tool} {arguments}: {}", output.content);
    }
}

#[tokio::test]
async fn loose_arguments_are_understood() {
    let root = directory();
    write(root.path(), "a.txt", "one\ntwo\nthree\n");
    for arguments in [
        r#"{"path": "a.txt", "start_line": 2, "end_line": 2}"#,
        r#"{"path": "a.txt", "start_line": "2", "end_line": 2.0, "unknown": true}"#,
        r#""{\"path\": \"a.txt\", \"start_line\": 2, \"end_line\": 2}""#,
    ] {
        let output = run(root.path(), "read_file", arguments).await;
        assert_eq!(output.content, "[lines 2-2 of 3]\ntwo\n", "{arguments}");
    }
    let output = run(root.path(), "list_directory", "").await;
    assert_eq!(output.content, "a.txt (14 bytes)\n");
}

#[tokio::test]
async fn a_work_directory_that_is_not_there_is_an_answer() {
    let root = directory();
    let gone = root.path().join("gone");
    for (tool, arguments) in [("list_directory", json!({})), ("git_diff", json!({})), ("grep_search", json!({"pattern": "x"}))] {
        let why = refusal(&gone, tool, arguments).await;
        assert!(why.contains("work directory cannot be opened"), "{why}");
    }
}

#[tokio::test]
async fn a_tool_that_runs_out_of_time_says_so() {
    let root = directory();
    write(root.path(), "a.txt", "x");
    for (tool, arguments) in [
        ("read_file", r#"{"path": "a.txt"}"#),
        ("grep_search", r#"{"pattern": "x"}"#),
        ("glob_search", r#"{"pattern": "*"}"#),
        ("list_directory", "{}"),
    ] {
        let output = run_within(&project(root.path()), tool, arguments, Duration::ZERO).await;
        assert!(output.is_error, "{tool}");
        assert!(output.content.contains("took longer than 0ns"), "{tool}: {}", output.content);
    }
}

#[tokio::test]
async fn blocking_work_stops_when_nobody_waits() {
    let (deadline, waiting) = Deadline::new(Duration::from_secs(600));
    assert!(!deadline.passed());
    drop(waiting);
    assert!(deadline.passed());
    assert!(deadline.check().is_err());
}
