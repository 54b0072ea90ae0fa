//! Consent in the page: the server takes itself up anew, and what was consented to holds.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::server::{Rig, Server};

use crate::SOON;

/// Waits until the server runs with the file in this state.
pub(crate) async fn is_back(server: &Server, state: &str) -> Value {
    let deadline = Instant::now() + SOON;
    loop {
        match server.try_call("GET", "/api/trust", None).await {
            Ok((200, told)) if told["state"] == state && told["applied"] == true => return told,
            other if Instant::now() > deadline => panic!("not {state}: {other:?}\n{}", server.log()),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn look(server: &Server) -> Value {
    let (status, told) = server.call("GET", "/api/trust", None).await;
    assert_eq!(status, 200, "{told}");
    told
}

async fn agents(server: &Server) -> Vec<String> {
    let (_, catalogue) = server.call("GET", "/api/agents", None).await;
    catalogue["agents"].as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_file_is_consented_to_changed_and_asked_about_again() {
    let rig = Rig::default().demo_agent();
    let file = rig.work_dir().join("voxpilot.toml");
    let server = rig.start().await;
    assert_eq!(look(&server).await, json!({ "path": "work/voxpilot.toml", "state": "none", "lines": [], "scripts": [], "applied": true }));

    std::fs::write(&file, "title = 'x'\n").unwrap();
    let told = look(&server).await;
    assert_eq!((&told["state"], &told["applied"]), (&json!("harmless"), &json!(false)), "{told}");

    std::fs::write(&file, "title = 'x'\n[agents.theirs]\ncommand = '/bin/true'\n").unwrap();
    let told = look(&server).await;
    assert_eq!(told["state"], "waiting", "{told}");
    let lines: Vec<_> =
        told["lines"].as_array().unwrap().iter().map(|line| (line["line"].as_u64().unwrap(), line["text"].as_str().unwrap())).collect();
    assert_eq!(lines, [(2, "[agents.theirs]"), (3, "command = '/bin/true'")]);
    assert_eq!((&told["lines"][1]["key"], told["lines"][1]["why"].as_str().is_some()), (&json!("agents.theirs.command"), true));
    assert!(!agents(&server).await.contains(&"theirs".to_owned()));

    let seen = told["hash"].clone();
    std::fs::write(&file, "[agents.others]\ncommand = '/bin/false'\n").unwrap();
    let (status, refused) = server.call("POST", "/api/trust", Some(json!({ "hash": seen }))).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("conflict")));

    let pid = server.pid();
    let hash = look(&server).await["hash"].clone();
    assert_eq!(server.call("POST", "/api/trust", Some(json!({ "hash": hash }))).await.0, 202);
    is_back(&server, "trusted").await;
    assert_eq!(server.pid(), pid);
    assert!(agents(&server).await.contains(&"others".to_owned()), "what was consented to counts");

    std::fs::write(&file, "[agents.third]\ncommand = '/bin/false'\n").unwrap();
    let told = look(&server).await;
    assert_eq!((&told["state"], &told["applied"], &told["lines"][0]["text"]), (&json!("waiting"), &json!(false), &json!("[agents.third]")));

    let hash = told["hash"].clone();
    assert_eq!(server.call("POST", "/api/trust", Some(json!({ "hash": hash }))).await.0, 202);
    is_back(&server, "trusted").await;
    assert_eq!(server.call("DELETE", "/api/trust", None).await.0, 202);
    is_back(&server, "waiting").await;
    assert!(!agents(&server).await.contains(&"third".to_owned()), "what was taken back does not count");
    server.end().await;
}

#[tokio::test]
async fn work_that_is_under_way_goes_on_over_the_new_start() {
    let rig = Rig::default().demo_agent();
    std::fs::write(rig.work_dir().join("voxpilot.toml"), "log = 'debug'\n").unwrap();
    let server = rig.start().await;
    let session = server.new_session(json!({ "permission_policy": "ask" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "create made.txt with hello").await;
    let asked = client.until("permission-request", SOON, |event| event.kind == "permission-request").await;
    let hash = look(&server).await["hash"].clone();
    assert_eq!(server.call("POST", "/api/trust", Some(json!({ "hash": hash }))).await.0, 202);
    is_back(&server, "trusted").await;

    let mut client = server.stream(&session, None).await;
    let option = asked.data["options"].as_array().unwrap().iter().find(|option| option["kind"] == "allow_once").unwrap();
    let path = format!("/api/sessions/{session}/permissions/{}", asked.data["request_id"].as_str().unwrap());
    assert_eq!(server.call("POST", &path, Some(json!({ "option_id": option["option_id"] }))).await.0, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "hello");
    server.end().await;
}

#[tokio::test]
async fn a_file_that_the_server_could_not_start_with_is_refused_and_the_server_stays() {
    let rig = Rig::default().demo_agent();
    let file = rig.work_dir().join("voxpilot.toml");
    let server = rig.start().await;
    for text in ["modle = 'x'\n", "[agents.x]\ntitle = 'without a command'\n", "copilot_token_file = 'missing'\n", "bind = = 1\n"] {
        std::fs::write(&file, text).unwrap();
        let told = look(&server).await;
        let (status, refused) = server.call("POST", "/api/trust", Some(json!({ "hash": told["hash"] }))).await;
        assert_eq!((status, &refused["error"]["code"]), (422, &json!("invalid")), "{text}: {refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(!message.contains(server.rig().home().to_str().unwrap()), "{message}");
    }
    assert_eq!(look(&server).await["problem"].as_str().map(|problem| problem.contains("not valid TOML")), Some(true));
    server.end().await;
}

/// Consent is to what runs, not only to the line that names it.
#[tokio::test]
async fn a_changed_script_is_not_run_and_is_asked_about_again() {
    let rig = Rig::default().demo_agent();
    let (file, script) = (rig.work_dir().join("voxpilot.toml"), rig.work_dir().join("agent.sh"));
    let ran = rig.home().join("ran");
    let body = |mark: &str| format!("#!/bin/sh\ntouch {}.{mark}\nexec {} demo-agent\n", ran.display(), env!("CARGO_BIN_EXE_voxpilot"));
    std::fs::write(&script, body("trusted")).unwrap();
    std::fs::write(&file, "agent = 'theirs'\n[agents.theirs]\ncommand = 'sh'\nargs = ['./agent.sh']\n").unwrap();
    let server = rig.start().await;
    let told = look(&server).await;
    let shown = &told["scripts"][0];
    assert_eq!((&shown["path"], &shown["key"]), (&json!("agent.sh"), &json!("agents.theirs")), "{told}");
    assert!(shown["text"].as_str().unwrap().contains("demo-agent") && shown["sha256"].as_str().unwrap().len() == 64, "{told}");

    std::fs::write(&script, body("changed")).unwrap();
    let (status, _) = server.call("POST", "/api/trust", Some(json!({ "hash": told["hash"] }))).await;
    assert_eq!(status, 409, "what was seen is no longer what would run");
    std::fs::write(&script, body("trusted")).unwrap();
    assert_eq!(server.call("POST", "/api/trust", Some(json!({ "hash": told["hash"] }))).await.0, 202);
    is_back(&server, "trusted").await;

    std::fs::write(&script, body("changed")).unwrap();
    let session = server.new_session(json!({ "agent": "theirs" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "hello").await;
    assert_eq!(client.turn_end(SOON).await, "failed");
    let (_, messages) = server.call("GET", &format!("/api/sessions/{session}/messages"), None).await;
    assert!(messages.to_string().contains("agent.sh has changed since you trusted this project"), "{messages}");
    assert!(!ran.with_extension("changed").exists(), "what was not trusted does not run");
    assert_eq!(look(&server).await["state"], "waiting", "and it is asked about again");

    let hash = look(&server).await["hash"].clone();
    assert_eq!(server.call("POST", "/api/trust", Some(json!({ "hash": hash }))).await.0, 202);
    is_back(&server, "trusted").await;
    let session = server.new_session(json!({ "agent": "theirs" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(ran.with_extension("changed").exists());
    server.end().await;
}
