//! Repositories that are laid out in unusual but honest ways are read as they are.

use super::*;

#[tokio::test]
async fn a_linked_worktree_shows_its_own_changes() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.commit("first");
    let elsewhere = tempfile::tempdir().unwrap();
    let linked = elsewhere.path().join("linked");
    repository.git(&["worktree", "add", "--quiet", "-b", "side", linked.to_str().unwrap()]);
    fs::write(linked.join("a"), "2\n").unwrap();
    let output = run(&linked, "git_diff", "{}").await;
    assert_eq!(facts(&output.review.expect(&output.content).files), [("a", "modified", 1, 1, false)]);
    let output = run(&linked, "git_show", r#"{"commit": "side"}"#).await;
    assert!(!output.is_error, "{}", output.content);
}

#[tokio::test]
async fn a_submodule_shows_its_own_changes() {
    let module = Repository::new();
    module.write("a", "1\n");
    module.commit("first");
    let repository = Repository::new();
    let from = module.path().to_str().unwrap();
    repository.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "part"]);
    repository.commit("with a module");
    repository.write("part/a", "2\n");
    let output = run(&repository.path().join("part"), "git_diff", "{}").await;
    assert_eq!(facts(&output.review.expect(&output.content).files), [("a", "modified", 1, 1, false)]);
}

#[tokio::test]
async fn other_formats_of_a_repository_are_read() {
    for arguments in [["--object-format=sha256", "--quiet"], ["--ref-format=reftable", "--quiet"]] {
        let repository = Repository(tempfile::tempdir().unwrap());
        let init = ["init", "--initial-branch=main", arguments[0], arguments[1]];
        if !Command::new("git").args(init).current_dir(repository.path()).status().unwrap().success() {
            println!("skipped: this git does not know {}", arguments[0]);
            continue;
        }
        repository.write("a", "1\n");
        repository.commit("first");
        repository.write("a", "2\n");
        assert_eq!(facts(&repository.files("git_diff", json!({})).await), [("a", "modified", 1, 1, false)], "{arguments:?}");
        assert_eq!(facts(&repository.files("git_show", json!({"commit": "main"})).await), [("a", "added", 1, 0, false)], "{arguments:?}");
    }
}

#[tokio::test]
async fn a_split_index_borrowed_objects_and_packed_branches_are_read() {
    let origin = Repository::new();
    origin.write("a", "1\n");
    origin.commit("first");
    let clone = Repository(tempfile::tempdir().unwrap());
    clone.git(&["clone", "--quiet", "--shared", origin.path().to_str().unwrap(), "."]);
    clone.git(&["update-index", "--split-index"]);
    clone.git(&["pack-refs", "--all"]);
    clone.write("b", "1\n");
    clone.git(&["add", "b"]);
    assert_eq!(facts(&clone.files("git_diff", json!({"staged": true})).await), [("b", "added", 1, 0, false)]);
    assert_eq!(facts(&clone.files("git_show", json!({"commit": "origin/main"})).await), [("a", "added", 1, 0, false)]);
}

#[tokio::test]
async fn names_of_earlier_commits_are_known() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.commit("first");
    repository.write("a", "2\n");
    repository.commit("second");
    repository.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    for commit in ["ORIG_HEAD", "main@{1}", "HEAD@{1}"] {
        let output = repository.call("git_show", json!({"commit": commit})).await;
        assert!(output.content.contains("second"), "{commit}: {}", output.content);
    }
}

#[tokio::test]
async fn what_a_filter_would_change_shows_only_once_it_was_touched() {
    let repository = Repository::new();
    repository.write(".gitattributes", "*.bin filter=large\n");
    repository.write("a.bin", "the large content\n");
    repository.git(&["config", "filter.large.clean", "echo pointer"]);
    repository.commit("first");
    let past = std::time::SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(repository.path().join("a.bin")).unwrap().set_modified(past).unwrap();
    repository.git(&["status"]);
    assert_eq!(repository.call("git_diff", json!({})).await.content, "no changes");
    repository.write("a.bin", "another content\n");
    assert_eq!(facts(&repository.files("git_diff", json!({})).await), [("a.bin", "modified", 1, 1, false)]);
}
