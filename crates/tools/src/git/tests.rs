#![allow(clippy::unwrap_used)]

mod changes;
mod hostile;
mod layouts;
mod trap;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::tests::run;
use crate::{Output, ReviewFile};

struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgSign=false"])
            .args(arguments)
            .current_dir(self.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn printed(&self, arguments: &[&str]) -> String {
        let done = Command::new("git").args(arguments).current_dir(self.path()).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    async fn call(&self, tool: &str, arguments: Value) -> Output {
        run(self.path(), tool, &arguments.to_string()).await
    }

    async fn files(&self, tool: &str, arguments: Value) -> Vec<ReviewFile> {
        let output = self.call(tool, arguments).await;
        assert!(!output.is_error, "{}", output.content);
        output.review.unwrap().files
    }

    async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let output = self.call(tool, arguments).await;
        assert!(output.is_error && output.review.is_none(), "{}", output.content);
        output.content
    }
}

fn facts(files: &[ReviewFile]) -> Vec<(&str, &str, u32, u32, bool)> {
    let mut facts: Vec<_> =
        files.iter().map(|file| (file.path.as_str(), file.status.as_str(), file.additions, file.deletions, file.binary)).collect();
    facts.sort();
    facts
}

#[tokio::test]
async fn uncommitted_changes_become_a_review() {
    let repository = Repository::new();
    repository.write("kept.txt", "one\ntwo\nthree\n");
    repository.write("gone.txt", "bye\n");
    repository.write("old name.txt", "a\nb\nc\nd\ne\n");
    repository.write("picture.bin", b"\0\x01");
    repository.commit("first");
    repository.write("kept.txt", "one\n2\nthree\n");
    fs::remove_file(repository.path().join("gone.txt")).unwrap();
    repository.git(&["mv", "old name.txt", "sub-\u{e4} \"q\".txt"]);
    repository.write("picture.bin", b"\0\x02");
    repository.write("new.txt", "-- x\n++ y\n");
    repository.git(&["add", "new.txt"]);
    repository.write("untracked.txt", "u\n");

    let output = repository.call("git_diff", json!({})).await;
    let review = output.review.unwrap();
    assert_eq!(review.title, "uncommitted changes");
    assert_eq!(
        facts(&review.files),
        [
            ("gone.txt", "deleted", 0, 1, false),
            ("kept.txt", "modified", 1, 1, false),
            ("new.txt", "added", 2, 0, false),
            ("picture.bin", "modified", 0, 0, true),
            ("sub-\u{e4} \"q\".txt", "renamed", 0, 0, false),
        ]
    );
    let renamed = review.files.iter().find(|file| file.status == "renamed").unwrap();
    assert_eq!(renamed.old_path.as_deref(), Some("old name.txt"));
    let kept = review.files.iter().find(|file| file.path == "kept.txt").unwrap();
    assert!(kept.diff.starts_with("diff --git a/kept.txt b/kept.txt\n"), "{}", kept.diff);
    assert!(kept.diff.ends_with(" one\n-two\n+2\n three\n"), "{}", kept.diff);
    for expected in ["5 files changed, +3 -2\n", "1 untracked files, not in the diff:\n  untracked.txt\n", "\n-two\n+2\n"] {
        assert!(output.content.contains(expected), "{expected:?} in {}", output.content);
    }
    assert!(output.display.unwrap().starts_with("uncommitted changes\n5 files changed"));
    assert_eq!(facts(&repository.files("git_diff", json!({"staged": true})).await).len(), 2);
    assert_eq!(facts(&repository.files("git_diff", json!({"path": "kept.txt"})).await), [("kept.txt", "modified", 1, 1, false)]);
}

#[tokio::test]
async fn revisions_can_be_compared() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.commit("first");
    repository.git(&["checkout", "--quiet", "-b", "feature"]);
    repository.write("feature", "f\n");
    repository.commit("on feature");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write("later", "l\n");
    repository.commit("on main");
    for (arguments, expected) in [
        (json!({"base": "main", "head": "feature"}), vec![("feature", "added", 1, 0, false), ("later", "deleted", 0, 1, false)]),
        (json!({"base": "main", "head": "feature", "merge_base": true}), vec![("feature", "added", 1, 0, false)]),
        (json!({"base": "HEAD~1"}), vec![("later", "added", 1, 0, false)]),
        (json!({"base": "HEAD~1", "staged": true}), vec![("later", "added", 1, 0, false)]),
    ] {
        assert_eq!(facts(&repository.files("git_diff", arguments.clone()).await), expected, "{arguments}");
    }
    for arguments in [json!({}), json!({"base": "main", "head": "main"}), json!({"path": "a"})] {
        let output = repository.call("git_diff", arguments).await;
        assert_eq!(output.content, "no changes");
        assert!(output.review.is_none() && !output.is_error);
    }
}

#[tokio::test]
async fn a_commit_is_shown_with_its_message() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.commit("first\n\ndiff --git a/fake b/fake\nbody");
    let output = repository.call("git_show", json!({"commit": "HEAD"})).await;
    let review = output.review.unwrap();
    assert_eq!(facts(&review.files), [("a", "added", 1, 0, false)]);
    assert!(review.title.starts_with("commit ") && review.title.ends_with(" first"), "{}", review.title);
    for expected in ["Author: T <t@example.org>\n", "\n\nfirst\n\ndiff --git a/fake b/fake\nbody\n\n1 file changed, +1 -0\n"] {
        assert!(output.content.contains(expected), "{}", output.content);
    }
    repository.commit("nothing in it");
    let output = repository.call("git_show", json!({"commit": "main"})).await;
    assert!(output.review.is_none() && output.content.ends_with("nothing in it\n\nno changes"), "{}", output.content);
    repository.git(&["tag", "-a", "-m", "a tag", "v1", "HEAD~1"]);
    assert_eq!(repository.files("git_show", json!({"commit": "v1"})).await.len(), 1);
}

#[tokio::test]
async fn a_merge_is_shown_against_its_first_parent() {
    let repository = Repository::new();
    repository.commit("first");
    repository.git(&["checkout", "--quiet", "-b", "side"]);
    repository.write("side", "s\n");
    repository.commit("side");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write("main", "m\n");
    repository.commit("main");
    repository.git(&["merge", "--quiet", "--no-edit", "side"]);
    assert_eq!(facts(&repository.files("git_show", json!({"commit": "HEAD"})).await), [("side", "added", 1, 0, false)]);
}

#[tokio::test]
async fn revisions_that_look_like_something_else_are_refused() {
    let repository = Repository::new();
    repository.commit("first");
    let target = repository.path().join("written");
    for name in [format!("--output={}", target.display()), "-p".into(), "HEAD..HEAD".into(), "a b".into(), "x\ny".into()] {
        for (tool, arguments) in [
            ("git_show", json!({"commit": name})),
            ("git_diff", json!({"base": name})),
            ("git_diff", json!({"base": "HEAD", "head": name})),
        ] {
            let why = repository.refusal(tool, arguments).await;
            assert!(why.contains("is not a revision: it "), "{why}");
        }
    }
    assert!(!target.exists());
    for (tool, arguments, expected) in [
        ("git_show", json!({"commit": "nowhere"}), "there is no commit, branch or tag 'nowhere'"),
        ("git_show", json!({"commit": "HEAD:file"}), "there is no commit, branch or tag 'HEAD:file'"),
        ("git_show", json!({"commit": ""}), "'' is not a revision: it is empty"),
        ("git_diff", json!({"head": "HEAD"}), "head needs a base to compare with; use git_show for one commit"),
        ("git_diff", json!({"path": "../x"}), "'../x' is outside the work directory"),
        ("git_diff", json!({"path": "/etc/passwd"}), "'/etc/passwd' is outside the work directory"),
    ] {
        assert_eq!(repository.refusal(tool, arguments).await, expected);
    }
}

#[tokio::test]
async fn a_path_means_itself_however_it_looks() {
    let repository = Repository::new();
    repository.write("--output=x", "1\n");
    repository.write("*.txt", "1\n");
    repository.write("a.txt", "1\n");
    repository.write(":(top)", "1\n");
    for path in ["--output=x", "*.txt", ":(top)"] {
        repository.git(&["add", "--all"]);
        let files = repository.files("git_diff", json!({"path": path})).await;
        assert_eq!(facts(&files), [(path, "added", 1, 0, false)]);
    }
    assert!(!repository.path().join("x").exists());
}

#[tokio::test]
async fn a_repository_without_a_commit_and_a_folder_without_a_repository() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    let output = repository.call("git_diff", json!({})).await;
    assert_eq!(output.content, "no changes\n1 untracked files, not in the diff:\n  a\n");
    repository.git(&["add", "a"]);
    for arguments in [json!({}), json!({"staged": true})] {
        assert_eq!(facts(&repository.files("git_diff", arguments).await), [("a", "added", 1, 0, false)]);
    }
    let plain = tempfile::tempdir().unwrap();
    for (tool, arguments) in [("git_diff", "{}"), ("git_show", r#"{"commit": "HEAD"}"#)] {
        let output = run(plain.path(), tool, arguments).await;
        assert_eq!(output.content, "the work directory is not in a git repository");
        assert!(output.is_error);
    }
}

#[tokio::test]
async fn a_work_directory_below_the_repository_sees_only_itself() {
    let repository = Repository::new();
    repository.write("top", "1\n");
    repository.write("sub/inner", "1\n");
    repository.commit("first");
    repository.write("top", "2\n");
    repository.write("sub/inner", "2\n");
    repository.write("sub/fresh", "2\n");
    let output = run(&repository.path().join("sub"), "git_diff", "{}").await;
    assert_eq!(facts(&output.review.unwrap().files), [("inner", "modified", 1, 1, false)]);
    assert!(output.content.contains("  fresh\n"), "{}", output.content);
    let output = run(&repository.path().join("sub"), "git_show", r#"{"commit": "HEAD"}"#).await;
    assert_eq!(facts(&output.review.unwrap().files), [("inner", "added", 1, 0, false)]);
}

#[tokio::test]
async fn what_the_repository_configures_neither_runs_nor_changes_the_format() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.write(".gitattributes", "* diff=evil\n");
    repository.commit("first");
    repository.write("a", "2\n");
    let mark = repository.path().join(".git/ran");
    let touch = format!("touch {}", mark.display());
    for (key, value) in [
        ("diff.external", touch.as_str()),
        ("diff.evil.textconv", &touch),
        ("diff.evil.command", &touch),
        ("core.fsmonitor", &touch),
        ("core.pager", &touch),
        ("gpg.program", &touch),
        ("log.showSignature", "true"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("diff.context", "0"),
        ("format.pretty", "oneline"),
    ] {
        repository.git(&["config", key, value]);
    }
    // Setting them up may have run some of them.
    let _ = fs::remove_file(&mark);
    assert_eq!(facts(&repository.files("git_diff", json!({})).await), [("a", "modified", 1, 1, false)]);
    assert_eq!(repository.files("git_show", json!({"commit": "HEAD"})).await.len(), 2);
    assert!(!mark.exists());
}

#[tokio::test]
async fn large_diffs_are_cut_for_the_model_and_whole_for_people() {
    let repository = Repository::new();
    repository.write("a", "x\n");
    repository.commit("first");
    repository.write("a", "some line of text\n".repeat(20_000));
    let output = repository.call("git_diff", json!({})).await;
    assert!(output.content.len() < 66 * 1024, "{}", output.content.len());
    assert!(output.content.contains("[the diff is cut: "), "no word of the cut");
    assert!(output.content.contains("call git_diff with path to see one file]"));
    let file = &output.review.unwrap().files[0];
    assert_eq!(file.additions, 20_000);
    assert!(file.diff.len() > 300_000);

    repository.write("a", "some line of text\n".repeat(1_000_000));
    let output = repository.call("git_diff", json!({})).await;
    let review = output.review.unwrap();
    assert!(output.content.contains("there are more"), "no word of the cut");
    assert_eq!(review.title, "uncommitted changes (too large, cut)");
    assert!(review.files[0].diff.ends_with("\n\\ The diff is too large and is cut here\n"));
    assert!(review.files[0].diff.len() < 9 * 1024 * 1024);
}

#[tokio::test]
async fn conflicts_are_mentioned() {
    let repository = Repository::new();
    repository.write("a", "base\n");
    repository.commit("first");
    repository.git(&["checkout", "--quiet", "-b", "side"]);
    repository.write("a", "side\n");
    repository.commit("side");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write("a", "main\n");
    repository.commit("main");
    let merged = Command::new("git").args(["merge", "side"]).current_dir(repository.path()).output().unwrap();
    assert!(!merged.status.success());
    let output = repository.call("git_diff", json!({"staged": true})).await;
    assert!(output.content.contains("in conflict, not merged: a\n"), "{}", output.content);
    let output = repository.call("git_diff", json!({})).await;
    assert!(output.content.contains("+<<<<<<< HEAD"), "{}", output.content);
}

#[tokio::test]
async fn git_is_gone_when_the_call_is_given_up() {
    let repository = Repository::new();
    repository.commit("first");
    // A commit that is a pipe: git waits at it, and the pipe breaks when git is gone.
    let commit = repository.printed(&["rev-parse", "HEAD"]);
    let (directory, file) = commit.trim().split_at(2);
    let pipe = repository.path().join(".git/objects").join(directory).join(file);
    fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());

    let root = repository.path().to_owned();
    let mut calls = JoinSet::new();
    let call = calls.spawn(async move { run(&root, "git_diff", "{}").await });
    let writer = tokio::task::spawn_blocking(move || {
        let mut pipe = fs::File::options().write(true).open(pipe).unwrap();
        call.abort();
        while pipe.write_all(b"x").is_ok() {}
    });
    tokio::time::timeout(Duration::from_secs(60), writer).await.unwrap().unwrap();
}
