//! What an agent keeps by itself, removed on a person's word: its record of a session that is deleted, and its login.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::server::{Rig, Server};

use crate::SOON;

/// A rig whose agent lists its sessions in the returned file, and deletes them like this.
fn listing(delete: Option<&str>) -> (Rig, PathBuf) {
    let rig = Rig::default();
    let list = rig.home().join("agents-own");
    let delete = delete.map(|how| format!("FAULTY_DELETE = {how:?}\n")).unwrap_or_default();
    let env = format!("[agents.faulty.env]\nFAULTY_LIST = {:?}\n{delete}", list.display().to_string());
    (rig.faulty_agent().config(&env), list)
}

fn listed(list: &PathBuf) -> usize {
    std::fs::read_to_string(list).unwrap_or_default().lines().count()
}

async fn worked_in(server: &Server) -> String {
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "prompts").await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    session
}

async fn delete(server: &Server, session: &str, query: &str) -> (u16, Value) {
    server.call("DELETE", &format!("/api/sessions/{session}{query}"), None).await
}

async fn is_gone(server: &Server, session: &str) -> bool {
    server.call("GET", &format!("/api/sessions/{session}"), None).await.0 == 404
}

#[tokio::test]
async fn a_deleted_session_takes_the_agents_own_record_with_it_where_that_is_wanted() {
    let (rig, list) = listing(Some("ok"));
    let server = rig.start().await;
    let (first, second) = (worked_in(&server).await, worked_in(&server).await);
    assert_eq!(listed(&list), 2);
    assert_eq!(delete(&server, &first, "").await.0, 204);
    assert_eq!(listed(&list), 2, "a record went that nobody wanted to go");
    assert_eq!(delete(&server, &second, "?agent_records=true").await.0, 204);
    assert_eq!(listed(&list), 1);
    assert!(is_gone(&server, &first).await && is_gone(&server, &second).await);
    server.end().await;
}

/// The agent runs no more, and neither does the server that knew it: what it can do is known from before.
#[tokio::test]
async fn a_record_is_deleted_by_a_server_that_never_ran_the_agent() {
    let (rig, list) = listing(Some("ok"));
    let mut server = rig.start().await;
    let session = worked_in(&server).await;
    server.kill().await;
    server.restart().await;
    assert_eq!(delete(&server, &session, "?agent_records=true").await.0, 204);
    assert_eq!((listed(&list), is_gone(&server, &session).await), (0, true));
    server.end().await;
}

#[tokio::test]
async fn a_record_that_cannot_be_deleted_is_named_and_the_session_goes_all_the_same() {
    let (rig, list) = listing(Some("fail"));
    let server = rig.start().await;
    let session = worked_in(&server).await;
    let (status, body) = delete(&server, &session, "?agent_records=true").await;
    assert_eq!(status, 200, "{body}");
    let kept = &body["kept_records"][0];
    assert_eq!(kept["agent"], "faulty");
    assert!(kept["reason"].as_str().unwrap().contains("this session cannot be deleted"), "{kept}");
    assert_eq!((listed(&list), is_gone(&server, &session).await), (1, true));
    server.end().await;
}

#[tokio::test]
async fn an_agent_that_cannot_delete_is_not_asked_to() {
    let (rig, list) = listing(None);
    let server = rig.start().await;
    let session = worked_in(&server).await;
    assert_eq!(delete(&server, &session, "?agent_records=true").await.0, 204);
    assert_eq!((listed(&list), is_gone(&server, &session).await), (1, true));
    server.end().await;
}

async fn entry(server: &Server) -> Value {
    let body = server.call("GET", "/api/agents", None).await.1;
    body["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == "faulty").unwrap().clone()
}

#[tokio::test]
async fn a_person_signs_out_of_an_agent() {
    let rig = Rig::default();
    let marker = rig.home().join("logged-in");
    std::fs::write(&marker, "").unwrap();
    let env = format!("[agents.faulty.env]\nFAULTY_LOGOUT = \"1\"\nFAULTY_LOGIN_MARKER = {:?}\n", marker.display().to_string());
    let server = rig.faulty_agent().config(&env).start().await;
    worked_in(&server).await;
    assert_eq!(entry(&server).await["can_logout"], true);
    let (status, body) = server.call("POST", "/api/agents/faulty/logout", None).await;
    assert_eq!((status, &body["logged_in"], &body["health"]), (200, &json!(false), &json!("login_required")), "{body}");
    assert!(!marker.exists());
    server.end().await;
}

#[tokio::test]
async fn an_agent_without_a_sign_out_says_so() {
    let server = Rig::default().faulty_agent().start().await;
    worked_in(&server).await;
    assert_eq!(entry(&server).await["can_logout"], false);
    let (status, body) = server.call("POST", "/api/agents/faulty/logout", None).await;
    assert_eq!(status, 409, "{body}");
    assert!(body.to_string().contains("sign out with its own program"), "{body}");
    server.end().await;
}
