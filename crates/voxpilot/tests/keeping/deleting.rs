//! Deleting erases: in no file of the data directory is anything left of what was said.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::Rig;

use crate::{SOON, files, wait_for};

const MARKER: &str = "zq-marker-7f31";

fn git(dir: &Path, args: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(settings).args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "git {args:?}");
}

fn holding(dir: &Path) -> Vec<PathBuf> {
    let holds = |path: &PathBuf| {
        let content = std::fs::read(path).unwrap_or_default();
        content.windows(MARKER.len()).any(|part| part == MARKER.as_bytes())
    };
    files(dir).into_iter().filter(holds).collect()
}

#[tokio::test]
async fn nothing_of_a_deleted_session_is_left_in_the_data_directory() {
    let delegate = |prompt: &str| Reply::tool_call("copilot_agent", json!({ "prompt": prompt, "session_name": "main" }));
    let model = ModelServer::start(Script::replies([
        Reply::tool_call("git_diff", json!({})),
        delegate(&format!("say {MARKER}")),
        delegate(&format!("create a file {MARKER}.txt with {MARKER}")),
    ]));
    let rig = Rig::default().demo_agent().model(&model.base_url());
    let (work, data) = (rig.work_dir(), rig.data_dir());
    git(&work, &["init", "-q"]);
    std::fs::write(work.join("a.txt"), "before\n").unwrap();
    git(&work, &["add", "."]);
    git(&work, &["commit", "-qm", "first"]);
    std::fs::write(work.join("a.txt"), format!("{MARKER}\n")).unwrap();
    let server = rig.start().await;
    let other = server.new_session(json!({ "title": "stays" })).await;
    let session = server.new_session(json!({ "permission_policy": "ask" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, &format!("{MARKER} in a message")).await;
    let asked = client.until("permission", SOON, |event| event.kind == "permission-request").await;
    assert!(asked.data["diff"].to_string().contains(MARKER), "{}", asked.data);
    assert_eq!(client.seen.of_kind("review-artifact").count(), 1);
    assert!(client.seen.agent_text("main").contains(MARKER));
    // Waits behind the turn, with something sent along.
    let attachment = json!({ "kind": "file", "name": format!("{MARKER}.txt"), "text": format!("{MARKER} {}", "y".repeat(20_000)) });
    let queued = json!({ "content": format!("{MARKER} in the queue"), "attachments": [attachment] });
    let (status, answer) = server.call("POST", &format!("/api/sessions/{session}/messages"), Some(queued)).await;
    assert_eq!((status, &answer["queued"]), (202, &json!(true)), "{answer}");
    let held = holding(&data);
    let is_held = |part: &str| held.iter().any(|path| path.to_string_lossy().contains(part));
    assert!(is_held("voxpilot.db") && is_held("/journal/"), "{held:?}");

    // Somebody else reads on meanwhile.
    let mut reading = server.stream(&other, None).await;
    reading.until("ready", SOON, |event| event.kind == "ready").await;
    let (status, _) = server.call("DELETE", &format!("/api/sessions/{session}"), None).await;
    assert_eq!(status, 204);
    wait_for("nothing holds the marker", || holding(&data).is_empty()).await;
    assert_eq!(server.call("GET", &format!("/api/sessions/{other}"), None).await.0, 200);
    server.end().await;
    assert!(holding(&data).is_empty(), "{:?}", holding(&data));
}
