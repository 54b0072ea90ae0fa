//! Agents that call the protocol's notifications by other names.

use serde_json::json;

use super::tests::{PROMPT, signals, text};
use super::*;

#[test]
fn an_agent_with_other_names_is_understood() {
    let lines = [
        r#"> {"id":"prompt:c","method":"prompt/send","params":{"sessionId":"a"}}"#,
        r#"{"id":"prompt:c","result":{"turnId":"t","status":"processing"}}"#,
        r#"{"method":"message/delta","params":{"sessionId":"a","turnId":"t","delta":"hi","type":"text"}}"#,
        r#"{"method":"thinking/delta","params":{"sessionId":"a","delta":"hm","mode":"raw"}}"#,
        r#"{"method":"function/call","params":{"sessionId":"a","toolId":"k","name":"ls","input":{"x":1}}}"#,
        r#"{"method":"function/result","params":{"sessionId":"a","toolId":"k","output":"files"}}"#,
        r#"{"method":"turn/status","params":{"sessionId":"a","status":"completed"}}"#,
    ];
    let signals = signals(&lines);
    let [
        Signal::Text { .. },
        Signal::Update { update: Update::Thought { .. }, .. },
        Signal::Update { update: Update::ToolCall(call), .. },
        Signal::PromptEnded { result: Ok(_), .. },
    ] = &signals[..]
    else {
        panic!("{signals:?}")
    };
    assert_eq!((call.title.as_deref(), call.status.as_deref()), (Some("ls"), Some("completed")));
}

/// S4-17, S4-18, S4-19, S4-26: every name of every notification.
#[test]
fn every_other_name_of_a_notification_is_understood() {
    let say = |method: &str, params: &str| format!(r#"{{"method":"{method}","params":{{"sessionId":"a",{params}}}}}"#);
    for method in ["message/delta", "stream/chunk", "completion/delta", "text/delta"] {
        assert_eq!(signals(&[&say(method, r#""delta":"hi","type":"text""#)]), [text("a", "hi")], "{method}");
        let thought = signals(&[&say(method, r#""delta":"hm","type":"reasoning""#)]);
        assert!(matches!(&thought[..], [Signal::Update { update: Update::Thought { text }, .. }] if text == "hm"), "{method}");
    }
    for method in ["reasoning/delta", "thinking/delta"] {
        let thought = signals(&[&say(method, r#""delta":"hm""#)]);
        assert!(matches!(&thought[..], [Signal::Update { update: Update::Thought { text }, .. }] if text == "hm"), "{method}");
    }
    for (start, result) in [("tool/start", "tool/result"), ("function/call", "function/result"), ("action/start", "action/result")] {
        let call = signals(&[&say(start, r#""toolId":"k","name":"ls","input":{"x":1}"#), &say(result, r#""toolId":"k","output":"files""#)]);
        let [Signal::Update { update: Update::ToolCall(call), .. }] = &call[..] else { panic!("{start}: {call:?}") };
        assert_eq!((call.title.as_deref(), call.status.as_deref(), &call.output), (Some("ls"), Some("completed"), &Some(json!("files"))));
        let failed = signals(&[&say(result, r#""toolId":"k","error":"no""#)]);
        let [Signal::Update { update: Update::ToolCall(call), .. }] = &failed[..] else { panic!("{result}: {failed:?}") };
        assert_eq!(call.status.as_deref(), Some("failed"), "{result}");
    }
    for method in ["turn/status", "message/status", "completion/status"] {
        let going = signals(&[PROMPT, &say(method, r#""status":"processing""#)]);
        assert_eq!(going, [], "{method}");
        let ended = signals(&[PROMPT, &say(method, r#""status":"completed""#)]);
        assert!(matches!(&ended[..], [Signal::PromptEnded { call_id, result: Ok(_) }] if call_id == "c"), "{method}");
        let failed = signals(&[PROMPT, &say(method, r#""status":"error","detail":"why""#)]);
        assert!(matches!(&failed[..], [Signal::PromptEnded { result: Err(failure), .. }] if failure.message == "why"), "{method}");
    }
}
