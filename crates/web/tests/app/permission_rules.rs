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

/// The rows of the conversation about remembered answers: what was saved, and what they decided.
fn rows(client: &Client) -> Vec<Value> {
    let updates = of_kind(client, "agent-update").into_iter().map(|event| event.data["update"].clone());
    updates.filter(|update| matches!(update["type"].as_str(), Some("rule" | "approved" | "denied"))).collect()
}

/// How many rules hold here, as a page was shown it, one after the other.
fn counts(client: &Client) -> Vec<u64> {
    of_kind(client, "session").iter().filter_map(|event| event.data["rules"].as_u64()).collect()
}

fn request(call: Value, kinds: &[&str]) -> String {
    let mut call = call;
    call["toolCallId"] = json!("k");
    let options: Vec<_> = kinds.iter().map(|kind| json!({ "optionId": kind, "name": kind, "kind": kind })).collect();
    format!("calls {}", json!([["session/request_permission", { "toolCall": call, "options": options }]]))
}

async fn asked(rig: &Rig, session: &str, client: &mut Client, prompt: &str) -> (Value, String) {
    rig.say(session, prompt).await;
    let request = client.until("permission", SOON, |event| event.kind == "permission-request").await.data;
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    (request, path)
}

/// S2-37: whatever an agent asks for can be denied for always, with its own answer for that or without; what is denied from then on is
/// shown, and names the rule.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_always_denied_is_not_asked_again_and_shown() {
    let command = json!({ "title": "Run", "kind": "execute", "rawInput": { "command": "rm -rf build" } });
    let secret = json!({ "title": "Read it", "kind": "read", "locations": [{ "path": ".env" }] });
    let other = json!({ "title": "Fetch it", "kind": "fetch", "rawInput": { "url": "https://example.com" } });
    for call in [command, secret, other] {
        for kinds in [["allow_once", "reject_once"], ["allow_once", "reject_always"]] {
            let rig = Rig::replies([]).await;
            let session = rig.relay().await;
            let mut client = rig.watch(&session).await;
            let prompt = request(call.clone(), &kinds);
            let (question, path) = asked(&rig, &session, &mut client, &prompt).await;
            let scope = question["scopes"][0].clone();
            assert!(scope["effects"].as_array().unwrap().contains(&json!("deny")), "{question}");
            let answer = json!({ "option_id": kinds[1], "scope": scope["id"] });
            assert_eq!(rig.post(&path, answer).await.status, 202);
            assert_eq!(client.turn_end(SOON).await, "completed");
            rig.say(&session, &prompt).await;
            assert_eq!(client.turn_end(SOON).await, "completed");

            let known = rules(&rig, &session).await;
            assert_eq!((known.len(), &known[0]["allow"]), (1, &json!(false)));
            let rows = rows(&client);
            let (saved, denied) = (&rows[0], &rows[1]);
            assert_eq!((&saved["type"], &saved["effect"], &saved["scope"]), (&json!("rule"), &json!("deny"), &json!("session")));
            assert_eq!((&saved["rule_id"], &saved["text"]), (&known[0]["id"], &known[0]["text"]));
            assert_eq!((&denied["type"], &denied["by"], &denied["rule_id"]), (&json!("denied"), &json!("rule"), &known[0]["id"]));
            assert_eq!((deciders(&client), rows.len()), (vec!["person".to_owned(), "rule".to_owned()], 2));
            assert_eq!(rig.get(&format!("/api/sessions/{session}")).await.json()["rules"], 1);
        }
    }
}

/// The rows stay after a reload, and whoever looks sees at once that the rule is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_saved_rule_is_a_row_that_can_be_undone() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let other = rig.relay().await;
    let (mut client, mut neighbour) = (rig.watch(&session).await, rig.watch(&other).await);
    let question = ask(&rig, &session, &mut client).await;
    assert_eq!(rig.post(&question, json!({ "option_id": "yes", "scope": "command-project" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let row = rows(&client)[0].clone();
    assert_eq!((&row["effect"], &row["command"]), (&json!("allow"), &json!("echo 1")));
    neighbour.until("the count", SOON, |event| event.kind == "session" && event.data["rules"] == 1).await;

    let stored = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
    let updates = stored["messages"].as_array().unwrap().iter().flat_map(|message| message["delegation"]["updates"].as_array().cloned());
    assert!(updates.flatten().any(|placed| placed["update"] == row), "{stored}");
    let list = rig.get("/api/sessions").await.json();
    assert!(list["sessions"].as_array().unwrap().iter().all(|session| session["rules"] == 1), "{list}");

    let path = format!("/api/sessions/{session}/permission-rules/{}", row["rule_id"].as_str().unwrap());
    assert_eq!(rig.delete(&path).await.status, 204);
    for client in [&mut client, &mut neighbour] {
        client.until("the count", SOON, |event| event.kind == "session" && event.data["rules"] == 0).await;
        assert_eq!(counts(client), [1, 0]);
    }
    assert_eq!(rig.get(&format!("/api/sessions/{session}")).await.json()["rules"], 0);
}

/// An agent's mode is chosen each time, and a protected file allowed each time.
#[tokio::test(flavor = "multi_thread")]
async fn a_mode_is_not_remembered_and_a_protected_file_not_allowed_for_always() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    let kinds = ["allow_always", "allow_once", "reject_once"];
    let mode = request(json!({ "title": "Ready to code?", "kind": "switch_mode" }), &kinds);
    let (question, path) = asked(&rig, &session, &mut client, &mode).await;
    assert!(question.get("scopes").is_none(), "{question}");
    rig.post(&path, json!({ "option_id": "allow_always", "remember": "session" })).await.refuses(422, "invalid");
    assert_eq!(rig.post(&path, json!({ "option_id": "allow_always" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(rules(&rig, &session).await.is_empty() && rows(&client).is_empty());
    assert!(client.seen.agent_text("main").contains("allow_always"), "the agent is told the mode that was chosen");

    let secret = request(json!({ "title": "Read it", "kind": "read", "locations": [{ "path": ".env" }] }), &kinds);
    let (question, path) = asked(&rig, &session, &mut client, &secret).await;
    let scope = &question["scopes"][0];
    assert_eq!(scope["effects"], json!(["deny"]), "{question}");
    rig.post(&path, json!({ "option_id": "allow_once", "scope": scope["id"] })).await.refuses(422, "invalid");
    assert_eq!(rig.post(&path, json!({ "option_id": "allow_once" })).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
}
