//! The same from the page: a test and an installation are begun, followed, stopped, and leave nothing behind.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::faulty_agent;
use testkit::processes;
use testkit::server::{Rig, Server};

use crate::SOON;

async fn entry(server: &Server, id: &str) -> Value {
    let (_, list) = server.call("GET", "/api/agents", None).await;
    list["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone()
}

/// Every different state of its chore until the entry fits.
async fn followed(server: &Server, id: &str, fits: impl Fn(&Value) -> bool) -> (Value, Vec<Value>) {
    let deadline = tokio::time::Instant::now() + SOON;
    let mut seen = Vec::new();
    loop {
        let entry = entry(server, id).await;
        if fits(&entry) {
            return (entry, seen);
        }
        assert!(tokio::time::Instant::now() < deadline, "{entry:#}");
        if seen.last() != Some(&entry["chore"]) {
            seen.push(entry["chore"].clone());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_test_is_followed_step_by_step_and_its_result_counts() {
    let server = Rig::default().demo_agent().start().await;
    assert!(entry(&server, "demo").await["tested"].is_null());
    let (status, begun) = server.call("POST", "/api/agents/demo/test", None).await;
    assert_eq!((status, &begun["chore"]["kind"]), (200, &Value::from("test")), "{begun}");
    let (refused, _) = server.call("POST", "/api/agents/demo/test", None).await;
    assert_eq!(refused, 409, "a second test began beside the first");
    let (tested, seen) = followed(&server, "demo", |entry| entry["chore"].is_null()).await;
    assert!(seen.iter().any(|chore| chore["of"] == 7 && !chore["step"].as_str().unwrap().is_empty()), "{seen:?}");
    assert!(tested["tested"]["at"].is_string(), "{tested:#}");
    let restores = tested["abilities"].as_array().unwrap().iter().find(|ability| ability["id"] == "restores").unwrap();
    assert_eq!((&restores["value"], &restores["source"]), (&Value::from("resumed"), &Value::from("probe")));
    server.end().await;
}

#[tokio::test]
async fn a_test_that_is_stopped_ends_with_everything_that_it_started() {
    let rig = Rig::default();
    let home = rig.home().to_owned();
    let server = rig.env("TMPDIR", home.display().to_string()).demo_agent().start().await;
    server.call("POST", "/api/agents/demo/test", None).await;
    followed(&server, "demo", |entry| entry["chore"]["done"].as_u64() >= Some(1)).await;
    assert_eq!(server.call("DELETE", "/api/agents/demo/chore", None).await.0, 200);
    let (left, _) = followed(&server, "demo", |entry| entry["chore"].is_null()).await;
    assert!(left["tested"].is_null(), "{left:#}");
    let names = std::fs::read_dir(&home).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.starts_with("voxpilot-")), "the directory of the test is still there");
    server.end().await;
    processes::none_left(&home, SOON).await.unwrap();
}

#[tokio::test]
async fn the_end_of_the_server_is_the_end_of_a_test() {
    let rig = Rig::default();
    let home = rig.home().to_owned();
    let server = rig.env("TMPDIR", home.display().to_string()).demo_agent().start().await;
    server.call("POST", "/api/agents/demo/test", None).await;
    followed(&server, "demo", |entry| entry["chore"]["done"].as_u64() >= Some(1)).await;
    server.end().await;
    processes::none_left(&home, SOON).await.unwrap();
}

/// A program named `npm` that does this, in a directory that the server looks into.
fn npm(rig: Rig, body: &str) -> Rig {
    let bin = rig.home().join("bin");
    program(&bin.join("npm"), body);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    rig.env("PATH", path).demo_agent()
}

fn program(path: &Path, body: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn an_agent_is_installed_by_its_command_and_gets_no_secrets() {
    let rig = Rig::default();
    let (bin, seen) = (rig.home().join("bin"), rig.home().join("seen"));
    let agent = faulty_agent::path();
    let body = format!(
        "echo \"$*\" > {seen}; env >> {seen}; echo added 1 package\nln -s {} {}/gemini",
        agent.display(),
        bin.display(),
        seen = seen.display()
    );
    let server = npm(rig, &body).env("GH_TOKEN", "a-secret-of-mine").start().await;
    let (status, begun) = server.call("POST", "/api/agents/gemini/install", None).await;
    assert_eq!((status, &begun["chore"]["kind"]), (200, &Value::from("install")), "{begun}");
    let (installed, _) = followed(&server, "gemini", |entry| entry["chore"].is_null()).await;
    assert_eq!(installed["installed"], true, "{installed:#}");
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.starts_with("install -g @google/gemini-cli\n"), "{seen}");
    assert!(!seen.contains("a-secret-of-mine"), "{seen}");
    let (again, _) = server.call("POST", "/api/agents/gemini/install", None).await;
    assert_eq!(again, 409);
    server.end().await;
}

#[tokio::test]
async fn an_installation_that_fails_says_why_until_somebody_has_read_it() {
    let server = npm(Rig::default(), "echo some words; echo npm error E404 no such package >&2; exit 1").start().await;
    server.call("POST", "/api/agents/gemini/install", None).await;
    let (failed, _) = followed(&server, "gemini", |entry| entry["chore"]["problem"].is_string()).await;
    assert_eq!(failed["chore"]["problem"], "npm error E404 no such package");
    assert_eq!(server.call("DELETE", "/api/agents/gemini/chore", None).await.1["chore"], Value::Null);
    server.end().await;
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_with_the_reason() {
    let rig = Rig::default();
    let empty = rig.home().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let server = rig.env("PATH", empty.display().to_string()).demo_agent().start().await;
    for (call, reason) in
        [("gemini/install", "npm is missing on the server"), ("gemini/test", "is not installed"), ("demo/install", "is already installed")]
    {
        let (status, body) = server.call("POST", &format!("/api/agents/{call}"), None).await;
        assert_eq!(status, 409, "{call}: {body}");
        assert!(body.to_string().contains(reason), "{call}: {body}");
    }
    server.end().await;
}
