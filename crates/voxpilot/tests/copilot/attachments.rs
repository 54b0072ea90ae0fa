//! S2: images, files and mentions reach the real Copilot CLI, once, also over a kill of the server.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};

use crate::setup::{Setup, said, start_with};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn straight() -> Setup {
    start_with(Script::new(), json!({ "model": "relay", "permission_policy": "auto" }), |rig| rig).await
}

async fn send(setup: &Setup, content: &str, attachments: Value) {
    let body = json!({ "content": content, "client_id": content, "attachments": attachments });
    assert_eq!(setup.post("messages", body).await, 202);
}

#[tokio::test]
async fn an_image_is_seen_by_copilots_model_and_files_and_mentions_are_named_to_it() {
    let mut setup = straight().await;
    std::fs::write(setup.server.rig().work_dir().join("plan.md"), "the plan").unwrap();
    setup.coder([Reply::text("A dot, a note and a plan.")]);
    let image = json!({ "kind": "image", "name": "dot.png", "mime_type": "image/png", "data": PNG });
    let note = json!({ "kind": "file", "name": "note.txt", "mime_type": "text/plain", "text": "remember the milk" });
    send(&setup, "look at @plan.md and these", json!([image, note])).await;
    assert_eq!(setup.turn_end().await, "completed", "{}", setup.client.seen.tail());
    let asked = said(&setup.coder_requests()[0]);
    assert!(asked.contains(&format!("data:image/png;base64,{PNG}")), "the model sees the picture: {asked}");
    assert!(asked.contains("plan.md") && asked.contains("look at @plan.md"), "{asked}");
    assert!(asked.contains("tagged_files"), "Copilot names attached files to its model: {asked}");
    let shown = setup.new_client().await;
    let message = shown.seen.of_kind("message").next().unwrap();
    assert_eq!(message.data["attachments"][0]["name"], "dot.png", "after a reload the message still shows it");
    setup.end().await;
}

#[tokio::test]
async fn a_message_that_waited_over_a_kill_of_the_server_has_its_image_once() {
    let mut setup = straight().await;
    setup.coder([Reply::new().and_call(crate::replies::held_command()), Reply::text("Ended."), Reply::text("A dot.")]);
    setup.send("hold on").await;
    setup.until_printed("started").await;
    let image = json!({ "kind": "image", "name": "dot.png", "mime_type": "image/png", "data": PNG });
    send(&setup, "what is this?", json!([image])).await;
    setup.kill_server().await;
    setup.restart_server().await;
    setup.let_go();
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.turn_end().await, "completed");
    let requests = setup.coder_requests();
    let last = said(requests.last().unwrap());
    assert_eq!(last.matches(PNG).count(), 1, "{last}");
    assert_eq!(last.matches("what is this?").count(), 1, "{last}");
    setup.end().await;
}
