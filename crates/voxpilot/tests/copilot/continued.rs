//! S2: a session that Copilot made without VoxPilot is found by its work directory and goes on here, with everything it knows.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

use crate::setup::{SOON, Setup, said, start_with};

/// Talks to a Copilot of its own, as another client would, and gives the id of the session that it made.
async fn outside(setup: &Setup, prompt: &str) -> String {
    let rig = setup.server.rig();
    let mut copilot = Command::new(testkit::copilot::path())
        .args(["--acp", "--stdio"])
        .envs(testkit::copilot::offline(&rig.copilot_home(), &setup.model.base_url(), "coder"))
        .env("HOME", rig.home())
        .current_dir(rig.work_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = copilot.stdin.take().unwrap();
    let mut lines = BufReader::new(copilot.stdout.take().unwrap()).lines();
    let mut ask = async |id: u64, method: &str, params: Value| -> Value {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n";
        stdin.write_all(line.as_bytes()).await.unwrap();
        loop {
            let line = tokio::time::timeout(SOON, lines.next_line()).await.unwrap().unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id && message["method"].is_null() {
                return message["result"].clone();
            }
        }
    };
    ask(1, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} })).await;
    let session = ask(2, "session/new", json!({ "cwd": rig.work_dir(), "mcpServers": [] })).await["sessionId"].as_str().unwrap().to_owned();
    let prompted = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": prompt }] });
    assert_eq!(ask(3, "session/prompt", prompted).await["stopReason"], "end_turn");
    drop(stdin);
    tokio::time::timeout(SOON, copilot.wait()).await.unwrap().unwrap();
    session
}

#[tokio::test]
async fn a_session_made_outside_is_found_and_goes_on_here_with_what_was_said_before() {
    let mut setup = start_with(Script::new(), json!({ "model": "relay" }), |rig| rig).await;
    setup.coder([Reply::text("I shall remember the heron.")]);
    let agent_session = outside(&setup, "remember the word heron").await;

    let (status, found) = setup.server.call("POST", "/api/agents/copilot/sessions", None).await;
    assert_eq!(status, 200, "{found}");
    let own = found["sessions"].as_array().unwrap().iter().find(|own| own["agent_session_id"] == *agent_session).unwrap().clone();
    assert!(own["session_id"].is_null() && own["updated_at"].is_string(), "{own}");
    assert!(setup.processes().natives.is_empty(), "nothing of the looking is left");

    let body = json!({ "agent": "copilot", "agent_session_id": agent_session });
    let (status, session) = setup.server.call("POST", "/api/sessions", Some(body.clone())).await;
    assert_eq!(status, 201, "{session}");
    assert_eq!(session["model"], "relay");
    setup.session = session["id"].as_str().unwrap().to_owned();
    let earlier = setup.messages().await;
    let told: Vec<_> = earlier.iter().map(|message| (message["role"].as_str().unwrap(), message["content"].as_str().unwrap())).collect();
    assert_eq!(told, [("user", "remember the word heron"), ("assistant", "I shall remember the heron.")]);

    let (status, refused) = setup.server.call("POST", "/api/sessions", Some(body)).await;
    assert_eq!(status, 409, "one owner: {refused}");
    let (_, found) = setup.server.call("POST", "/api/agents/copilot/sessions", None).await;
    let owner = found["sessions"].as_array().unwrap().iter().find(|own| own["agent_session_id"] == *agent_session).unwrap();
    assert_eq!(owner["session_id"], session["id"]);

    setup.client = setup.server.stream(&setup.session, None).await;
    setup.coder([Reply::text("It was heron.")]);
    assert_eq!(setup.turn("which word was it?").await, "completed", "{}", setup.client.seen.tail());
    let asked = said(setup.coder_requests().last().unwrap());
    assert!(asked.contains("remember the word heron") && asked.contains("which word was it?"), "{asked}");
    assert_eq!(setup.client.seen.agent_text("main"), "It was heron.", "what was said before is not said again");
    assert!(setup.notices("session_lost").is_empty());
    setup.end().await;
}
