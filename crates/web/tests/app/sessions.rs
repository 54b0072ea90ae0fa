//! `/api/sessions` and `/api/sessions/{id}`

use serde_json::{Value, json};
use testkit::processes;

use crate::rig::{Rig, SOON, TOKEN, answer, delegate};

const NOBODY: &str = "/api/sessions/00000000-0000-0000-0000-000000000000";

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_has_what_was_asked_for_and_defaults_for_the_rest() {
    let rig = Rig::replies([]).await;
    let plain = rig.post("/api/sessions", json!({})).await;
    assert_eq!(plain.status, 201);
    let plain = plain.json();
    assert_eq!((&plain["model"], &plain["agent"], &plain["title"]), (&json!("main"), &json!("faulty"), &json!("")));
    assert_eq!((&plain["running"], &plain["queue_len"], &plain["permission_policy"]), (&json!(false), &json!(0), &Value::Null));
    let wanted = json!({ "title": "T", "work_dir": "sub", "model": "relay", "agent": "demo", "permission_policy": "read-only" });
    let made = rig.post("/api/sessions", wanted.clone()).await.json();
    for field in ["title", "model", "agent", "permission_policy"] {
        assert_eq!(made[field], wanted[field], "{field}");
    }
    assert!(made["work_dir"].as_str().unwrap().ends_with("/work/sub"), "{made}");
    assert_eq!(rig.get(&format!("/api/sessions/{}", made["id"].as_str().unwrap())).await.json(), made);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_makes_no_sense_is_refused() {
    let rig = Rig::replies([]).await;
    let table = [
        (json!({ "agent": "nobody" }), 422),
        (json!({ "model": "" }), 422),
        (json!({ "work_dir": "missing" }), 422),
        (json!({ "work_dir": ".." }), 422),
        (json!({ "work_dir": "/" }), 422),
        (json!({ "permission_policy": "maybe" }), 422),
        (json!({ "colour": "red" }), 422),
        (json!({ "title": 7 }), 422),
        (json!({ "title": "x".repeat(201) }), 400),
    ];
    for (body, status) in table {
        let answer = rig.post("/api/sessions", body.clone()).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        answer.refuses(status, "invalid");
        assert!(!answer.text.contains(rig.dir.path().to_str().unwrap()), "a path of the server: {}", answer.text);
    }
    let raw = |body: &'static str| rig.http.post(format!("{}/api/sessions", rig.base)).bearer_auth(TOKEN).body(body);
    answer(raw("{").header("content-type", "application/json")).await.refuses(400, "invalid");
    answer(raw("{}")).await.refuses(415, "invalid");
    assert_eq!(rig.get("/api/sessions").await.json()["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_is_by_activity_and_paged() {
    let rig = Rig::replies([testkit::model_server::Reply::text("hello")]).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(rig.session().await);
    }
    rig.turn(&ids[1], "wake up").await;
    let mut expected: Vec<_> = ids.iter().rev().cloned().collect();
    expected.retain(|id| *id != ids[1]);
    expected.insert(0, ids[1].clone());
    let (mut seen, mut path) = (Vec::new(), "/api/sessions?limit=2".to_owned());
    loop {
        let page = rig.get(&path).await.json();
        seen.extend(page["sessions"].as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/sessions?limit=2&before={next}");
    }
    assert_eq!(seen, expected);
    rig.get("/api/sessions?before=garbage").await.refuses(400, "invalid");
    rig.get("/api/sessions?limit=many").await.refuses(400, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_stored_and_announced() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    let path = format!("/api/sessions/{session}");
    let changed = rig.patch(&path, json!({ "title": "New", "permission_policy": "deny", "model": "relay", "agent": "demo" })).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let event = client.until("change", SOON, |event| event.kind == "session").await;
    for body in [changed.json(), rig.get(&path).await.json(), event.data] {
        assert_eq!((&body["title"], &body["permission_policy"]), (&json!("New"), &json!("deny")));
        assert_eq!((&body["model"], &body["agent"]), (&json!("relay"), &json!("demo")));
    }
    rig.patch(&path, json!({ "agent": "nobody" })).await.refuses(422, "invalid");
    rig.patch(&path, json!({ "work_dir": "sub" })).await.refuses(422, "invalid");
    rig.patch(&path, json!({ "title": "x".repeat(201) })).await.refuses(400, "invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_session_is_not_found_by_any_call() {
    let rig = Rig::replies([]).await;
    for base in [NOBODY, "/api/sessions/no-id"] {
        for path in ["", "/messages", "/queue", "/agents", "/stream", "/messages/no-id"] {
            rig.get(&format!("{base}{path}")).await.refuses(404, "not_found");
        }
        rig.delete(base).await.refuses(404, "not_found");
        rig.patch(base, json!({ "title": "x" })).await.refuses(404, "not_found");
        rig.post(&format!("{base}/messages"), json!({ "content": "x" })).await.refuses(404, "not_found");
        rig.post(&format!("{base}/cancel"), json!({})).await.refuses(404, "not_found");
        rig.post(&format!("{base}/confirm"), json!({ "tool_call_id": "x", "approved": true })).await.refuses(404, "not_found");
        rig.delete(&format!("{base}/queue/00000000-0000-0000-0000-000000000000")).await.refuses(404, "not_found");
    }
}

/// Holds S1-24.
#[tokio::test(flavor = "multi_thread")]
async fn deleting_ends_the_streams_and_the_processes_and_removes_the_data() {
    let rig = Rig::replies([delegate(&[("a", "no_answer")])]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "go").await;
    client.until("call", SOON, |event| event.kind == "tool-call").await;
    // The agent has the prompt once its log says so.
    wait_for_prompt(&rig).await;
    assert_eq!(rig.delete(&format!("/api/sessions/{session}")).await.status, 204);
    let ended = tokio::time::timeout(SOON, async { while client.next().await.is_some() {} }).await;
    assert!(ended.is_ok(), "the stream goes on");
    rig.get(&format!("/api/sessions/{session}")).await.refuses(404, "not_found");
    assert_eq!(rig.get("/api/sessions").await.json()["sessions"], json!([]));
    processes::none_left(rig.dir.path(), SOON).await.unwrap();
}

/// A prompt that is written in the agent's log has reached it.
async fn wait_for_prompt(rig: &Rig) {
    let waiting = async {
        while !std::fs::read_to_string(rig.dir.path().join("agent.log")).is_ok_and(|log| log.contains("session/prompt")) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, waiting).await.expect("the prompt reaches the agent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_does_not_say_where_things_lie_on_the_server() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    std::fs::remove_dir_all(rig.dir.path().join("work")).unwrap();
    let server = rig.dir.path().to_str().unwrap();
    let attached = json!({ "content": "look", "attachments": [{ "kind": "path", "path": "sub" }] });
    for (path, body) in [("/api/sessions".to_owned(), json!({})), (format!("/api/sessions/{session}/messages"), attached)] {
        let answer = rig.post(&path, body).await;
        answer.refuses(422, "invalid");
        assert!(!answer.text.contains(server), "{}", answer.text);
    }
}
