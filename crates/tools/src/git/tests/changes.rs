//! Trees, comparisons, reverts and commits on real repositories.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::trap::Trap;
use super::*;
use crate::{ChangeError, Checkout, FileChange, Side, Status};

/// Everything of a repository's own directory, to tell whether anything was written there. Of objects only that they are there: git
/// makes one that it meets again as young as if it had been written anew, so that it is not cleared away.
fn listing(directory: &Path) -> BTreeMap<std::path::PathBuf, (u64, Option<std::time::SystemTime>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let about = entry.path().symlink_metadata().unwrap();
            if about.is_dir() {
                waiting.push(entry.path());
            } else {
                let is_object = entry.path().components().any(|part| part.as_os_str() == "objects");
                found.insert(entry.path(), (about.len(), (!is_object).then(|| about.modified().unwrap())));
            }
        }
    }
    found
}

async fn open(path: &Path) -> Checkout {
    Checkout::open(path, None).await.unwrap()
}

/// What is not committed, with its lines.
async fn changes(path: &Path) -> Vec<FileChange> {
    let checkout = open(path).await;
    let now = checkout.now().await.unwrap();
    let comparison = checkout.compare(&checkout.head().await.unwrap(), &now.tree).await.unwrap();
    checkout.files(&comparison).await.unwrap()
}

async fn revert(path: &Path, file: &str, hunk: Option<usize>) -> Result<crate::Undo, ChangeError> {
    let checkout = open(path).await;
    let now = checkout.now().await.unwrap();
    let comparison = checkout.compare(&checkout.head().await.unwrap(), &now.tree).await.unwrap();
    checkout.revert(&comparison, file, hunk).await
}

fn named(files: &[FileChange]) -> Vec<(&str, Status, u32, u32)> {
    files.iter().map(|file| (file.path.as_str(), file.status, file.additions, file.deletions)).collect()
}

fn varied() -> Repository {
    let repository = Repository::new();
    repository.write("kept", "1\n");
    repository.write("changed", "1\n2\n3\n");
    repository.write("deleted", "1\n");
    repository.write("moved", "a\nb\nc\nd\ne\nf\n");
    repository.write("script", "#!/bin/sh\n");
    repository.write("becomes-link", "x\n");
    repository.write(".gitignore", "ignored\n");
    repository.commit("first");
    repository.write("changed", "1\nzwei\n3\n");
    fs::remove_file(repository.path().join("deleted")).unwrap();
    fs::rename(repository.path().join("moved"), repository.path().join("elsewhere")).unwrap();
    fs::set_permissions(repository.path().join("script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(repository.path().join("becomes-link")).unwrap();
    symlink("/etc/passwd", repository.path().join("becomes-link")).unwrap();
    repository.write("new/file", "n\n");
    repository.write("binary", [0u8, 1, 2]);
    repository.write("ignored", "no\n");
    repository
}

#[tokio::test]
async fn every_kind_of_change_is_listed_and_nothing_is_written_to_the_repository() {
    let repository = varied();
    let before = listing(&repository.path().join(".git"));
    let files = changes(repository.path()).await;
    assert_eq!(
        named(&files),
        [
            ("becomes-link", Status::TypeChanged, 1, 1),
            ("binary", Status::Added, 0, 0),
            ("changed", Status::Modified, 1, 1),
            ("deleted", Status::Deleted, 0, 1),
            ("elsewhere", Status::Renamed, 0, 0),
            ("new/file", Status::Added, 1, 0),
            ("script", Status::Modified, 0, 0),
        ]
    );
    assert_eq!(files[4].old_path.as_deref(), Some("moved"));
    assert!(files[1].binary && files[1].hunks.is_empty());
    // A link is its target's name, never what lies there.
    assert_eq!(files[0].hunks[0].lines[1].text, "/etc/passwd");
    assert_eq!(files[6].new_mode.as_deref(), Some("100755"));
    assert_eq!(files[2].hunks[0].lines.len(), 4);
    assert_eq!(listing(&repository.path().join(".git")), before);
}

#[tokio::test]
async fn a_kept_tree_can_be_compared_later_from_its_own_objects() {
    let repository = varied();
    let before = listing(&repository.path().join(".git"));
    let kept = tempfile::tempdir().unwrap();
    let kept = kept.path().join("a: \"strange\" place/objects");
    let first = Checkout::open(repository.path(), Some(&kept)).await.unwrap().keep().await.unwrap();
    repository.write("new/file", "n\nm\n");
    repository.write("other", "o\n");
    let checkout = Checkout::open(repository.path(), Some(&kept)).await.unwrap();
    let second = checkout.keep().await.unwrap();
    repository.write("other", "later\n");
    let comparison = checkout.compare(&first.tree, &second.tree).await.unwrap();
    let files = checkout.files(&comparison).await.unwrap();
    assert_eq!(named(&files), [("new/file", Status::Modified, 1, 0), ("other", Status::Added, 1, 0)]);
    assert_eq!((comparison.total_files(), comparison.additions(), comparison.deletions()), (2, 2, 0));
    assert_eq!(listing(&repository.path().join(".git")), before);
}

#[tokio::test]
async fn an_untouched_repository_without_a_commit_is_shown_too() {
    let repository = Repository::new();
    assert!(changes(repository.path()).await.is_empty());
    repository.write("a", "1\n");
    assert_eq!(named(&changes(repository.path()).await), [("a", Status::Added, 1, 0)]);
    assert_eq!(open(repository.path()).await.branch().await.as_deref(), Some("main"));
    let none = tempfile::tempdir().unwrap();
    assert!(Checkout::open(none.path(), None).await.is_err());
}

#[tokio::test]
async fn only_the_work_directory_is_looked_at() {
    let repository = Repository::new();
    repository.write("outer", "1\n");
    repository.write("part/.gitattributes", "*.crlf text eol=crlf\n");
    repository.write("part/inner", "1\n");
    repository.write("part/a.crlf", "1\r\n2\r\n3\r\n");
    repository.commit("first");
    repository.write("outer", "2\n");
    repository.write("part/inner", "2\n");
    repository.write("part/a.crlf", "1\r\n2\r\ndrei\r\n");
    let part = repository.path().join("part");
    assert_eq!(named(&changes(&part).await), [("a.crlf", Status::Modified, 1, 1), ("inner", Status::Modified, 1, 1)]);
    // Line ends come back as they were on the disk.
    let undo = revert(&part, "a.crlf", Some(0)).await.unwrap();
    assert_eq!(fs::read_to_string(part.join("a.crlf")).unwrap(), "1\r\n2\r\n3\r\n");
    undo.run().unwrap();
    revert(&part, "a.crlf", None).await.unwrap();
    assert_eq!(fs::read_to_string(part.join("a.crlf")).unwrap(), "1\r\n2\r\n3\r\n");
    repository.git(&["config", "user.name", "Ada"]);
    repository.git(&["config", "user.email", "ada@example.org"]);
    open(&part).await.commit("inner alone", None).await.unwrap();
    assert_eq!(
        repository.printed(&["show", "--name-only", "--format=%an %ae %s", "HEAD"]),
        "Ada ada@example.org inner alone\n\npart/inner\n"
    );
    assert_eq!(repository.printed(&["status", "--porcelain"]), " M outer\n");
}

#[tokio::test]
async fn names_of_every_kind_are_found_again() {
    let repository = Repository::new();
    let names: [&[u8]; 5] = [b"line\nbreak", b"quo\"te", b"tab\there", b"\xff\xfe", b":(top)x"];
    for name in names {
        fs::write(repository.path().join(OsStr::from_bytes(name)), "1\n").unwrap();
    }
    let files = changes(repository.path()).await;
    assert_eq!(files.len(), 5);
    for file in &files {
        revert(repository.path(), &file.path, None).await.unwrap();
    }
    assert!(changes(repository.path()).await.is_empty());
}

#[tokio::test]
async fn a_file_comes_back_as_it_was_and_the_revert_can_be_undone() {
    for file in ["becomes-link", "binary", "changed", "deleted", "elsewhere", "new/file", "script"] {
        let repository = varied();
        let before = named(&changes(repository.path()).await).len();
        let undo = revert(repository.path(), file, None).await.unwrap();
        let after = changes(repository.path()).await;
        assert_eq!(after.len(), before - 1, "{file}");
        assert!(after.iter().all(|change| change.path != file), "{file}");
        undo.run().unwrap();
        assert_eq!(changes(repository.path()).await.len(), before, "{file}");
        assert!(matches!(undo.run(), Err(ChangeError::Changed(_))), "{file}: undone twice");
    }
}

#[tokio::test]
async fn one_hunk_comes_back_alone() {
    let repository = Repository::new();
    let text: String = (1..40).map(|line| format!("{line}\n")).collect();
    repository.write("a", &text);
    repository.commit("first");
    repository.write("a", text.replace("\n5\n", "\nfive\n").replace("\n20\n", "\n").replace("39\n", "39"));
    let file = &changes(repository.path()).await[0];
    assert_eq!(file.hunks.len(), 3);
    let undo = revert(repository.path(), "a", Some(1)).await.unwrap();
    assert_eq!(fs::read_to_string(repository.path().join("a")).unwrap(), text.replace("\n5\n", "\nfive\n").replace("39\n", "39"));
    undo.run().unwrap();
    revert(repository.path(), "a", Some(2)).await.unwrap();
    revert(repository.path(), "a", Some(0)).await.unwrap();
    assert_eq!(fs::read_to_string(repository.path().join("a")).unwrap(), text.replace("\n20\n", "\n"));
    assert!(revert(repository.path(), "a", Some(9)).await.is_err());
}

#[tokio::test]
async fn what_changed_after_it_was_shown_is_left_alone() {
    let repository = varied();
    let checkout = open(repository.path()).await;
    let now = checkout.now().await.unwrap();
    let comparison = checkout.compare(&checkout.head().await.unwrap(), &now.tree).await.unwrap();
    repository.write("changed", "the agent goes on\n");
    fs::remove_file(repository.path().join("binary")).unwrap();
    repository.write("deleted", "it is back\n");
    for file in ["changed", "binary", "deleted", "no such file"] {
        let outcome = checkout.revert(&comparison, file, None).await;
        assert!(matches!(outcome, Err(ChangeError::Changed(_))), "{file}: {outcome:?}");
    }
    assert_eq!(fs::read_to_string(repository.path().join("changed")).unwrap(), "the agent goes on\n");
    // What is in the way of a renamed file's old place stays, and so does the file.
    repository.write("moved", "in the way\n");
    assert!(matches!(checkout.revert(&comparison, "elsewhere", None).await, Err(ChangeError::Changed(_))));
    assert!(repository.path().join("elsewhere").exists());
}

#[tokio::test]
async fn a_directory_that_became_a_link_leads_nowhere() {
    let repository = varied();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("file"), "n\n").unwrap();
    let checkout = open(repository.path()).await;
    let now = checkout.now().await.unwrap();
    let comparison = checkout.compare(&checkout.head().await.unwrap(), &now.tree).await.unwrap();
    fs::remove_dir_all(repository.path().join("new")).unwrap();
    symlink(outside.path(), repository.path().join("new")).unwrap();
    assert!(checkout.revert(&comparison, "new/file", None).await.is_err());
    assert!(outside.path().join("file").exists());
}

#[tokio::test]
async fn lines_around_a_change_are_given() {
    let repository = varied();
    let checkout = open(repository.path()).await;
    let now = checkout.now().await.unwrap();
    let comparison = checkout.compare(&checkout.head().await.unwrap(), &now.tree).await.unwrap();
    let lines = checkout.lines(&comparison, "changed", Side::New, 2, 9).await.unwrap().unwrap();
    assert_eq!((lines.lines, lines.total), (vec!["zwei".to_owned(), "3".to_owned()], 3));
    let lines = checkout.lines(&comparison, "changed", Side::Old, 2, 2).await.unwrap().unwrap();
    assert_eq!(lines.lines, ["2"]);
    assert!(checkout.lines(&comparison, "kept", Side::Old, 1, 1).await.unwrap().is_none());
}

#[tokio::test]
async fn what_is_too_large_is_left_out_and_named() {
    let repository = Repository::new();
    repository.write("small", "1\n");
    fs::File::create(repository.path().join("huge")).unwrap().set_len(1 << 33).unwrap();
    let checkout = open(repository.path()).await;
    assert_eq!(checkout.now().await.unwrap().left_out, ["huge"]);
    assert_eq!(named(&changes(repository.path()).await), [("small", Status::Added, 1, 0)]);
    repository.write("large", "some text\n".repeat(300_000));
    let files = changes(repository.path()).await;
    assert!(files[0].too_large && files[0].hunks.is_empty() && files[0].additions == 300_000);
}

#[tokio::test]
async fn pipes_unreadable_files_and_repositories_inside_do_no_harm() {
    let repository = Repository::new();
    repository.write("becomes-pipe", "1\n");
    repository.commit("first");
    fs::remove_file(repository.path().join("becomes-pipe")).unwrap();
    for name in ["becomes-pipe", "pipe"] {
        assert!(Command::new("mkfifo").arg(repository.path().join(name)).status().unwrap().success());
    }
    fs::create_dir(repository.path().join("inner")).unwrap();
    let done = Command::new("git").args(["init", "--quiet"]).current_dir(repository.path().join("inner")).status().unwrap();
    assert!(done.success());
    repository.write("inner/file", "1\n");
    repository.write("plain", "1\n");
    assert_eq!(named(&changes(repository.path()).await), [("plain", Status::Added, 1, 0)]);
}

#[tokio::test]
async fn a_module_is_shown_by_its_commit_and_left_alone() {
    let trap = Trap::new();
    trap.submodule();
    trap.plant("part/b", "2\n");
    trap.inner(&["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-am", "inner again"]);
    let files = changes(trap.path()).await;
    let module = files.iter().find(|file| file.path == "part").unwrap();
    assert!(module.hunks[0].lines[0].text.starts_with("Subproject commit "), "{module:?}");
    assert!(matches!(revert(trap.path(), "part", None).await, Err(ChangeError::Refused(_))));
}

/// What is planted, and how.
type Plant = (&'static str, fn(&Trap));

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let plants: [Plant; 7] = [
        ("a clean filter", |trap| trap.filter("clean")),
        ("a filter process", |trap| trap.filter("process")),
        ("a smudge filter", |trap| trap.filter("smudge")),
        ("a monitor", |trap| trap.set("core.fsmonitor", &trap.program())),
        ("a hook", |trap| trap.hook(".git/hooks")),
        ("a program that makes text", |trap| {
            trap.attribute("a diff=evil");
            trap.set("diff.evil.textconv", &trap.payload());
            trap.set("diff.external", &trap.payload());
        }),
        ("commit hooks and a signing program", |trap| {
            for hook in ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "prepare-commit-msg"] {
                let place = trap.path().join(".git/hooks").join(hook);
                fs::copy(trap.program(), place).unwrap();
            }
            trap.set("commit.gpgSign", "true");
            trap.set("gpg.program", &trap.program());
            trap.set("core.editor", &trap.program());
        }),
    ];
    for (name, plant) in plants {
        let trap = Trap::new();
        trap.set("user.name", "Ada");
        trap.set("user.email", "ada@example.org");
        plant(&trap);
        let _ = fs::remove_file(trap.mark());
        let files = changes(trap.path()).await;
        assert!(files.iter().any(|file| file.path == "a"), "{name}");
        let reverted = revert(trap.path(), "a", None).await;
        trap.plant("b", "2\n");
        trap.plant("a", "3\n");
        let committed = open(trap.path()).await.commit("it", None).await;
        let is_filtered = name.contains("filter");
        assert_eq!(reverted.is_err(), is_filtered, "{name}: {reverted:?}");
        assert_eq!(committed.is_err(), is_filtered, "{name}: {committed:?}");
        assert!(!trap.has_run(), "{name}");
    }
}

#[tokio::test]
async fn a_commit_takes_what_was_chosen_and_leaves_what_was_staged() {
    let repository = varied();
    repository.git(&["config", "user.name", "Ada"]);
    repository.git(&["config", "user.email", "ada@example.org"]);
    repository.write("staged", "s\n");
    repository.git(&["add", "staged"]);
    let chosen = ["changed".to_owned(), "elsewhere".to_owned(), "deleted".to_owned()];
    let commit = open(repository.path()).await.commit("some of it\n\nwith words", Some(&chosen)).await.unwrap();
    assert_eq!(commit.branch, "main");
    assert_eq!(commit.commit, repository.printed(&["rev-parse", "HEAD"]).trim());
    assert_eq!(
        repository.printed(&["show", "--no-renames", "--name-status", "--format=%B", "HEAD"]),
        "some of it\n\nwith words\n\n\nM\tchanged\nD\tdeleted\nA\telsewhere\nD\tmoved\n"
    );
    assert_eq!(repository.printed(&["status", "--porcelain"]), " T becomes-link\n M script\nA  staged\n?? binary\n?? new/\n");
    assert!(repository.printed(&["reflog", "-1"]).contains("commit: some of it"));
    repository.git(&["fsck", "--strict"]);
    open(repository.path()).await.commit("the rest", None).await.unwrap();
    assert_eq!(repository.printed(&["status", "--porcelain"]), "");
    let outcome = open(repository.path()).await.commit("nothing", None).await;
    assert_eq!(outcome, Err(ChangeError::Refused("nothing to commit".to_owned())));
}

#[tokio::test]
async fn a_first_commit_can_be_made() {
    let repository = Repository::new();
    repository.git(&["config", "user.name", "Ada"]);
    repository.git(&["config", "user.email", "ada@example.org"]);
    repository.write("a", "1\n");
    open(repository.path()).await.commit("first", None).await.unwrap();
    assert_eq!(repository.printed(&["log", "--format=%s"]), "first\n");
    assert_eq!(repository.printed(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_commit_is_refused_where_it_would_surprise() {
    let repository = varied();
    repository.git(&["config", "user.name", "Ada"]);
    repository.git(&["config", "user.email", "ada@example.org"]);
    let refusal = async |part: &str| match open(repository.path()).await.commit("it", None).await {
        Err(ChangeError::Refused(sentence)) => assert!(sentence.contains(part), "{sentence}"),
        other => panic!("{other:?}"),
    };
    fs::write(repository.path().join(".git/MERGE_HEAD"), "").unwrap();
    refusal("middle of a merge").await;
    fs::remove_file(repository.path().join(".git/MERGE_HEAD")).unwrap();
    fs::write(repository.path().join(".git/index.lock"), "").unwrap();
    refusal("locked").await;
    fs::remove_file(repository.path().join(".git/index.lock")).unwrap();
    repository.git(&["checkout", "--quiet", "--detach"]);
    refusal("detached").await;
    assert!(open(repository.path()).await.branch().await.is_none());
    repository.git(&["checkout", "--quiet", "main"]);
    let gone = open(repository.path()).await.commit("it", Some(&["kept".to_owned()])).await;
    assert!(matches!(gone, Err(ChangeError::Changed(_))), "{gone:?}");
}

#[tokio::test]
async fn the_base_is_where_the_work_left_the_default_branch() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.commit("first");
    assert_eq!(open(repository.path()).await.base().await, None);
    repository.git(&["checkout", "--quiet", "-b", "feature"]);
    let first = repository.printed(&["rev-parse", "HEAD"]).trim().to_owned();
    repository.write("a", "2\n");
    repository.commit("second");
    assert_eq!(open(repository.path()).await.base().await, Some((first, "main".to_owned())));
}

#[tokio::test]
async fn a_tree_half_made_hurts_nothing() {
    let repository = varied();
    let kept = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let checkout = Checkout::open(repository.path(), Some(kept.path())).await.unwrap();
        // Given up at some moment: git is killed where it stands.
        let _ = tokio::time::timeout(Duration::from_millis(5), checkout.keep()).await;
    }
    let checkout = Checkout::open(repository.path(), Some(kept.path())).await.unwrap();
    let taken = checkout.keep().await.unwrap();
    let comparison = checkout.compare(&checkout.head().await.unwrap(), &taken.tree).await.unwrap();
    assert_eq!(comparison.total_files(), 7);
    repository.git(&["fsck", "--strict"]);
}

#[tokio::test]
async fn files_in_conflict_are_shown_as_they_lie_there() {
    let trap = Trap::new();
    trap.repository.git(&["checkout", "--quiet", "--", "a"]);
    trap.plant("a", "2\n");
    trap.diverge();
    let merged = Command::new("git").args(["merge", "--quiet", "side"]).current_dir(trap.path()).output().unwrap();
    assert!(!merged.status.success());
    let files = changes(trap.path()).await;
    assert!(files[0].hunks[0].lines.iter().any(|line| line.text.starts_with("<<<<<<<")), "{files:?}");
}

#[tokio::test]
async fn text_of_an_agent_is_taken_back_where_there_is_no_repository() {
    let work = tempfile::tempdir().unwrap();
    fs::write(work.path().join("a"), "new\n").unwrap();
    let absolute = work.path().join("a").display().to_string();
    assert!(matches!(crate::revert_text(work.path(), &absolute, Some("old\n"), "other\n", None).await, Err(ChangeError::Changed(_))));
    let undo = crate::revert_text(work.path(), &absolute, Some("old\n"), "new\n", Some(0)).await.unwrap();
    assert_eq!(fs::read_to_string(work.path().join("a")).unwrap(), "old\n");
    undo.run().unwrap();
    crate::revert_text(work.path(), "a", None, "new\n", None).await.unwrap();
    assert!(!work.path().join("a").exists());
    for path in ["../a", "/etc/passwd", ".git/config", "sub/../../a"] {
        assert!(crate::revert_text(work.path(), path, Some("x"), "y", None).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn binary_files_have_sizes_and_images_both_sides() {
    let repository = Repository::new();
    let path = repository.path();
    fs::write(path.join("dot.gif"), b"GIF89a\0one").unwrap();
    fs::write(path.join("gone.bin"), b"a\0b").unwrap();
    repository.commit("first");
    fs::write(path.join("dot.gif"), b"GIF89a\0other").unwrap();
    fs::write(path.join("new.bin"), b"\0").unwrap();
    fs::remove_file(path.join("gone.bin")).unwrap();
    let checkout = open(path).await;
    let now = checkout.now().await.unwrap();
    let comparison = checkout.compare(&checkout.head().await.unwrap(), &now.tree).await.unwrap();
    let files = checkout.files(&comparison).await.unwrap();
    let sizes: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.old_size, file.new_size)).collect();
    assert_eq!(sizes, [("dot.gif", Some(10), Some(12)), ("gone.bin", Some(3), None), ("new.bin", None, Some(1))]);
    let alone = checkout.file(&comparison, "dot.gif").await.unwrap().unwrap();
    assert_eq!((alone.old_size, alone.new_size), (Some(10), Some(12)));
    let side = async |path: &str, side| checkout.picture(&comparison, path, side).await.unwrap().map(|picture| picture.bytes);
    assert_eq!(side("dot.gif", Side::Old).await.unwrap(), b"GIF89a\0one");
    assert_eq!(side("dot.gif", Side::New).await.unwrap(), b"GIF89a\0other");
    assert_eq!(side("gone.bin", Side::Old).await, None);
    assert_eq!(side("new.bin", Side::Old).await, None);
    assert_eq!(side("missing", Side::New).await, None);
}
