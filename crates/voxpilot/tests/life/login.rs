//! An agent that wants a login first: the prompt waits, the agent's own login runs, and the prompt is sent once.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;
use testkit::client::Client;
use testkit::faulty_agent;
use testkit::server::Rig;

use crate::SOON;

/// A rig whose agent wants a login at some moment, and the file that says that somebody has logged in.
fn guarded(at: &str) -> (Rig, PathBuf) {
    let rig = Rig::default();
    let marker = rig.home().join("logged-in");
    let env = format!(
        "[agents.faulty.env]\nFAULTY_LOGIN_AT = {at:?}\nFAULTY_LOGIN_MARKER = {:?}\nFAULTY_LOAD = \"ok\"\nFAULTY_TERMINAL_AUTH = \"1\"\n",
        marker.display().to_string()
    );
    (rig.faulty_agent().config(&env), marker)
}

async fn told_to_log_in(client: &mut Client) {
    client.until("notice", SOON, |event| event.kind == "notice" && event.data["code"] == "auth_required").await;
    assert_eq!(client.seen.of_kind("copilot-done").filter(|event| event.data["stop_reason"] == "auth_required").count(), 0);
}

/// What the agent got after the login: the prompt, once.
fn got_it_once(client: &Client) {
    let text = client.seen.agent_text("main");
    let prompts: Vec<String> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    // After an interruption a note stands in front of it.
    assert!(prompts.len() == 1 && prompts[0].ends_with("prompts"), "{prompts:?}");
    assert_eq!(client.seen.of_kind("error").filter(|event| event.data["code"] == "auth_required").count(), 0);
    let lost = client.seen.of_kind("notice").filter(|event| event.data["code"] == "session_lost").count();
    assert_eq!(lost, 0, "{}", client.seen.tail());
}

/// C10, S0-40, S0-43: a login that is missed only when the prompt is sent. The call waits, the agent is started again after the login,
/// and has the prompt once.
#[tokio::test]
async fn a_prompt_that_is_refused_for_want_of_a_login_waits_for_it() {
    let (rig, marker) = guarded("prompt");
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "prompts").await;
    told_to_log_in(&mut client).await;
    std::fs::write(&marker, "").unwrap();
    assert_eq!(server.call("POST", "/api/agents/faulty/login?done=true", None).await.0, 200);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    got_it_once(&client);
    server.end().await;
}

/// S0-39, S0-40, S0-43: the login has ended between two turns, and the agent misses it when it is to load its session.
#[tokio::test]
async fn a_session_that_cannot_be_loaded_for_want_of_a_login_waits_for_it() {
    let (rig, marker) = guarded("load");
    std::fs::write(&marker, "").unwrap();
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "exit_zero").await;
    assert_eq!(client.turn_end(SOON).await, "failed");
    std::fs::remove_file(&marker).unwrap();
    server.send(&session, "prompts").await;
    told_to_log_in(&mut client).await;
    std::fs::write(&marker, "").unwrap();
    assert_eq!(server.call("POST", "/api/agents/faulty/login?done=true", None).await.0, 200);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    got_it_once(&client);
    server.end().await;
}

/// C10: whoever is not logged in after all is told again, and nothing is lost meanwhile, not even with the server.
#[tokio::test]
async fn a_prompt_still_waits_for_its_login_after_a_kill() {
    let (rig, marker) = guarded("prompt");
    let mut server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "prompts").await;
    told_to_log_in(&mut client).await;
    assert_eq!(server.call("POST", "/api/agents/faulty/login?done=true", None).await.0, 200);
    told_to_log_in(&mut client).await;
    server.kill().await;
    std::fs::write(&marker, "").unwrap();
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    assert_eq!(server.call("POST", "/api/agents/faulty/login?done=true", None).await.0, 200);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    got_it_once(&client);
    server.end().await;
}

/// C8: the login that the agent offers is the one that is run, in a terminal; no configuration names it.
#[tokio::test]
async fn the_login_that_the_agent_offers_is_run() {
    let (rig, marker) = guarded("prompt");
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "prompts").await;
    told_to_log_in(&mut client).await;
    let said = server.text("POST", "/api/agents/faulty/login").await;
    assert!(said.contains("the login runs in a terminal"), "{said}");
    assert!(said.trim_end().ends_with("login finished"), "{said}");
    assert!(marker.exists());
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    got_it_once(&client);
    server.end().await;
}

#[tokio::test]
async fn the_waiting_prompt_is_sent_once_after_the_login() {
    let rig = Rig::default();
    let mark = rig.home().join("logged-in");
    let script = rig.home().join("agent.sh");
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = login ]; then test -t 1 && echo 'your code is AB-CD'; touch {mark}; exit 0; fi\n\
         [ -e {mark} ] || export FAULTY_AUTH=1\nexec {agent}\n",
        mark = mark.display(),
        agent = faulty_agent::path().display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = rig.agent("guarded", &script, &[]).config("login = [\"login\"]\n").start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "prompts").await;
    client.until("notice", SOON, |event| event.kind == "notice" && event.data["code"] == "auth_required").await;
    let said = server.text("POST", "/api/agents/guarded/login").await;
    assert!(said.contains("your code is AB-CD"), "{said}");
    assert!(said.trim_end().ends_with("login finished"), "{said}");
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main").matches("prompts").count(), 1, "{}", client.seen.agent_text("main"));
    server.end().await;
}

#[tokio::test]
async fn a_prompt_that_waits_for_a_login_can_be_stopped() {
    let rig = Rig::default().faulty_agent().config("[agents.faulty.env]\nFAULTY_AUTH = \"1\"\n");
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "hello").await;
    client.until("notice", SOON, |event| event.kind == "notice" && event.data["code"] == "auth_required").await;
    server.call("POST", &format!("/api/sessions/{session}/cancel"), None).await;
    assert_eq!(client.turn_end(SOON).await, "cancelled");
    server.end().await;
}
