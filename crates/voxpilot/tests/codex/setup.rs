//! The setup with Codex in it.

use serde_json::{Value, json};
use testkit::model_server::Script;
use testkit::server::Rig;
pub(crate) use testkit::setup::{Real, SOON, Setup, eventually, said};

/// Everything in place, nothing scripted yet, and Codex may do what it likes.
pub(crate) async fn start() -> Setup {
    start_under("auto").await
}

pub(crate) async fn start_under(policy: &str) -> Setup {
    start_with(Script::new(), json!({ "permission_policy": policy }), |rig| rig).await
}

pub(crate) async fn start_with(script: Script, session: Value, change: impl FnOnce(Rig) -> Rig) -> Setup {
    Setup::start(Real::Codex, script, session, change).await
}

/// The tool calls of a stored delegation, each as it was in the end.
pub(crate) fn calls(result: &Value) -> Vec<Value> {
    let updates = result["delegation"]["updates"].as_array().unwrap().iter().map(|placed| placed["update"].clone());
    updates.filter(|update| update["type"] == "tool_call").collect()
}
