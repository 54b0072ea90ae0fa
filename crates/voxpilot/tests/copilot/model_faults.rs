//! Copilot's model misbehaves. Copilot says so in its message text and ends its turn as if all were well; here the call has failed with
//! the reason, what it repeats is not shown twice, and the session can go on.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use testkit::model_server::{Reply, Request, Script};

use crate::replies::{delegate, delegate_all};
use crate::setup::{start, start_with};

/// Every fault in a session of its own, all at the same time: each takes Copilot seconds of retries. With what the reason names.
const FAULTS: [(&str, &str); 4] = [("s401", "HTTP 401"), ("s429", "429"), ("s500", "500"), ("cut", "Failed to get response")];
const RECOVERING: [&str; 3] = ["twice429", "twice500", "twicecut"];

fn faulty(request: &Request, times: usize) -> Reply {
    match request.last_user().as_str() {
        word if word.contains("again") => Reply::text("All is well."),
        word if word.contains("s401") => Reply::status(401),
        word if word.contains("s429") => Reply::status(429).header("retry-after", "1"),
        word if word.contains("s500") => Reply::status(500),
        word if word.contains("twice429") && times < 2 => Reply::status(429).header("retry-after", "1"),
        word if word.contains("twice500") && times < 2 => Reply::status(500),
        word if word.contains("twicecut") && times < 2 => Reply::chunks(["half ", "a sen"]).cut(),
        word if word.contains("twice") => Reply::chunks(["half a ", "sentence, ", "and the rest."]),
        _ => Reply::text("half a sen").cut(),
    }
}

/// Copilot's model as above, counting what it is asked; the main AI hands on the tasks that it is given.
fn script(tasks: &'static [&'static str]) -> Script {
    let asked: Mutex<HashMap<String, usize>> = Mutex::default();
    Script::rules(move |request| {
        if request.model() == "main" {
            return match request.has_tool_result() {
                true => Reply::text("So it is."),
                false if request.last_user().contains("again") => delegate_all(tasks.iter().map(|task| (*task, "again"))),
                false => delegate_all(tasks.iter().map(|task| (*task, *task))),
            };
        }
        let mut asked = asked.lock().unwrap();
        let times = asked.entry(request.last_user()).or_default();
        *times += 1;
        faulty(request, *times - 1)
    })
}

fn notices(result: &Value) -> Vec<Value> {
    let updates = result["delegation"]["updates"].as_array().unwrap().iter();
    updates.map(|placed| placed["update"].clone()).filter(|update| update["type"] == "notice").collect()
}

#[tokio::test]
async fn a_faulty_model_behind_copilot_fails_the_call_with_the_reason_and_the_session_goes_on() {
    let mut setup = start_with(script(&["s401", "s429", "s500", "cut"]), json!({}), |rig| rig).await;
    assert_eq!(setup.turn("try").await, "completed");
    let results = setup.results().await;
    for (name, reason) in FAULTS {
        let result = results.iter().find(|result| result["delegation"]["session_name"] == name).unwrap();
        assert_eq!((&result["is_error"], &result["delegation"]["stop_reason"]), (&json!(true), &json!("failed")), "{result}");
        let told = result["content"].as_str().unwrap();
        assert!(told.starts_with("the agent could not finish: ") && told.contains(reason), "{name}: {told}");
        // Its words are a notice of their level, and no message text.
        assert_eq!(result["display"], if name == "cut" { "half a sen" } else { "" }, "{name}");
        let notices = notices(result);
        assert_eq!(notices.last().unwrap()["level"], "error", "{name}: {notices:?}");
        assert!(notices[..notices.len() - 1].iter().all(|notice| notice["level"] == "info" && notice["retry"].is_object()), "{notices:?}");
    }
    // The main AI was told the same.
    let told = setup.main_requests().last().unwrap().tool_results();
    assert!(told.len() == 4 && told.iter().all(|result| result.starts_with("the agent could not finish: ")), "{told:?}");
    assert_eq!(setup.turn("again").await, "completed");
    let after: Vec<_> = setup.results().await[FAULTS.len()..].iter().map(|result| result["display"].clone()).collect();
    assert_eq!(after, ["All is well."; 4]);
    setup.processes().native();
    setup.end().await;
}

#[tokio::test]
async fn a_model_that_recovers_leaves_its_answer_once() {
    let mut setup = start_with(script(&RECOVERING), json!({}), |rig| rig).await;
    assert_eq!(setup.turn("try").await, "completed");
    for result in setup.results().await {
        let name = result["delegation"]["session_name"].as_str().unwrap();
        assert_eq!((&result["is_error"], &result["delegation"]["stop_reason"]), (&Value::Null, &json!("end_turn")), "{result}");
        assert_eq!(result["display"], "half a sentence, and the rest.", "{name}");
        assert_eq!(setup.client.seen.agent_text(name), "half a sentence, and the rest.");
        // Of 429 Copilot says nothing.
        let retries = notices(&result).len();
        assert_eq!(retries, if name == "twice429" { 0 } else { 2 }, "{name}");
    }
    setup.end().await;
}

#[tokio::test]
async fn straight_to_copilot_a_model_fault_is_the_turns_failure_in_words() {
    let mut setup = start_with(Script::rules(|_| Reply::status(401)), json!({ "model": "relay" }), |rig| rig).await;
    assert_eq!(setup.turn("hello").await, "failed");
    let turn = setup.client.seen.of_kind("turn").last().unwrap().data.clone();
    let reason = turn["reason"].as_str().unwrap();
    assert!(reason.starts_with("the agent could not finish: Authentication failed with provider"), "{reason}");
    assert!(reason.contains("COPILOT_PROVIDER_API_KEY"), "{reason}");
    let error = setup.client.seen.of_kind("error").last().unwrap().data.clone();
    assert_eq!(error["message"], reason);
    setup.end().await;
}

/// The server dies while Copilot repeats itself: the next one knows how far it had come.
#[tokio::test]
async fn a_repetition_that_outlives_the_server_is_still_shown_once() {
    let gate = testkit::model_server::Gate::new();
    let mut setup = start().await;
    setup.main([delegate("held", "go on"), Reply::text("Done.")]);
    setup.coder([Reply::chunks(["one ", "two ", "thr"]).cut(), Reply::chunks(["one ", "two ", "three ", "four."]).gate(&gate)]);
    setup.send("go").await;
    setup.until_written("held", "one two thr").await;
    gate.release(2);
    // It has begun to repeat itself: "one two " has come a second time.
    setup
        .client
        .until("the repetition", crate::setup::SOON, |event| {
            event.data["update"]["retry"]["repeated"].as_u64().is_some_and(|units| units >= 4)
        })
        .await;
    setup.kill_server().await;
    gate.open();
    setup.restart_server().await;
    assert_eq!(setup.turn_end().await, "completed");
    assert_eq!(setup.client.seen.agent_text("held"), "one two three four.");
    setup.end().await;
}

/// An answer of the model that begins like one of Copilot's own notices is an answer: whole, in pieces, and before a tool.
#[tokio::test]
async fn an_answer_that_begins_like_an_error_is_shown_as_an_answer() {
    const ANSWERS: [&[&str]; 3] =
        [&["Error: the test fails in line 3."], &["Error: ", "the test fails ", "in line 3."], &["Err", "or: it fails."]];
    let mut setup = start().await;
    for (number, pieces) in ANSWERS.iter().enumerate() {
        let name = format!("answer-{number}");
        setup.main([delegate(&name, "what does the test say?"), Reply::text("I see.")]);
        setup.coder([Reply::chunks(pieces.iter().copied())]);
        assert_eq!(setup.turn("go").await, "completed", "{}", setup.client.seen.tail());
        assert_eq!(setup.client.seen.agent_text(&name), pieces.concat(), "{}", setup.client.seen.tail());
        let result = setup.results().await.pop().unwrap();
        assert_eq!((&result["display"], &result["delegation"]["stop_reason"]), (&json!(pieces.concat()), &json!("end_turn")));
    }
    setup.end().await;
}
