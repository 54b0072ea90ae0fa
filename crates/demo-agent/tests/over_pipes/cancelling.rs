use std::fs;
use std::time::{Duration, Instant};

use demo_agent::{CwdPolicy, Pace};
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

use crate::client::{Client, Home};

/// Waits until the process is no more, or is only waiting for init to reap it.
pub(crate) fn is_gone(pid: &str) -> bool {
    let id = pid.parse().ok().and_then(Pid::from_raw).expect("a pid");
    let is_zombie = || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z"));
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        if test_kill_process(id).is_err() || is_zombie() {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

fn chunk(message: &Value) -> bool {
    message["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
}

/// Starts a command that says its pid and then sleeps; returns the prompt's id and the pid.
fn sleeping(client: &mut Client, session: &str) -> (u64, String) {
    let id = client.start_prompt(session, "run `echo pid $$; sleep 1000`");
    let request = client.until(|message| message["method"] == "session/request_permission");
    client.answer(&request, &json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } }));
    let update = client.until(|message| message["params"]["update"]["content"][0]["type"] == "content");
    let text = update["params"]["update"]["content"][0]["content"]["text"].as_str().unwrap();
    (id, text.trim().strip_prefix("pid ").unwrap().to_owned())
}

#[test]
fn a_cancel_in_mid_stream_ends_it() {
    let home = Home::new();
    let mut client = home.agent_with(Pace::Slow, CwdPolicy::AnyDirectory);
    let session = client.new_session(&home.work);
    let id = client.start_prompt(&session, "write 100000 words");
    client.until(chunk);
    client.notify("session/cancel", json!({ "sessionId": session }));
    let outcome = client.finish(id, "unused");
    assert_eq!(outcome.stop_reason(), "cancelled");
    client.call("session/set_config_option", json!({ "sessionId": session, "configId": "pace", "value": "fast" }));
    assert_eq!(client.prompt(&session, "count to 3").text(), "1 2 3");
}

#[test]
fn a_cancel_in_mid_command_kills_it_and_ends_its_call() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let (id, pid) = sleeping(&mut client, &session);
    client.notify("session/cancel", json!({ "sessionId": session }));
    let outcome = client.finish(id, "unused");
    assert_eq!(outcome.stop_reason(), "cancelled");
    assert_eq!(outcome.statuses(), ["failed"]);
    assert!(is_gone(&pid));
}

#[test]
fn a_cancel_while_permission_is_pending_needs_no_answer() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let id = client.start_prompt(&session, "create a.txt with x");
    let request = client.until(|message| message["method"] == "session/request_permission");
    client.notify("session/cancel", json!({ "sessionId": session }));
    let outcome = client.finish(id, "unused");
    assert_eq!((outcome.stop_reason(), outcome.statuses()), ("cancelled", vec!["failed"]));
    // The late answer finds nobody.
    client.answer(&request, &json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } }));
    client.prompt(&session, "count to 1");
    assert_eq!(fs::read_dir(&home.work).unwrap().count(), 0);
}

#[test]
fn cancel_request_cancels_the_prompt_with_that_id() {
    let home = Home::new();
    let mut client = home.agent_with(Pace::Slow, CwdPolicy::AnyDirectory);
    let session = client.new_session(&home.work);
    let id = client.start_prompt(&session, "count to 100000");
    client.until(chunk);
    client.notify("$/cancel_request", json!({ "requestId": id + 1000 }));
    client.until(chunk);
    client.notify("$/cancel_request", json!({ "requestId": id }));
    assert_eq!(client.finish(id, "unused").stop_reason(), "cancelled");
}

#[test]
fn the_end_of_input_kills_commands_and_ends_the_agent() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let (_, pid) = sleeping(&mut client, &session);
    client.hang_up();
    assert!(is_gone(&pid));
}

#[test]
fn a_client_that_stops_listening_ends_the_agent() {
    let home = Home::new();
    let mut client = home.agent_with(Pace::Normal, CwdPolicy::AnyDirectory);
    let session = client.new_session(&home.work);
    client.start_prompt(&session, "count to 100000");
    let (input, server) = client.stop_listening();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !server.is_finished() {
        assert!(Instant::now() < deadline, "the agent goes on talking to nobody");
        std::thread::yield_now();
    }
    drop(input);
}

#[test]
fn closing_a_busy_session_cancels_its_prompt() {
    let home = Home::new();
    let (mut client, session) = home.session();
    let (id, pid) = sleeping(&mut client, &session);
    let close = client.start("session/close", json!({ "sessionId": session }));
    let mut answers = [client.until(|message| message.get("result").is_some()), Value::Null];
    answers[1] = client.until(|message| message.get("result").is_some());
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["id"], json!(id));
    assert_eq!(answers[0]["result"]["stopReason"], "cancelled");
    assert_eq!(answers[1]["id"], json!(close));
    assert!(is_gone(&pid));
}
