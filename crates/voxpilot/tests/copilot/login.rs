//! Copilot without a login: said, with what to do about it, to the person and to the main AI; nothing else suffers.

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::Rig;

use crate::script::delegate;
use crate::stage::SOON;

#[tokio::test]
async fn a_logged_out_copilot_fails_the_turn_with_advice_and_other_sessions_go_on() {
    let model = ModelServer::start(Script::new().route("main", [delegate("task", "do it"), Reply::text("You have to log in.")]));
    let rig = Rig::default().model(&model.base_url()).demo_agent();
    let copilot = testkit::copilot::path().display().to_string();
    let home = rig.copilot_home().display().to_string();
    let rig = rig.env("VOXPILOT_COPILOT_CLI_PATH", copilot).env("COPILOT_HOME", home).env("COPILOT_AUTO_UPDATE", "false");
    let server = rig.start().await;

    // Straight to Copilot: the turn itself fails.
    let straight = server.new_session(json!({ "agent": "copilot", "model": "relay" })).await;
    let mut client = server.stream(&straight, None).await;
    server.send(&straight, "do it").await;
    let notice = client.until("the notice", SOON, |event| event.kind == "notice").await.data;
    assert_eq!((notice["code"].as_str(), notice["level"].as_str()), (Some("auth_required"), Some("error")));
    let text = notice["text"].as_str().unwrap();
    assert!(text.contains("`copilot login`") && text.contains("COPILOT_GITHUB_TOKEN"), "{text}");
    let error = client.until("the error", SOON, |event| event.kind == "error").await.data;
    assert!(error["message"].as_str().unwrap().contains("copilot login"), "{error}");
    assert_eq!(client.turn_end(SOON).await, "failed");

    // Through the main AI: it is told, and can tell the person.
    let asked = server.new_session(json!({ "agent": "copilot" })).await;
    let mut client = server.stream(&asked, None).await;
    server.send(&asked, "do it").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    let result = client.seen.of_kind("tool-result").next().unwrap().data.clone();
    assert_eq!(result["is_error"], true);
    assert!(result["content"].as_str().unwrap().contains("copilot login"), "{result}");

    let other = server.new_session(json!({ "model": "relay", "permission_policy": "auto" })).await;
    let mut client = server.stream(&other, None).await;
    server.send(&other, "create made.txt with hello").await;
    assert_eq!(client.turn_end(SOON).await, "completed");
    assert_eq!(std::fs::read_to_string(server.rig().work_dir().join("made.txt")).unwrap(), "hello");
    drop(client);
    server.end().await;
}
