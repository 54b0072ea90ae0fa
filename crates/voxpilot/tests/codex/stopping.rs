//! Stopping Codex in the middle: of a sentence, of a command, of a question.

use serde_json::json;
use testkit::model_server::{Gate, Reply};

use crate::replies::{beyond, delegate, shell};
use crate::setup::{Setup, calls, eventually, said, start, start_under};

async fn stop(setup: &mut Setup) {
    assert_eq!(setup.post("cancel", json!({})).await, 202);
    assert_eq!(setup.turn_end().await, "cancelled");
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
    stop(&mut setup).await;
    // Codex itself has let go of its model: the stop went all the way through.
    setup.model.wait_for_hang_ups(1).await;
    let result = &setup.results().await[0];
    assert_eq!(result["display"], "and so ", "what was written until then is kept");
    assert_eq!(result["delegation"]["stop_reason"], "cancelled");

    let process = setup.processes().native();
    setup.exchange("talk", "talk briefly", "Well.").await;
    assert_eq!(setup.processes().native(), process);
    assert!(said(setup.coder_requests().last().unwrap()).contains("talk for ever"), "it is the same thread");
    setup.end().await;
}

#[tokio::test]
async fn a_turn_is_cancelled_in_a_command_its_processes_end_and_the_next_message_works() {
    let mut setup = start().await;
    setup.main([delegate("work", "work for ever")]);
    setup.coder([Reply::new().and_call(shell("until [ -e never-4711 ]; do echo started; sleep 0.2; done"))]);
    setup.send("go").await;
    setup.until_printed("started").await;
    assert!(setup.count("never-4711") > 0);
    stop(&mut setup).await;
    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["delegation"]["stop_reason"], "cancelled");
    let states: Vec<_> = calls(&result).iter().map(|call| call["status"].clone()).collect();
    assert_eq!(states, ["cancelled"], "nothing looks as if it still ran");
    eventually("the command's processes end", || setup.count("never-4711") == 0).await;
    setup.exchange("work", "work briefly", "Done already.").await;
    setup.end().await;
}

#[tokio::test]
async fn a_turn_is_cancelled_while_codex_asks_and_the_question_is_gone() {
    let mut setup = start_under("ask").await;
    setup.main([delegate("ask", "do something")]);
    setup.coder([Reply::new().and_call(beyond("touch asked.txt"))]);
    setup.send("go").await;
    let request = setup.until_kind("permission-request").await.data["request_id"].as_str().unwrap().to_owned();
    stop(&mut setup).await;
    assert_eq!(setup.client.seen.of_kind("permission-resolved").last().unwrap().data["by"], "cancel");
    assert_eq!(setup.post(&format!("permissions/{request}"), json!({ "option_id": "accept" })).await, 409);
    assert!(setup.new_client().await.seen.of_kind("permission-request").next().is_none());
    setup.exchange("ask", "never mind", "All right.").await;
    assert!(!setup.exists("asked.txt"));
    setup.end().await;
}
