//! `/api/sessions/{id}/messages`

use std::collections::HashSet;

use serde_json::json;
use testkit::model_server::{Gate, Reply};

use crate::rig::{Rig, SOON, of_kind, only};

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_and_both_are_kept() {
    let rig = Rig::replies([Reply::chunks(["**Hel", "lo**"])]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    let posted = rig.say(&session, "hi there").await;
    assert_eq!(posted["queued"], false);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let messages = of_kind(&client, "message");
    assert_eq!(messages[0].data["id"], posted["message_id"]);
    assert_eq!(only(&client, "done")["turn_id"], posted["turn_id"]);
    assert_eq!(only(&client, "done")["html"], "<p><strong>Hello</strong></p>\n");
    let page = rig.get(&format!("/api/sessions/{session}/messages")).await.json();
    assert_eq!((page["messages"].as_array().unwrap().len(), &page["more"]), (2, &json!(false)));
    assert_eq!(page["messages"][1]["content"], "**Hello**");
    let one = rig.get(&format!("/api/sessions/{session}/messages/{}", page["messages"][1]["id"].as_str().unwrap())).await.json();
    assert_eq!(one, page["messages"][1]);
    assert_eq!(rig.get(&format!("/api/sessions/{session}")).await.json()["title"], "hi there", "a nameless session is called after it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_makes_no_sense_is_refused() {
    let rig = Rig::replies([]).await;
    let session = rig.session().await;
    let path = format!("/api/sessions/{session}/messages");
    let table = [
        (json!({ "content": "" }), 422),
        (json!({ "content": " \n\t" }), 422),
        (json!({}), 422),
        (json!({ "content": "x", "colour": "red" }), 422),
        (json!({ "content": "x", "attachments": [{}] }), 422),
        (json!({ "content": "x", "client_id": "" }), 400),
        (json!({ "content": "x", "client_id": "y".repeat(201) }), 400),
    ];
    for (body, status) in table {
        let answer = rig.post(&path, body.clone()).await;
        assert_eq!(answer.status, status, "{body}");
        answer.refuses(status, "invalid");
    }
    rig.post(&path, json!({ "content": "x".repeat(2_100_000) })).await.refuses(413, "too_large");
    rig.get(&format!("{path}?before=garbage")).await.refuses(400, "invalid");
    rig.get(&format!("{path}?limit=-1")).await.refuses(400, "invalid");
    rig.get(&format!("{path}/garbage")).await.refuses(404, "not_found");
    assert_eq!(rig.get(&path).await.json()["messages"], json!([]));
    assert_eq!(rig.model.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_client_id_is_the_same_message_at_every_moment() {
    let gate = Gate::new();
    let rig = Rig::replies([Reply::text("one").gate(&gate), Reply::text("two").gate(&gate)]).await;
    let session = rig.session().await;
    let path = format!("/api/sessions/{session}/messages");
    let mut client = rig.watch(&session).await;
    let post = |id: &'static str| rig.post(&path, json!({ "content": "hi", "client_id": id }));
    let answers = futures::future::join_all((0..8).map(|_| post("first"))).await;
    let distinct: HashSet<_> = answers.iter().map(|answer| answer.text.clone()).collect();
    assert_eq!(distinct.len(), 1, "{distinct:?}");
    let first = answers[0].json();
    let queued = futures::future::join_all((0..8).map(|_| post("second"))).await;
    assert!(queued.iter().all(|answer| answer.status == 202 && answer.json() == queued[0].json()));
    assert_eq!(queued[0].json()["queued"], true);
    assert_eq!(rig.get(&format!("/api/sessions/{session}/queue")).await.json()["items"].as_array().unwrap().len(), 1);
    gate.open();
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(post("first").await.json(), first);
    assert_eq!(post("second").await.json(), queued[0].json());
    assert_eq!(rig.model.requests().len(), 2);
    let users = of_kind(&client, "message").into_iter().filter(|event| event.data["role"] == "user").count();
    assert_eq!(users, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn older_messages_come_in_pages() {
    let rig = Rig::replies((0..6).map(|number| Reply::text(&format!("answer {number}")))).await;
    let session = rig.session().await;
    for number in 0..6 {
        rig.turn(&session, &format!("question {number}")).await;
    }
    let path = format!("/api/sessions/{session}/messages?limit=5");
    let (mut contents, mut before) = (Vec::new(), String::new());
    loop {
        let page = rig.get(&format!("{path}{before}")).await.json();
        let messages = page["messages"].as_array().unwrap().clone();
        contents.splice(0..0, messages.iter().map(|message| message["content"].as_str().unwrap().to_owned()));
        before = format!("&before={}", messages[0]["id"].as_str().unwrap());
        if page["more"] == false {
            break;
        }
    }
    let expected: Vec<_> = (0..6).flat_map(|number| [format!("question {number}"), format!("answer {number}")]).collect();
    assert_eq!(contents, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_can_be_read_while_it_is_written() {
    let gate = Gate::new();
    let rig = Rig::replies([Reply::chunks(["*half*", " more"]).gate(&gate)]).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "go").await;
    gate.release(1);
    let delta = client.until("text", SOON, |event| event.kind == "text-delta").await;
    let path = format!("/api/sessions/{session}/messages/{}", delta.data["message_id"].as_str().unwrap());
    let message = rig.get(&path).await.json();
    assert_eq!((&message["content"], &message["html"]), (&json!("*half*"), &json!("<p><em>half</em></p>\n")));
    gate.open();
    client.turn_end(SOON).await;
    assert_eq!(rig.get(&path).await.json()["content"], "*half* more");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_on_with_nobody_listening() {
    let rig = Rig::replies([Reply::tool_call("list_directory", json!({})), Reply::text("seen")]).await;
    let session = rig.session().await;
    rig.say(&session, "look").await;
    rig.model.wait_for_requests(2).await;
    let mut client = rig.stream(&session, Some(0)).await;
    assert_eq!(client.turn_end(SOON).await, "completed");
}
