//! A call that a person or a policy rejected ends as denied, whatever its agent makes of it.

use serde_json::{Value, json};
use testkit::client::Client;
use testkit::model_server::Reply;

use crate::rig::{Rig, SOON, delegate, only};

/// The ways in which agents take a rejection: they say something and end, or they answer `cancelled`.
const AGENTS: [&str; 2] = ["rejected-then-done", "cancelled-after-rejection"];

async fn rejected_by_a_person(rig: &Rig, session: &str, prompt: &str) -> (String, Client) {
    let mut client = rig.watch(session).await;
    rig.say(session, prompt).await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    assert_eq!(rig.post(&path, json!({ "option_id": "no" })).await.status, 202);
    (client.turn_end(SOON).await, client)
}

/// C26, S2-36: a person's rejection is what the call ends as, and the turn has done what was wanted.
#[tokio::test(flavor = "multi_thread")]
async fn a_rejected_call_ends_as_denied_for_people() {
    for prompt in AGENTS {
        let rig = Rig::replies([]).await;
        let session = rig.relay().await;
        let (state, client) = rejected_by_a_person(&rig, &session, prompt).await;
        assert_eq!(state, "completed", "{prompt}:\n{}", client.seen.tail());
        assert_eq!(only(&client, "copilot-done")["stop_reason"], "denied", "{prompt}");
        let stored = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
        let tool = stored["messages"].as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap().clone();
        assert_eq!(tool["delegation"]["stop_reason"], "denied", "{prompt}");
    }
}

/// C26: the main AI reads that it was denied, so that it does not report the work as done.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_the_policy_rejects_ends_as_denied_for_the_main_ai() {
    for prompt in AGENTS {
        let rig = Rig::replies([delegate(&[("a", prompt)]), Reply::text("I see.")]).await;
        let session = rig.session_with(json!({ "permission_policy": "deny" })).await;
        let (state, client) = rig.turn(&session, "go").await;
        assert_eq!(state, "completed", "{prompt}:\n{}", client.seen.tail());
        assert_eq!(only(&client, "copilot-done")["stop_reason"], "denied", "{prompt}");
        let told = rig.model.requests_for("main")[1].messages().last().unwrap().clone();
        assert_eq!(told["role"], "tool");
        assert!(told["content"].as_str().unwrap().contains("denied"), "{prompt}: {told}");
    }
}

/// A rejection is the agent's own end of the turn: its session is as good as before, and is not opened again.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_rejection_the_same_agent_session_goes_on() {
    for prompt in AGENTS {
        let rig = Rig::replies([]).await;
        let session = rig.relay().await;
        rejected_by_a_person(&rig, &session, prompt).await;
        let (state, client) = rig.turn(&session, "sessions").await;
        assert_eq!(state, "completed");
        let text = client.seen.agent_text("main");
        let sessions: Vec<Value> = serde_json::from_str(text.trim_start_matches("Then I leave it as it is.")).unwrap();
        assert_eq!(sessions.len(), 1, "{prompt}");
        let log = std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap();
        assert_eq!(log.matches("\"session/new\"").count(), 1, "{prompt}");
        assert_eq!(log.matches("\"session/load\"").count(), 0, "{prompt}");
    }
}

/// What was allowed and then done is done, although something else was rejected in an earlier turn.
#[tokio::test(flavor = "multi_thread")]
async fn a_denial_does_not_stick_to_the_next_turn() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    rejected_by_a_person(&rig, &session, AGENTS[0]).await;
    let (state, client) = rig.turn(&session, "say fine").await;
    assert_eq!(state, "completed");
    let ended = client.seen.of_kind("copilot-done").last().unwrap();
    assert_eq!(ended.data["stop_reason"], "end_turn");
}

async fn refuse(rig: &Rig, client: &mut Client, session: &str, answer: Value) -> u16 {
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    rig.post(&path, answer).await.status
}

/// The reason is the agent's next prompt in the same session, and the call is over when that is done.
#[tokio::test(flavor = "multi_thread")]
async fn a_reason_is_the_agents_next_prompt_and_the_call_ends_after_it() {
    for prompt in AGENTS {
        let rig = Rig::replies([delegate(&[("a", prompt)]), Reply::text("I see.")]).await;
        let session = rig.session_with(json!({ "permission_policy": "ask" })).await;
        let mut client = rig.watch(&session).await;
        rig.say(&session, "go").await;
        assert_eq!(refuse(&rig, &mut client, &session, json!({ "option_id": "no", "reason": " say rather so " })).await, 202);
        assert_eq!(client.turn_end(SOON).await, "completed", "{prompt}:\n{}", client.seen.tail());
        assert_eq!(only(&client, "permission-resolved")["reason"], "say rather so");
        assert_eq!(only(&client, "copilot-done")["stop_reason"], "end_turn", "{prompt}");
        assert!(client.seen.agent_text("a").ends_with("rather so"), "{}", client.seen.agent_text("a"));
        let told = rig.model.requests_for("main")[1].messages().last().unwrap().clone();
        assert!(told["content"].as_str().unwrap().contains("rather so"), "{prompt}: {told}");
        let log = std::fs::read_to_string(rig.dir.path().join("agent.log")).unwrap();
        assert_eq!((log.matches("\"session/prompt\"").count(), log.matches("\"session/new\"").count()), (2, 1), "{prompt}");
        let stored = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
        let tool = stored["messages"].as_array().unwrap().iter().find(|message| message["role"] == "tool").unwrap().clone();
        let updates = tool["delegation"]["updates"].as_array().unwrap();
        let follow_up: Vec<_> = updates.iter().filter(|placed| placed["update"]["type"] == "follow_up").collect();
        assert_eq!(follow_up.len(), 1, "{updates:?}");
        assert_eq!(follow_up[0]["update"]["text"], "say rather so");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reason_goes_with_a_refusal_has_a_bound_and_is_dropped_with_a_stop() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "rejected-then-done").await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    rig.post(&path, json!({ "option_id": "yes", "reason": "because" })).await.refuses(422, "invalid");
    rig.post(&path, json!({ "option_id": "no", "reason": "x".repeat(2001) })).await.refuses(422, "invalid");
    assert_eq!(rig.post(&path, json!({ "option_id": "no", "reason": "no-answer" })).await.status, 202);
    client.until("the reason on its way", SOON, |event| event.data["update"]["type"] == "follow_up").await;
    assert_eq!(rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "cancelled", "{}", client.seen.tail());
}

/// One error, no notice beside it: the call's result and the turn's ending are the same words, for the page to show once.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_agent_is_told_once_by_the_log() {
    let rig = Rig::replies([]).await;
    let session = rig.session_with(json!({ "model": "relay", "agent": "copilot" })).await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "failed", "{}", client.seen.tail());
    let error = only(&client, "error").clone();
    assert_eq!(client.seen.of_kind("notice").count(), 0, "{}", client.seen.tail());
    let ended = client.seen.of_kind("turn").last().unwrap().data.clone();
    assert_eq!(ended["reason"], error["message"], "the turn ends with the words of its error");
    assert_eq!(only(&client, "tool-result")["content"], error["message"], "and so does its call");
}
