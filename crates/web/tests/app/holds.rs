//! A denial is held before its agent is told, so that it can be taken back.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::client::Client;

use crate::rig::{Options, Rig, SOON, of_kind, only};

/// Longer than any of these tests waits.
const LONG: Duration = Duration::from_secs(600);

async fn holding(denial_hold: Duration) -> (Rig, String, Client) {
    let rig = Rig::start(Options { denial_hold, ..Options::default() }).await;
    let session = rig.relay().await;
    let client = rig.watch(&session).await;
    (rig, session, client)
}

/// The agent asks; the path of its question.
async fn asked(rig: &Rig, session: &str, client: &mut Client, prompt: &str) -> String {
    rig.say(session, prompt).await;
    let request = client.until("the question", SOON, |event| event.kind == "permission-request").await.data;
    format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap())
}

async fn denied(rig: &Rig, client: &mut Client, path: &str) -> Value {
    assert_eq!(rig.post(path, json!({ "option_id": "no", "reason": "not now" })).await.status, 202);
    client.until("the hold", SOON, |event| event.kind == "permission-held").await.data
}

fn resolved(client: &Client) -> Vec<(Value, Value)> {
    of_kind(client, "permission-resolved").iter().map(|event| (event.data["by"].clone(), event.data["option_id"].clone())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_reaches_the_agent_when_its_time_is_over() {
    let (rig, session, mut client) = holding(Duration::from_millis(300)).await;
    let path = asked(&rig, &session, &mut client, "ask").await;
    let before = jiff::Timestamp::now().as_millisecond();
    let held = denied(&rig, &mut client, &path).await;
    assert_eq!(
        (&held["option_id"], &held["verdict"], &held["by"], &held["reason"]),
        (&json!("no"), &json!("reject"), &json!("person"), &json!("not now"))
    );
    let left = held["until"].as_i64().unwrap() - before;
    assert!((300..60_000).contains(&left), "{left}");
    client.until("the answer", SOON, |event| event.kind == "permission-resolved").await;
    assert!(jiff::Timestamp::now().as_millisecond() >= before + 300);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(resolved(&client), [(json!("person"), json!("no"))]);
    rig.delete(&format!("{path}/held")).await.refuses(409, "conflict");
}

/// Two devices look at the same question: what one of them answers holds for both, and either can take it back.
#[tokio::test(flavor = "multi_thread")]
async fn a_denial_that_is_taken_back_is_a_question_again_on_every_device() {
    let (rig, session, mut client) = holding(LONG).await;
    let path = asked(&rig, &session, &mut client, "ask").await;
    rig.delete(&format!("{path}/held")).await.refuses(409, "conflict");
    for _ in 0..2 {
        let held = denied(&rig, &mut client, &path).await;
        let other = rig.watch(&session).await;
        assert_eq!(*only(&other, "permission-held"), held, "whoever comes now sees it, too");
        rig.post(&path, json!({ "option_id": "yes" })).await.refuses(409, "conflict");
        rig.post(&path, json!({ "option_id": "no" })).await.refuses(409, "conflict");
        assert!(resolved(&client).is_empty() && client.seen.agent_text("main").is_empty(), "the agent hears nothing");
        assert_eq!(rig.get(&format!("/api/sessions/{session}")).await.json()["waiting"], 1);
        assert_eq!(rig.delete(&format!("{path}/held")).await.status, 204);
        client.until("the question", SOON, |event| event.kind == "permission-pending").await;
        assert!(of_kind(&rig.watch(&session).await, "permission-held").is_empty());
    }
    assert_eq!(rig.post(&path, json!({ "option_id": "yes" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(resolved(&client), [(json!("person"), json!("yes"))]);
    assert!(client.seen.agent_text("main").contains("\"yes\""), "{}", client.seen.tail());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_what_is_held_and_tells_the_agent_nothing_else() {
    let (rig, session, mut client) = holding(LONG).await;
    let path = asked(&rig, &session, &mut client, "ask").await;
    denied(&rig, &mut client, &path).await;
    rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    assert_eq!(resolved(&client), [(json!("cancel"), Value::Null)]);
    assert!(of_kind(&rig.watch(&session).await, "permission-held").is_empty());
    rig.delete(&format!("{path}/held")).await.refuses(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_dies_while_a_denial_is_held_is_asked_nothing_more() {
    let (rig, session, mut client) = holding(LONG).await;
    rig.say(&session, "pid").await;
    client.turn_end(SOON).await;
    let pid = client.seen.agent_text("main").trim().to_owned();
    let path = asked(&rig, &session, &mut client, "ask").await;
    denied(&rig, &mut client, &path).await;
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success(), "{pid}");
    client.turn_end(SOON).await;
    assert_eq!(resolved(&client), [(json!("agent_gone"), Value::Null)]);
    let stored = rig.watch(&session).await;
    assert!(of_kind(&stored, "permission-held").is_empty() && of_kind(&stored, "permission-request").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_is_declined_is_held_like_any_denial() {
    let (rig, session, mut client) = holding(LONG).await;
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    let form = json!([["elicitation/create", { "mode": "form", "message": "Who?", "requestedSchema": schema }]]);
    let path = asked(&rig, &session, &mut client, &format!("calls {form}")).await;
    assert_eq!(rig.post(&path, json!({ "option_id": "decline" })).await.status, 202);
    client.until("the hold", SOON, |event| event.kind == "permission-held").await;
    assert_eq!(rig.delete(&format!("{path}/held")).await.status, 204);
    assert_eq!(rig.post(&path, json!({ "option_id": "accept", "content": { "name": "Ada" } })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(client.seen.agent_text("main").contains("Ada"), "{}", client.seen.tail());
}

/// What is denied for always was chosen in a dialog, and is undone with its rule.
#[tokio::test(flavor = "multi_thread")]
async fn a_denial_that_is_remembered_is_not_held() {
    let (rig, session, mut client) = holding(LONG).await;
    let path = asked(&rig, &session, &mut client, "ask").await;
    assert_eq!(rig.post(&path, json!({ "option_id": "no", "scope": "command-session" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(resolved(&client), [(json!("person"), json!("no"))]);
    assert!(of_kind(&client, "permission-held").is_empty());
}

/// The policy may have changed while it was held: what it decides is not asked again.
#[tokio::test(flavor = "multi_thread")]
async fn the_policy_decides_nothing_that_is_held_and_everything_that_was_taken_back() {
    let (rig, session, mut client) = holding(LONG).await;
    let path = asked(&rig, &session, &mut client, "ask").await;
    denied(&rig, &mut client, &path).await;
    rig.patch(&format!("/api/sessions/{session}"), json!({ "permission_policy": "auto" })).await;
    assert!(resolved(&rig.watch(&session).await).is_empty(), "a person has said no");
    assert_eq!(rig.delete(&format!("{path}/held")).await.status, 204);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(resolved(&client), [(json!("policy"), json!("yes"))]);
}
