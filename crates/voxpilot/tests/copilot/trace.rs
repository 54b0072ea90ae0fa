//! The raw traffic of the real Copilot CLI: downloaded, and played back to the same events.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};
use testkit::server::Rig;
use testkit::summary::{difference, summary};

use crate::replies::{bash, create, edit};
use crate::setup::start_with;

#[tokio::test]
async fn a_capture_of_copilot_plays_back_to_the_same_events() {
    let mut setup = start_with(Script::new(), json!({ "model": "relay", "permission_policy": "auto", "title": "x" }), |rig| rig).await;
    let work = setup.server.rig().work_dir();
    setup.coder([
        Reply::chunks(["I look ", "at it 🙂. "]).and_call(create(&work.join("note.md"), "greeted\n")),
        Reply::new().and_call(edit(&work.join("note.md"), "greeted", "met")).and_call(bash("cat note.md; exit 3")),
        Reply::text("Done with it."),
        Reply::text("Beside."),
    ]);
    let messages = ["change it", "@beside and you"];
    for message in messages {
        assert_eq!(setup.turn(message).await, "completed", "{}", setup.client.seen.tail());
    }
    let told = summary(&setup.client.seen);
    assert!(told.contains_key("main") && told.contains_key("beside"), "{told:#?}");
    let view = setup.get("agents").await;
    let capture = setup.server.text("GET", &format!("/api/sessions/{}/trace/capture", setup.session)).await;
    setup.end().await;

    let kept = tempfile::tempdir().unwrap();
    let file = kept.path().join("capture.ndjson");
    std::fs::write(&file, capture).unwrap();
    let args = ["--replay".to_owned(), file.display().to_string()];
    let server = Rig::default().agent("copilot", &testkit::faulty_agent::path(), &args).start().await;
    let wanted: Value = json!({ "model": "relay", "permission_policy": "auto", "title": "x" });
    let session = server.new_session(wanted).await;
    let mut client = server.stream(&session, None).await;
    for message in messages {
        server.send(&session, message).await;
        assert_eq!(client.turn_end(crate::setup::SOON).await, "completed", "{}", client.seen.tail());
    }
    assert_eq!(difference(&summary(&client.seen), &told), None);
    let (_, again) = server.call("GET", &format!("/api/sessions/{session}/agents"), None).await;
    assert_eq!(again, view, "modes, options and usage are the same too");
    server.end().await;
}
