//! Named agent sessions: one process, a context of its own for each name, side by side or in turn.

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};

use crate::replies::delegate_all;
use crate::setup::{Setup, said, start, start_with};

/// Holds S1-2, S1-9, S1-10, S1-15, S1-16, S1-20, S1-28, S1-29, S1-V9, S1-V10, S1-V11, S1-V12.
#[tokio::test]
async fn v9_v10_v11_v12_names_are_sessions_with_their_own_memory_on_one_process() {
    let mut setup = start().await;
    setup.exchange("auth-bug-fix", "Find the auth bug.", "It is in login.rs.").await;
    let process = setup.processes().native();
    setup.exchange("auth-bug-fix", "Mend it.", "Mended.").await;
    setup.exchange("refactor-logger", "Tidy the logger.", "Tidied.").await;
    setup.exchange("auth-bug-fix", "Add a test.", "Added.").await;

    let asked: Vec<String> = setup.coder_requests().iter().map(said).collect();
    assert_eq!(asked.len(), 4);
    let knows = |request: usize, words: &[&str]| words.iter().filter(|word| asked[request].contains(**word)).count();
    let auth = ["Find the auth bug.", "It is in login.rs.", "Mend it.", "Mended."];
    let logger = ["Tidy the logger.", "Tidied."];
    assert_eq!(knows(1, &auth[..3]), 3, "a follow-up sees the earlier turn");
    assert_eq!(knows(2, &auth), 0, "another name knows nothing of the first");
    assert_eq!(knows(3, &auth), 4, "and the first is still there when the AI comes back to it");
    assert_eq!(knows(3, &logger), 0);

    let processes = setup.processes();
    assert_eq!(
        (processes.native(), processes.wrappers.len(), processes.runners.len()),
        (process, 1, 1),
        "exactly one Copilot, and always the same"
    );
    let sessions = setup.get("agents").await;
    let listed: Vec<_> = sessions["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|view| (view["name"].as_str().unwrap(), view["state"].as_str().unwrap()))
        .collect();
    assert_eq!(listed, [("auth-bug-fix", "idle"), ("refactor-logger", "idle")]);
    assert_eq!(stored_sessions(&setup), 2);
    setup.end().await;
}

/// How many sessions Copilot keeps on disk; it has other things beside them.
fn stored_sessions(setup: &Setup) -> usize {
    let states = std::fs::read_dir(setup.server.rig().copilot_home().join("session-state")).unwrap();
    states.filter(|entry| entry.as_ref().unwrap().path().join("events.jsonl").exists()).count()
}

const RED: [&str; 4] = ["rouge ", "🟥 ", "rot ", "red"];
const BLUE: [&str; 4] = ["bleu ", "🟦🟦 ", "blau ", "blue"];

/// Holds C28.
#[tokio::test]
async fn two_names_at_once_run_side_by_side_and_never_mix_a_byte() {
    let (red, blue) = (Gate::new(), Gate::new());
    let gates = (red.clone(), blue.clone());
    let script = Script::rules(move |request| match request.last_user() {
        _ if request.model() == "main" && request.has_tool_result() => Reply::text("Both are painted."),
        _ if request.model() == "main" => delegate_all([("red", "paint it red"), ("blue", "paint it blue")]),
        prompt if prompt.contains("red") => Reply::chunks(RED).gate(&gates.0),
        _ => Reply::chunks(BLUE).gate(&gates.1),
    });
    let mut setup = start_with(script, json!({}), |rig| rig).await;
    setup.send("paint").await;
    for step in 0..RED.len() {
        red.release(1);
        setup.until_written("red", RED[step]).await;
        blue.release(1);
        setup.until_written("blue", BLUE[step]).await;
    }
    // Both have said everything and neither has ended: they ran at the same time.
    assert_eq!(setup.client.seen.of_kind("copilot-done").count(), 0);
    assert_eq!(setup.coder_requests().len(), 2);
    blue.open();
    red.open();
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.client.seen.agent_text("red"), RED.concat());
    assert_eq!(setup.client.seen.agent_text("blue"), BLUE.concat());
    for result in setup.results().await {
        let expected = if result["delegation"]["session_name"] == "red" { RED } else { BLUE };
        assert_eq!(result["display"], expected.concat());
    }
    setup.processes().native();
    setup.end().await;
}

/// Holds C28.
#[tokio::test]
async fn two_prompts_to_one_name_run_in_turn() {
    let mut setup = start().await;
    let gate = Gate::new();
    setup.main([delegate_all([("same", "the first"), ("same", "the second")]), Reply::text("Both done.")]);
    setup.coder([Reply::chunks(["first ", "answer"]).gate(&gate), Reply::text("second answer")]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("same", "first ").await;
    assert_eq!(setup.coder_requests().len(), 1, "the second waits for the first");
    gate.open();
    assert_eq!(setup.turn_end().await, "completed");

    let asked = setup.coder_requests();
    assert_eq!(asked.len(), 2);
    assert!(said(&asked[1]).contains("first answer"), "the second prompt sees what the first led to, whole");
    let ends: Vec<_> = setup.client.seen.of_kind("copilot-done").map(|event| event.data["stop_reason"].clone()).collect();
    assert_eq!(ends, ["end_turn", "end_turn"], "the second did not cancel the first");
    let shown: Vec<_> = setup.results().await.iter().map(|result| result["display"].clone()).collect();
    assert_eq!(shown, ["first answer", "second answer"]);
    setup.end().await;
}
