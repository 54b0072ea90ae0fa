//! What an agent can make the server hold in memory has a bound.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::processes;
use testkit::server::Rig;

use crate::SOON;

const FILE_BYTES: usize = 16_000_000;
/// Room for a few answers on their way, far below the sixty that are asked for.
const LIMIT_KIB: u64 = 300 * 1024;
/// So many looks in a row at about the same number count as standing still.
const LOOKS: u32 = 25;
const ABOUT_KIB: u64 = 1024;

/// Waits until a number has come to a stand.
async fn settled(mut look: impl FnMut() -> u64) {
    let deadline = Instant::now() + SOON;
    let (mut last, mut same) = (look(), 0);
    while same < LOOKS {
        assert!(Instant::now() < deadline, "it goes on and on: {last}");
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = look();
        let moved = now.abs_diff(last) > ABOUT_KIB;
        (last, same) = if moved { (now, 0) } else { (last, same + 1) };
    }
}

#[tokio::test]
async fn answers_that_the_agent_does_not_read_are_not_heaped_up() {
    let server = Rig::default().faulty_agent().start().await;
    let (file, marker) = (server.rig().work_dir().join("large.txt"), server.rig().home().join("read-on"));
    std::fs::write(&file, "x".repeat(FILE_BYTES)).unwrap();
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, &format!("big-reads {} {}", file.display(), marker.display())).await;
    client.until("all questions", SOON, |event| event.kind == "copilot-delta").await;
    let pid = server.pid();
    let resident = || processes::resident_kib(pid).unwrap();
    settled(resident).await;
    let peak = processes::peak_kib(pid).unwrap();
    assert!(peak < LIMIT_KIB, "the server took {peak} KiB for answers that nobody reads");
    std::fs::write(&marker, "").unwrap();
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert!(client.seen.agent_text("main").contains("answers 60 "), "every request is answered: {}", client.seen.agent_text("main"));
    let peak = processes::peak_kib(pid).unwrap();
    assert!(peak < LIMIT_KIB, "the server took {peak} KiB");
    server.end().await;
}

#[tokio::test]
async fn updates_for_sessions_that_nobody_knows_are_not_kept() {
    let server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "say hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    let before = processes::resident_kib(server.pid()).unwrap();
    for _ in 0..3 {
        server.send(&session, "unknown-sessions").await;
        assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    }
    let after = processes::resident_kib(server.pid()).unwrap();
    assert!(after < before + 40 * 1024, "30,000 updates for nobody cost {} KiB", after.saturating_sub(before));
    server.end().await;
}
