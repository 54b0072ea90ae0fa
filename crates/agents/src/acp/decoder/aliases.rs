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
        assert_eq!(
            (call.title.as_deref(), call.status.as_deref(), &call.output),
            (Some("ls"), Some("completed"), &Some(json!("files").into()))
        );
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

/// S4-26: what a tool prints, and which tool where that is not said.
#[test]
fn a_delta_of_a_tool_is_what_it_prints() {
    let say = |method: &str, params: &str| format!(r#"{{"method":"{method}","params":{{"sessionId":"a",{params}}}}}"#);
    for method in ["message/delta", "stream/chunk", "completion/delta", "text/delta"] {
        let start = say("tool/start", r#""toolId":"k","name":"ls""#);
        let named = say(method, r#""type":"tool","toolId":"k","delta":"one ""#);
        let unnamed = say(method, r#""type":"tool","delta":"two""#);
        let printed = signals(&[&start, &named, &unnamed]);
        let [_, Signal::Update { update: Update::ToolOutput { id, offset: 0, content }, .. }] = &printed[..] else {
            panic!("{method}: {printed:?}")
        };
        assert_eq!((id.as_str(), content.as_str()), ("k", "one two"), "{method}");
        // There is none: it is kept whole.
        let lost = signals(&[&unnamed]);
        assert!(matches!(&lost[..], [Signal::Update { update: Update::Unknown { .. }, .. }]), "{method}: {lost:?}");
    }
}

const SEND: &str = r#"> {"id":"prompt:c","method":"prompt/send","params":{"sessionId":"a"}}"#;
const NEXT: &str = r#"> {"id":"prompt:d","method":"prompt/send","params":{"sessionId":"a"}}"#;

fn ends(signals: &[Signal]) -> Vec<String> {
    let end = |signal: &Signal| match signal {
        Signal::PromptEnded { call_id, result: Ok(_) } => Some(format!("{call_id} done")),
        Signal::PromptEnded { call_id, result: Err(failure) } => Some(format!("{call_id} {failure}")),
        _ => None,
    };
    signals.iter().filter_map(end).collect()
}

/// S4-25, S4-26, S4-34: a turn goes by the id that its prompt was answered with, or by the first one that is heard of it.
#[test]
fn a_turn_is_known_by_its_id() {
    let accepted = |call: &str, id: &str| format!(r#"{{"id":"prompt:{call}","result":{{{id},"status":"processing"}}}}"#);
    let status = |id: &str, status: &str| format!(r#"{{"method":"turn/status","params":{{"sessionId":"a",{id},"status":"{status}"}}}}"#);
    for id in ["turnId", "requestId", "messageId"] {
        let (first, second) = (format!(r#""{id}":"1""#), format!(r#""{id}":2"#));
        // The end of a turn that is not this one ends nothing; one without a session is found by its id.
        let lines = [accepted("c", &first), status(&second, "error"), status(&first, "completed").replace(r#""sessionId":"a","#, "")];
        assert_eq!(ends(&signals(&[SEND, &lines[0], &lines[1], &lines[2]])), ["c done"], "{id}");
        // What comes late of the turn before is not of the next.
        let lines = [accepted("c", &first), status(&first, "completed"), accepted("d", &second), status(&first, "error")];
        let late = format!(r#"{{"method":"message/delta","params":{{"sessionId":"a",{first},"delta":"late"}}}}"#);
        let heard = signals(&[SEND, &lines[0], &lines[1], NEXT, &lines[2], &lines[3], &late, &status(&second, "completed")]);
        assert_eq!(ends(&heard), ["c done", "d done"], "{id}");
        assert!(!heard.iter().any(|signal| matches!(signal, Signal::Text { .. })), "{id}");
        // With `stream` there is no answer: the first event tells.
        assert_eq!(
            ends(&signals(&[SEND, &status(&first, "processing"), &status(&second, "error"), &status(&first, "completed")])),
            ["c done"]
        );
    }
}

/// S4-12, S4-13: an error ends a turn of that dialect, whatever its code; for others it is a word to people.
#[test]
fn an_error_ends_a_turn_of_the_other_dialect_alone() {
    let error = r#"{"method":"error","params":{"sessionId":"a","error":{"code":-32000,"message":"Rate limit exceeded"}}}"#;
    let heard = signals(&[SEND, error, error]);
    let [Signal::PromptEnded { result: Err(failure), .. }, Signal::Update { .. }] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!((failure.fault, failure.message.as_str()), (domain::agent::Fault::Refused, "Rate limit exceeded"));
    let heard = signals(&[PROMPT, error]);
    assert!(matches!(&heard[..], [Signal::Update { update: Update::Notice { .. }, .. }]), "{heard:?}");
    let detail = r#"{"method":"turn/status","params":{"sessionId":"a","status":"error","detail":{"message":"deep"}}}"#;
    assert_eq!(ends(&signals(&[SEND, detail])), ["c deep"]);
}
