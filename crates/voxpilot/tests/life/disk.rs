//! A full disk: a clear word, nothing lost, and everything goes on once there is room.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use testkit::browser::SignedIn;
use testkit::server::Rig;

use crate::SOON;

/// A small disk of its own.
struct SmallDisk<'a>(&'a Path);

/// Root may mount. Whoever is not root becomes it in namespaces of their own, in which the same test is run again, and counts.
fn runs_in_a_namespace(test: &str) -> bool {
    if std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0) {
        return false;
    }
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .output();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = output.map_or_else(|error| error.to_string(), |output| format!("{}{}", text(&output.stdout), text(&output.stderr)));
    assert!(
        said.contains("test result: ok. 1 passed"),
        "a small disk needs root, or a kernel that lets everybody have namespaces (`unshare --user --map-root-user --mount`):\n{said}"
    );
    true
}

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path, size: &str) -> SmallDisk<'a> {
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(at).status().unwrap();
        assert!(status.success(), "a small disk cannot be mounted at {}", at.display());
        SmallDisk(at)
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

fn fill(dir: &Path) {
    let filled = Command::new("dd").arg("if=/dev/zero").arg(format!("of={}", dir.join("filler").display())).arg("bs=4k").output();
    assert!(filled.is_ok_and(|output| !output.status.success()), "the disk should be full now");
}

#[tokio::test]
async fn a_message_that_cannot_be_stored_is_refused_and_works_again_when_there_is_room() {
    if runs_in_a_namespace("disk::a_message_that_cannot_be_stored_is_refused_and_works_again_when_there_is_room") {
        return;
    }
    let rig = Rig::default().demo_agent();
    let data = rig.data_dir();
    let _disk = SmallDisk::mount(&data, "16m");
    let server = rig.start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say first").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    let untitled = server.new_session(json!({ "permission_policy": "auto" })).await;
    fill(&data);
    let path = format!("/api/sessions/{session}/messages");
    let body = json!({ "content": "x".repeat(200_000), "client_id": "big" });
    let (status, _) = server.call("POST", &format!("/api/sessions/{untitled}/messages"), Some(body.clone())).await;
    assert_eq!(status, 507);
    let (status, answer) = server.call("POST", &path, Some(body.clone())).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (507, Some("disk_full")), "{answer}");
    std::fs::remove_file(data.join("filler")).unwrap();
    let (status, _) = server.call("POST", &path, Some(body)).await;
    assert_eq!(status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    // What was refused has left nothing behind: the session is called after the first message that was taken.
    server.send(&untitled, "say after").await;
    let (_, row) = server.call("GET", &format!("/api/sessions/{untitled}"), None).await;
    assert_eq!(row["title"], "say after");
    server.end().await;
}

#[tokio::test]
async fn a_start_on_a_full_disk_serves_what_is_there_and_lets_the_owner_in() {
    if runs_in_a_namespace("disk::a_start_on_a_full_disk_serves_what_is_there_and_lets_the_owner_in") {
        return;
    }
    let rig = Rig::default().demo_agent();
    let data = rig.data_dir();
    let _disk = SmallDisk::mount(&data, "16m");
    let mut server = rig.start().await;
    let session = server.new_session(json!({ "title": "kept", "permission_policy": "auto" })).await;
    server.terminate().await;
    fill(&data);
    server.restart().await;
    let link = server.printed("open ").await;
    let (_, list) = server.call("GET", "/api/sessions", None).await;
    assert_eq!(list["sessions"][0]["title"], "kept", "by the token");

    let http = tls::client().no_proxy().timeout(SOON).build().unwrap();
    let owner = SignedIn::by_link(&http, link.strip_prefix("open ").unwrap()).await.expect("the printed link works");
    let url = format!("{}/api/sessions/{session}", server.base);
    assert_eq!(owner.sends(http.get(&url)).send().await.unwrap().status(), 200);
    assert!(SignedIn::by_link(&http, link.strip_prefix("open ").unwrap()).await.is_none(), "and works once");

    let form = http.post(format!("{}/login", server.base)).header("content-type", "application/x-www-form-urlencoded");
    let typed = form.body(format!("code=&token={}", server.token())).send().await.unwrap();
    let set = typed.headers()["set-cookie"].to_str().unwrap().to_owned();
    let other = SignedIn::of(Some(&set), &typed.text().await.unwrap()).expect("the token signs in too");
    let (_, devices) = server.call("GET", "/api/devices", None).await;
    assert_eq!(devices["devices"].as_array().unwrap().len(), 2);
    let id = devices["devices"][0]["id"].as_str().unwrap();
    server.call("DELETE", &format!("/api/devices/{id}"), None).await;
    let ended = [&owner, &other].map(|device| device.sends(http.get(&url)).send());
    let ended = futures::future::join_all(ended).await.into_iter().filter(|answer| answer.as_ref().unwrap().status() == 401).count();
    assert_eq!(ended, 1, "revoking holds on a full disk too");
    let owner = if owner.sends(http.get(&url)).send().await.unwrap().status() == 200 { owner } else { other };

    std::fs::remove_file(data.join("filler")).unwrap();
    assert_eq!(owner.sends(http.delete(&url)).send().await.unwrap().status(), 204);
    server.kill().await;
    server.restart().await;
    assert!(SignedIn::by_link(&http, server.printed("open ").await.strip_prefix("open ").unwrap()).await.is_some());
    server.end().await;
}
