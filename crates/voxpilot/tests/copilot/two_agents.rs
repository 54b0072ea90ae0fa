//! Two agents at work in one session at the same time: Copilot by the tool that has its name, the demo agent by the general one.

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script, ToolCall};

use crate::setup::{start, start_with};

const PIECES: [&str; 5] = ["one, ", "two 🙂, ", "three while nobody listens, ", "four, ", "and the end"];
const COUNT: usize = 400;

fn counted() -> String {
    (1..=COUNT).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

fn wake() -> Reply {
    Reply::tool_call("copilot_agent", json!({ "session_name": "first", "prompt": "wake up" }))
}

/// The main AI asks both in one answer.
fn both() -> Reply {
    let copilot = json!({ "session_name": "a", "prompt": "write something long" });
    let demo = json!({ "agent": "demo", "session_name": "b", "prompt": format!("count to {COUNT}") });
    Reply::tool_calls([ToolCall::new("copilot_agent", copilot), ToolCall::new("delegate", demo)])
}

#[tokio::test]
async fn two_agents_stream_at_once_outlive_a_killed_server_and_both_end_whole() {
    let gate = Gate::new();
    let held = gate.clone();
    let script = Script::rules(move |request| match request.model() {
        "main" if request.has_tool_result() => Reply::text("Done."),
        "main" if request.last_user().contains("wake up") => wake(),
        "main" => both(),
        _ if request.last_user().contains("wake up") => Reply::text("I am awake."),
        _ => Reply::chunks(PIECES).gate(&held),
    });
    let demo = "[agents.demo]\nargs = [\"demo-agent\", \"--pace\", \"normal\"]\n";
    let mut setup = start_with(script, json!({ "permission_policy": "auto" }), |rig| rig.config(demo)).await;
    // So that both begin at the same time: one of them takes seconds to start.
    assert_eq!(setup.turn("wake up").await, "completed", "{}", setup.client.seen.tail());
    setup.send("do both").await;
    gate.release(2);
    setup.until_written("a", PIECES[1]).await;
    setup.until_written("b", "5 ").await;
    assert_eq!(setup.client.seen.of_kind("copilot-done").count(), 1, "both are at work: {}", setup.client.seen.tail());
    let copilot = setup.processes().native();
    assert_eq!((setup.count(" demo-agent"), setup.processes().runners.len()), (1, 2), "a process and a runner each");

    setup.kill_server().await;
    gate.release(1);
    setup.restart_server().await;
    setup.until_written("a", PIECES[2]).await;
    let mut new_client = setup.new_client().await;
    gate.open();
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    new_client.turn_end(crate::setup::SOON).await;
    for seen in [&setup.client.seen, &new_client.seen] {
        assert_eq!(seen.agent_text("a"), PIECES.concat());
        assert_eq!(seen.agent_text("b"), counted());
    }
    let mut ends: Vec<_> = setup
        .client
        .seen
        .of_kind("copilot-done")
        .skip(1)
        .map(|event| (event.data["session_name"].as_str().unwrap(), event.data["stop_reason"].as_str().unwrap()))
        .collect();
    ends.sort_unstable();
    assert_eq!(ends, [("a", "end_turn"), ("b", "end_turn")]);

    let results = setup.results().await;
    assert_eq!(results.len(), 3);
    for result in &results[1..] {
        let expected = if result["delegation"]["session_name"] == "a" { PIECES.concat() } else { counted() };
        assert_eq!(result["display"], expected);
    }
    assert_eq!(setup.processes().native(), copilot, "nobody was started again");
    assert_eq!((setup.main_requests().len(), setup.coder_requests().len()), (4, 2), "nobody was asked twice");
    setup.end().await;
}

/// The general tool names its agents, and an agent that is not there is told to the main AI.
#[tokio::test]
async fn the_general_tool_says_which_agents_there_are_and_refuses_others() {
    let mut setup = start().await;
    let call = ToolCall::new("delegate", json!({ "agent": "nobody", "session_name": "x", "prompt": "hello" }));
    setup.main([Reply::tool_calls([call]), Reply::text("I see.")]);
    assert_eq!(setup.turn("go").await, "completed");
    let requests = setup.main_requests();
    let tools = requests[0].body["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["function"]["name"] == "delegate").unwrap();
    let parameters = &tool["function"]["parameters"];
    for name in ["agent", "session_name", "prompt"] {
        assert!(parameters["required"].as_array().unwrap().contains(&json!(name)), "{parameters}");
    }
    assert!(tool.to_string().contains("demo") && tool.to_string().contains("copilot"), "{tool}");
    let told = requests[1].messages().last().unwrap()["content"].as_str().unwrap();
    assert!(told.contains("nobody"), "{told}");
    setup.end().await;
}
