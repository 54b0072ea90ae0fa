//! The stop reasons and error codes of the protocol, each with what it leads to.

use serde_json::{Value, json};
use testkit::model_server::Reply;

use crate::rig::{Rig, SOON, delegate, of_kind, only};

/// S2-20, S2-21, S2-22, S2-23, S1-39, S1-54: why an agent stopped is the end of its call, for people, in the history and for the main AI.
#[tokio::test(flavor = "multi_thread")]
async fn every_stop_reason_is_the_ending_of_its_own_call() {
    for reason in ["end_turn", "max_tokens", "max_turn_requests", "refusal"] {
        let rig = Rig::replies([delegate(&[("a", &format!("stop_reason {reason}"))]), Reply::text("I see.")]).await;
        let session = rig.session().await;
        let (state, client) = rig.turn(&session, "go").await;
        assert_eq!(state, "completed", "{reason}");
        let done = only(&client, "copilot-done");
        assert_eq!((&done["stop_reason"], &done["summary"]), (&json!(reason), &json!("almost normal")));
        let result = only(&client, "tool-result");
        assert_eq!((&done["tool_call_id"], &done["session_name"]), (&result["id"], &json!("a")));
        assert_eq!(done["tool_call_id"], only(&client, "tool-call")["id"]);
        assert_eq!((&result["is_error"], &result["display"]), (&json!(false), &json!("almost normal")), "{reason}");
        let told = rig.model.requests_for("main")[1].messages().last().unwrap()["content"].as_str().unwrap().to_owned();
        assert!(told.lines().any(|line| line == format!("stop reason: {reason}")), "{reason}: {told}");
        let stored = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
        let delegation =
            stored["messages"].as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap()["delegation"].clone();
        assert_eq!(delegation["stop_reason"], reason);
    }
}

/// S2-24, S2-41, C27: the answer `cancelled` to a stop ends the call and the turn as stopped.
#[tokio::test(flavor = "multi_thread")]
async fn cancelled_after_a_stop_is_a_stop() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "slow 1000").await;
    client.until("the first words", SOON, |event| event.kind == "copilot-delta").await;
    rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    assert_eq!(only(&client, "copilot-done")["stop_reason"], "cancelled");
    assert_eq!(of_kind(&client, "error").len(), 0);
}

/// An agent that answers `cancelled` although nobody has stopped it was interrupted, by whatever.
#[tokio::test(flavor = "multi_thread")]
async fn cancelled_that_nobody_asked_for_is_an_interruption() {
    let rig = Rig::replies([delegate(&[("a", "cancelled-unasked")]), Reply::text("I see.")]).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "cancelled-unasked").await;
    assert_eq!(state, "failed", "{}", client.seen.tail());
    assert_eq!(only(&client, "copilot-done")["stop_reason"], "interrupted");
    assert_eq!(only(&client, "tool-result")["is_error"], true);
    assert_eq!(only(&client, "tool-result")["display"], "almost normal", "what it had said is kept");
    assert_eq!(rig.turn(&session, "say back again").await.0, "completed");

    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "completed", "the main AI goes on: {}", client.seen.tail());
    assert_eq!(only(&client, "copilot-done")["stop_reason"], "interrupted");
    assert!(rig.model.requests_for("main")[1].messages().last().unwrap()["content"].as_str().unwrap().contains("interrupted"));
}

/// S2-55, S2-56, S2-57, S2-58, S2-59, S2-61, C36: a prompt that is refused ends its call as failed, in the agent's words. Only where the
/// agent says that it does not know the session, by whichever code, the next prompt goes to a new one.
#[tokio::test(flavor = "multi_thread")]
async fn every_error_code_ends_the_call_in_words_and_only_an_unknown_session_is_opened_anew() {
    let refusals = [
        (-32700, "parse error", false),
        (-32600, "invalid request", false),
        (-32601, "method not found", false),
        (-32602, "prompt must be a list", false),
        (-32602, "Session 1 not found", true),
        (-32603, "internal error", false),
        (-32002, "resource not found", true),
    ];
    for (code, words, reopened) in refusals {
        let rig = Rig::replies([]).await;
        let session = rig.relay().await;
        let (state, client) = rig.turn(&session, &format!("error_code {code} {words}")).await;
        assert_eq!(state, "failed", "{code}");
        let message = only(&client, "error")["message"].as_str().unwrap();
        assert!(message.starts_with("Faulty agent ") && message.contains(words), "{code}: {message}");
        let result = only(&client, "tool-result");
        assert_eq!((&result["is_error"], &result["display"]), (&json!(true), &json!("")), "{code}");
        assert_eq!(only(&client, "copilot-done")["stop_reason"], "agent_error", "{code}");
        assert!(of_kind(&client, "notice").iter().all(|event| event.data["code"] != "auth_required"), "{code}");
        let (state, client) = rig.turn(&session, "sessions").await;
        assert_eq!(state, "completed", "after {code}:\n{}", client.seen.tail());
        let text = client.seen.agent_text("main");
        let sessions: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(sessions.len(), 1 + usize::from(reopened), "{code} {words}: the sessions that the agent has");
    }
}
