//! Copilot and Codex at work in one session at the same time, each by its own tool of the main AI's and under its own name.

use serde_json::json;
use testkit::model_server::{Gate, ModelServer, Reply, Script, ToolCall};
use testkit::server::Rig;

use crate::setup::{Real, Setup};

const COPILOT: [&str; 4] = ["copilot one, ", "copilot two 🙂, ", "copilot three, ", "copilot's end"];
const CODEX: [&str; 4] = ["codex one, ", "codex two 🙃, ", "codex three, ", "codex's end"];

/// The main AI asks both in one answer.
fn both() -> Reply {
    let copilot = json!({ "agent": "copilot", "session_name": "a", "prompt": "write something long" });
    let codex = json!({ "agent": "codex", "session_name": "b", "prompt": "write something else" });
    Reply::tool_calls([ToolCall::new("delegate", copilot), ToolCall::new("delegate", codex)])
}

#[tokio::test]
async fn copilot_and_codex_stream_at_once_outlive_a_killed_server_and_both_end_whole() {
    let (copilot, codex) = (Gate::new(), Gate::new());
    let held = (copilot.clone(), codex.clone());
    let script = Script::rules(move |request| match request.model() {
        "main" if request.has_tool_result() => Reply::text("Both are done."),
        "main" => both(),
        "coder" => Reply::chunks(COPILOT).gate(&held.0),
        _ => Reply::chunks(CODEX).gate(&held.1),
    });
    let model = ModelServer::start(script);
    let rig = Rig::default().model(&model.base_url()).codex(&model.base_url()).copilot(&model.base_url());
    let server = rig.start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let client = server.stream(&session, None).await;
    let mut setup = Setup { agent: Real::Codex, model, server, session, client };
    setup.send("do both").await;
    for index in 0..2 {
        copilot.release(1);
        setup.until_written("a", COPILOT[index]).await;
        codex.release(1);
        setup.until_written("b", CODEX[index]).await;
    }
    assert_eq!(setup.client.seen.of_kind("copilot-done").count(), 0, "both are at work: {}", setup.client.seen.tail());
    assert_eq!(setup.processes().runners.len(), 2, "a runner each");
    let process = setup.processes().native();

    setup.kill_server().await;
    copilot.release(1);
    codex.release(1);
    setup.restart_server().await;
    setup.until_written("a", COPILOT[2]).await;
    setup.until_written("b", CODEX[2]).await;
    copilot.open();
    codex.open();
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    assert_eq!(setup.client.seen.agent_text("a"), COPILOT.concat());
    assert_eq!(setup.client.seen.agent_text("b"), CODEX.concat());
    let mut ends: Vec<_> = setup
        .client
        .seen
        .of_kind("copilot-done")
        .map(|event| (event.data["session_name"].as_str().unwrap(), event.data["stop_reason"].as_str().unwrap()))
        .collect();
    ends.sort_unstable();
    assert_eq!(ends, [("a", "end_turn"), ("b", "end_turn")]);
    for result in setup.results().await {
        let expected = if result["delegation"]["session_name"] == "a" { COPILOT.concat() } else { CODEX.concat() };
        assert_eq!(result["display"], expected);
    }
    let agents = setup.get("agents").await;
    let mut names: Vec<_> =
        agents["agents"].as_array().unwrap().iter().map(|view| (view["name"].as_str().unwrap(), view["agent"].as_str().unwrap())).collect();
    names.sort_unstable();
    assert_eq!(names, [("a", "copilot"), ("b", "codex")], "{agents}");
    assert_eq!(setup.processes().native(), process, "nobody was started again");
    assert_eq!(setup.model.requests().len(), 4, "nobody was asked twice");
    setup.end().await;
}
