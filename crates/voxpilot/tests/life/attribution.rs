//! Whose changes are whose, when the server is killed in the middle of a command.

use std::process::Command;

use serde_json::{Value, json};
use testkit::server::Rig;

use crate::SOON;

fn names(files: &Value) -> Vec<&str> {
    files.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_a_command_wrote_is_credited_although_the_server_was_killed_meanwhile() {
    let mut server = Rig::default().demo_agent().start().await;
    let work = server.rig().work_dir().to_owned();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&work).status().unwrap().success());
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "run `echo one > before.txt; while ! test -e go; do sleep 0.05; done; echo two > during.txt`").await;
    while !work.join("before.txt").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    client.until("the command", SOON, |event| event.data["update"]["status"] == "in_progress").await;
    server.kill().await;
    std::fs::write(work.join("go"), "").unwrap();
    while !work.join("during.txt").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    // Longer than the slack of a window that ended before the next server came.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    std::fs::write(work.join("hand.txt"), "by hand\n").unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    for _ in 0..2 {
        let (_, changes) = server.call("GET", &format!("/api/sessions/{session}/changes?since=session"), None).await;
        assert_eq!(names(&changes["files"]), ["before.txt", "during.txt", "go"], "{changes}");
        assert_eq!(names(&changes["meanwhile"]), ["hand.txt"], "{changes}");
        server.kill().await;
        server.restart().await;
    }
    server.end().await;
}
