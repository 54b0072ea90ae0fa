//! The raw traffic of the real Copilot CLI: downloaded, and played back to the same events.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Script};
use testkit::server::Rig;
use testkit::story::{difference, story};

use crate::script::{bash, create, edit};
use crate::stage::Stage;

#[tokio::test]
async fn a_capture_of_copilot_plays_back_to_the_same_events() {
    let mut stage = Stage::with(Script::new(), json!({ "model": "relay", "permission_policy": "auto", "title": "x" }), |rig| rig).await;
    let work = stage.server.rig().work_dir();
    stage.coder([
        Reply::chunks(["I look ", "at it 🙂. "]).and_call(create(&work.join("note.md"), "greeted\n")),
        Reply::new().and_call(edit(&work.join("note.md"), "greeted", "met")).and_call(bash("cat note.md; exit 3")),
        Reply::text("Done with it."),
        Reply::text("Beside."),
    ]);
    let messages = ["change it", "@beside and you"];
    for message in messages {
        assert_eq!(stage.turn(message).await, "completed", "{}", stage.client.seen.tail());
    }
    let told = story(&stage.client.seen);
    assert!(told.contains_key("main") && told.contains_key("beside"), "{told:#?}");
    let view = stage.get("agents").await;
    let capture = stage.server.text("GET", &format!("/api/sessions/{}/trace/capture", stage.session)).await;
    stage.end().await;

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
        assert_eq!(client.turn_end(crate::stage::SOON).await, "completed", "{}", client.seen.tail());
    }
    assert_eq!(difference(&story(&client.seen), &told), None);
    let (_, again) = server.call("GET", &format!("/api/sessions/{session}/agents"), None).await;
    assert_eq!(again, view, "modes, options and usage are the same too");
    server.end().await;
}
