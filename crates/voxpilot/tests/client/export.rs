//! `voxpilot export`

use serde_json::json;
use testkit::server::Rig;

use crate::SOON;
use crate::program::run;

#[tokio::test]
async fn a_session_is_exported_whole_as_markdown_or_as_its_events() {
    let server = Rig::default().demo_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto", "title": "Notes" })).await;
    let mut client = server.stream(&session, None).await;
    for number in 0..30 {
        server.send(&session, &format!("say number {number}")).await;
        assert_eq!(client.turn_end(SOON).await, "completed");
    }
    server.send(&session, "create a file notes.txt with hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");

    let paper = run(&server, &["export", "--format", "markdown", &session]).await;
    assert_eq!(paper.code, 0, "{paper:?}");
    assert!(paper.stdout.starts_with("# Notes\n\n- Session: `"), "{}", paper.stdout);
    let places: Vec<usize> = (0..30).map(|number| paper.stdout.find(&format!("\nsay number {number}\n")).unwrap()).collect();
    assert!(places.is_sorted(), "oldest first: {places:?}");
    assert!(paper.stdout.contains("notes.txt") && paper.stdout.contains("(completed)"), "{}", paper.stdout);

    let events = run(&server, &["export"]).await.lines();
    let ids: Vec<u64> = events.iter().map(|event| event["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=client.seen.cursor.unwrap()).collect::<Vec<_>>(), "every event of the log, once");
    server.end().await;
}
