//! What an agent could make the server hold: every place of the protocol that it fills, with far too much.
#![allow(clippy::unwrap_used)]

use domain::agent::{Problem, ToolContent};

use super::tests::{PROMPT, feed, update};
use super::*;
use crate::acp::decoder::excess::NOTICE;

fn many(element: &str, times: usize) -> String {
    format!("[{}{element}]", format!("{element},").repeat(times - 1))
}

fn ask(input: &str) -> String {
    format!(
        r#"{{"id":7,"method":"session/request_permission","params":{{"sessionId":"a","toolCall":{{"toolCallId":"k"{input}}},"options":[{{"optionId":"x","name":"X","kind":"allow_once"}}]}}}}"#
    )
}

fn is_refused(signals: &[Signal]) -> bool {
    signals.iter().any(|signal| matches!(signal, Signal::Demand { demand: Demand::Unknown { problem: Problem::Invalid, .. }, .. }))
}

#[test]
fn a_line_of_a_million_numbers_keeps_its_call_and_says_once_that_it_was_cut() {
    let line = update("a", &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"k","rawInput":{},"title":"T"}}"#, many("1", 1_000_000)));
    let signals = feed(&mut Decoder::default(), &[PROMPT, &line, &line]).take_signals();
    let [Signal::Update { update: Update::ToolCall(call), .. }, Signal::Update { update: Update::Notice { text, .. }, .. }, _] =
        &signals[..]
    else {
        panic!("{} signals", signals.len())
    };
    assert_eq!((call.title.as_deref(), text.as_str()), (Some("T"), NOTICE));
    assert!(call.bytes() < 100_000, "{}", call.bytes());
    let notices = signals.iter().filter(|signal| matches!(signal, Signal::Update { update: Update::Notice { .. }, .. }));
    assert_eq!(notices.count(), 1);
}

#[test]
fn a_request_of_which_part_is_missing_is_refused_and_not_asked() {
    let requests = [
        ask(&format!(r#","rawInput":{{"command":"ls","x":{}}}"#, many("1", 1_000_000))),
        ask(&format!(r#","rawInput":{{"command":"{}"}}"#, "x".repeat(5_000_000))),
        format!(r#"{{"id":7,"method":"session/request_permission","params":{{"sessionId":"a","options":{}}}}}"#, many("{}", 100_000)),
        format!(
            r#"{{"id":7,"method":"elicitation/create","params":{{"sessionId":"a","mode":"form","message":"m","requestedSchema":"{}"}}}}"#,
            "x".repeat(100_000)
        ),
        format!(r#"{{"id":7,"method":"terminal/create","params":{{"sessionId":"a","command":"x","args":{}}}}}"#, many("\"\"", 100_000)),
        format!(r#"{{"id":7,"method":"_x/y","params":{{"sessionId":"a","x":"{}"}}}}"#, "x".repeat(2_000_000)),
    ];
    for request in requests {
        let signals = feed(&mut Decoder::default(), &[PROMPT, &request]).take_signals();
        assert!(is_refused(&signals), "{request:.100}");
        let [.., Signal::Demand { agent_session, .. }] = &signals[..] else { continue };
        assert_eq!(&**agent_session, "a");
    }
    let whole = feed(&mut Decoder::default(), &[PROMPT, &ask(&format!(r#","rawInput":{{"content":"{}"}}"#, "x".repeat(3_000_000)))]);
    assert!(!is_refused(&{ whole }.take_signals()));
}

/// A change that is too large to keep was reported, and then only its id is asked for.
#[test]
fn what_was_cut_before_is_not_asked_for() {
    let large = "x".repeat(3_000_000);
    let report = update("a", &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"k","rawInput":{{"command":"{large}"}}}}"#));
    assert!(is_refused(&feed(&mut Decoder::default(), &[PROMPT, &report, &ask("")]).take_signals()));
    let diff = update(
        "a",
        &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"k","content":[{{"type":"diff","path":"p","newText":"{large}"}}]}}"#),
    );
    assert!(is_refused(&feed(&mut Decoder::default(), &[PROMPT, &diff, &ask("")]).take_signals()));
    assert!(is_refused(&feed(&mut Decoder::default(), &[PROMPT, &diff, &ask(r#","rawInput":{"path":"p"}"#)]).take_signals()));
    let itself = r#","rawInput":{"command":"ls"}"#;
    assert!(!is_refused(&feed(&mut Decoder::default(), &[PROMPT, &report, &ask(itself)]).take_signals()));
}

#[test]
fn ids_and_words_of_any_length_are_not_kept() {
    let long = "i".repeat(2_000_000);
    let mut decoder = Decoder::default();
    for number in 0..20 {
        let lines = [
            update(
                &format!("{number}{long}"),
                &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"{number}{long}","kind":"{long}"}}"#),
            ),
            update(&format!("{number}{long}"), r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#),
        ];
        feed(&mut decoder, &[&lines[0], &lines[1]]);
    }
    assert!(decoder.last_session.as_ref().unwrap().len() < 1000);
    let named = feed(&mut decoder, &[&format!(r#"{{"id":"{long}","method":"x","params":{{}}}}"#)]).take_signals();
    assert!(matches!(&named[..], [Signal::BadLine { .. }]));
    let unknown = feed(&mut decoder, &[&format!(r#"{{"id":1,"method":"{long}","params":{{}}}}"#)]).take_signals();
    let [Signal::Demand { demand: Demand::Unknown { message, .. }, .. }] = &unknown[..] else { panic!("{} signals", unknown.len()) };
    assert!(message.len() < 1000);
    let end = format!(r#"{{"id":"prompt:c","result":{{"stopReason":"{long}"}}}}"#);
    let ended = feed(&mut decoder, &[PROMPT, &end]).take_signals();
    assert!(matches!(ended.last(), Some(Signal::PromptEnded { result: Ok(end), .. }) if end.stop_reason.len() <= 200));
}

#[test]
fn a_text_is_not_parsed_as_the_answer_of_a_models_server_when_it_is_long() {
    let error = format!(r#"{{"id":"prompt:c","error":{{"code":1,"message":"{}"}}}}"#, many("1", 500_000));
    let signals = feed(&mut Decoder::default(), &[PROMPT, &error]).take_signals();
    let Some(Signal::PromptEnded { result: Err(failure), .. }) = signals.last() else { panic!("{} signals", signals.len()) };
    assert!(failure.message.starts_with("[1,1,") && failure.message.len() <= 2048);
}

#[test]
fn content_and_lists_are_cut_where_people_see_it() {
    let parts = many(r#"{"type":"content","content":{"type":"text","text":"x"}}"#, 3_000);
    let call = update("a", &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"k","content":{parts}}}"#));
    let plan = update("a", &format!(r#"{{"sessionUpdate":"plan","entries":{}}}"#, many(r#"{"content":"c"}"#, 5_000)));
    let signals = feed(&mut Decoder::default(), &[PROMPT, &call, &plan]).take_signals();
    let [Signal::Update { update: Update::ToolCall(call), .. }, Signal::Update { update: Update::Plan { entries }, .. }] = &signals[..]
    else {
        panic!("{} signals", signals.len())
    };
    assert!(matches!(call.content.as_ref().unwrap().last(), Some(ToolContent::Text { text }) if text.contains("2744 more parts")));
    assert_eq!(entries.last().unwrap().content, "… 4500 more steps were too many to keep");
}
