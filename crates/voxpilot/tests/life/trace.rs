//! The raw traffic of a session: downloaded, and played back to the same events.

use std::path::Path;

use serde_json::{Value, json};
use testkit::client::{Client, Event};
use testkit::server::{Rig, Server};
use testkit::summary::{difference, summary};

use crate::SOON;

const MESSAGES: [&str; 4] = [
    "create a file notes.txt with hello there",
    "@other think about rivers",
    "run `echo made > made.txt && cat made.txt`",
    "replace hello with goodbye in notes.txt",
];

/// Says it all, one message after the other, and allows whatever is asked.
async fn talk(server: &Server, session: &str, messages: &[&str]) -> Client {
    let mut client = server.stream(session, None).await;
    for message in messages {
        server.send(session, message).await;
        let waits = |event: &Event| event.kind == "permission-request" || event.kind == "turn" && event.data["state"] != "running";
        loop {
            let event = client.until("a question or the end of the turn", SOON, waits).await;
            if event.kind == "turn" {
                break;
            }
            allow(server, session, &event.data).await;
        }
    }
    client
}

async fn allow(server: &Server, session: &str, request: &Value) {
    let option = request["options"].as_array().unwrap().iter().find(|option| option["kind"] == "allow_once").unwrap();
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    let (status, answer) = server.call("POST", &path, Some(json!({ "option_id": option["option_id"] }))).await;
    assert_eq!(status, 202, "{answer}");
}

/// A server whose agent plays the capture back.
async fn replaying(agent: &str, capture: &Path) -> Server {
    let args = ["--replay".to_owned(), capture.display().to_string()];
    Rig::default().agent(agent, &testkit::faulty_agent::path(), &args).start().await
}

#[tokio::test]
async fn a_downloaded_capture_plays_back_to_the_same_events() {
    let server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "ask", "title": "x" })).await;
    let original = talk(&server, &session, &MESSAGES).await;
    let capture = server.text("GET", &format!("/api/sessions/{session}/trace/capture")).await;
    let (kept, file) = (tempfile::tempdir().unwrap(), "capture.ndjson");
    std::fs::write(kept.path().join(file), &capture).unwrap();
    server.end().await;

    let replay = replaying("demo", &kept.path().join(file)).await;
    let again = replay.new_session(json!({ "permission_policy": "ask", "title": "x" })).await;
    let replayed = talk(&replay, &again, &MESSAGES).await;
    let told = summary(&original.seen);
    assert!(told["main"].len() > 10 && told.contains_key("other"), "{told:#?}");
    assert!(capture.contains("session/request_permission"));
    assert_eq!(difference(&summary(&replayed.seen), &told), None);
    assert!(!replay.rig().work_dir().join("notes.txt").exists(), "a replay says what was done and does nothing");
    replay.end().await;
}

#[tokio::test]
async fn a_capture_of_an_agent_that_died_plays_its_death_and_the_next_one() {
    let messages = ["say one two", "exit_zero", "say three"];
    let server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "title": "x" })).await;
    let original = talk(&server, &session, &messages).await;
    let capture = server.text("GET", &format!("/api/sessions/{session}/trace/capture")).await;
    let kept = tempfile::tempdir().unwrap();
    std::fs::write(kept.path().join("capture.ndjson"), &capture).unwrap();
    server.end().await;

    let replay = replaying("faulty", &kept.path().join("capture.ndjson")).await;
    let again = replay.new_session(json!({ "title": "x" })).await;
    let replayed = talk(&replay, &again, &messages).await;
    assert_eq!(difference(&summary(&replayed.seen), &summary(&original.seen)), None);
    replay.end().await;
}

#[tokio::test]
async fn traffic_survives_a_killed_server_and_the_end_of_its_agents() {
    let mut server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    talk(&server, &session, &["say before"]).await;
    server.kill().await;
    server.restart().await;
    talk(&server, &session, &["say after"]).await;
    // An orderly stop ends the idle agent; its traffic stays.
    server.terminate().await;
    server.restart().await;
    let trace = server.call("GET", &format!("/api/sessions/{session}/trace?direction=to-agent&method=session/prompt"), None).await.1;
    let prompts: Vec<_> = trace["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["payload"]["params"]["prompt"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(prompts, ["say after", "say before"]);
    let runners = trace["runners"].as_array().unwrap();
    assert!(!runners.is_empty() && runners.iter().all(|runner| runner["running"] == false), "{trace}");
    server.end().await;
}
