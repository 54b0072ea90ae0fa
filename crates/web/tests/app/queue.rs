//! `/api/sessions/{id}/queue`

use serde_json::json;
use testkit::model_server::{Gate, Reply, Script};

use crate::rig::{Options, Rig, SOON};

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_can_be_read_edited_and_withdrawn_and_runs_in_order() {
    let gate = Gate::new();
    let rig = Rig::replies([Reply::text("1").gate(&gate), Reply::text("2"), Reply::text("3")]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    let first = rig.say(&session, "first").await;
    rig.model.wait_for_requests(1).await;
    let mut waiting = Vec::new();
    for content in ["second", "third", "fourth"] {
        let posted = rig.say(&session, content).await;
        assert_eq!(posted["queued"], true);
        waiting.push(posted["message_id"].as_str().unwrap().to_owned());
    }
    let path = format!("/api/sessions/{session}/queue");
    assert_eq!(rig.patch(&format!("{path}/{}", waiting[0]), json!({ "content": "second, edited" })).await.status, 204);
    assert_eq!(rig.delete(&format!("{path}/{}", waiting[1])).await.status, 204);
    rig.delete(&format!("{path}/{}", waiting[1])).await.refuses(404, "not_found");
    rig.patch(&format!("{path}/{}", waiting[1]), json!({ "content": "x" })).await.refuses(404, "not_found");
    rig.patch(&format!("{path}/{}", waiting[0]), json!({ "content": " " })).await.refuses(422, "invalid");
    rig.patch(&format!("{path}/{}", waiting[0]), json!({ "text": "x" })).await.refuses(422, "invalid");
    rig.delete(&format!("{path}/garbage")).await.refuses(404, "not_found");
    let started = first["message_id"].as_str().unwrap();
    rig.delete(&format!("{path}/{started}")).await.refuses(404, "not_found");
    let items = rig.get(&path).await.json()["items"].clone();
    let contents: Vec<_> = items.as_array().unwrap().iter().map(|item| item["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["second, edited", "fourth"]);
    assert_eq!(rig.get(&format!("/api/sessions/{session}")).await.json()["queue_len"], 2);
    let shown = client.until("queue", SOON, |event| event.kind == "queue" && event.data["items"].as_array().unwrap().len() == 2).await;
    assert!(shown.data["items"][0]["message_id"].is_string() && shown.data["items"][0]["created_at"].is_string());
    gate.open();
    for _ in 0..3 {
        assert_eq!(client.turn_end(SOON).await, "completed");
    }
    let asked: Vec<_> = rig.model.requests().iter().map(|request| request.last_user()).collect();
    assert_eq!(asked, ["first", "second, edited", "fourth"]);
    assert_eq!(rig.get(&path).await.json()["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_holds_what_is_queued_until_the_next_message_is_sent() {
    let rig = Rig::replies([Reply::text("half").stall(), Reply::text("reply"), Reply::text("2"), Reply::text("3")]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    let path = format!("/api/sessions/{session}/queue");
    let send_next = format!("{path}/send-next");
    rig.post(&send_next, json!({})).await.refuses(409, "conflict");
    rig.say(&session, "first").await;
    rig.say(&session, "second").await;
    rig.say(&session, "third").await;
    client.until("text", SOON, |event| event.kind == "text-delta").await;
    assert_eq!(rig.get(&path).await.json()["held"], false);
    assert_eq!(rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await.status, 202);
    client.until("the hold", SOON, |event| event.kind == "queue" && event.data["held"] == true).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    let queue = rig.get(&path).await.json();
    assert_eq!((&queue["held"], queue["items"].as_array().unwrap().len()), (&json!(true), 2));
    // What is sent in the meantime goes at once, and a page that is loaded now sees the same.
    assert_eq!(rig.say(&session, "instead").await["queued"], false);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let other = rig.watch(&session).await;
    let shown = other.seen.events.iter().find(|event| event.kind == "queue").unwrap();
    assert_eq!((&shown.data["held"], shown.data["items"].as_array().unwrap().len()), (&json!(true), 2));
    assert_eq!(rig.post(&send_next, json!({})).await.status, 202);
    for _ in 0..2 {
        assert_eq!(client.turn_end(SOON).await, "completed");
    }
    let asked: Vec<_> = rig.model.requests().iter().map(|request| request.last_user()).collect();
    assert_eq!(asked, ["first", "instead", "second", "third"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_has_a_bound() {
    // The first turn must last as long as it takes to fill the queue.
    let script = Script::replies([Reply::new().stall()]);
    let rig = Rig::start(Options { script, stall: SOON * 10, ..Options::default() }).await;
    let session = rig.session().await;
    for _ in 0..101 {
        rig.say(&session, "more").await;
    }
    rig.post(&format!("/api/sessions/{session}/messages"), json!({ "content": "too much" })).await.refuses(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_can_be_moved_and_be_the_next_at_once() {
    let rig = Rig::replies([Reply::text("half").stall(), Reply::text("2"), Reply::text("3"), Reply::text("4")]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "first").await;
    client.until("text", SOON, |event| event.kind == "text-delta").await;
    let mut waiting = Vec::new();
    for content in ["second", "third", "fourth"] {
        waiting.push(rig.say(&session, content).await["message_id"].as_str().unwrap().to_owned());
    }
    let path = format!("/api/sessions/{session}/queue");
    // As it is stored, which is what another server would find.
    let order = async || -> Vec<String> {
        let items = rig.get(&path).await.json()["items"].clone();
        items.as_array().unwrap().iter().map(|item| item["content"].as_str().unwrap().to_owned()).collect()
    };
    let change = async |message: &str, body: serde_json::Value| rig.patch(&format!("{path}/{message}"), body).await;
    assert_eq!(change(&waiting[2], json!({ "position": 0 })).await.status, 204);
    assert_eq!(order().await, ["fourth", "second", "third"]);
    assert_eq!(change(&waiting[2], json!({ "position": 99, "content": "last" })).await.status, 204);
    assert_eq!(order().await, ["second", "third", "last"]);
    assert_eq!(change(&waiting[0], json!({ "position": 1 })).await.status, 204);
    assert_eq!(order().await, ["third", "second", "last"]);
    change(&waiting[0], json!({})).await.refuses(422, "invalid");
    change(&waiting[0], json!({ "position": -1 })).await.refuses(422, "invalid");
    let shown = client.until("queue", SOON, |event| event.kind == "queue" && event.data["items"][0]["content"] == "third").await;
    assert_eq!(shown.data["items"][2]["content"], "last");
    assert_eq!(rig.post(&format!("{path}/{}/now", waiting[2]), json!({})).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    for _ in 0..3 {
        assert_eq!(client.turn_end(SOON).await, "completed");
    }
    let asked: Vec<_> = rig.model.requests().iter().map(|request| request.last_user()).collect();
    assert_eq!(asked, ["first", "last", "third", "second"]);
    rig.post(&format!("{path}/{}/now", waiting[2]), json!({})).await.refuses(404, "not_found");
}
