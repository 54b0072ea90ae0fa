//! An agent that asks under one JSON-RPC id again and again, and a server that is killed between its questions: a command that nobody
//! approved never runs.

use serde_json::{Value, json};
use testkit::client::Client;
use testkit::server::{Rig, Server};

use crate::SOON;

/// When the server dies, seen from the second question.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Killed {
    BeforeItIsSeen,
    WhileItWaits,
}

async fn question(client: &mut Client) -> Value {
    client.until("a question", SOON, |event| event.kind == "permission-request").await.data
}

async fn answer(server: &Server, session: &str, request: &Value, option: &str) {
    let path = format!("/api/sessions/{session}/permissions/{}", request["request_id"].as_str().unwrap());
    let (status, said) = server.call("POST", &path, Some(json!({ "option_id": option }))).await;
    assert_eq!(status, 202, "{said}");
}

/// A client that knows nothing is shown what waits.
async fn waiting(server: &Server, session: &str) -> Vec<Value> {
    let mut client = server.stream(session, None).await;
    client.until("ready", SOON, |event| event.kind == "ready").await;
    client.seen.of_kind("permission-request").map(|event| event.data.clone()).collect()
}

async fn check(killed: Killed) {
    let mut server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "ask" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "reuse-id").await;
    let first = question(&mut client).await;
    answer(&server, &session, &first, "yes").await;
    if killed == Killed::WhileItWaits {
        question(&mut client).await;
    }
    server.kill().await;
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    if killed == Killed::BeforeItIsSeen && client.seen.of_kind("permission-request").count() < 2 {
        question(&mut client).await;
    }
    let asked = waiting(&server, &session).await;
    assert_eq!(asked.len(), 1, "{killed:?}: {asked:?}");
    assert_ne!(asked[0]["request_id"], first["request_id"], "{killed:?}");
    let ran = || std::fs::read_to_string(server.rig().work_dir().join("ran.txt")).unwrap_or_default();
    assert_eq!(ran(), "1\n", "{killed:?}: only the first was approved");
    answer(&server, &session, &asked[0], "no").await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{killed:?}:\n{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main"), "1: yes\n2: no\n", "{killed:?}");

    server.send(&session, "reuse-id").await;
    for option in ["no", "yes"] {
        let request = question(&mut client).await;
        answer(&server, &session, &request, option).await;
    }
    client.turn_end(SOON).await;
    assert!(client.seen.agent_text("main").ends_with("3: no\n4: yes\n"), "{killed:?}: {}", client.seen.agent_text("main"));
    assert_eq!(ran(), "1\n4\n", "{killed:?}");
    server.end().await;
}

#[tokio::test]
async fn a_server_that_is_killed_while_the_second_question_waits_does_not_answer_it() {
    check(Killed::WhileItWaits).await;
}

#[tokio::test]
async fn a_server_that_is_killed_before_the_second_question_is_seen_shows_it_and_does_not_answer_it() {
    check(Killed::BeforeItIsSeen).await;
}
