//! Codex's model misbehaves: the call has failed with the reason, what was said before is kept, and the thread can go on.

use serde_json::{Value, json};
use testkit::model_server::{Reply, Request, Script};

use crate::replies::delegate_all;
use crate::setup::{start, start_with};

/// Every fault in a thread of its own, all at the same time, with what the reason names. Of a 500 Codex does not pass on the number.
const FAULTS: [(&str, &str); 6] = [
    ("s400", "scripted 400"),
    ("s401", "401"),
    ("s429", "429"),
    ("s500", "internalServerError"),
    ("cut", "stream"),
    ("refusal", "overloaded today"),
];

fn faulty(request: &Request) -> Reply {
    match request.last_user().as_str() {
        word if word.contains("again") => Reply::text("All is well."),
        word if word.contains("s400") => Reply::status(400),
        word if word.contains("s401") => Reply::status(401),
        word if word.contains("s429") => Reply::status(429).header("retry-after", "1"),
        word if word.contains("s500") => Reply::status(500),
        word if word.contains("refusal") => Reply::text("half a sen").and_error("overloaded today"),
        _ => Reply::text("half a sen").cut(),
    }
}

fn script() -> Script {
    Script::rules(move |request| {
        if request.model() != "main" {
            return faulty(request);
        }
        match request.has_tool_result() {
            true => Reply::text("So it is."),
            false if request.last_user().contains("again") => delegate_all(FAULTS.map(|(name, _)| (name, "again"))),
            false => delegate_all(FAULTS.map(|(name, _)| (name, name))),
        }
    })
}

#[tokio::test]
async fn a_faulty_model_behind_codex_fails_the_call_with_the_reason_and_the_thread_goes_on() {
    let mut setup = start_with(script(), json!({ "permission_policy": "auto" }), |rig| rig).await;
    assert_eq!(setup.turn("try").await, "completed", "{}", setup.client.seen.tail());
    let results = setup.results().await;
    for (name, reason) in FAULTS {
        let result = results.iter().find(|result| result["delegation"]["session_name"] == name).unwrap();
        assert_eq!((&result["is_error"], &result["delegation"]["stop_reason"]), (&json!(true), &json!("failed")), "{name}: {result}");
        let told = result["content"].as_str().unwrap();
        assert!(told.contains(reason), "{name}: {told}");
        assert!(!told.contains("{\"error\""), "the reason, not the JSON around it: {told}");
    }
    // The main AI was told the same.
    let told = setup.main_requests().last().unwrap().tool_results();
    assert_eq!(told.len(), FAULTS.len());
    assert!(FAULTS.iter().all(|(_, reason)| told.iter().any(|result| result.contains(reason))), "{told:?}");
    assert_eq!(setup.turn("again").await, "completed");
    let after: Vec<Value> = setup.results().await[FAULTS.len()..].iter().map(|result| result["display"].clone()).collect();
    assert_eq!(after, ["All is well."; FAULTS.len()]);
    setup.processes().native();
    setup.end().await;
}

#[tokio::test]
async fn straight_to_codex_a_model_fault_is_the_turns_failure_in_words() {
    let script = Script::rules(|_| Reply::status(401));
    let mut setup = start_with(script, json!({ "model": "relay", "permission_policy": "auto" }), |rig| rig).await;
    assert_eq!(setup.turn("hello").await, "failed");
    let turn = setup.client.seen.of_kind("turn").last().unwrap().data.clone();
    let reason = turn["reason"].as_str().unwrap();
    assert!(reason.contains("401"), "{reason}");
    setup.end().await;
}

/// The first stream breaks off, Codex asks again, and its answer stands once.
#[tokio::test]
async fn a_model_that_recovers_leaves_its_answer_once() {
    let mut setup = start().await;
    setup.main([delegate_all([("cut", "go on")]), Reply::text("Done.")]);
    setup.coder([Reply::chunks(["one ", "two ", "thr"]).cut(), Reply::chunks(["one ", "two ", "three ", "four."])]);
    assert_eq!(setup.turn("go").await, "completed", "{}", setup.client.seen.tail());
    let result = setup.results().await.pop().unwrap();
    assert_eq!(result["delegation"]["stop_reason"], "end_turn", "{result}");
    let shown = result["display"].as_str().unwrap();
    assert_eq!(shown.matches("three four.").count(), 1, "{shown}");
    assert_eq!(shown, "one two three four.", "what it repeats is not shown twice");
    setup.end().await;
}
