//! `GET /api/artifacts/{id}`

use std::path::Path;
use std::process::Command;

use serde_json::json;
use testkit::model_server::Reply;

use crate::rig::{Rig, of_kind, only};

pub(crate) fn git(dir: &Path, args: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(settings).args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "git {args:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diff_becomes_an_artifact_that_can_be_read_until_its_session_is_deleted() {
    let rig = Rig::replies([Reply::tool_call("git_diff", json!({})), Reply::text("see the diff")]).await;
    let work = rig.dir.path().join("work");
    git(&work, &["init", "-q"]);
    std::fs::write(work.join("a.rs"), "fn one() {}\n").unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "first"]);
    std::fs::write(work.join("a.rs"), "fn two() {}\n<script>\n").unwrap();
    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "show").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    let event = only(&client, "review-artifact");
    assert_eq!((&event["total_files"], &event["total_additions"], &event["total_deletions"]), (&json!(1), &json!(2), &json!(1)));
    assert_eq!(only(&client, "tool-result")["artifact_id"], event["artifact_id"]);
    let path = format!("/api/artifacts/{}", event["artifact_id"].as_str().unwrap());
    let artifact = rig.get(&path).await.json();
    assert_eq!((&artifact["title"], &artifact["status"]), (&event["title"], &json!("open")));
    let file = &artifact["files"][0];
    assert_eq!((&file["path"], &file["additions"]), (&json!("a.rs"), &json!(2)));
    assert!(file["diff"].as_str().unwrap().contains("+fn two() {}"));
    assert!(!file["diff_html"].as_str().unwrap().contains("<script>"), "{}", file["diff_html"]);
    let snapshot = rig.watch(&session).await;
    assert_eq!(of_kind(&snapshot, "review-artifact").len(), 1);
    rig.delete(&format!("/api/sessions/{session}")).await;
    rig.get(&path).await.refuses(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_artifact_is_not_found() {
    let rig = Rig::replies([]).await;
    for id in ["00000000-0000-0000-0000-000000000000", "garbage"] {
        rig.get(&format!("/api/artifacts/{id}")).await.refuses(404, "not_found");
    }
}
