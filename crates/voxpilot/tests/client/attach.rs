//! `voxpilot attach`

use serde_json::json;
use testkit::server::Rig;

use crate::SOON;
use crate::program::{Running, told};

#[tokio::test]
async fn a_session_is_followed_over_kills_of_the_server_and_nothing_comes_twice() {
    let mut server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "title": "x" })).await;
    let mut attached = Running::start(&server, &["attach", &session]);
    attached.until("ready", |event| event["event"] == "ready").await;
    server.send(&session, "slow 200").await;
    for _ in 0..3 {
        attached.until("the agent's text", |event| event["event"] == "copilot-delta").await;
        server.kill().await;
        server.restart().await;
    }
    attached.until_turn("completed").await;
    let expected: String = (1..=200).map(|number| format!("{number} ")).collect();
    assert_eq!(told(&attached.seen), expected);
    assert_eq!(attached.seen.iter().filter(|event| event["event"] == "ready").count(), 1, "one snapshot, then only what is new");

    // It ends with its session.
    server.call("DELETE", &format!("/api/sessions/{session}"), None).await;
    assert_eq!(attached.end().await, 1);
    server.end().await;
}

#[tokio::test]
async fn whoever_comes_late_sees_what_was_and_what_is() {
    let server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "title": "x" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say before").await;
    client.turn_end(SOON).await;
    let mut attached = Running::start(&server, &["attach"]);
    attached.until("ready", |event| event["event"] == "ready").await;
    let said: Vec<_> = attached.seen.iter().filter(|event| event["event"] == "message").map(|event| &event["data"]["content"]).collect();
    assert!(said.contains(&&json!("say before")), "{:#?}", attached.seen);
    server.send(&session, "say after").await;
    attached.until_turn("completed").await;
    assert!(attached.seen.iter().any(|event| event["event"] == "message" && event["data"]["content"] == "say after"));
    drop(attached);
    server.end().await;
}
