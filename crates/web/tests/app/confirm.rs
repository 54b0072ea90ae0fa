//! `POST /api/sessions/{id}/confirm`

use std::time::Duration;

use serde_json::{Value, json};
use testkit::client::Client;
use testkit::model_server::{Reply, Script};

use crate::rig::{Options, Rig, SOON, only};

/// A turn that waits for a person to agree that a file outside is read.
async fn waiting(confirm_timeout: Duration) -> (Rig, String, Client, Value) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "outside words").unwrap();
    let (_, path) = file.keep().unwrap();
    let script = Script::replies([Reply::tool_call("read_file_external", json!({ "path": path })), Reply::text("done")]);
    let rig = Rig::start(Options { script, confirm_timeout, ..Options::default() }).await;
    let session = rig.session().await;
    let mut client = rig.watch(&session).await;
    rig.say(&session, "read it").await;
    let confirm = client.until("confirm", SOON, |event| event.kind == "tool-confirm").await;
    (rig, session, client, confirm.data)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_was_agreed_to_runs() {
    let (rig, session, mut client, confirm) = waiting(SOON).await;
    assert_eq!(confirm["name"], "read_file_external");
    let path = format!("/api/sessions/{session}/confirm");
    let yes = json!({ "tool_call_id": confirm["id"], "approved": true });
    rig.post(&path, json!({ "tool_call_id": "other", "approved": true })).await.refuses(409, "conflict");
    rig.post(&path, json!({ "tool_call_id": confirm["id"] })).await.refuses(422, "invalid");
    rig.post(&path, json!({ "tool_call_id": confirm["id"], "approved": "yes" })).await.refuses(422, "invalid");
    assert_eq!(rig.post(&path, yes.clone()).await.status, 202);
    rig.post(&path, yes).await.refuses(409, "conflict");
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert!(only(&client, "tool-result")["content"].as_str().unwrap().contains("outside words"));
    assert!(rig.model.requests()[1].tool_results()[0].contains("outside words"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_was_declined_does_not_run() {
    let (rig, session, mut client, confirm) = waiting(SOON).await;
    let no = json!({ "tool_call_id": confirm["id"], "approved": false });
    assert_eq!(rig.post(&format!("/api/sessions/{session}/confirm"), no).await.status, 202);
    assert_eq!(client.turn_end(SOON).await, "completed");
    let result = only(&client, "tool-result");
    assert_eq!(result["is_error"], true);
    assert!(!rig.model.requests()[1].tool_results()[0].contains("outside words"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_there_means_no() {
    let (rig, session, mut client, confirm) = waiting(Duration::from_millis(50)).await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(only(&client, "tool-result")["is_error"], true);
    assert!(rig.model.requests()[1].tool_results()[0].contains("nobody agreed in time"));
    let late = json!({ "tool_call_id": confirm["id"], "approved": true });
    rig.post(&format!("/api/sessions/{session}/confirm"), late).await.refuses(409, "conflict");
    assert_eq!(rig.get(&format!("/api/sessions/{session}")).await.json()["waiting"], 0);
}
