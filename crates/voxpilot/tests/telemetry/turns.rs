//! The spans of real turns.

use serde_json::{Value, json};
use testkit::collector::Collector;
use testkit::model_server::{ModelServer, Reply, ToolCall};
use testkit::server::Rig;

use crate::SOON;

fn named<'a>(spans: &'a [Value], name: &str) -> Vec<&'a Value> {
    spans.iter().filter(|span| span["name"] == name).collect()
}

#[track_caller]
fn only<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found = named(spans, name);
    assert_eq!(found.len(), 1, "of {name}: {spans:#?}");
    found[0]
}

fn attribute<'a>(span: &'a Value, key: &str) -> &'a Value {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key);
    let value = &found.unwrap_or_else(|| panic!("{key} is missing: {span:#}"))["value"];
    value.as_object().unwrap().values().next().unwrap()
}

fn times(span: &Value) -> (u128, u128) {
    let of = |key: &str| span[key].as_str().unwrap().parse::<u128>().unwrap();
    (of("startTimeUnixNano"), of("endTimeUnixNano"))
}

#[track_caller]
fn is_within(span: &Value, parent: &Value) {
    assert_eq!((&span["traceId"], &span["parentSpanId"]), (&parent["traceId"], &parent["spanId"]), "{span:#} beneath {parent:#}");
    let ((begun, ended), (first, last)) = (times(span), times(parent));
    // The end of a turn is stored with a time from just before its last words are.
    let moment = 1_000_000_000;
    assert!(first <= begun && begun <= ended && ended <= last + moment, "{span:#} within {parent:#}");
}

async fn turn_is_told(collector: &Collector, count: usize) -> Vec<Value> {
    collector.wait("the turn", |collector| named(&collector.spans(), "turn").len() >= count).await;
    collector.spans()
}

#[tokio::test]
async fn a_delegated_turn_is_one_tree_and_holds_nothing_that_was_said() {
    let collector = Collector::start().await;
    let call = ToolCall::new("copilot_agent", json!({ "prompt": "ask the-prompt-text", "session_name": "main" }));
    let model = ModelServer::start([Reply::tool_calls([call]), Reply::text("the-answer-text").usage(30, 7)]);
    let server = Rig::default().faulty_agent().model(&model.base_url()).env("VOXPILOT_OTLP_ENDPOINT", collector.url()).start().await;
    let session = server.new_session(json!({ "permission_policy": "ask", "title": "the-title-text" })).await;
    let mut client = server.stream(&session, None).await;
    let turn_id = server.send(&session, "the-question-text").await["turn_id"].as_str().unwrap().to_owned();
    let asked = client.until("a question", SOON, |event| event.kind == "permission-request").await;
    let path = format!("/api/sessions/{session}/permissions/{}", asked.data["request_id"].as_str().unwrap());
    let option = asked.data["options"][0]["option_id"].clone();
    assert!(server.call("POST", &path, Some(json!({ "option_id": option }))).await.0 < 300);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let spans = turn_is_told(&collector, 1).await;

    let turn = only(&spans, "turn");
    assert_eq!(turn["traceId"], turn_id.replace('-', "").as_str());
    assert!(turn.get("parentSpanId").is_none(), "{turn:#}");
    assert_eq!((attribute(turn, "turn.id"), attribute(turn, "session.id")), (&json!(turn_id), &json!(session)));
    assert_eq!(
        (attribute(turn, "model"), attribute(turn, "agent"), attribute(turn, "ending")),
        (&json!("main"), &json!("faulty"), &json!("completed"))
    );
    let tool = only(&spans, "tool call");
    assert_eq!(attribute(tool, "tool"), "copilot_agent");
    for (name, parent) in [("agent start", turn), ("session open", turn), ("tool call", turn), ("prompt", tool), ("permission", tool)] {
        is_within(only(&spans, name), parent);
    }
    assert_eq!(attribute(only(&spans, "permission"), "by"), "person");
    let calls = named(&spans, "model call");
    assert_eq!(calls.len(), 2, "{spans:#?}");
    for call in calls {
        is_within(call, turn);
        assert_eq!((attribute(call, "outcome"), attribute(call, "model")), (&json!("completed"), &json!("main")));
        assert!(attribute(call, "tokens.out").as_str().unwrap().parse::<u64>().unwrap() > 0, "{call:#}");
    }
    for posted in collector.posted() {
        assert_eq!(posted.line, "POST /v1/traces");
        assert!(posted.headers.contains(&("content-type".to_owned(), "application/json".to_owned())), "{:?}", posted.headers);
        assert!(!posted.headers.iter().any(|(name, _)| name == "authorization" || name == "cookie"), "{:?}", posted.headers);
        for secret in ["-text", server.token(), &server.rig().home().display().to_string()] {
            assert!(!posted.body.contains(secret), "{secret} in {}", posted.body);
        }
    }
    server.end().await;
}

#[tokio::test]
async fn a_turn_that_an_earlier_server_began_ends_as_one_span_with_its_true_start() {
    let collector = Collector::start().await;
    let mut server = Rig::default().faulty_agent().env("VOXPILOT_OTLP_ENDPOINT", collector.url()).start().await;
    let session = server.new_session(json!({ "permission_policy": "ask" })).await;
    let mut client = server.stream(&session, None).await;
    server.send(&session, "ask").await;
    let asked = client.until("a question", SOON, |event| event.kind == "permission-request").await;
    server.kill().await;
    let killed_ns = u128::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap();
    server.restart().await;
    let mut client = server.stream(&session, client.seen.cursor).await.continuing(client.seen);
    let path = format!("/api/sessions/{session}/permissions/{}", asked.data["request_id"].as_str().unwrap());
    let option = asked.data["options"][0]["option_id"].clone();
    assert!(server.call("POST", &path, Some(json!({ "option_id": option }))).await.0 < 300);
    assert_eq!(client.turn_end(SOON).await, "completed", "{}", client.seen.tail());
    let spans = turn_is_told(&collector, 1).await;
    let turn = only(&spans, "turn");
    let (begun, ended) = times(turn);
    assert!(begun < killed_ns && killed_ns < ended, "{turn:#}");
    let call = only(&spans, "tool call");
    assert_eq!((&call["parentSpanId"], attribute(call, "taken_up")), (&turn["spanId"], &json!(true)));
    let permission = only(&spans, "permission");
    is_within(
        &json!({ "traceId": permission["traceId"], "parentSpanId": turn["spanId"], "startTimeUnixNano": permission["startTimeUnixNano"],
        "endTimeUnixNano": permission["endTimeUnixNano"] }),
        turn,
    );
    assert_eq!(permission["parentSpanId"], call["spanId"]);
    assert!(times(permission).0 < killed_ns, "a question is told from when it was asked: {permission:#}");
    server.end().await;
}
