//! A turn whose outcome nothing can tell.

use serde_json::json;
use testkit::processes;
use testkit::server::Rig;

use crate::SOON;

#[tokio::test]
async fn without_a_journal_the_outcome_is_unknown_and_nothing_is_repeated() {
    let mut server = Rig::default().faulty_agent().start().await;
    let session = server.new_session(json!({ "permission_policy": "auto" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "slow 500").await;
    client.until("delta", SOON, |event| event.kind == "copilot-delta").await;
    server.kill().await;
    for process in processes::of_dir(server.rig().home()) {
        processes::signal(process.pid, "KILL");
    }
    std::fs::write(server.rig().work_dir().join("half-done.txt"), "x").unwrap();
    std::fs::remove_dir_all(server.rig().data_dir().join("runners")).unwrap();
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    assert_eq!(client.turn_end(SOON).await, "unknown");
    let error = client.seen.of_kind("error").last().unwrap();
    assert_eq!(error.data["code"], "outcome_unknown");
    assert!(error.data["message"].as_str().unwrap().contains("half-done.txt"), "{}", error.data);
    // Only what the person asks for next is sent.
    server.send(&session, "prompts").await;
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    assert!(!client.seen.agent_text("main").contains("\"slow 500\""), "{}", client.seen.agent_text("main"));
    server.end().await;
}
