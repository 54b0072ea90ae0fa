//! `voxpilot backup`, `restore` and `vacuum`.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use testkit::client::{Client, Event};
use testkit::server::{Rig, Server};

use crate::{SOON, files, refuses, run, succeeds};

/// What the log says up to and including that number.
fn up_to(client: &Client, last: u64) -> Vec<(u64, String, Value)> {
    let numbered = |event: &Event| Some((event.id.filter(|id| *id <= last)?, event.kind.clone(), event.data.clone()));
    client.seen.events.iter().filter(|event| event.kind != "ready").filter_map(numbered).collect()
}

async fn finished(server: &Server, session: &str, message: Value) {
    let mut client = server.stream(session, None).await;
    client.until("ready", SOON, |event| event.kind == "ready").await;
    let (status, answer) = server.call("POST", &format!("/api/sessions/{session}/messages"), Some(message)).await;
    assert_eq!(status, 202, "{answer}");
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
}

async fn messages(server: &Server, session: &str) -> Value {
    server.call("GET", &format!("/api/sessions/{session}/messages"), None).await.1["messages"].clone()
}

#[tokio::test]
async fn a_backup_from_the_middle_of_a_turn_is_whole_elsewhere() {
    let server = Rig::default().faulty_agent().start().await;
    let quiet = server.new_session(json!({ "title": "quiet" })).await;
    let note = json!({ "kind": "file", "name": "note.txt", "text": "sent along" });
    finished(&server, &quiet, json!({ "content": "say one two", "attachments": [note] })).await;
    let said = messages(&server, &quiet).await;
    let busy = server.new_session(json!({ "title": "busy" })).await;
    let mut client = server.stream(&busy, Some(0)).await;
    server.send(&busy, "slow 100000").await;
    for _ in 0..5 {
        client.until("piece", SOON, |event| event.kind == "copilot-delta").await;
    }
    let before = client.seen.cursor.unwrap();
    let file = server.rig().home().join("kept.backup");
    let name = file.to_str().unwrap();
    assert!(succeeds(&run(server.rig(), &["backup", name]).await).contains("kept.backup"));
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let content = std::fs::read(&file).unwrap();
    refuses(&run(server.rig(), &["backup", name]).await, "exists already");
    assert_eq!(std::fs::read(&file).unwrap(), content, "a file that is there is not touched");
    assert!(!content.windows(server.token().len()).any(|part| part == server.token().as_bytes()), "the secret is not in it");
    let left: Vec<_> = files(server.rig().home()).into_iter().filter(|path| path.to_string_lossy().contains("unfinished")).collect();
    assert!(left.is_empty(), "{left:?}");
    // It goes on meanwhile.
    client.until("more", SOON, |event| event.kind == "copilot-delta").await;

    let rig = Rig::default().faulty_agent();
    succeeds(&run(&rig, &["restore", name]).await);
    let again = rig.start().await;
    assert_eq!(messages(&again, &quiet).await, said);
    let attachment = said[0]["attachments"][0]["id"].as_str().unwrap();
    assert_eq!(again.text("GET", &format!("/api/sessions/{quiet}/attachments/{attachment}")).await, "sent along");
    let mut restored = again.stream(&busy, Some(0)).await;
    // Its agent is not here, though it works on for the other: what it was doing ends with a word about that.
    assert_eq!(restored.turn_end(SOON).await, "unknown", "{}", restored.seen.tail());
    assert_eq!(up_to(&restored, before), up_to(&client, before), "everything up to the backup is there, exactly once");
    finished(&again, &busy, json!({ "content": "say and on" })).await;
    again.end().await;
    client.until("more, for whom it always worked", SOON, |event| event.kind == "copilot-delta").await;
    server.end().await;
}

#[tokio::test]
async fn a_restore_replaces_everything_and_only_while_nothing_runs() {
    let mut server = Rig::default().faulty_agent().start().await;
    let kept = server.new_session(json!({ "title": "kept" })).await;
    finished(&server, &kept, json!({ "content": "say kept" })).await;
    let file = server.rig().home().join("kept.backup");
    let name = file.to_str().unwrap();
    succeeds(&run(server.rig(), &["backup", name]).await);
    let later = server.new_session(json!({ "title": "later" })).await;
    let mut client = server.stream(&later, None).await;
    server.send(&later, "slow 100000").await;
    client.until("piece", SOON, |event| event.kind == "copilot-delta").await;
    refuses(&run(server.rig(), &["restore", name]).await, "voxpilot stop");
    refuses(&run(server.rig(), &["vacuum"]).await, "voxpilot stop");
    server.kill().await;
    refuses(&run(server.rig(), &["restore", name]).await, "voxpilot stop --all");
    succeeds(&run(server.rig(), &["stop", "--all"]).await);
    // Of what a kill left, too.
    let after_kill = server.rig().home().join("after-kill.backup");
    succeeds(&run(server.rig(), &["backup", after_kill.to_str().unwrap()]).await);

    let broken = server.rig().home().join("broken.backup");
    std::fs::write(&broken, "no database").unwrap();
    refuses(&run(server.rig(), &["restore", broken.to_str().unwrap()]).await, "is not a voxpilot database");
    let mut damaged = std::fs::read(&file).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8192].fill(0xaa);
    std::fs::write(&broken, damaged).unwrap();
    refuses(&run(server.rig(), &["restore", broken.to_str().unwrap()]).await, "damaged");
    refuses(&run(server.rig(), &["restore", "/nowhere/at.all"]).await, "/nowhere/at.all");
    server.restart().await;
    assert_eq!(server.call("GET", &format!("/api/sessions/{later}"), None).await.0, 200, "nothing was replaced by what was refused");
    server.terminate().await;

    succeeds(&run(server.rig(), &["restore", name]).await);
    let data = server.rig().data_dir();
    let left: Vec<_> = files(&data).into_iter().filter(|path| path.to_string_lossy().contains(".re")).collect();
    assert!(left.is_empty(), "{left:?}");
    server.restart().await;
    assert_eq!(server.call("GET", &format!("/api/sessions/{later}"), None).await.0, 404);
    assert_eq!(messages(&server, &kept).await[0]["content"], "say kept");
    finished(&server, &kept, json!({ "content": "say on" })).await;
    server.terminate().await;
    succeeds(&run(server.rig(), &["restore", after_kill.to_str().unwrap()]).await);
    server.restart().await;
    assert_eq!(server.call("GET", &format!("/api/sessions/{later}"), None).await.0, 200);
    assert_eq!(messages(&server, &kept).await.as_array().unwrap().iter().filter(|message| message["content"] == "say on").count(), 0);
    server.end().await;
}

#[tokio::test]
async fn a_vacuum_gives_back_what_was_deleted() {
    let mut server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({})).await;
    let large = json!({ "kind": "file", "name": "large.txt", "text": "x".repeat(4_000_000) });
    finished(&server, &session, json!({ "content": "say hello", "attachments": [large] })).await;
    server.call("DELETE", &format!("/api/sessions/{session}"), None).await;
    server.terminate().await;
    let database = server.rig().data_dir().join("voxpilot.db");
    let before = database.metadata().unwrap().len();
    let said = succeeds(&run(server.rig(), &["vacuum"]).await);
    assert!(said.contains("MiB and has"), "{said}");
    assert!(before > 4_000_000 && database.metadata().unwrap().len() < 1_000_000);
    server.restart().await;
    server.end().await;
    let nothing = Rig::default();
    refuses(&run(&nothing, &["vacuum"]).await, "nothing in");
    refuses(&run(&nothing, &["backup", "x"]).await, "nothing in");
}
