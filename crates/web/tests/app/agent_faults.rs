//! Agents that misbehave: each fault ends in a clear event, and another session goes on as if nothing were.

use futures::StreamExt;
use serde_json::json;
use testkit::client::Client;
use testkit::processes;

use crate::rig::{Options, Rig, SOON, of_kind, only};

/// What is expected of a fault: how the turn ends, what the agent's text is like, and the code of a notice.
struct Expected {
    prompt: &'static str,
    state: &'static str,
    text: fn(&str) -> bool,
    notice: Option<&'static str>,
}

fn table() -> Vec<Expected> {
    let fine = |prompt, text| Expected { prompt, state: "completed", text, notice: None };
    let fails = |prompt, text, notice| Expected { prompt, state: "failed", text, notice };
    vec![
        fine("half_line 30", |text| text == "a whole sentence"),
        fine("garbage", |text| text == "before after"),
        fine("invalid_utf8", |text| text.starts_with("before ") && text.ends_with("after")),
        fine("big_line 3", |text| text.len() == 3_000_000),
        fine("unknown_kinds", |text| text == "before after -32601"),
        fine("duplicate_answer", |text| text == "once"),
        fine("stderr_flood 1", |text| text == "said"),
        fine("unknown_stop", |text| text == "almost normal"),
        fine("flood 5000", |text| text.ends_with(" 5000 ")),
        Expected { prompt: "late_answer", state: "completed", text: str::is_empty, notice: Some("late_output") },
        fails("crash_mid_line", |text| text == "before ", Some("agent_gone")),
        fails("exit_zero", str::is_empty, Some("agent_gone")),
        fails("null_result", |text| text == "almost normal", None),
        fails("error_code -32603", str::is_empty, None),
    ]
}

/// Holds S4-35, C31.
#[tokio::test(flavor = "multi_thread")]
async fn every_fault_ends_in_a_clear_event_while_another_session_goes_on() {
    let rig = Rig::replies([]).await;
    let other = rig.relay().await;
    let mut watching = rig.watch(&other).await;
    rig.say(&other, "slow 150").await;
    let rig_ref = &rig;
    futures::stream::iter(table()).for_each_concurrent(3, |expected| check(rig_ref, expected)).await;
    assert_eq!(watching.turn_end(SOON).await, "completed");
    assert!(watching.seen.agent_text("main").ends_with(" 150 "));
}

async fn check(rig: &Rig, expected: Expected) {
    let prompt = expected.prompt;
    let session = rig.relay().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, prompt).await;
    assert_eq!(client.turn_end(SOON).await, expected.state, "{prompt}:\n{}", client.seen.tail());
    let text = client.seen.agent_text("main");
    assert!((expected.text)(&text), "{prompt}: {:?}…", &text[..text.floor_char_boundary(200)]);
    if let Some(code) = expected.notice {
        let seen = of_kind(&client, "notice").iter().any(|event| event.data["code"] == code);
        if !seen {
            client.until(code, SOON, |event| event.kind == "notice" && event.data["code"] == code).await;
        }
    }
    let failed = expected.state == "failed";
    assert_eq!(of_kind(&client, "error").len(), usize::from(failed), "{prompt}");
    assert_eq!(of_kind(&client, "done").len(), usize::from(!failed), "{prompt}");
    let results = of_kind(&client, "tool-result");
    assert_eq!((results.len(), &results[0].data["is_error"]), (1, &json!(failed)), "{prompt}");
    goes_on(rig, &session, prompt).await;
}

/// Whatever happened, the next message works.
async fn goes_on(rig: &Rig, session: &str, after: &str) -> Client {
    let (state, client) = rig.turn(session, "say back again").await;
    assert_eq!(state, "completed", "after {after}:\n{}", client.seen.tail());
    assert!(client.seen.agent_text("main").ends_with("back again"), "after {after}:\n{}", client.seen.tail());
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_dies_leaves_what_it_said_and_its_session_is_said_to_be_lost() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "crash_mid_line").await;
    assert_eq!(state, "failed");
    assert_eq!(only(&client, "copilot-done")["stop_reason"], "interrupted");
    assert_eq!(only(&client, "tool-result")["display"], "before ");
    let client = goes_on(&rig, &session, "a crash").await;
    let lost = of_kind(&client, "notice").into_iter().find(|event| event.data["code"] == "session_lost").unwrap();
    assert_eq!(lost.data["title"], "Session history lost");
}

/// Holds C15, C16.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_can_load_goes_on_where_it_was() {
    let rig = Rig::start(Options { agent_env: vec![("FAULTY_LOAD", "ok")], ..Options::default() }).await;
    let session = rig.relay().await;
    rig.turn(&session, "exit_zero").await;
    let client = goes_on(&rig, &session, "an exit").await;
    assert!(of_kind(&client, "notice").iter().any(|event| event.data["code"] == "session_restored"), "{}", client.seen.tail());
    assert!(!client.seen.agent_text("main").contains("replayed"), "a replay is no output");
    assert_eq!(rig.get(&format!("/api/sessions/{session}/agents")).await.json()["agents"][0]["restored"], "loaded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_agent_has_forgotten_is_opened_anew() {
    let rig = Rig::start(Options { agent_env: vec![("FAULTY_LOAD", "ok")], ..Options::default() }).await;
    for refusal in ["-32602 Session x not found", "-32603 Request session.abort failed with message: Session not found for sessionId: x"] {
        let session = rig.relay().await;
        rig.turn(&session, "say hello").await;
        let (state, _) = rig.turn(&session, &format!("error_code {refusal}")).await;
        assert_eq!(state, "failed");
        let client = goes_on(&rig, &session, refusal).await;
        assert!(of_kind(&client, "notice").iter().any(|event| event.data["code"] == "session_restored"), "{}", client.seen.tail());
    }
}

/// Holds S4-29, C5.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_start_says_why() {
    let table = [
        (vec![("FAULTY_INIT", "exit")], "faulty", "not today"),
        (vec![("FAULTY_PROTOCOL_VERSION", "7")], "faulty", "version 7"),
        (vec![], "copilot", "npm install -g @github/copilot"),
    ];
    for (agent_env, agent, words) in table {
        let rig = Rig::start(Options { agent_env, ..Options::default() }).await;
        let session = rig.session_with(json!({ "model": "relay", "agent": agent })).await;
        let (state, client) = rig.turn(&session, "say hello").await;
        assert_eq!(state, "failed");
        let error = only(&client, "error");
        assert!(error["message"].as_str().unwrap().contains(words), "{agent}: {error}");
        processes::none_left(rig.dir.path(), SOON).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_ends_while_it_starts_is_started_again() {
    let rig = Rig::start(Options { agent_env: vec![("FAULTY_INIT", "exit_once")], ..Options::default() }).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "say hello").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main"), "hello");
    assert!(rig.dir.path().join("work/was-started").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_login_asks_for_one_with_every_message() {
    let rig = Rig::start(Options { agent_env: vec![("FAULTY_AUTH", "1")], ..Options::default() }).await;
    let session = rig.relay().await;
    for _ in 0..2 {
        let mut client = rig.watch(&session).await;
        rig.say(&session, "say hello").await;
        let notice = client.until("login", SOON, |event| event.kind == "notice").await;
        assert_eq!((&notice.data["code"], &notice.data["session_name"]), (&json!("auth_required"), &json!("main")));
        rig.post(&format!("/api/sessions/{session}/cancel"), json!({})).await;
        assert_eq!(client.turn_end(SOON).await, "cancelled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_leaves_behind_is_ended_with_its_session() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "grandchild").await;
    assert_eq!(state, "completed");
    let pid: i32 = client.seen.agent_text("main").trim_start_matches("grandchild ").parse().unwrap();
    assert!(processes::of_dir(rig.dir.path()).iter().any(|process| process.pid == pid));
    assert_eq!(rig.delete(&format!("/api/sessions/{session}")).await.status, 204);
    processes::none_left(rig.dir.path(), SOON).await.unwrap();
}

/// S4-27, S4-28, S4-29, S4-36: an agent that never read the protocol works by its other names, with a tool and with thoughts.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_another_dialect_completes_a_turn() {
    let agent_env = vec![("FAULTY_DIALECT", "other")];
    let rig = Rig::start(Options { agent_env, ..Options::default() }).await;
    let session = rig.relay().await;
    for _ in 0..2 {
        let (state, client) = rig.turn(&session, "what is there?").await;
        assert_eq!(state, "completed", "{}", client.seen.tail());
        assert!(client.seen.agent_text("main").ends_with("there is one file"));
        let updates: Vec<_> = of_kind(&client, "agent-update").into_iter().map(|event| event.data["update"].clone()).collect();
        assert!(updates.iter().any(|update| update["type"] == "thought" && update["text"] == "let me see"), "{updates:?}");
        let call = updates.iter().rfind(|update| update["type"] == "tool_call").unwrap();
        assert_eq!((&call["title"], &call["status"], &call["output"]), (&json!("list"), &json!("completed"), &json!("one file")));
        assert!(updates.iter().any(|update| update["type"] == "tool_output" && update["content"] == "one file"), "{updates:?}");
    }
    let (state, client) = rig.turn(&session, "fail").await;
    assert_eq!(state, "failed");
    assert!(client.seen.tail().contains("Rate limit exceeded"), "{}", client.seen.tail());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_speaks_nothing_known_is_refused_with_what_was_tried() {
    let rig = Rig::start(Options { agent_env: vec![("FAULTY_DIALECT", "nonsense")], ..Options::default() }).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "hello?").await;
    assert_eq!(state, "failed");
    let told = client.seen.tail();
    assert!(
        told.contains("unsupported") && told.contains("session/new, session/create, session/start, create_session, startSession"),
        "{told}"
    );
}
