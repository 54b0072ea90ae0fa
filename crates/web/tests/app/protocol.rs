//! The stop reasons and error codes of the protocol, each as the document S2 lists it.

use serde_json::json;

use crate::rig::{Rig, only};

/// S2-20, S2-21, S2-22, S2-23: why an agent stopped is passed on, to people and to the model.
#[tokio::test(flavor = "multi_thread")]
async fn every_stop_reason_is_passed_on() {
    let rig = Rig::replies([]).await;
    for reason in ["end_turn", "max_tokens", "max_turn_requests", "refusal"] {
        let session = rig.relay().await;
        let (state, client) = rig.turn(&session, &format!("stop_reason {reason}")).await;
        assert_ne!(state, "unknown", "{reason}");
        assert_eq!(only(&client, "copilot-done")["stop_reason"], reason);
        let told = only(&client, "tool-result")["content"].as_str().unwrap();
        assert!(told.contains(reason), "{reason}: {told}");
    }
}

/// S2-55, S2-56, S2-57, S2-58, S2-59, S2-61: a prompt that is refused, with whatever code of the protocol, ends its call as failed, says
/// what the agent said, and leaves the session usable.
#[tokio::test(flavor = "multi_thread")]
async fn every_error_code_ends_the_call_in_words() {
    let rig = Rig::replies([]).await;
    let session = rig.relay().await;
    for code in [-32700, -32600, -32601, -32602, -32603, -32002] {
        let (state, client) = rig.turn(&session, &format!("error_code {code}")).await;
        assert_eq!(state, "failed", "{code}");
        let error = only(&client, "error");
        assert!(error["message"].as_str().unwrap().contains("an error was asked for"), "{code}: {error}");
        assert_eq!(only(&client, "tool-result")["is_error"], json!(true), "{code}");
        let (state, client) = rig.turn(&session, "say still here").await;
        assert_eq!(state, "completed", "after {code}:\n{}", client.seen.tail());
    }
}
