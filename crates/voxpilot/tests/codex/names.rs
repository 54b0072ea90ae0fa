//! Named agent sessions: one process, a thread of its own for each name, side by side.

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};

use crate::replies::delegate_all;
use crate::setup::{said, start_with};

const RED: [&str; 4] = ["rouge ", "🟥 ", "rot ", "red"];
const BLUE: [&str; 4] = ["bleu ", "🟦🟦 ", "blau ", "blue"];

#[tokio::test]
async fn two_names_at_once_run_side_by_side_and_never_mix_a_byte() {
    let (red, blue) = (Gate::new(), Gate::new());
    let gates = (red.clone(), blue.clone());
    let script = Script::rules(move |request| match request.last_user() {
        _ if request.model() == "main" && request.has_tool_result() => Reply::text("Both."),
        _ if request.model() == "main" => delegate_all([("red", "say it in red"), ("blue", "say it in blue")]),
        prompt if prompt.contains("red") => Reply::chunks(RED).gate(&gates.0),
        _ => Reply::chunks(BLUE).gate(&gates.1),
    });
    let mut setup = start_with(script, json!({ "permission_policy": "auto" }), |rig| rig).await;
    setup.send("go").await;
    for index in 0..RED.len() {
        red.release(1);
        setup.until_written("red", &RED[..=index].concat()).await;
        blue.release(1);
        setup.until_written("blue", &BLUE[..=index].concat()).await;
    }
    assert_eq!(setup.client.seen.of_kind("copilot-done").count(), 0, "both are at work");
    setup.processes().native();
    assert_eq!(setup.processes().runners.len(), 1, "two threads of one process");
    red.open();
    blue.open();
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.client.seen.agent_text("red"), RED.concat());
    assert_eq!(setup.client.seen.agent_text("blue"), BLUE.concat());
    for request in setup.coder_requests() {
        let said = said(&request);
        assert!(said.contains("say it in red") != said.contains("say it in blue"), "each knows of its own only: {said}");
    }
    setup.end().await;
}
