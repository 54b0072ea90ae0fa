//! What a person sent along with a message to the main AI, when the server is killed while an agent works on it.

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply, Script, ToolCall};
use testkit::server::Rig;

use crate::SOON;

/// The smallest picture there is.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_with_attachments_is_sent_once_over_a_kill_of_the_server_and_what_was_left_out_is_reported_once() {
    let call = ToolCall::new("copilot_agent", json!({ "prompt": "count", "session_name": "main" }));
    let model = ModelServer::start(Script::from([Reply::tool_calls([call]), Reply::text("It counted.")]));
    let rig = Rig::default();
    let log = rig.home().join("agent.log");
    let env = format!("[agents.faulty.env]\nFAULTY_LOG = {:?}\n", log.display().to_string());
    let mut server = rig.faulty_agent().config(&env).model(&model.base_url()).start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    let image = json!({ "kind": "image", "name": "dot.png", "mime_type": "image/png", "data": PNG });
    // The agent does what the last line says.
    let note = json!({ "kind": "file", "name": "note.txt", "text": "slow 150" });
    let body = json!({ "content": "count", "client_id": "once", "attachments": [image, note] });
    let (status, answer) = server.call("POST", &format!("/api/sessions/{session}/messages"), Some(body)).await;
    assert_eq!(status, 202, "{answer}");
    client.until("the agent's first words", SOON, |event| event.kind == "copilot-delta").await;
    server.kill().await;
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());

    let lines = std::fs::read_to_string(&log).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let prompts: Vec<_> = lines.filter(|line| line["method"] == "session/prompt").map(|line| line["params"]["prompt"].clone()).collect();
    let expected = json!([
        { "type": "text", "text": "count" },
        { "type": "text", "text": "Attached file `note.txt`:\n\nslow 150" },
    ]);
    assert_eq!(prompts, [expected]);
    let told = "it takes no images, so `dot.png` was not sent";
    let updates = client.seen.of_kind("agent-update").filter(|event| event.data["update"]["text"] == told).count();
    assert_eq!(updates, 1, "{}", client.seen.tail());
    let result = client.seen.of_kind("tool-result").next().unwrap();
    assert!(result.data["content"].as_str().unwrap().contains(told), "{}", result.data);
    server.end().await;
}
