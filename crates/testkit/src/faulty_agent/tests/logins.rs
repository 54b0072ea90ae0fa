//! The logins that it asks for, and the one that it offers.

use std::process::Command;

use serde_json::json;

use super::{Agent, path};

#[test]
fn a_login_counts_from_the_next_start_on() {
    let dir = tempfile::tempdir().unwrap();
    let marker = dir.path().join("marker");
    let file = marker.to_str().unwrap();
    let start =
        |at: &str| Agent::start_with(&path(), &[], &[("FAULTY_LOGIN_AT", at), ("FAULTY_LOGIN_MARKER", file), ("FAULTY_LOAD", "ok")]);
    let (mut at_prompt, mut at_load) = (start("prompt"), start("load"));
    at_prompt.make_session();
    // It looks for the marker before it answers anything.
    at_load.call("initialize", json!({ "protocolVersion": 1 }));
    std::fs::write(&marker, "").unwrap();
    assert_eq!(at_prompt.prompt("say x").1["error"]["code"], -32000);
    for method in ["session/new", "session/load"] {
        assert_eq!(at_load.call(method, json!({ "sessionId": "any" })).1["error"]["code"], -32000, "{method}");
    }
    let (mut at_prompt, mut at_load) = (start("prompt"), start("load"));
    at_prompt.make_session();
    assert_eq!(at_prompt.say("say x"), "x");
    assert!(at_load.call("session/load", json!({ "sessionId": "any" })).1.get("result").is_some());
}

#[test]
fn a_prompt_can_name_the_login_that_it_needs() {
    let dir = tempfile::tempdir().unwrap();
    let prompt = format!("login-at-prompt {}", dir.path().join("marker").display());
    let mut agent = Agent::with_session();
    assert_eq!(agent.prompt(&prompt).1["error"]["code"], -32000);
    std::fs::write(dir.path().join("marker"), "").unwrap();
    assert_eq!(Agent::with_session().say(&prompt), "logged in");
}

#[test]
fn the_offered_login_writes_the_marker() {
    let dir = tempfile::tempdir().unwrap();
    let marker = dir.path().join("marker");
    let env = [("FAULTY_TERMINAL_AUTH", "1"), ("FAULTY_LOGIN_MARKER", marker.to_str().unwrap())];
    let (_, answer) = Agent::start_with(&path(), &[], &env).call("initialize", json!({}));
    let login = &answer["result"]["authMethods"][0]["_meta"]["terminal-auth"];
    let args = login["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let said = Command::new(login["command"].as_str().unwrap()).args(args).output().unwrap();
    assert_eq!(String::from_utf8(said.stdout).unwrap(), "the login runs without a terminal\n");
    assert!(marker.exists());
}

#[test]
fn a_chatty_start_ends_with_the_answer() {
    let mut agent = Agent::start_with(&path(), &[], &[("FAULTY_INIT", "chatty")]);
    let id = agent.start_call("initialize", json!({}));
    for number in 1..=100_000 {
        assert_eq!(agent.message()["params"]["step"], number);
    }
    assert_eq!(agent.finish(id).1["result"]["protocolVersion"], 1);
}
