//! `POST /api/sessions/{id}/cancel`

use std::time::Duration;

use serde_json::json;
use testkit::model_server::{Reply, ToolCall};

use crate::rig::{Options, Rig, SOON, TOKEN, answer, delegate, of_kind, only};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_being_written_stops_and_what_was_written_is_kept() {
    let rig = Rig::replies([Reply::text("half an answer").stall()]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "go").await;
    client.until("text", SOON, |event| event.kind == "text-delta").await;
    let path = format!("/api/sessions/{session}/cancel");
    // The body may be left out.
    assert_eq!(answer(rig.http.post(format!("{}{path}", rig.base)).bearer_auth(TOKEN)).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    assert_eq!(only(&client, "notice")["code"], "cancelled");
    assert!(of_kind(&client, "done").is_empty());
    rig.model.wait_for_hang_ups(1).await;
    let messages = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
    assert_eq!(messages["messages"][1]["content"], "half an answer");
    rig.post(&path, json!({})).await.refuses(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_stops_and_says_so() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "slow 100000").await;
    client.until("agent's text", SOON, |event| event.kind == "copilot-delta").await;
    assert_eq!(rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    assert_eq!(only(&client, "copilot-done")["stop_reason"], "cancelled");
    assert!(only(&client, "tool-result")["display"].as_str().unwrap().starts_with("1 "));
    let (state, client) = rig.turn(&session, "say still here").await;
    assert_eq!((state.as_str(), client.seen.agent_text("main").as_str()), ("completed", "still here"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_is_stopped_and_the_rest_goes_on() {
    let calls = delegate(&[("a", "no_answer"), ("b", "say fine")]);
    let rig = Rig::replies([calls, Reply::text("one of two")]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "go").await;
    client.until("end of b", SOON, |event| event.kind == "copilot-done" && event.data["session_name"] == "b").await;
    let calls = of_kind(&client, "tool-call");
    let id = calls.iter().find(|event| event.data["arguments"].as_str().unwrap().contains("no_answer")).unwrap().data["id"].clone();
    let path = format!("/api/sessions/{session}/cancel");
    rig.post(&path, json!({ "tool_call_id": "nothing" })).await.refuses(404, "not_found");
    rig.post(&path, json!({ "call": id })).await.refuses(422, "invalid");
    assert_eq!(rig.post(&path, json!({ "tool_call_id": id })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_never_overtakes_its_prompt() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    for _ in 0..15 {
        rig.say(&session, "no_answer").await;
        client.until("call", SOON, |event| event.kind == "tool-call").await;
        rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
        // The deadline of the stop is as long as this one: an agent that was told too early would still be silent.
        assert_eq!(client.turn_end(SOON / 2).await, "cancelled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_listen_is_ended_and_the_next_message_gets_a_new_one() {
    let rig = Rig::start(Options { cancel_timeout: Duration::from_millis(200), ..Options::default() }).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ignores_cancel").await;
    client.until("agent's text", SOON, |event| event.kind == "copilot-delta").await;
    // The next message begins the moment this turn is over, while the old process is still on its way out.
    let next = rig.say(&session, "say hello again").await["message_id"].as_str().unwrap().to_owned();
    rig.post(&format!("/api/sessions/{session}/queue/{next}/now"), json!({})).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert!(client.seen.agent_text("main").ends_with("hello again"), "{}", client.seen.tail());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_not_begun_never_begins() {
    let calls = delegate(&[("a", "no_answer"), ("a", "say never")])
        .and_call(ToolCall::new("read_file_external", json!({ "path": "/etc/hostname" })));
    let rig = Rig::replies([calls]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "go").await;
    let confirm = client.until("confirm", SOON, |event| event.kind == "tool-confirm").await;
    rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    assert_eq!(of_kind(&client, "tool-result").len(), 3);
    assert_eq!(of_kind(&client, "copilot-done").len(), 2);
    let late = json!({ "tool_call_id": confirm.data["id"], "approved": true });
    rig.post(&format!("/api/sessions/{session}/confirm"), late).await.refuses(409, "conflict");
    assert!(!std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap_or_default().contains("say never"));
}
