//! A collector that is down or hangs holds up neither a turn nor the end of the server.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::collector::{Answer, Collector};
use testkit::server::{Rig, Server};

use crate::SOON;

async fn turn(server: &Server) {
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
}

/// Gives its log.
async fn ends_in_time(mut server: Server) -> String {
    let begun = Instant::now();
    assert_eq!(server.terminate().await.code(), Some(0), "{}", server.log());
    // Far below what a request to the collector may take, and above what a slow machine needs.
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}\n{}", begun.elapsed(), server.log());
    server.log()
}

#[tokio::test]
async fn a_collector_that_is_down_is_told_of_once() {
    let gone = Collector::start().await.url();
    let server = Rig::default().demo_agent().env("VOXPILOT_OTLP_ENDPOINT", &gone).start().await;
    for _ in 0..3 {
        turn(&server).await;
    }
    let log = ends_in_time(server).await;
    assert_eq!(log.matches("spans could not be sent").count(), 1, "{log}");
}

#[tokio::test]
async fn a_collector_that_hangs_does_not_hold_up_the_end() {
    let collector = Collector::start().await;
    collector.always(Answer::Silence);
    let server = Rig::default().demo_agent().env("VOXPILOT_OTLP_ENDPOINT", collector.url()).start().await;
    turn(&server).await;
    collector.wait("a batch", |collector| !collector.posted().is_empty()).await;
    turn(&server).await;
    ends_in_time(server).await;
}

#[tokio::test]
async fn an_address_with_a_password_is_refused_and_the_password_not_shown() {
    let rig = Rig::default();
    let mut command = rig.command(&["serve", "--bind", "127.0.0.1:0"]);
    let output = command.env("VOXPILOT_OTLP_ENDPOINT", "http://ada:hunter2@127.0.0.1:4318").output().await.unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("VOXPILOT_OTLP_ENDPOINT") && !said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn the_metrics_token_is_not_the_servers_own() {
    let rig = Rig::default();
    let mut command = rig.command(&["serve", "--bind", "127.0.0.1:0"]);
    let output =
        command.env("VOXPILOT_TOKEN", "one-token-for-both").env("VOXPILOT_METRICS_TOKEN", "one-token-for-both").output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("VOXPILOT_METRICS_TOKEN") && !said.contains("one-token"), "{said}");
}
