//! Starting, and what the first minute looks like.

use std::process::Command;

use serde_json::json;
use testkit::server::Rig;
use testkit::{faulty_agent, processes};

use crate::SOON;

#[tokio::test]
async fn a_message_becomes_work_and_an_answer() {
    let server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "create made.txt with hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "hello");
    server.end().await;
}

/// As in many a container: whoever calls nobody needs none.
#[tokio::test]
async fn a_system_without_certificates_is_enough() {
    let server = Rig::default().demo_agent().env("SSL_CERT_FILE", "/nowhere").env("SSL_CERT_DIR", "/nowhere").start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    server.end().await;
}

#[tokio::test]
async fn server_and_runner_are_small() {
    let server = Rig::default().demo_agent().start().await;
    let at_start = processes::resident_kib(server.pid()).unwrap();
    assert!(at_start < 40 * 1024, "the server takes {at_start} KiB at its start");
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    client.turn_end(SOON).await;
    let runner = processes::of_dir(server.rig().home()).into_iter().find(|process| process.command.contains(" runner ")).unwrap();
    let resident = processes::resident_kib(runner.pid).unwrap();
    assert!(resident < 8 * 1024, "a runner takes {resident} KiB");
    server.end().await;
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused() {
    let server = Rig::default().demo_agent().start().await;
    let second = Command::new(faulty_agent::voxpilot_path())
        .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
        .arg(server.rig().data_dir())
        .current_dir(server.rig().work_dir())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains("in use by another voxpilot server"), "{said}");
    server.end().await;
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let server = Rig::default().demo_agent().start().await;
    let address = server.base.trim_start_matches("http://").to_owned();
    let other = tempfile::tempdir().unwrap();
    let second = Command::new(faulty_agent::voxpilot_path())
        .args(["serve", "--bind", &address, "--data-dir"])
        .arg(other.path())
        .current_dir(server.rig().work_dir())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("{address} is in use")), "{said}");
    server.end().await;
}

#[tokio::test]
async fn an_agent_that_is_not_installed_is_explained() {
    let server = Rig::default().agent("missing", "/nowhere/agent".as_ref(), &[]).start().await;
    let session = server.new_session(json!({})).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "hello").await;
    let error = client.until("error", SOON, |event| event.kind == "error").await;
    assert!(error.data["message"].as_str().unwrap().contains("/nowhere/agent"), "{}", error.data);
    assert_eq!(client.turn_end(SOON).await, "failed");
    server.end().await;
}
