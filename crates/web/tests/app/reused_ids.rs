//! An agent that asks under one JSON-RPC id again and again: every question is a question of its own.

use serde_json::{Value, json};
use testkit::client::Client;

use crate::rig::{Rig, SOON};

async fn next_question(client: &mut Client) -> Value {
    client.until("a question", SOON, |event| event.kind == "permission-request").await.data
}

async fn answer(rig: &Rig, session: &str, request: &Value, option: &str) {
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    assert_eq!(rig.post(&path, json!({ "option_id": option })).await.status, 202, "{request}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_question_is_shown_and_gets_its_own_answer() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    let mut ids = Vec::new();
    for options in [["no", "yes"], ["yes", "no"]] {
        rig.say(&session, "reuse-id").await;
        for option in options {
            let request = next_question(&mut client).await;
            ids.push(request["request_id"].as_str().unwrap().to_owned());
            answer(&rig, &session, &request, option).await;
        }
        client.turn_end(SOON).await;
    }
    assert_eq!(client.seen.agent_text("main"), "1: no\n2: yes\n3: yes\n4: no\n");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "one id each");
    let ran = std::fs::read_to_string(rig.dir.path().join("work/ran.txt")).unwrap();
    assert_eq!(ran, "2\n3\n", "what was not allowed did not run");
}
