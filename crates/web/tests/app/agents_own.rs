//! `/api/agents/{id}/sessions`, and going on with one of them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::rig::Rig;

/// A session of the demo agent that was made and left: its id is free again when ours is deleted.
async fn left_behind(rig: &Rig, words: &str) -> String {
    let session = rig.session_with(json!({ "model": "relay", "agent": "demo", "permission_policy": "auto" })).await;
    rig.turn(&session, words).await;
    let found = listed(rig, "").await;
    let own = found.iter().find(|own| own["session_id"] == *session).unwrap_or_else(|| panic!("{found:?}"));
    let id = own["agent_session_id"].as_str().unwrap().to_owned();
    assert_eq!(rig.delete(&format!("/api/sessions/{session}")).await.status, 204);
    id
}

async fn listed(rig: &Rig, query: &str) -> Vec<Value> {
    let answer = rig.send(Method::POST, &format!("/api/agents/demo/sessions{query}"), None).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["sessions"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_keeps_is_listed_by_directory_and_goes_on_once() {
    let rig = Rig::replies([]).await;
    assert!(listed(&rig, "").await.is_empty());
    let first = left_behind(&rig, "say heron").await;
    let found = listed(&rig, "").await;
    assert_eq!((found.len(), &found[0]["agent_session_id"], &found[0]["session_id"]), (1, &json!(first), &Value::Null));
    assert_eq!(found[0]["title"], "say heron");
    assert!(listed(&rig, "?work_dir=sub").await.is_empty());

    let body = json!({ "agent": "demo", "agent_session_id": first });
    let path = "/api/sessions";
    let both = futures::future::join(rig.post(path, body.clone()), rig.post(path, body.clone())).await;
    let (made, refused) = if both.0.status == 201 { (both.0, both.1) } else { (both.1, both.0) };
    assert_eq!(made.status, 201, "{}", made.text);
    refused.refuses(409, "conflict");
    let session = made.json();
    assert_eq!((&session["title"], &session["model"]), (&json!("say heron"), &json!("relay")));
    let id = session["id"].as_str().unwrap();
    let earlier = rig.get(&format!("/api/sessions/{id}/messages")).await.json()["messages"].clone();
    let told = |index: usize| (earlier[index]["role"].as_str().unwrap(), earlier[index]["content"].as_str().unwrap());
    assert_eq!((told(0), told(1)), (("user", "say heron"), ("assistant", "heron")));

    let (state, client) = rig.turn(id, "what was my first message?").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main"), "Your first message was: “say heron”");
    assert_eq!(listed(&rig, "").await[0]["session_id"], *id);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_listed_or_found_is_refused_with_a_reason() {
    let rig = Rig::replies([]).await;
    rig.send(Method::POST, "/api/agents/nobody/sessions", None).await.refuses(422, "invalid");
    rig.send(Method::POST, "/api/agents/demo/sessions?work_dir=..", None).await.refuses(422, "invalid");
    let answer = rig.send(Method::POST, "/api/agents/faulty/sessions", None).await;
    answer.refuses(503, "unavailable");
    assert!(answer.text.contains("cannot list its sessions"), "{}", answer.text);
    rig.post("/api/sessions", json!({ "agent": "demo", "agent_session_id": "nope" })).await.refuses(404, "not_found");
    assert_eq!(rig.get("/api/sessions").await.json()["sessions"], json!([]));
}

/// What the agent did before its session was ours is there with it, as if we had passed the prompts on.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_on_here_brings_its_earlier_tool_calls_along() {
    let rig = Rig::replies([]).await;
    let own = left_behind(&rig, "run `echo heron` then say done").await;
    let made = rig.post("/api/sessions", json!({ "agent": "demo", "agent_session_id": own })).await.json();
    let id = made["id"].as_str().unwrap();
    let earlier = rig.get(&format!("/api/sessions/{id}/messages")).await.json()["messages"].clone();
    let roles: Vec<_> = earlier.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"], "{earlier:#}");
    let delegation = &earlier[2]["delegation"];
    assert_eq!((&delegation["agent"], &delegation["session_name"]), (&json!("demo"), &json!("main")));
    let call = &delegation["updates"][0]["update"];
    assert_eq!((&call["type"], &call["status"]), (&json!("tool_call"), &json!("completed")), "{delegation:#}");
    assert!(call.to_string().contains("echo heron"), "{call:#}");
    assert!(earlier[3]["content"].as_str().unwrap().ends_with("done"), "{earlier:#}");

    let (state, client) = rig.turn(id, "say more").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
}

#[tokio::test(flavor = "multi_thread")]
async fn all_conversations_are_listed_by_directory_and_agents_are_asked_only_when_told() {
    let rig = Rig::replies([]).await;
    let own = left_behind(&rig, "say heron").await;
    let ours = rig.session_with(json!({ "title": "Ours", "model": "relay", "agent": "demo" })).await;
    let listed = rig.get("/api/conversations").await.json();
    let demo = |body: &Value| body["agents"].as_array().unwrap().iter().find(|asked| asked["agent"] == "demo").cloned().unwrap();
    assert_eq!(demo(&listed)["looked"], false);
    let rows = |body: &Value| {
        body["directories"].as_array().unwrap().iter().flat_map(|dir| dir["conversations"].as_array().unwrap().clone()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&listed).len(), 1, "{listed:#}");
    let asked = rig.post("/api/conversations", json!({ "agents": ["demo"] })).await.json();
    assert_eq!((demo(&asked)["looked"].clone(), demo(&asked)["problem"].clone()), (json!(true), Value::Null));
    let found = rows(&asked);
    assert_eq!((asked["directories"].as_array().unwrap().len(), found.len()), (1, 2), "{asked:#}");
    let stored = found.iter().find(|row| row["state"] == "stored").unwrap();
    assert_eq!((&stored["agent_session_id"], &stored["session_id"], &stored["title"]), (&json!(own), &Value::Null, &json!("say heron")));
    assert!(found.iter().any(|row| row["session_id"] == json!(ours) && row["state"] == "idle" && row["title"] == "Ours"));

    // Taken over, it is one of ours and not listed twice.
    rig.post("/api/sessions", json!({ "agent": "demo", "agent_session_id": own })).await;
    let after = rows(&rig.get("/api/conversations").await.json());
    assert!(after.len() == 2 && after.iter().all(|row| row["session_id"] != Value::Null), "{after:#?}");
    rig.post("/api/conversations", json!({ "agents": ["nobody"] })).await.refuses(422, "invalid");
}
