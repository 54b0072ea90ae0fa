//! The raw traffic with the real Codex CLI can be looked at.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};

use crate::replies::shell;
use crate::setup::start_with;

#[tokio::test]
async fn the_trace_holds_what_was_said_in_both_directions() {
    let mut setup = start_with(Script::new(), json!({ "model": "relay", "permission_policy": "auto" }), |rig| rig).await;
    setup.coder([Reply::text("I look. ").and_call(shell("echo looked")), Reply::text("Done with it.")]);
    assert_eq!(setup.turn("look at it").await, "completed", "{}", setup.client.seen.tail());
    let capture = setup.server.text("GET", &format!("/api/sessions/{}/trace/capture", setup.session)).await;
    let lines: Vec<Value> = capture.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let methods = |direction: &str| {
        let of = lines.iter().filter(|line| line["dir"] == direction);
        of.filter_map(|line| line["msg"]["method"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let (sent, received) = (methods(">"), methods("<"));
    for method in ["initialize", "initialized", "thread/start", "turn/start"] {
        assert_eq!(sent.iter().filter(|known| *known == method).count(), 1, "{method} in {sent:?}");
    }
    for method in ["turn/started", "item/agentMessage/delta", "item/started", "item/completed", "turn/completed"] {
        assert!(received.iter().any(|known| known == method), "no {method} in {received:?}");
    }
    setup.end().await;
}
