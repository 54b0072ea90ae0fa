//! The main AI's own tools as a conversation sees them.

use serde_json::json;
use testkit::model_server::{Reply, Script, ToolCall};

use crate::rig::{Options, Rig, of_kind, only};

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_one_answer_all_have_their_results_and_the_model_sees_them_in_order() {
    let calls = [("read_file", "a.txt"), ("read_file", "b.txt"), ("read_file", "missing.txt")];
    let reply = Reply::tool_calls(calls.map(|(name, path)| ToolCall::new(name, json!({ "path": path })))).argument_pieces(5);
    let rig = Rig::replies([reply, Reply::text("done")]).await;
    for name in ["a", "b"] {
        std::fs::write(rig.dir.path().join(format!("work/{name}.txt")), format!("words of {name}")).unwrap();
    }
    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "read").await;
    assert_eq!(state, "completed");
    let failed: Vec<_> = of_kind(&client, "tool-result").iter().map(|event| event.data["is_error"].clone()).collect();
    assert_eq!((failed.len(), failed.iter().filter(|failed| **failed == true).count()), (3, 1));
    let results = rig.model.requests()[1].tool_results();
    assert!(results.iter().any(|result| result.contains("words of a")) && results.iter().any(|result| result.contains("words of b")));
    assert_eq!(results.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_make_no_sense_are_explained_to_the_model() {
    let calls = [
        ToolCall::new("copilot_agent", "{"),
        ToolCall::new("copilot_agent", json!({ "prompt": " ", "session_name": "x" })),
        ToolCall::new("read_file", "not json"),
        ToolCall::new("no_such_tool", json!({})),
        ToolCall::new("read_file", json!({ "path": "../data/voxpilot.db" })),
    ];
    let rig = Rig::replies([Reply::tool_calls(calls), Reply::text("sorry")]).await;
    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    let results = of_kind(&client, "tool-result");
    assert_eq!(results.len(), 5);
    assert!(results.iter().all(|event| event.data["is_error"] == true && !event.data["content"].as_str().unwrap().is_empty()));
    assert!(of_kind(&client, "copilot-done").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_and_missing_call_ids_do_no_harm() {
    let call = || ToolCall::new("list_directory", json!({}));
    let twice = Reply::tool_calls([call().with_id("same"), call().with_id("same"), call().without_id()]);
    let rig = Rig::replies([twice, Reply::tool_calls([call().with_id("same")]), Reply::text("done")]).await;
    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "completed", "{}", client.seen.tail());
    let ids: std::collections::HashSet<_> = of_kind(&client, "tool-call").iter().map(|event| event.data["id"].to_string()).collect();
    assert_eq!((ids.len(), of_kind(&client, "tool-result").len()), (4, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loop_has_a_cap() {
    let script = Script::rules(|_| Reply::tool_call("list_directory", json!({})));
    let rig = Rig::start(Options { script, max_iterations: 3, ..Options::default() }).await;
    let session = rig.session().await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "failed");
    assert_eq!(only(&client, "error")["code"], "iteration_limit");
    assert_eq!((rig.model.requests().len(), of_kind(&client, "tool-result").len()), (3, 3));
}
