//! Stopping Copilot in the middle: of a sentence, of a command, of a question.

use std::time::Instant;

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};

use crate::replies::{bash, delegate, delegate_all};
use crate::setup::{Setup, eventually, said, start, start_with};

/// Stops the turn and says how long that took.
async fn stop(setup: &mut Setup, what: &str) {
    let asked = Instant::now();
    assert_eq!(setup.post("cancel", json!({})).await, 202);
    assert_eq!(setup.turn_end().await, "cancelled");
    println!("cancelled {what} in {:?}", asked.elapsed());
}

#[tokio::test]
async fn a_turn_is_cancelled_in_mid_stream_and_the_next_message_works() {
    let mut setup = start().await;
    let gate = Gate::new();
    setup.main([delegate("talk", "talk for ever")]);
    setup.coder([Reply::chunks(["and so ", "on"]).gate(&gate)]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("talk", "and so ").await;
    stop(&mut setup, "in mid-stream").await;
    // Copilot itself has let go of its model: the stop went all the way through.
    setup.model.wait_for_hang_ups(1).await;
    let result = &setup.results().await[0];
    assert_eq!(result["display"], "and so ", "what was written until then is kept");
    assert_eq!(result["delegation"]["stop_reason"], "cancelled");
    assert_eq!(setup.main_requests().len(), 1, "nobody asks the model about a turn that was stopped");
    assert_eq!(setup.client.seen.of_kind("done").count(), 0);

    let process = setup.processes().native();
    setup.exchange("talk", "talk briefly", "Well.").await;
    assert_eq!(setup.processes().native(), process);
    assert!(said(setup.coder_requests().last().unwrap()).contains("talk for ever"), "it is the same agent session");
    setup.end().await;
}

#[tokio::test]
async fn a_turn_is_cancelled_in_mid_tool_its_processes_end_and_the_next_message_works() {
    let mut setup = start().await;
    setup.main([delegate("work", "work for ever")]);
    setup.coder([Reply::new().and_call(bash("echo started; sleep 4711"))]);
    setup.send("go").await;
    setup.until_printed("started").await;
    assert!(setup.count("sleep 4711") > 0);
    stop(&mut setup, "in mid-tool").await;
    eventually("the tool's processes end", || setup.count("sleep 4711") == 0).await;
    let result = &setup.results().await[0];
    let calls = result["delegation"]["updates"].as_array().unwrap().iter().filter(|placed| placed["update"]["type"] == "tool_call");
    let states: Vec<_> = calls.map(|placed| placed["update"]["status"].clone()).collect();
    assert_eq!(states, ["cancelled"], "nothing looks as if it still ran");

    setup.exchange("work", "work briefly", "Done already.").await;
    setup.end().await;
}

#[tokio::test]
async fn a_turn_is_cancelled_while_copilot_asks_and_the_question_is_gone() {
    let mut setup = start_with(Script::new(), json!({ "permission_policy": "ask" }), |rig| rig).await;
    setup.main([delegate("ask", "do something")]);
    setup.coder([Reply::new().and_call(bash("touch asked.txt"))]);
    setup.send("go").await;
    let request = setup.until_kind("permission-request").await.data["request_id"].as_str().unwrap().to_owned();
    stop(&mut setup, "in mid-question").await;
    assert_eq!(setup.client.seen.of_kind("permission-resolved").last().unwrap().data["by"], "cancel");
    assert_eq!(setup.post(&format!("permissions/{request}"), json!({ "option_id": "allow_once" })).await, 409);
    assert!(setup.new_client().await.seen.of_kind("permission-request").next().is_none());
    assert!(!setup.server.rig().work_dir().join("asked.txt").exists());

    setup.exchange("ask", "never mind", "All right.").await;
    setup.end().await;
}

#[tokio::test]
async fn one_of_two_calls_is_cancelled_and_the_other_goes_on() {
    let (unwanted, wanted) = (Gate::new(), Gate::new());
    let gates = (unwanted.clone(), wanted.clone());
    let script = Script::rules(move |request| match request.last_user() {
        _ if request.model() == "main" && request.has_tool_result() => Reply::text("One of two."),
        _ if request.model() == "main" => delegate_all([("unwanted", "the unwanted work"), ("wanted", "the needed work")]),
        prompt if prompt.contains("unwanted") => Reply::chunks(["no ", "more"]).gate(&gates.0),
        _ => Reply::chunks(["go ", "on"]).gate(&gates.1),
    });
    let mut setup = start_with(script, json!({}), |rig| rig).await;
    setup.send("go").await;
    unwanted.release(1);
    setup.until_written("unwanted", "no ").await;
    wanted.release(1);
    setup.until_written("wanted", "go ").await;
    let opened = |name: &str| {
        let named = |event: &&testkit::client::Event| event.data["session_name"] == name;
        setup.client.seen.of_kind("copilot-delta").find(named).unwrap().data["tool_call_id"].clone()
    };
    assert_eq!(setup.post("cancel", json!({ "tool_call_id": opened("unwanted") })).await, 202);
    let done = setup.until_kind("copilot-done").await.data;
    assert_eq!((done["session_name"].as_str(), done["stop_reason"].as_str()), (Some("unwanted"), Some("cancelled")));
    wanted.open();
    assert_eq!(setup.turn_end().await, "completed", "the turn goes on with what the other one did");
    let shown: Vec<_> = setup.results().await.iter().map(|result| result["display"].clone()).collect();
    assert_eq!(shown, ["no ", "go on"]);
    setup.end().await;
}
