//! The known agents on a machine that has some of them: where they are found, what they get, and how npx is let fetch one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use testkit::faulty_agent;
use testkit::server::{Rig, Server};

use crate::SOON;

fn program(dir: &Path, name: &str, body: &str) {
    fs::create_dir_all(dir).unwrap();
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
}

/// A program that is the faulty agent, and says this version of itself.
fn agent(dir: &Path, name: &str, version: &str) {
    let body = format!("[ \"$1\" = --version ] && echo {version} && exit\nexec {}", faulty_agent::path().display());
    program(dir, name, &body);
}

/// A server that finds programs in the rig's `bin` and in the system's.
fn rig() -> Rig {
    let rig = Rig::default();
    let path = format!("{}:/usr/bin:/bin", rig.home().join("bin").display());
    rig.env("PATH", path).env("VOXPILOT_AGENT", "demo")
}

async fn entry(server: &Server, id: &str) -> Value {
    let body = server.call("GET", "/api/agents", None).await.1;
    body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone()
}

/// Waits until the agent's entry fits.
async fn entry_that(server: &Server, id: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let seen = entry(server, id).await;
        if fits(&seen) || began.elapsed() > SOON {
            return seen;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

async fn says(server: &Server, agent: &str, prompt: &str) -> String {
    let session = server.new_session(json!({ "agent": agent })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, prompt).await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    client.seen.agent_text("main")
}

#[tokio::test]
async fn what_is_installed_appears_by_itself_and_gets_its_own_keys_and_nobody_elses() {
    let rig = rig();
    agent(&rig.home().join("bin"), "gemini", "9.8.7");
    agent(&rig.home().join("prefix/bin"), "qwen", "6.5.4");
    let prefix = rig.home().join("prefix").display().to_string();
    let rig = rig.env("npm_config_prefix", prefix).env("GEMINI_API_KEY", "the gemini key").env("OPENAI_API_KEY", "the openai key");
    let server = rig.start().await;
    let gemini = entry_that(&server, "gemini", |entry| entry["version"].is_string()).await;
    assert_eq!((&gemini["found"], &gemini["version"], &gemini["health"]), (&json!("path"), &json!("9.8.7"), &json!("unknown")), "{gemini}");
    assert!(gemini["about"].as_str().unwrap().len() > 10 && gemini["install"].is_null(), "{gemini}");
    assert_eq!(gemini["login"]["command"], "gemini");
    let qwen = entry_that(&server, "qwen", |entry| entry["version"].is_string()).await;
    assert_eq!((&qwen["found"], &qwen["version"]), (&json!("npm"), &json!("6.5.4")), "{qwen}");
    assert_eq!(says(&server, "gemini", "echo_env GEMINI_API_KEY").await, "the gemini key");
    assert_eq!(says(&server, "gemini", "echo_env OPENAI_API_KEY").await, "unset");
    assert_eq!(says(&server, "qwen", "echo_env OPENAI_API_KEY").await, "the openai key");
    assert_eq!(says(&server, "qwen", "echo_env GEMINI_API_KEY").await, "unset");
    server.end().await;
}

#[tokio::test]
async fn the_version_of_what_runs_an_agent_is_not_the_agents() {
    let rig = rig();
    agent(&rig.home().join("bin"), "node", "v20.0.0");
    let server = rig.config("[agents.mine]\ncommand = \"node\"\nargs = [\"agent.js\"]\n").start().await;
    // The demo agent comes before it, so that its turn is over by then.
    entry_that(&server, "demo", |entry| entry["version"].is_string()).await;
    let mine = entry(&server, "mine").await;
    assert_eq!((&mine["installed"], &mine["version"]), (&json!(true), &Value::Null), "{mine}");
    says(&server, "mine", "say hello").await;
    assert_eq!(entry(&server, "mine").await["version"], env!("CARGO_PKG_VERSION"), "as it says itself");
    server.end().await;
}

#[tokio::test]
async fn npx_fetches_an_agent_only_where_it_is_allowed_and_shows_what_it_does() {
    let rig = rig();
    let (asked, go) = (rig.home().join("asked"), rig.home().join("go"));
    let body = format!(
        "echo \"$*\" >> {asked}\necho 'npm http fetch GET 200 /tmp/secret/place opencode' >&2\n\
         until [ -e {go} ]; do sleep 0.1; done\nexec {agent}",
        asked = asked.display(),
        go = go.display(),
        agent = faulty_agent::path().display()
    );
    program(&rig.home().join("bin"), "npx", &body);
    let mut server = rig.start().await;
    let before = entry(&server, "opencode").await;
    assert_eq!((&before["health"], &before["found"]), (&json!("missing"), &Value::Null), "{before}");
    assert_eq!(before["install"], json!({ "command": "npm install -g opencode-ai", "npx": true }));
    let session = server.new_session(json!({ "agent": "opencode" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    assert_eq!(client.turn_end(SOON).await, "failed");
    assert!(client.seen.tail().contains("npm install -g opencode-ai"), "{}", client.seen.tail());
    assert!(!asked.exists(), "npx was run although nobody has asked for it");

    let (status, allowed) = server.call("POST", "/api/agents/opencode/npx", Some(json!({ "allowed": true }))).await;
    assert_eq!((status, &allowed["found"], &allowed["version"]), (200, &json!("npx"), &json!("1.18.33")), "{allowed}");
    server.send(&session, "say hello").await;
    let told = |part: &'static str| {
        move |event: &testkit::client::Event| {
            event.kind == "notice" && event.data["code"] == "agent_installing" && event.data["text"].as_str().unwrap().contains(part)
        }
    };
    client.until("the package", SOON, told("opencode-ai@1.18.33")).await;
    client.until("what npm says", SOON, told("npm http fetch GET 200 place opencode")).await;
    let during = entry(&server, "opencode").await;
    assert_eq!(during["health"], "installing", "{during}");
    assert!(during["problem"].as_str().unwrap().contains("npm http fetch") && !during.to_string().contains("/tmp/"), "{during}");
    fs::write(&go, "").unwrap();
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert_eq!(fs::read_to_string(&asked).unwrap().trim(), "--yes opencode-ai@1.18.33 acp");
    let after = entry(&server, "opencode").await;
    assert_eq!((&after["health"], &after["problem"], &after["version"]), (&json!("ok"), &Value::Null, &json!("1.18.33")), "{after}");

    server.kill().await;
    server.restart().await;
    assert_eq!(entry(&server, "opencode").await["found"], "npx", "it is remembered");
    let (status, withdrawn) = server.call("POST", "/api/agents/opencode/npx", Some(json!({ "allowed": false }))).await;
    assert_eq!((status, &withdrawn["health"]), (200, &json!("missing")), "{withdrawn}");
    assert_eq!(server.call("POST", "/api/agents/demo/npx", Some(json!({ "allowed": true }))).await.0, 409);
    assert_eq!(server.call("POST", "/api/agents/nobody/npx", Some(json!({ "allowed": true }))).await.0, 422);
    server.end().await;
}

#[tokio::test]
async fn a_key_that_stands_elsewhere_is_found_at_the_start_and_shown_nowhere() {
    let rig = rig().env("MY_KEY", "a-key-of-mine").faulty_agent();
    let file = rig.home().join("secret");
    let section = format!("[agents.faulty.env]\nA = {{ variable = \"MY_KEY\" }}\nB = {{ file = {:?} }}\n", file.display().to_string());
    let server = rig.config(&section).start().await;
    let fails = async |why: &str| {
        let session = server.new_session(json!({ "agent": "faulty" })).await;
        let mut client = server.stream(&session, None).await;
        server.send(&session, "echo_env A").await;
        assert_eq!(client.turn_end(SOON).await, "failed");
        assert!(client.seen.tail().contains(why), "{why}: {}", client.seen.tail());
    };
    fails("secret").await;
    fs::write(&file, "a-key-in-a-file\n").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    fails("chmod 600").await;
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let session = server.new_session(json!({ "agent": "faulty" })).await;
    let mut client = server.stream(&session, None).await;
    for (name, value) in [("A", "a-key-of-mine"), ("B", "a-key-in-a-file")] {
        server.send(&session, &format!("echo_env {name}")).await;
        assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
        assert!(client.seen.agent_text("main").contains(value), "it was given it");
        let trace = server.text("GET", &format!("/api/sessions/{session}/trace")).await;
        assert!(trace.contains("[masked]") && !trace.contains(value), "{trace}");
    }
    server.end().await;
}

#[tokio::test]
async fn the_agent_itself_is_asked_to_log_in_where_it_has_no_command_for_it() {
    let rig = rig().faulty_agent();
    let marker = rig.home().join("logged-in");
    let env = format!(
        "[agents.faulty.env]\nFAULTY_LOGIN_AT = \"prompt\"\nFAULTY_LOGIN_MARKER = {:?}\nFAULTY_AGENT_AUTH = \"1\"\n",
        marker.display().to_string()
    );
    let server = rig.config(&env).start().await;
    let session = server.new_session(json!({ "agent": "faulty" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    client.until("notice", SOON, |event| event.kind == "notice" && event.data["code"] == "auth_required").await;
    let (status, refused) = server.call("POST", "/api/agents/faulty/login", Some(json!({ "method": "no-such-way" }))).await;
    assert!(status == 422 && refused.to_string().contains("faulty-web"), "{refused}");
    let said = server.text("POST", "/api/agents/faulty/login").await;
    assert!(said.contains("Log in: In a browser") && said.contains("type AB-CD"), "{said}");
    assert!(said.trim_end().ends_with("login finished"), "{said}");
    assert!(marker.exists());
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    server.end().await;
}
