//! Text that begins like a notice of Copilot's: whose words it is.
#![allow(clippy::unwrap_used)]

use super::tests::{PROMPT, chunk, feed, text, update};
use super::*;
use crate::catalogue::{COPILOT, Catalogue, Settings};

fn copilot() -> Decoder {
    let settings = Settings {
        copilot_command: "copilot".into(),
        copilot_home: None,
        copilot_token_file: None,
        own_exe: "x".into(),
        configured: vec![],
    };
    Decoder::default().with_quirks(Catalogue::new(settings).get(COPILOT).unwrap().quirks)
}

const END: &str = r#"{"id":"prompt:c","result":{"stopReason":"end_turn"}}"#;

fn counted(call: &str, total: u64) -> String {
    format!(r#"{{"id":"prompt:{call}","result":{{"stopReason":"end_turn","usage":{{"totalTokens":{total}}}}}}}"#)
}

fn usage() -> String {
    update("a", r#"{"sessionUpdate":"usage_update","used":7,"size":9}"#)
}

/// The text and the notices that the lines come to, without what else they say.
fn read(lines: &[&str]) -> (String, Vec<String>) {
    let (mut said, mut notices) = (String::new(), vec![]);
    for signal in feed(&mut copilot(), lines).take_signals() {
        match signal {
            Signal::Text { text, .. } | Signal::Replay { part: Part::Text(text), .. } => said.push_str(&text),
            Signal::Update { update: Update::Notice { level, text, in_text: true, .. }, .. } => notices.push(format!("{level}: {text}")),
            Signal::Replay { part: Part::Update(update), .. } => notices.push(format!("{update:?}")),
            _ => {}
        }
    }
    (said, notices)
}

fn is_text(lines: &[&str], expected: &str) {
    assert_eq!(read(lines), (expected.to_owned(), vec![]), "{lines:?}");
}

fn is_notice(lines: &[&str], expected: &str) {
    assert_eq!(read(lines), (String::new(), vec![expected.to_owned()]), "{lines:?}");
}

#[test]
fn an_error_that_ends_a_prompt_without_any_answer_of_a_model_is_copilots_own() {
    let fault = chunk("a", "Error: 400 no such thing");
    is_notice(&[PROMPT, &usage(), &fault, END], "error: 400 no such thing");
    // As many tokens as before: no model has answered this one.
    let first = r#"> {"id":"prompt:b","method":"session/prompt","params":{"sessionId":"a"}}"#;
    is_notice(&[first, &counted("b", 120), PROMPT, &usage(), &fault, &counted("c", 120)], "error: 400 no such thing");
}

#[test]
fn an_answer_that_is_one_chunk_is_the_models() {
    let answer = chunk("a", "Error: 404 means that nothing was found.");
    is_text(&[PROMPT, &usage(), &answer, &counted("c", 120)], "Error: 404 means that nothing was found.");
    let first = r#"> {"id":"prompt:b","method":"session/prompt","params":{"sessionId":"a"}}"#;
    is_text(&[first, &counted("b", 120), PROMPT, &answer, &counted("c", 240)], "Error: 404 means that nothing was found.");
}

#[test]
fn an_answer_in_pieces_is_the_models() {
    let pieces = [chunk("a", "Error: the"), chunk("a", " file"), chunk("a", " is missing")];
    let [one, two, three] = &pieces;
    is_text(&[PROMPT, &usage(), one, two, three, &counted("c", 120)], "Error: the file is missing");
    is_text(&[PROMPT, &usage(), one, two, three, END], "Error: the file is missing");
    is_text(&[PROMPT, one, one, END.replace("end_turn", "cancelled").as_str()], "Error: theError: the");
}

#[test]
fn an_answer_that_work_follows_is_the_models() {
    let answer = chunk("a", "Error: it failed, I try again");
    let call = update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"k"}"#);
    let ask = r#"{"id":0,"method":"session/request_permission","params":{"sessionId":"a","options":[]}}"#;
    for next in [call.as_str(), ask, &usage()] {
        is_text(&[PROMPT, &answer, next], "Error: it failed, I try again");
    }
}

#[test]
fn in_doubt_only_copilots_own_words_are_a_notice() {
    let call = update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"k"}"#);
    let own = "Failed to get response from the AI model; retried 5 times";
    // A model has answered before the tool ran, so the count of tokens says nothing of the last words.
    is_notice(&[PROMPT, &call, &usage(), &chunk("a", &format!("Error: {own}")), &counted("c", 120)], &format!("error: {own}"));
    is_text(&[PROMPT, &call, &usage(), &chunk("a", "Error: 400 no"), &counted("c", 120)], "Error: 400 no");
    let failed = r#"{"id":"prompt:c","error":{"code":-32603,"message":"x"}}"#;
    is_text(&[PROMPT, &chunk("a", "Error: odd"), failed], "Error: odd");
    is_text(&[PROMPT, &chunk("a", "Error: odd"), &END.replace("end_turn", "cancelled")], "Error: odd");
}

#[test]
fn where_a_provider_counts_no_tokens_a_missing_count_says_nothing() {
    let first = r#"> {"id":"prompt:b","method":"session/prompt","params":{"sessionId":"a"}}"#;
    let answered = END.replace("prompt:c", "prompt:b");
    is_text(&[first, &chunk("a", "fine"), &answered, PROMPT, &chunk("a", "Error: x"), END], "fineError: x");
}

#[test]
fn what_other_sessions_say_meanwhile_decides_nothing() {
    let mut decoder = copilot();
    let mut out = feed(&mut decoder, &[PROMPT, &chunk("a", "Error: x"), &chunk("b", "other")]);
    assert!(decoder.is_holding());
    assert_eq!(out.take_signals(), [text("b", "other")]);
    decoder.from_agent(4, END.as_bytes(), &mut out);
    assert!(!decoder.is_holding());
    assert!(matches!(&out.take_signals()[..], [Signal::Update { update: Update::Notice { .. }, .. }, Signal::PromptEnded { .. }]));
}

#[test]
fn a_history_shows_it_as_text_but_for_copilots_own_words() {
    let load = r#"> {"id":"load:x","method":"session/load","params":{"sessionId":"a"}}"#;
    is_text(&[load, &chunk("a", "Error: 400 no"), r#"{"id":"load:x","result":{}}"#], "Error: 400 no");
    let (said, notices) = read(&[load, &chunk("a", "Error: Failed to get response from the AI model; retried 5 times")]);
    assert_eq!((said.as_str(), notices.len()), ("", 1));
}

#[test]
fn other_notices_and_other_agents_wait_for_nothing() {
    is_notice(&[PROMPT, &chunk("a", "Info: Request failed. Retrying...")], "info: Request failed. Retrying...");
    is_notice(&[PROMPT, &chunk("a", "Warning: 1 tool call(s) had no result")], "warning: 1 tool call(s) had no result");
    let lines = [chunk("a", "half "), chunk("a", "Error: no more"), chunk("a", "an Error: no more")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let plain = feed(&mut Decoder::default(), &lines).take_signals();
    assert_eq!(plain, [text("a", "half Error: no morean Error: no more")]);
}
