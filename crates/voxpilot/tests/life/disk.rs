//! A full disk: a clear word, nothing lost, and everything goes on once there is room.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use testkit::server::Rig;

use crate::SOON;

/// A small disk of its own, which only root can make.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path, size: &str) -> Option<SmallDisk<'a>> {
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(at).status();
        status.is_ok_and(|status| status.success()).then_some(SmallDisk(at))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

fn fill(dir: &Path) {
    let _ = Command::new("dd").arg("if=/dev/zero").arg(format!("of={}", dir.join("filler").display())).arg("bs=4k").output();
}

#[tokio::test]
async fn a_message_that_cannot_be_stored_is_refused_and_works_again_when_there_is_room() {
    let rig = Rig::default().demo_agent();
    let data = rig.data_dir();
    let Some(_disk) = SmallDisk::mount(&data, "16m") else {
        eprintln!("SKIPPED: a small disk can only be mounted by root");
        return;
    };
    let server = rig.start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say first").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    fill(&data);
    let path = format!("/api/sessions/{session}/messages");
    let body = json!({ "content": "x".repeat(200_000), "client_id": "big" });
    let (status, answer) = server.call("POST", &path, Some(body.clone())).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (507, Some("disk_full")), "{answer}");
    std::fs::remove_file(data.join("filler")).unwrap();
    let (status, _) = server.call("POST", &path, Some(body)).await;
    assert_eq!(status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    server.end().await;
}
