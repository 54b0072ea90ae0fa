//! The policy of delegated work as people choose it for the whole server.

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Script};
use testkit::server::{Rig, Server};

async fn policy(server: &Server) -> (Value, Value) {
    let (status, body) = server.call("GET", "/api/server", None).await;
    assert_eq!(status, 200, "{body}");
    (body["permission_policy"].clone(), body["policy_chosen"].clone())
}

/// With a main AI and nothing configured, delegated work is approved by itself until a person chooses otherwise.
#[tokio::test]
async fn what_was_chosen_outlives_the_server() {
    let model = ModelServer::start(Script::new());
    let mut server = Rig::default().model(&model.base_url()).demo_agent().start().await;
    assert_eq!(policy(&server).await, (json!("auto"), json!(false)));
    let (status, _) = server.call("PATCH", "/api/server", Some(json!({ "permission_policy": "ask" }))).await;
    assert_eq!(status, 204);
    server.kill().await;
    server.restart().await;
    assert_eq!(policy(&server).await, (json!("ask"), json!(true)));
    server.end().await;
}

#[tokio::test]
async fn what_is_configured_goes_before_what_is_chosen() {
    let model = ModelServer::start(Script::new());
    let server = Rig::default().model(&model.base_url()).demo_agent().env("VOXPILOT_PERMISSION_POLICY", "read-only").start().await;
    assert_eq!(policy(&server).await, (json!("read-only"), json!(true)));
    let (status, body) = server.call("PATCH", "/api/server", Some(json!({ "permission_policy": "auto" }))).await;
    assert_eq!((status, &body["error"]["code"]), (409, &json!("conflict")));
    assert_eq!(policy(&server).await.0, "read-only");
    server.end().await;
}
