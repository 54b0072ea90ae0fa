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
async fn whoever_asks_twice_under_one_id_gets_one_session() {
    let rig = Rig::replies([]).await;
    let wanted = json!({ "id": "8f6f2c0e-5a63-4c5e-9d53-0b6c0a1f7a11", "title": "T" });
    let first = rig.post("/api/sessions", wanted.clone()).await;
    assert_eq!(first.status, 201);
    assert_eq!(first.json()["id"], wanted["id"]);
    let again = rig.post("/api/sessions", wanted).await.json();
    assert_eq!(again, first.json());
    assert_eq!(rig.get("/api/sessions").await.json()["sessions"].as_array().unwrap().len(), 1);
    rig.post("/api/sessions", json!({ "id": "../x" })).await.refuses(422, "invalid");
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

#[tokio::test(flavor = "multi_thread")]
async fn what_people_keep_in_their_list_is_no_activity_and_looking_is_not_told() {
    let rig = Rig::replies([testkit::model_server::Reply::text("hello")]).await;
    let session = rig.session().await;
    let path = format!("/api/sessions/{session}");
    rig.turn(&session, "Über uns").await;
    let before = rig.get(&path).await.json();
    assert_eq!((&before["outcome"], &before["unseen"], &before["changes"]), (&json!("completed"), &json!(true), &Value::Null));
    assert_eq!((&before["running_since"], &before["question"]), (&Value::Null, &Value::Null));
    let seen = rig.patch(&path, json!({ "seen": true })).await.json();
    assert_eq!(seen["unseen"], json!(false));
    let kept = rig.patch(&path, json!({ "pinned": true, "archived": true, "muted": true })).await.json();
    for field in ["pinned", "archived", "muted"] {
        assert_eq!(kept[field], json!(true), "{field}");
    }
    assert_eq!(kept["updated_at"], before["updated_at"]);
    let listed = async |query: &str| rig.get(&format!("/api/sessions?{query}")).await.json()["sessions"].as_array().unwrap().len();
    assert_eq!((listed("").await, listed("archived=true").await, listed("archived=false").await), (0, 1, 0));
    assert_eq!((listed("archived=true&query=%C3%BCBER").await, listed("archived=true&query=nobody").await), (1, 0));
    rig.get(&format!("/api/sessions?query={}", "x".repeat(801))).await.refuses(400, "invalid");
    rig.get("/api/sessions?archived=perhaps").await.refuses(400, "invalid");
    rig.patch(&path, json!({ "seen": false })).await.refuses(400, "invalid");
    let entries = rig.get("/api/audit").await.json();
    let told: Vec<_> = entries["entries"].as_array().unwrap().iter().filter(|entry| entry["action"] == "session-changed").collect();
    assert_eq!(told.len(), 1, "{entries}");
    assert!(told[0]["detail"].as_str().unwrap().ends_with("pinned, archived, muted"), "{entries}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_policy_can_be_chosen_again() {
    let rig = Rig::replies([]).await;
    let session = rig.session_with(json!({ "permission_policy": "deny" })).await;
    let path = format!("/api/sessions/{session}");
    let mut client = rig.watch(&session).await;
    let kept = rig.patch(&path, json!({ "title": "x" })).await.json();
    assert_eq!(kept["permission_policy"], json!("deny"), "what is not given stays");
    let back = rig.patch(&path, json!({ "permission_policy": null })).await.json();
    assert_eq!((&back["permission_policy"], &back["title"]), (&Value::Null, &json!("x")));
    client.until("title", SOON, |event| event.kind == "session").await;
    let event = client.until("policy", SOON, |event| event.kind == "session").await;
    assert_eq!(event.data, json!({ "permission_policy": null }));
    assert_eq!(rig.get(&path).await.json()["permission_policy"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_asked_for_three_times_is_made_once() {
    let rig = Rig::replies([testkit::model_server::Reply::text("hello")]).await;
    let id = uuid::Uuid::now_v7().to_string();
    let body = json!({ "id": id, "title": "T" });
    let ask = || rig.post("/api/sessions", body.clone());
    let (one, two, three) = tokio::join!(ask(), ask(), ask());
    for answer in [&one, &two, &three] {
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text);
        assert_eq!(answer.json()["id"], json!(id));
    }
    assert_eq!(rig.get("/api/sessions").await.json()["sessions"].as_array().unwrap().len(), 1);
    rig.turn(&id, "go").await;
    let again = rig.post("/api/sessions", json!({ "id": id, "title": "other" })).await;
    assert_eq!((again.status, &again.json()["title"], &again.json()["outcome"]), (200, &json!("T"), &json!("completed")));
    let entries = rig.get("/api/audit").await.json();
    let made = entries["entries"].as_array().unwrap().iter().filter(|entry| entry["action"] == "session-created").count();
    assert!((1..=3).contains(&made), "{entries}");
    for garbage in ["x", "00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"] {
        let refused = rig.post("/api/sessions", json!({ "id": garbage })).await;
        assert!(matches!(refused.status, 400 | 422), "{garbage}: {}", refused.text);
    }
}
