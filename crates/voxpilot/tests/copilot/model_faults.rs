//! Copilot's model misbehaves. Copilot says so in words and ends its turn; nothing hangs, and the session can go on.

use serde_json::json;
use testkit::model_server::{Reply, Request, Script};

use crate::script::delegate_all;
use crate::stage::Stage;

/// Every fault in a session of its own, all at the same time: each takes Copilot seconds of retries.
const FAULTS: [&str; 3] = ["unauthorized", "broken", "cut"];

fn faulty(request: &Request) -> Reply {
    let prompt = request.last_user();
    match prompt.as_str() {
        _ if request.model() == "main" && request.has_tool_result() => Reply::text("So it is."),
        word if request.model() == "main" => {
            delegate_all(FAULTS.map(|fault| (fault, if word.contains("again") { "again" } else { fault })))
        }
        word if word.contains("again") => Reply::text("All is well."),
        word if word.contains("unauthorized") => Reply::status(401),
        word if word.contains("broken") => Reply::status(500),
        _ => Reply::text("half a sen").cut(),
    }
}

#[tokio::test]
async fn a_faulty_model_behind_copilot_ends_the_call_in_words_and_the_session_goes_on() {
    let mut stage = Stage::with(Script::rules(faulty), json!({}), |rig| rig).await;
    assert_eq!(stage.turn("try").await, "completed");
    for result in stage.results().await {
        let name = result["delegation"]["session_name"].as_str().unwrap();
        let shown = result["display"].as_str().unwrap();
        assert!(shown.contains("Error: "), "{name}: {shown}");
        assert_eq!(result["delegation"]["stop_reason"], "end_turn", "{name}");
    }
    assert_eq!(stage.turn("again").await, "completed");
    let after: Vec<_> = stage.results().await[FAULTS.len()..].iter().map(|result| result["display"].clone()).collect();
    assert_eq!(after, ["All is well."; 3]);
    stage.cast().native();
    stage.end().await;
}
