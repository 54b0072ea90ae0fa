//! `voxpilot send`

use serde_json::json;
use testkit::server::Rig;

use crate::SOON;
use crate::program::{Running, run, run_with, told};

#[tokio::test]
async fn a_message_is_followed_to_the_end_of_its_turn() {
    let server = Rig::default().demo_agent().start().await;
    let first = run(&server, &["send", "--new", "say", "one", "two"]).await;
    assert_eq!(first.code, 0, "{first:?}");
    let events = first.lines();
    assert_eq!((&events[0]["event"], &events[0]["data"]["queued"]), (&json!("posted"), &json!(false)));
    assert_eq!(events.last().unwrap()["data"]["state"], "completed");
    assert!(told(&events[1..]).contains("one two"), "{first:?}");

    // The same session, from stdin, for people.
    let session = events[0]["data"]["session_id"].as_str().unwrap().to_owned();
    let part = &session[session.len() - 12..];
    let second = run_with(server.rig(), &["send", "-s", part, "--format", "text"], &[], "say three\nsay four\n").await;
    assert_eq!(second.code, 0, "{second:?}");
    assert!(second.stdout.contains("three") && second.stdout.contains("four") && !second.stdout.contains("one two"), "{second:?}");
    assert_eq!(second.stdout.matches("four").count(), 1, "what was streamed is not said again: {second:?}");
    let (_, list) = server.call("GET", "/api/sessions", None).await;
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    server.end().await;
}

#[tokio::test]
async fn the_exit_code_says_how_the_turn_ended() {
    let server = Rig::default().faulty_agent().start().await;
    let ended = async |text: &str| run(&server, &["send", "--new", text]).await;
    assert_eq!(ended("say well").await.code, 0);
    assert_eq!(ended("error_code -32603").await.code, 3);
    assert_eq!(ended("exit_zero").await.code, 3);

    let session = server.new_session(json!({ "title": "x" })).await;
    let mut waiting = Running::start(&server, &["send", "-s", &session, "no_answer"]);
    waiting.until_turn("running").await;
    server.call("POST", &format!("/api/sessions/{session}/cancel"), None).await;
    assert_eq!(waiting.end().await, 4);
    server.end().await;
}

#[tokio::test]
async fn a_detached_message_is_not_waited_for_and_a_queued_one_shows_only_its_own_turn() {
    let server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "title": "x" })).await;
    let mut client = server.stream(&session, None).await;
    let detached = run(&server, &["send", "--detach", "-s", &session, "no_answer"]).await;
    assert_eq!((detached.code, detached.lines().len()), (0, 1), "{detached:?}");
    client.until("the turn", SOON, |event| event.kind == "turn").await;
    let mut queued = Running::start(&server, &["send", "-s", &session, "say mine"]);
    let posted = queued.until("posted", |event| event["event"] == "posted").await;
    assert_eq!(posted["data"]["queued"], true);
    server.call("POST", &format!("/api/sessions/{session}/cancel"), None).await;
    client.until("the end of the turn", SOON, |event| event.kind == "turn" && event.data["state"] == "cancelled").await;
    // What waits after a stop waits for a person, and the command says so.
    let held = queued.until("that it is held", |event| event["event"] == "held").await;
    let advice = format!("POST /api/sessions/{session}/queue/send-next");
    assert!(held["data"]["message"].as_str().unwrap().contains(&advice), "{held}");
    assert_eq!(server.call("POST", &format!("/api/sessions/{session}/queue/send-next"), None).await.0, 202);
    assert_eq!(queued.end().await, 0);
    let turns: Vec<_> = queued.seen.iter().filter(|event| event["event"] == "turn").map(|event| &event["data"]["turn_id"]).collect();
    assert!(!turns.is_empty() && turns.iter().all(|turn| **turn == posted["data"]["turn_id"]), "{:#?}", queued.seen);
    server.end().await;
}

#[tokio::test]
async fn a_message_behind_a_queue_that_is_held_says_so_once_and_how_to_send_it_on() {
    let server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "title": "x" })).await;
    let mut client = server.stream(&session, None).await;
    for content in ["no_answer", "say queued"] {
        server.send(&session, content).await;
    }
    server.call("POST", &format!("/api/sessions/{session}/cancel"), None).await;
    client.until("the stop", SOON, |event| event.kind == "turn" && event.data["state"] == "cancelled").await;
    // What is sent meanwhile begins; what comes behind it is held with the rest.
    server.send(&session, "no_answer").await;
    let detached = run(&server, &["send", "--detach", "-s", &session, "--format", "text", "say one"]).await;
    assert!(detached.code == 0 && detached.stderr.contains("is held because its turn was stopped"), "{detached:?}");
    let mut followed = Running::start(&server, &["send", "-s", &session, "say two"]);
    followed.until("that it is held", |event| event["event"] == "held").await;
    server.call("POST", &format!("/api/sessions/{session}/queue/send-next"), None).await;
    server.call("POST", &format!("/api/sessions/{session}/cancel"), None).await;
    followed.until("that it is held anew", |event| event["event"] == "held").await;
    server.call("POST", &format!("/api/sessions/{session}/queue/send-next"), None).await;
    assert_eq!(followed.end().await, 0);
    assert_eq!(followed.seen.iter().filter(|event| event["event"] == "held").count(), 2, "{:#?}", followed.seen);
    server.end().await;
}

#[tokio::test]
async fn a_server_that_is_killed_meanwhile_is_waited_for_and_nothing_is_lost_or_told_twice() {
    let mut server = Rig::default().faulty_agent().start().await;
    let mut sending = Running::start(&server, &["send", "--new", "slow 150"]);
    sending.until("the agent's text", |event| event["event"] == "copilot-delta").await;
    server.kill().await;
    server.restart().await;
    assert_eq!(sending.end().await, 0, "{:#?}", sending.seen);
    let expected: String = (1..=150).map(|number| format!("{number} ")).collect();
    assert_eq!(told(&sending.seen), expected);
    server.end().await;
}
