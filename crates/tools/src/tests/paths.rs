//! The boundary of the work directory.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::*;

/// A work directory beside a file that must stay out of reach, with ways that lead out.
fn fortress() -> (TempDir, std::path::PathBuf) {
    let outer = directory();
    write(outer.path(), "secret.txt", "the secret\n");
    write(outer.path(), "other/deep.txt", "the secret\n");
    write(outer.path(), "work-other/near.txt", "the secret\n");
    write(outer.path(), "work/inside.txt", "inside\n");
    write(outer.path(), "work/sub/deep.txt", "deep\n");
    let work = outer.path().join("work");
    symlink("../secret.txt", work.join("file-link")).unwrap();
    symlink("../other", work.join("dir-link")).unwrap();
    symlink("../not-there", work.join("dangling-out")).unwrap();
    symlink("not-there", work.join("dangling-in")).unwrap();
    symlink("loop", work.join("loop")).unwrap();
    symlink("inside.txt", work.join("good-link")).unwrap();
    (outer, work)
}

#[tokio::test]
async fn paths_that_leave_the_work_directory_are_refused_by_name() {
    let (outer, work) = fortress();
    let secret = outer.path().join("secret.txt").display().to_string();
    let near = outer.path().join("work-other/near.txt").display().to_string();
    for path in [
        "../secret.txt",
        "sub/../../secret.txt",
        "missing/../../secret.txt",
        "../missing.txt",
        "file-link",
        "dir-link/deep.txt",
        "dir-link",
        "dir-link/missing",
        "dangling-out",
        "/etc/passwd",
        "/missing/at/all",
        &secret,
        &near,
        "loop",
    ] {
        for tool in ["read_file", "list_directory", "grep_search", "glob_search"] {
            let why = refusal(&work, tool, json!({"path": path, "pattern": "secret"})).await;
            assert_eq!(why, format!("'{path}' is outside the work directory"), "{tool}");
        }
    }
}

#[tokio::test]
async fn paths_inside_are_found_however_they_are_spelled() {
    let (outer, work) = fortress();
    symlink(&work, outer.path().join("alias")).unwrap();
    symlink(work.join("inside.txt"), work.join("absolute-link")).unwrap();
    symlink(outer.path().join("alias/sub"), work.join("link-by-alias")).unwrap();
    for path in [
        "inside.txt".to_owned(),
        "./sub/../inside.txt".to_owned(),
        "sub/../../work/inside.txt".to_owned(),
        "good-link".to_owned(),
        "absolute-link".to_owned(),
        "link-by-alias/../inside.txt".to_owned(),
        work.join("inside.txt").display().to_string(),
        outer.path().join("alias/inside.txt").display().to_string(),
    ] {
        assert_eq!(content(&work, "read_file", json!({"path": path})).await, "inside\n", "{path}");
    }
    assert_eq!(content(&work, "glob_search", json!({"pattern": "deep.txt"})).await, "sub/deep.txt\n");
    assert_eq!(content(&work, "grep_search", json!({"pattern": "deep"})).await, "sub/deep.txt:1: deep\n");
}

/// Links of a work directory are resolved when it is chosen. One that is there later was put there by somebody else.
#[tokio::test]
async fn a_work_directory_that_became_a_link_is_refused() {
    let (outer, work) = fortress();
    std::fs::rename(&work, outer.path().join("moved")).unwrap();
    symlink(outer.path().join("other"), &work).unwrap();
    for (tool, arguments) in [("read_file", json!({"path": "deep.txt"})), ("list_directory", json!({})), ("git_diff", json!({}))] {
        assert_eq!(refusal(&work, tool, arguments).await, "the work directory cannot be opened: a link leads there now", "{tool}");
    }
    let below = work.join("sub");
    assert!(refusal(&below, "list_directory", json!({})).await.contains("a link leads there now"));
    assert!(crate::write_text(&work, "new", "x", false).is_err());
    assert!(!outer.path().join("other/new").exists());
}

#[tokio::test]
async fn paths_that_are_not_there_are_named() {
    let (_outer, work) = fortress();
    for (path, expected) in [
        ("missing.txt", "cannot open 'missing.txt': no such file or directory"),
        ("dangling-in", "cannot open 'dangling-in': no such file or directory"),
        ("inside.txt/x", "cannot open 'inside.txt/x': a part of the path is not a directory"),
        ("sub", "'sub' is a directory; use list_directory"),
        ("a\u{0}b", "cannot open 'a\u{fffd}b': the path contains a NUL character"),
    ] {
        assert_eq!(refusal(&work, "read_file", json!({"path": path})).await, expected);
    }
    let long = refusal(&work, "read_file", json!({"path": "x".repeat(5000)})).await;
    assert!(long.contains("too long") && long.len() < 400, "{long}");
    let why = refusal(&work, "list_directory", json!({"path": "inside.txt"})).await;
    assert_eq!(why, "'inside.txt' is not a directory");
}

#[tokio::test]
async fn searches_do_not_follow_links_out() {
    let (_outer, work) = fortress();
    assert_eq!(content(&work, "grep_search", json!({"pattern": "the secret"})).await, "no line matches 'the secret'");
    let files = content(&work, "glob_search", json!({"pattern": "**/*"})).await;
    assert!(!files.contains("dir-link/"), "{files}");
    let listed = content(&work, "list_directory", json!({})).await;
    assert!(listed.contains("dir-link -> ../other\n"), "{listed}");
    assert!(listed.starts_with("sub/\n"), "{listed}");
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let root = directory();
    assert!(Command::new("mkfifo").arg(root.path().join("pipe")).status().unwrap().success());
    let _listener = UnixListener::bind(root.path().join("socket")).unwrap();
    write(root.path(), "a.txt", "x\n");
    for (path, expected) in [("pipe", "'pipe' is a named pipe, not a regular file"), ("socket", "'socket' is a socket, not a regular file")]
    {
        for tool in ["read_file", "grep_search"] {
            assert_eq!(refusal(root.path(), tool, json!({"path": path, "pattern": "x"})).await, expected);
        }
    }
    assert_eq!(content(root.path(), "grep_search", json!({"pattern": "x"})).await, "a.txt:1: x\n");
    let listed = content(root.path(), "list_directory", json!({})).await;
    assert_eq!(listed, "a.txt (2 bytes)\npipe (named pipe)\nsocket (socket)\n");
    for path in ["/dev/zero", "/proc/self/environ", "/proc/kmsg", "/sys/kernel/notes"] {
        let why = refusal(root.path(), "read_file_external", json!({"path": path})).await;
        assert!(why.contains(path), "{why}");
    }
    let why = refusal(Path::new("/"), "read_file", json!({"path": "proc/self/environ"})).await;
    assert!(why.contains("belongs to the kernel"), "{why}");
}

#[tokio::test]
async fn a_file_outside_is_read_by_its_absolute_path() {
    let (outer, work) = fortress();
    let secret = outer.path().join("secret.txt");
    assert_eq!(content(&work, "read_file_external", json!({"path": secret})).await, "the secret\n");
    let link = work.join("file-link").display().to_string();
    let why = refusal(&work, "read_file_external", json!({"path": link})).await;
    assert_eq!(why, format!("'{link}' is a link, or lies behind one; it leads to '{}'", secret.display()));
    let behind = work.join("dir-link/deep.txt").display().to_string();
    let why = refusal(&work, "read_file_external", json!({"path": behind})).await;
    assert!(why.ends_with(&format!("it leads to '{}'", outer.path().join("other/deep.txt").display())), "{why}");
    let why = refusal(&work, "read_file_external", json!({"path": "../secret.txt"})).await;
    assert!(why.starts_with("'../secret.txt' is not an absolute path"), "{why}");
    let why = refusal(&work, "read_file_external", json!({"path": "/missing/file"})).await;
    assert_eq!(why, "cannot open '/missing/file': no such file or directory");
}
