//! `/api/sessions/{id}/changes` and what belongs to it, and `/api/project`

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model_server::Reply;

use crate::rig::{Rig, SOON};

pub(crate) fn git(dir: &Path, args: &[&str]) -> String {
    let done = Command::new("git").args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A repository with one commit, and a change that no agent made.
pub(crate) fn repository(rig: &Rig) -> PathBuf {
    let work = rig.dir.path().join("work");
    git(&work, &["init", "-q", "--initial-branch=main"]);
    git(&work, &["config", "user.name", "Ada"]);
    git(&work, &["config", "user.email", "ada@example.org"]);
    std::fs::write(work.join("a"), "1\n2\n3\n").unwrap();
    std::fs::write(work.join("mine"), "1\n").unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "first"]);
    std::fs::write(work.join("mine"), "2\n").unwrap();
    work
}

/// A turn in which the agent has its client write these files; its id.
async fn write(rig: &Rig, session: &str, files: &[(&str, &str)]) -> String {
    let work = rig.dir.path().join("work");
    let calls: Vec<Value> =
        files.iter().map(|(path, content)| json!(["fs/write_text_file", { "path": work.join(path), "content": content }])).collect();
    let mut client = rig.watch(session).await;
    let posted = rig.say(session, &format!("calls {}", json!(calls))).await;
    let state = client.turn_end(SOON).await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    posted["turn_id"].as_str().unwrap().to_owned()
}

pub(crate) async fn changes(rig: &Rig, session: &str, query: &str) -> Value {
    let answer = rig.get(&format!("/api/sessions/{session}/changes?{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

pub(crate) fn names(changes: &Value) -> Vec<&str> {
    listed(&changes["files"])
}

pub(crate) fn meanwhile(changes: &Value) -> Vec<&str> {
    listed(&changes["meanwhile"])
}

fn listed(files: &Value) -> Vec<&str> {
    files.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

async fn relay(rig: &Rig) -> String {
    rig.session_with(json!({ "model": "relay", "permission_policy": "auto" })).await
}

/// What a turn changed is counted a moment after its end.
pub(crate) async fn counted(rig: &Rig, session: &str, wanted: Value) {
    let waiting = async {
        loop {
            let row = rig.get(&format!("/api/sessions/{session}")).await.json();
            if row["changes"] == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, waiting).await.expect("the turn is counted");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_turn_changed_is_told_from_what_was_changed_before() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    let session = relay(&rig).await;
    assert_eq!(changes(&rig, &session, "since=turn").await["source"], "none");
    let first = write(&rig, &session, &[("a", "1\nzwei\n3\n"), ("new/b", "b\n")]).await;
    counted(&rig, &session, json!({ "files": 2, "additions": 2, "deletions": 1 })).await;
    let turn = changes(&rig, &session, "since=turn").await;
    assert_eq!((&turn["source"], &turn["branch"], &turn["project"]), (&json!("git"), &json!("main"), &json!("work")));
    assert_eq!(names(&turn), ["a", "new/b"]);
    assert_eq!((&turn["total_files"], &turn["total_additions"], &turn["total_deletions"]), (&json!(2), &json!(2), &json!(1)));
    assert_eq!(turn["sinces"], json!(["turn", "session", "head"]));
    assert_eq!(turn["files"][0]["hunks"][0]["lines"][1], json!({ "kind": "delete", "old": 2, "text": "2" }));
    let head = changes(&rig, &session, "since=head").await;
    assert_eq!((names(&head), meanwhile(&head)), (vec!["a", "new/b"], vec!["mine"]));
    assert_eq!(head["total_files"], 2, "what no agent of the session wrote is not counted");

    write(&rig, &session, &[("c", "c\n")]).await;
    counted(&rig, &session, json!({ "files": 1, "additions": 1, "deletions": 0 })).await;
    assert_eq!(names(&changes(&rig, &session, "since=turn").await), ["c"]);
    assert_eq!(names(&changes(&rig, &session, "since=session").await), ["a", "c", "new/b"]);
    assert_eq!(names(&changes(&rig, &session, &format!("since=turn&turn={first}")).await), ["a", "new/b"]);
    let summary = changes(&rig, &session, "since=session&summary=true").await;
    assert!(summary["files"].as_array().unwrap().iter().all(|file| file["hunks"] == json!([])), "{summary}");

    git(&work, &["checkout", "-q", "-b", "feature"]);
    git(&work, &["add", "c"]);
    git(&work, &["commit", "-qm", "second"]);
    let base = changes(&rig, &session, "since=base").await;
    assert_eq!((&base["base"], names(&base), meanwhile(&base)), (&json!("main"), vec!["a", "c", "new/b"], vec!["mine"]));
    assert_eq!(git(&work, &["status", "--porcelain"]), " M a\n M mine\n?? new/\n", "looking leaves no trace");

    let trees = rig.dir.path().join("data/trees").join(&session);
    assert!(trees.is_dir());
    rig.delete(&format!("/api/sessions/{session}")).await;
    assert!(!trees.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_taken_back_if_it_is_what_was_shown_and_the_revert_can_be_undone() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    let session = relay(&rig).await;
    write(&rig, &session, &[("a", "1\nzwei\n3\n"), ("b", "b\n")]).await;
    let shown = changes(&rig, &session, "since=turn").await;
    let path = format!("/api/sessions/{session}/changes");
    let revert = async |file: usize, version: &Value, hunk: Value| {
        let wanted = json!({ "since": "turn", "path": shown["files"][file]["path"], "version": version, "hunk": hunk });
        rig.post(&format!("{path}/revert"), wanted).await
    };
    revert(0, &json!("something else"), json!(null)).await.refuses(409, "changed");
    std::fs::write(work.join("b"), "the person goes on\n").unwrap();
    revert(1, &shown["files"][1]["digest"], json!(null)).await.refuses(409, "changed");
    revert(0, &shown["version"], json!(null)).await.refuses(409, "changed");

    let reverted = revert(0, &shown["files"][0]["digest"], json!(0)).await;
    assert_eq!(reverted.status, 200, "{}", reverted.text);
    assert_eq!(std::fs::read_to_string(work.join("a")).unwrap(), "1\n2\n3\n");
    assert_eq!(names(&changes(&rig, &session, "since=turn").await), ["b"]);
    let undo = json!({ "undo": reverted.json()["undo"] });
    let other = relay(&rig).await;
    rig.post(&format!("/api/sessions/{other}/changes/undo"), undo.clone()).await.refuses(404, "not_found");
    assert_eq!(rig.post(&format!("{path}/undo"), undo.clone()).await.status, 204);
    assert_eq!(std::fs::read_to_string(work.join("a")).unwrap(), "1\nzwei\n3\n");
    rig.post(&format!("{path}/undo"), undo).await.refuses(404, "not_found");

    let lines = rig.get(&format!("{path}/lines?since=turn&path=a&side=old&from=2&to=9")).await.json();
    assert_eq!(lines, json!({ "lines": ["2", "3"], "total": 3 }));
    let file = rig.get(&format!("{path}/file?since=turn&path=a")).await.json();
    assert_eq!(file, shown["files"][0]);
    for path in ["mine", "../a", ".git/config", "%2Fetc%2Fpasswd"] {
        rig.get(&format!("/api/sessions/{session}/changes/file?since=turn&path={path}")).await.refuses(404, "not_found");
    }
    rig.get(&format!("{path}?since=nonsense")).await.refuses(400, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_repository_the_agents_own_words_count() {
    let rig = Rig::replies([]).await;
    let work = rig.dir.path().join("work");
    std::fs::write(work.join("a"), "1\n").unwrap();
    let session = relay(&rig).await;
    write(&rig, &session, &[("a", "2\n")]).await;
    write(&rig, &session, &[("a", "3\n"), ("b", "b\n")]).await;
    let told = changes(&rig, &session, "since=session").await;
    assert_eq!((&told["source"], &told["branch"], names(&told)), (&json!("agents"), &json!(null), vec!["a", "b"]));
    assert_eq!(told["files"][0]["hunks"][0]["lines"][0]["text"], "1");
    assert_eq!(changes(&rig, &session, "since=head").await["source"], "none");
    let wanted = json!({ "since": "session", "path": "a", "version": told["files"][0]["digest"] });
    let reverted = rig.post(&format!("/api/sessions/{session}/changes/revert"), wanted).await;
    assert_eq!(reverted.status, 200, "{}", reverted.text);
    assert_eq!(std::fs::read_to_string(work.join("a")).unwrap(), "1\n");
    rig.post(&format!("/api/sessions/{session}/changes/commit"), json!({ "message": "x" })).await.refuses(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_committed_with_a_message_that_the_model_drafts() {
    let rig = Rig::replies([Reply::text("```\nSay two\n```")]).await;
    let work = repository(&rig);
    let session = rig.session().await;
    let path = format!("/api/sessions/{session}/changes");
    rig.post(&format!("{path}/draft"), json!({})).await.refuses(409, "conflict");
    let draft = rig.post(&format!("{path}/draft"), json!({ "paths": ["mine"] })).await;
    assert_eq!(draft.json(), json!({ "message": "Say two" }), "{}", draft.text);
    assert_eq!(rig.get(&format!("/api/sessions/{session}/messages")).await.json()["messages"], json!([]));
    let straight = relay(&rig).await;
    rig.post(&format!("/api/sessions/{straight}/changes/draft"), json!({})).await.refuses(409, "no_model");

    rig.post(&format!("{path}/commit"), json!({ "message": " " })).await.refuses(409, "conflict");
    rig.post(&format!("{path}/commit"), json!({ "message": "x", "paths": ["a"] })).await.refuses(409, "changed");
    rig.post(&format!("{path}/commit"), json!({ "message": "x" })).await.refuses(409, "conflict");
    let committed = rig.post(&format!("{path}/commit"), json!({ "message": "Say two", "paths": ["mine"] })).await;
    assert_eq!(committed.status, 200, "{}", committed.text);
    assert_eq!(committed.json(), json!({ "commit": git(&work, &["rev-parse", "HEAD"]).trim(), "branch": "main" }));
    assert_eq!(git(&work, &["log", "-1", "--format=%an <%ae> %s"]), "Ada <ada@example.org> Say two\n");
    assert_eq!(git(&work, &["status", "--porcelain"]), "");
    rig.post(&format!("{path}/draft"), json!({})).await.refuses(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_project_says_what_is_not_committed() {
    let rig = Rig::replies([]).await;
    let project = rig.get("/api/project").await.json();
    assert_eq!((&project["name"], &project["branch"], &project["changes"]), (&json!("work"), &json!(null), &json!(null)));
    repository(&rig);
    let project = rig.get("/api/project").await.json();
    assert_eq!(project["branch"], "main");
    assert_eq!(project["changes"], json!({ "files": 1, "additions": 1, "deletions": 1 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_has_both_its_sides() {
    let rig = Rig::replies([]).await;
    let work = repository(&rig);
    std::fs::write(work.join("dot.gif"), b"GIF89a\0one").unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "second"]);
    std::fs::write(work.join("dot.gif"), b"GIF89a\0other").unwrap();
    let session = rig.session().await;
    let path = |path: &str, side: &str| format!("/api/sessions/{session}/changes/picture?since=head&path={path}&side={side}");
    let shown = rig.get(&path("dot.gif", "old")).await;
    assert_eq!(shown.text, "GIF89a\0one");
    assert_eq!(shown.headers["content-type"], "image/gif");
    assert_eq!(shown.headers["content-security-policy"], "default-src 'none'; sandbox; frame-ancestors 'none'");
    assert_eq!(rig.get(&path("dot.gif", "new")).await.text, "GIF89a\0other");
    rig.get(&path("mine", "new")).await.refuses(404, "not_found");
    rig.get(&path("missing", "new")).await.refuses(404, "not_found");
    rig.get(&path("", "new")).await.refuses(400, "invalid");
}
