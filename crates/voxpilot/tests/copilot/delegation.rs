//! One delegation from the message to the answer, and what is kept of it. The letters are those of the plan's verification list.

use serde_json::{Value, json};
use testkit::client::Transcript;
use testkit::model_server::{Gate, Reply};

use crate::replies::{bash, create, delegate, edit};
use crate::setup::{Setup, said, start, start_with};

const COMMENT: &str = "The review says: greet the world, and say so in a note.";

/// Copilot talks, edits one file, makes two, and closes; the gate holds back its first words' end.
fn scripted(setup: &Setup, gate: &Gate) {
    let work = setup.server.rig().work_dir();
    std::fs::write(work.join("hello.txt"), "hello moon\n").unwrap();
    setup.main([
        Reply::text("I pass it on.").and_call(call("review-fix", "Greet the world in hello.txt.")),
        Reply::text("Copilot greets the **world** now."),
    ]);
    setup.coder([
        Reply::chunks(["I look ", "at it 🙂. "]).and_call(create(&work.join("note.md"), "greeted\n")).gate(gate),
        Reply::new().and_call(edit(&work.join("hello.txt"), "moon", "world")).and_call(bash("pwd > where.txt; cat where.txt")),
        Reply::text("The world is greeted."),
    ]);
}

fn call(name: &str, prompt: &str) -> testkit::model_server::ToolCall {
    testkit::model_server::ToolCall::new("copilot_agent", json!({ "prompt": prompt, "session_name": name }))
}

/// Holds S0-2, S1-1, S1-3, S1-4, S1-7, S1-18, S1-38, S1-40, S1-41, S1-42, S1-43, S1-44, S1-45, S1-46, S1-49, S1-50, S1-51, S1-52, S1-53, S1-60, S1-V1, S1-V2, S1-V3, S1-V4, S1-V7.
#[tokio::test]
async fn v1_v2_v3_v4_v7_a_review_comment_becomes_a_change_that_streams_and_is_reported_to_the_model() {
    let mut setup = start().await;
    let gate = Gate::new();
    scripted(&setup, &gate);
    setup.send(COMMENT).await;
    gate.release(1);
    // Its model has said two words and is held: what is seen now was streamed.
    setup.until_written("review-fix", "I look ").await;
    assert_eq!(setup.coder_requests().len(), 1);
    gate.open();
    assert_eq!(setup.turn_end().await, "completed");

    let work = setup.server.rig().work_dir();
    assert_eq!(setup.read("hello.txt"), "hello world\n");
    assert_eq!(setup.read("note.md"), "greeted\n");
    assert_eq!(setup.read("where.txt").trim(), work.to_str().unwrap());
    in_the_contracts_order(&setup.client.seen);
    v3_the_tool_is_described_as_planned(&setup);
    v7_the_model_reads_the_compact_result(&setup);
    setup.end().await;
}

fn in_the_contracts_order(seen: &Transcript) {
    let beside = ["queue", "ready", "session", "copilot-delta", "agent-update"];
    let mut kinds: Vec<&str> = seen.events.iter().map(|event| event.kind.as_str()).collect();
    let place = |kind: &str| seen.events.iter().position(|event| event.kind == kind).unwrap();
    let (opened, done) = (place("tool-call"), place("copilot-done"));
    for (index, kind) in kinds.iter().enumerate().filter(|(_, kind)| ["copilot-delta", "agent-update"].contains(kind)) {
        assert!(opened < index && index < done, "{kind} at {index}, outside of its call");
    }
    kinds.retain(|kind| !beside.contains(kind));
    kinds.dedup();
    let expected = ["message", "turn", "text-delta", "tool-call", "copilot-done", "tool-result", "text-delta", "message", "done", "turn"];
    assert_eq!(kinds, expected);

    let done = &seen.events[done].data;
    assert_eq!((done["stop_reason"].as_str(), done["summary"].as_str()), (Some("end_turn"), Some("The world is greeted.")));
    assert_eq!(done["session_name"], "review-fix");
    let text = seen.agent_text("review-fix");
    assert!(text.starts_with("I look at it 🙂. ") && text.ends_with("The world is greeted."), "{text}");
    let result = seen.of_kind("tool-result").next().unwrap();
    assert_eq!(result.data["display"], text);
    assert_eq!(result.data["is_error"], false);
}

fn v3_the_tool_is_described_as_planned(setup: &Setup) {
    let requests = setup.main_requests();
    let tools = requests[0].body["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["function"]["name"] == "copilot_agent").unwrap();
    let description = "Delegate a coding task to GitHub Copilot. Copilot will autonomously modify files in the workspace. Use the same session_name for \
                       follow-up instructions to the same task. Use a different session_name for independent tasks.";
    assert_eq!(tool["function"]["description"], description);
    let mut required = tool["function"]["parameters"]["required"].as_array().unwrap().clone();
    required.sort_by_key(Value::to_string);
    assert_eq!(required, [json!("prompt"), json!("session_name")]);
    assert!(said(&setup.coder_requests()[0]).contains("Greet the world in hello.txt."));
}

fn v7_the_model_reads_the_compact_result(setup: &Setup) {
    let requests = setup.main_requests();
    assert_eq!(requests.len(), 2);
    let last = requests[1].messages().last().unwrap();
    assert_eq!(last["role"], "tool");
    let content = last["content"].as_str().unwrap();
    assert!(content.starts_with("The world is greeted."), "{content}");
    assert!(!content.contains("I look at it"), "the compact result is not the whole output: {content}");
    for fact in ["hello.txt", "note.md", "command run: pwd > where.txt; cat where.txt (exit code 0)", "stop reason: end_turn"] {
        assert!(content.contains(fact), "no `{fact}` in: {content}");
    }
}

/// Holds S0-19, S1-35, S1-47, S1-56, S1-82, S1-V8, S1-V13, S1-V15, C39.
#[tokio::test]
async fn v5_v6_v8_v13_v15_history_and_a_fresh_client_have_all_that_a_finished_block_shows() {
    let mut setup = start().await;
    let gate = Gate::new();
    gate.open();
    scripted(&setup, &gate);
    assert_eq!(setup.turn(COMMENT).await, "completed");
    let live = setup.client.seen.agent_text("review-fix");

    let stored = setup.messages().await;
    let roles: Vec<&str> = stored.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(stored[1]["content"], "I pass it on.");
    assert_eq!(stored[1]["tool_calls"][0]["name"], "copilot_agent");
    assert_eq!(stored[3]["content"], "Copilot greets the **world** now.");
    let block = &stored[2];
    assert_eq!(block["display"], live, "the stored output is what was streamed");
    assert_eq!(block["tool_call_id"], stored[1]["tool_calls"][0]["id"]);
    let delegation = &block["delegation"];
    assert_eq!(delegation["session_name"], "review-fix");
    assert_eq!(delegation["stop_reason"], "end_turn");
    assert_eq!(delegation["summary"], "The world is greeted.");
    three_finished_tool_calls(delegation);

    // After a reload nothing of a finished call is open: the block is drawn from its message alone.
    let fresh = setup.new_client().await.seen;
    let shown: Vec<&Value> = fresh.of_kind("message").map(|event| &event.data).collect();
    assert_eq!(shown, stored.iter().collect::<Vec<_>>());
    assert!(
        ["tool-call", "copilot-delta", "agent-update", "turn"].iter().all(|kind| fresh.of_kind(kind).next().is_none()),
        "{:?}",
        fresh.kinds()
    );
    setup.end().await;
}

/// In the order in which they were asked for, each at its place in the text, none of them open.
fn three_finished_tool_calls(delegation: &Value) {
    let updates = delegation["updates"].as_array().unwrap();
    let calls: Vec<&Value> = updates.iter().filter(|placed| placed["update"]["type"] == "tool_call").collect();
    assert_eq!(calls.len(), 3, "{delegation}");
    let place = "I look at it 🙂. ".encode_utf16().count();
    for call in &calls {
        assert_eq!(call["update"]["status"], "completed");
        assert!(call["offset"].as_u64().unwrap() >= place as u64, "{call}");
    }
    let of_kind = |kind: &str| calls.iter().filter(|call| call["update"]["kind"] == kind).count();
    assert_eq!((of_kind("edit"), of_kind("execute")), (2, 1));
    let diffs: Vec<&Value> = calls.iter().map(|call| &call["update"]["content"][0]).filter(|content| content["type"] == "diff").collect();
    let texts: Vec<_> = diffs.iter().map(|diff| (diff["old_text"].as_str().unwrap(), diff["new_text"].as_str().unwrap())).collect();
    assert_eq!(texts, [("", "greeted\n"), ("moon", "world")]);
}

#[tokio::test]
async fn a_session_without_a_main_ai_talks_straight_to_copilot() {
    let mut setup =
        start_with(testkit::model_server::Script::new(), json!({ "model": "relay", "permission_policy": "auto" }), |rig| rig).await;
    setup.coder([Reply::new().and_call(bash("echo straight > made.txt")), Reply::text("Made it.")]);
    assert_eq!(setup.turn("make a file").await, "completed");
    assert_eq!(setup.read("made.txt"), "straight\n");
    assert_eq!(setup.messages().await.last().unwrap()["content"], "Made it.");
    assert!(setup.main_requests().is_empty());
    setup.end().await;
}

/// Holds S1-14.
#[tokio::test]
async fn a_name_that_makes_no_sense_is_told_to_the_model_and_never_reaches_copilot() {
    let mut setup = start().await;
    setup.main([delegate("", "do it"), Reply::text("I see.")]);
    assert_eq!(setup.turn("go").await, "completed");
    assert!(said(&setup.main_requests()[1]).contains("session_name"));
    assert!(setup.processes().natives.is_empty());
    setup.end().await;
}
