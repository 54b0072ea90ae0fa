//! Models that misbehave: each fault ends in a clear event, and another session goes on as if nothing were.

use futures::StreamExt;
use serde_json::json;
use testkit::model_server::{Reply, Script};

use crate::rig::{Options, Rig, SOON, of_kind, only};

/// A model by the name of its fault, what it answers, and what comes of it: the final state, and the codes of errors and notices.
struct Case {
    model: &'static str,
    replies: Vec<Reply>,
    state: &'static str,
    error: Option<&'static str>,
    retries: usize,
    superseded: usize,
}

fn cases() -> Vec<Case> {
    let case = |model, replies, state, error, retries, superseded| Case { model, replies, state, error, retries, superseded };
    let fails = "failed";
    let again = |reply: Reply| vec![reply.clone(), reply.clone(), reply];
    vec![
        case("unauthorized", vec![Reply::status(401)], fails, Some("model_unauthorized"), 0, 0),
        case("rejects", vec![Reply::status(400)], fails, Some("model_bad_request"), 0, 0),
        case("limits", vec![Reply::status(429).header("retry-after", "0"), Reply::text("ok")], "completed", None, 1, 0),
        case("always-limits", again(Reply::status(429).header("retry-after", "0")), fails, Some("model_rate_limited"), 2, 0),
        case("recovers", vec![Reply::status(503), Reply::status(500), Reply::text("ok")], "completed", None, 2, 0),
        case("broken", again(Reply::status(500)), fails, Some("model_unavailable"), 2, 0),
        case("hangs-up", vec![Reply::hang_up(), Reply::text("ok")], "completed", None, 1, 0),
        case("cuts", vec![Reply::text("half").cut(), Reply::text("whole")], "completed", None, 0, 1),
        case("ends-early", vec![Reply::text("half").end_early(), Reply::text("whole")], "completed", None, 0, 1),
        case("always-cuts", again(Reply::text("half").cut()), fails, Some("model_cut"), 0, 2),
        case("stalls", vec![Reply::text("half").stall(), Reply::text("whole")], "completed", None, 0, 1),
        case("empty", vec![Reply::empty_choices()], fails, Some("model_empty"), 0, 0),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_ends_in_a_clear_event_while_another_session_goes_on() {
    let mut script = Script::new();
    for case in cases() {
        script = script.route(case.model, case.replies);
    }
    let rig = Rig::start(Options { script, ..Options::default() }).await;
    let other = rig.relay().await;
    let mut watching = rig.watch(&other).await;
    rig.say(&other, "slow 150").await;
    watching.until("agent's text", SOON, |event| event.kind == "copilot-delta").await;
    let rig_ref = &rig;
    futures::stream::iter(cases()).for_each_concurrent(4, |case| check(rig_ref, case)).await;
    assert_eq!(watching.turn_end(SOON).await, "completed");
    assert!(watching.seen.agent_text("main").ends_with(" 150 "));
}

async fn check(rig: &Rig, case: Case) {
    let model = case.model;
    let session = rig.session_with(json!({ "model": model })).await;
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, case.state, "{model}:\n{}", client.seen.tail());
    let errors: Vec<_> = of_kind(&client, "error").iter().map(|event| event.data["code"].clone()).collect();
    assert_eq!(errors, case.error.iter().map(|code| json!(code)).collect::<Vec<_>>(), "{model}");
    let retries = of_kind(&client, "notice").iter().filter(|event| event.data["code"] == "model_retry").count();
    assert_eq!(retries, case.retries, "{model}:\n{}", client.seen.tail());
    let superseded = of_kind(&client, "superseded");
    assert_eq!(superseded.len(), case.superseded, "{model}:\n{}", client.seen.tail());
    assert_eq!(of_kind(&client, "done").len(), usize::from(state == "completed"), "{model}");
    for event in superseded {
        assert!(!of_kind(&client, "message").iter().any(|message| message.data["id"] == event.data["message_id"]), "{model}");
    }
    if state == "failed" {
        let last = rig.watch(&session).await;
        assert_eq!(only(&last, "turn")["state"], "failed", "{model}: a reload hides the failure");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_not_there_is_named() {
    let rig = Rig::start(Options { tries: 1, ..Options::default() }).await;
    let session = rig.session().await;
    rig.model.push("main", Reply::status(404));
    let (state, client) = rig.turn(&session, "go").await;
    assert_eq!(state, "failed");
    assert!(only(&client, "error")["message"].as_str().unwrap().contains("127.0.0.1"));
}
