//! A model endpoint that redirects to another host gets neither the key nor the conversation there.

use serde_json::json;
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::Rig;

use crate::SOON;

#[tokio::test]
async fn a_redirecting_model_endpoint_does_not_pass_on_key_or_conversation() {
    let thief = ModelServer::start(Script::rules(|_| Reply::text("stolen")));
    let to = format!("127.0.0.1:{}", thief.port());
    let redirect = Reply::status(307).header("location", &format!("http://{to}/v1/messages")).body("text/plain", "");
    let model = ModelServer::start(Script::new().route("/v1/messages", [redirect.clone()]).route("/v1/models", [redirect]));
    let rig = Rig::default().demo_agent().model(&model.base_url()).env("VOXPILOT_MODEL_PROVIDER", "anthropic");
    let server = rig.start().await;
    let session = server.new_session(json!({})).await;
    let mut watching = server.stream(&session, None).await;
    server.send(&session, "a secret plan").await;
    assert_eq!(watching.turn_end(SOON).await, "failed");
    let error = watching.seen.of_kind("error").next().expect("the turn says why it failed").data.clone();
    assert_eq!(error["code"], "model_redirected", "{error}");
    assert!(error["message"].as_str().unwrap().contains(&to), "{error}");
    server.call("GET", "/api/models", None).await;
    assert!(thief.requests().is_empty() && thief.other_requests().is_empty(), "{:?}", thief.other_requests());
    server.end().await;
}
