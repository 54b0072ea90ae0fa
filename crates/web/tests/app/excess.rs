//! Agents that have too much of something: they are used all the same, and cost no more than their share.

use std::path::Path;

use serde_json::json;

use crate::rig::{Options, Rig, of_kind, only};

/// An agent that talks a lot before its first answer is started like any other.
#[tokio::test(flavor = "multi_thread")]
async fn a_chatty_start_is_a_start() {
    let rig = Rig::start(Options { agent_env: vec![("FAULTY_INIT", "chatty")], ..Options::default() }).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "say hello").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main"), "hello");
}

/// Every request is answered, whether or not it was too many at once, and the session goes on.
#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_requests_at_once_are_all_answered() {
    let rig = Rig::replies([]).await;
    std::fs::write(rig.dir.path().join("work/a.txt"), "content").unwrap();
    let session = rig.session_with(json!({ "model": "relay", "permission_policy": "auto" })).await;
    let path = rig.dir.path().join("work/a.txt");
    let (state, client) = rig.turn(&session, &format!("many-requests {}", path.display())).await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    let text = client.seen.agent_text("main");
    let results: u32 = text.strip_prefix("answers 5000 results ").unwrap_or_else(|| panic!("{text}")).parse().unwrap();
    assert!(results > 0, "some of them are done");
    assert_eq!(rig.turn(&session, "say on").await.0, "completed");
}

/// A tool call that is nested too deeply is cut or left out; the conversation stays readable, live and from the start.
#[tokio::test(flavor = "multi_thread")]
async fn deep_json_leaves_the_conversation_readable() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "deep-json").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main"), "said");
    let calls = of_kind(&client, "agent-update").iter().filter(|event| event.data["update"]["title"] == "Deep 124").count();
    assert!(calls > 0, "the call itself is shown: {}", client.seen.tail());
    for path in ["messages", "agents", ""] {
        let answer = rig.get(format!("/api/sessions/{session}/{path}").trim_end_matches('/')).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json();
    }
    let fresh = rig.watch(&session).await;
    assert!(of_kind(&fresh, "message").iter().any(|event| event.data["display"] == "said"), "{}", fresh.seen.tail());
    let (state, client) = rig.turn(&session, "say on").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
}

#[tokio::test(flavor = "multi_thread")]
async fn updates_for_unknown_sessions_disturb_nobody() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    let (state, client) = rig.turn(&session, "unknown-sessions").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main"), "said");
    assert!(client.seen.texts.values().all(|text| text == "said"), "nothing of the others is shown");
    assert!(size(&rig.dir.path().join("data"), "voxpilot.db") < 4_000_000, "and nothing of them is stored as events");
}

/// Output that comes in pieces is stored in pieces: two megabytes cost a few, not the square of them.
#[tokio::test(flavor = "multi_thread")]
async fn output_in_pieces_is_stored_once() {
    let rig = Rig::replies([]).await;
    let session = rig.session_with(json!({ "model": "relay", "permission_policy": "auto" })).await;
    let (state, client) = rig.turn(&session, "output-deltas").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    assert_eq!(client.seen.agent_text("main"), "printed");
    let stored = size(&rig.dir.path().join("data"), "voxpilot.db");
    assert!(stored < 16_000_000, "2 MB of output take {stored} bytes");
    let streamed: usize = client.seen.events.iter().map(|event| event.data.to_string().len()).sum();
    assert!(streamed < 8_000_000, "2 MB of output took {streamed} bytes to a browser");
    let done = only(&client, "copilot-done");
    assert_eq!(done["stop_reason"], "end_turn");
    let delegation = rig.get(&format!("/api/sessions/{session}/messages")).await.text;
    assert!(delegation.contains("1999 "), "the end of the output is there in the history");
}

/// The size of the files whose name begins so.
fn size(dir: &Path, name: &str) -> u64 {
    let files = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let sizes = files.filter(|file| file.file_name().to_string_lossy().starts_with(name)).map(|file| file.metadata().unwrap().len());
    sizes.sum()
}
