//! The disk: nothing new beyond the quota, and a warning before.

use serde_json::json;
use testkit::server::Rig;

use crate::{SOON, refuses, run, wait_for};

#[tokio::test]
async fn beyond_the_quota_nothing_new_is_begun_and_what_runs_goes_on() {
    let server = Rig::default().demo_agent().env("VOXPILOT_DISK_QUOTA", "2M").start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    let messages = format!("/api/sessions/{session}/messages");
    let attached = |size: usize| {
        let file = json!({ "kind": "file", "name": "a.txt", "text": "x".repeat(size) });
        json!({ "content": "say hello", "attachments": [file] })
    };
    let (status, answer) = server.call("POST", &messages, Some(attached(3_000_000))).await;
    assert_eq!(status, 202, "{answer}");
    assert_eq!(client.turn_end(SOON).await, "completed");
    let (status, answer) = server.call("POST", &messages, Some(attached(10))).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (507, Some("quota")), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("VOXPILOT_DISK_QUOTA"), "{answer}");
    let (status, answer) = server.call("POST", "/api/sessions", Some(json!({}))).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (507, Some("quota")), "{answer}");
    server.send(&session, "say it goes on").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    // What is deleted makes room, though the file stays as large as it was.
    assert_eq!(server.call("DELETE", &format!("/api/sessions/{session}"), None).await.0, 204);
    wait_for("the log is emptied", || server.rig().data_dir().join("voxpilot.db-wal").metadata().is_ok_and(|log| log.len() < 100_000))
        .await;
    server.new_session(json!({})).await;
    server.end().await;
}

#[tokio::test]
async fn a_full_data_directory_is_told_in_the_log_and_by_the_doctor() {
    let rig = Rig::default().demo_agent().env("VOXPILOT_DISK_QUOTA", "1M");
    std::fs::write(rig.data_dir().join("ballast"), vec![0; 1_000_000]).unwrap();
    let doctor = async |quota: &str| String::from_utf8(run(&rig, &["doctor", "--disk-quota", quota]).await.stdout).unwrap();
    let said = doctor("100M").await;
    assert!(said.contains("disk") && said.contains("KiB used"), "{said}");
    let said = doctor("1M").await;
    assert!(said.contains("its quota is 1.0 MiB"), "{said}");
    refuses(&run(&rig, &["config", "--disk-quota", "100"]).await, "a size of at least 1M");
    let server = rig.start().await;
    wait_for("a warning", || server.log().contains("its quota")).await;
    server.end().await;
}
