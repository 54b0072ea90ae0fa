//! `/api/sessions/{id}/permission-rules`, and how rules come to be.

use serde_json::{Value, json};
use testkit::client::Client;

use crate::rig::{Rig, SOON, of_kind};

/// Lets the agent ask and gives its question.
async fn ask(rig: &Rig, session: &str, client: &mut Client) -> String {
    rig.say(session, "ask").await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap())
}

async fn rules(rig: &Rig, session: &str) -> Vec<Value> {
    rig.get(&format!("/api/sessions/{session}/permission-rules")).await.json()["rules"].as_array().unwrap().clone()
}

/// Who answered, question after question.
fn deciders(client: &Client) -> Vec<String> {
    of_kind(client, "permission-resolved").iter().map(|event| event.data["by"].as_str().unwrap().to_owned()).collect()
}

/// What was allowed without asking, and by whom.
fn approvals(client: &Client) -> Vec<String> {
    let updates = of_kind(client, "agent-update").into_iter().map(|event| &event.data["update"]);
    updates.filter(|update| update["type"] == "approved").map(|update| update["by"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn always_is_remembered_listed_applied_and_revoked() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    let question = ask(&rig, &session, &mut client).await;
    rig.post(&question, json!({ "option_id": "yes", "remember": "session" })).await.refuses(422, "invalid");
    rig.post(&question, json!({ "option_id": "always", "remember": "world" })).await.refuses(422, "invalid");
    assert!(rules(&rig, &session).await.is_empty());
    assert_eq!(rig.post(&question, json!({ "option_id": "always" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(client.seen.agent_text("main").ends_with("\"yes\"}}\n"), "what an agent remembers reaches further than what was shown");
    let known = rules(&rig, &session).await;
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0]["scope"], &known[0]["allow"]), (&json!("session"), &json!(true)));
    assert_eq!(known[0]["subject"], json!({ "type": "command", "command": "echo 1" }));

    rig.say(&session, "ask").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(deciders(&client), ["person"], "no card flashes up");
    assert_eq!(approvals(&client), ["rule"]);
    assert!(client.seen.agent_text("main").ends_with("\"yes\"}}\n"), "{}", client.seen.agent_text("main"));
    let other = rig.relay().await;
    assert!(rules(&rig, &other).await.is_empty(), "it is the session's own");

    let path = format!("/api/sessions/{session}/permission-rules");
    let rule = format!("{path}/{}", known[0]["id"].as_str().unwrap());
    rig.delete(&rule.replace(&session, &other)).await.refuses(404, "not_found");
    rig.delete(&format!("{path}/garbage")).await.refuses(404, "not_found");
    assert_eq!(rig.delete(&rule).await.status, 204);
    rig.delete(&rule).await.refuses(404, "not_found");
    assert!(rules(&rig, &session).await.is_empty());
    let question = ask(&rig, &session, &mut client).await;
    assert_eq!(rig.post(&question, json!({ "option_id": "no" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    rig.get("/api/sessions/00000000-0000-0000-0000-000000000000/permission-rules").await.refuses(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_projects_rule_answers_what_waits_in_its_other_sessions_and_in_no_other_directory() {
    let rig = Rig::replies([]).await;
    let (one, two) = (rig.relay().await, rig.session_with(json!({ "model": "relay", "work_dir": "." })).await);
    let elsewhere = rig.session_with(json!({ "model": "relay", "work_dir": "sub" })).await;
    let mut clients = Vec::new();
    let mut questions = Vec::new();
    for session in [&one, &two, &elsewhere] {
        let mut client = rig.watch(session).await;
        questions.push(ask(&rig, session, &mut client).await);
        clients.push(client);
    }
    assert_eq!(rig.post(&questions[0], json!({ "option_id": "always", "remember": "project" })).await.status, 202);
    assert_eq!(clients[1].turn_end(SOON).await, "completed");
    assert_eq!(deciders(&clients[1]), ["rule"]);
    assert_eq!((rules(&rig, &two).await.len(), rules(&rig, &elsewhere).await.len()), (1, 0));
    assert_eq!(of_kind(&rig.watch(&elsewhere).await, "permission-request").len(), 1, "it still waits");

    assert_eq!(rig.delete(&format!("/api/sessions/{one}")).await.status, 204);
    assert_eq!(rules(&rig, &two).await.len(), 1, "the project's rule does not end with the session it came from");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_covers_every_name_of_the_session_and_no_other_command() {
    let rig = Rig::replies([]).await;
    let session = rig.session_with(json!({ "model": "relay" })).await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "@one ask").await;
    let question = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    let path = format!("/api/sessions/{session}/permissions/{}", question["request_id"].as_str().unwrap());
    assert_eq!(rig.post(&path, json!({ "option_id": "always" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    rig.say(&session, "@two ask3").await;
    for expected in ["echo 2", "echo 3"] {
        let open = client.until("permission", SOON, |event| event.kind == "permission-request" && event.data["command"] == expected).await;
        let path = format!("/api/sessions/{session}/permissions/{}", open.data["request_id"].as_str().unwrap());
        assert_eq!(rig.post(&path, json!({ "option_id": "no" })).await.status, 202);
    }
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(approvals(&client), ["rule"], "{}", client.seen.tail());
}

/// The scopes say exactly what they cover, the narrowest first, and only what was chosen is remembered.
#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_scope_is_what_is_remembered() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "ask3").await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    let scopes: Vec<_> = request["scopes"].as_array().unwrap().iter().map(|scope| (scope["id"].clone(), scope["text"].clone())).collect();
    assert_eq!(
        scopes,
        [
            (json!("command-session"), json!("This command, in this session")),
            (json!("command-project"), json!("This command, in every session of this project")),
            (json!("commands-session"), json!("Every command of this agent, in this session")),
        ]
    );
    assert!(request["asked_at"].is_string() && request["agent"] == "faulty", "{request}");
    let waiting = rig.watch(&session).await;
    let same = of_kind(&waiting, "permission-request").into_iter().find(|event| event.data["request_id"] == request["request_id"]).unwrap();
    assert_eq!(same.data, request, "the same after a reload");
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    rig.post(&path, json!({ "option_id": "yes", "scope": "everything" })).await.refuses(422, "invalid");
    rig.post(&path, json!({ "option_id": "yes", "scope": "command-session", "remember": "session" })).await.refuses(422, "invalid");
    assert_eq!(rig.post(&path, json!({ "option_id": "yes", "scope": "commands-session" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let known = rules(&rig, &session).await;
    assert_eq!(known[0]["subject"], json!({ "type": "commands", "agent": "faulty" }));
    assert_eq!(known[0]["text"], "Allow every command of faulty, in this session");
    assert_eq!(known.len(), 1);
}
