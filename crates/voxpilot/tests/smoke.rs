//! The built server, driven from outside.

use std::time::Duration;

use serde_json::json;
use testkit::server::Rig;

const SOON: Duration = Duration::from_secs(30);

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
