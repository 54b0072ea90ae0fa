//! Text that begins like a notice of Copilot's: whose words it is.
#![allow(clippy::unwrap_used)]

use super::tests::{PROMPT, chunk, feed, text, update};
use super::*;
use crate::catalogue::{COPILOT, Catalogue, Settings};
use crate::signal::Part;

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
    read_as(copilot(), lines)
}

fn read_as(mut decoder: Decoder, lines: &[&str]) -> (String, Vec<String>) {
    let (mut said, mut notices) = (String::new(), vec![]);
    for signal in feed(&mut decoder, lines).take_signals() {
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

/// codex-acp says first that its model has failed, then why, and then that it has finished.
#[test]
fn what_follows_the_mark_of_a_fault_is_the_fault() {
    let status = |kind: &str| {
        let meta = format!(r#""_meta":{{"codex":{{"threadStatus":{{"type":"{kind}"}}}}}}"#);
        update("a", &format!(r#"{{"sessionUpdate":"session_info_update",{meta}}}"#))
    };
    let (failed, active) = (status("systemError"), status("active"));
    let read = |lines: &[&str]| read_as(Decoder::default(), lines);
    let (one, two, json) = (chunk("a", "no "), chunk("a", r"luck\n\n"), chunk("a", r#"{\"error\":{\"message\":\"deep\"}}"#));
    assert_eq!(read(&[PROMPT, &active, &chunk("a", "hm"), &failed, &one, &two, END]), ("hm".into(), vec!["error: no luck".into()]));
    assert_eq!(read(&[PROMPT, &failed, &json, END]), (String::new(), vec!["error: deep".into()]));
    assert_eq!(read(&[PROMPT, &failed, END]).1.len(), 1, "it did not finish, although it does not say why");
    // It went on.
    assert_eq!(read(&[PROMPT, &failed, &one, &active, &two, END]), ("no luck\n\n".into(), vec![]));
    // Nothing is lost where the process ends, and other sessions are left alone.
    let mut decoder = Decoder::default();
    let mut out = feed(&mut decoder, &[PROMPT, &failed, &one, &chunk("b", "other")]);
    assert!(decoder.is_holding());
    decoder.release(&mut out.signals);
    assert_eq!(out.take_signals().len(), 2);
    assert!(!decoder.is_holding());
}

/// Noise for other clients is not shown to people.
#[test]
fn an_update_that_says_nothing_of_the_session_is_nothing() {
    let noise = update("a", r#"{"sessionUpdate":"session_info_update","_meta":{"x":1},"updatedAt":"now"}"#);
    assert_eq!(feed(&mut Decoder::default(), &[PROMPT, &noise]).take_signals(), []);
    let title = update("a", r#"{"sessionUpdate":"session_info_update","title":"T"}"#);
    assert!(matches!(&feed(&mut Decoder::default(), &[&title]).take_signals()[..], [Signal::Update { update: Update::Title { .. }, .. }]));
}

/// goose says it with fixed words, and then that it has finished.
#[test]
fn a_text_that_begins_like_a_fault_and_ends_the_prompt_is_one() {
    let goose = || Decoder::default().with_quirks(crate::Quirks { faults_in_text: &["Ran into this error:"], ..crate::Quirks::default() });
    let (fault, more) = (chunk("a", "Ran into this error: 500."), chunk("a", " Please retry."));
    let whole = vec!["error: Ran into this error: 500. Please retry.".to_owned()];
    assert_eq!(read_as(goose(), &[PROMPT, &chunk("a", "hm"), &fault, &more, END]), ("hm".into(), whole.clone()));
    assert_eq!(read_as(goose(), &[PROMPT, &fault, &more, &usage(), END]), (String::new(), whole), "what was used comes last");
    let call = update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"k"}"#);
    let text = "Ran into this error: 500. Please retry.".to_owned();
    assert_eq!(read_as(goose(), &[PROMPT, &fault, &more, &call, END]), (text.clone(), vec![]));
    assert_eq!(read_as(goose(), &[PROMPT, &fault, &more, &END.replace("end_turn", "cancelled")]), (text.clone(), vec![]));
    assert_eq!(read_as(Decoder::default(), &[PROMPT, &fault, &more, END]), (text, vec![]));
}

/// qwen says what it runs only when it asks.
#[test]
fn a_call_is_told_by_the_request_where_it_says_nothing_itself() {
    let call = update("a", r#"{"sessionUpdate":"tool_call","toolCallId":"k","title":"Shell","status":"in_progress","rawInput":{}}"#);
    let ask = r#"{"id":0,"method":"session/request_permission","params":{"sessionId":"a","options":[],
        "toolCall":{"toolCallId":"k","title":"ls -l","status":"pending","rawInput":{"command":"ls -l"}}}}"#;
    let end = update("a", r#"{"sessionUpdate":"tool_call_update","toolCallId":"k","status":"completed","rawInput":{}}"#);
    let heard = feed(&mut Decoder::default(), &[PROMPT, &call, &ask.replace('\n', " "), &end]).take_signals();
    let [
        Signal::Update { update: Update::ToolCall(told), .. },
        Signal::Demand { .. },
        Signal::Update { update: Update::ToolCall(ended), .. },
    ] = &heard[..]
    else {
        panic!("{heard:?}")
    };
    let what = |call: &ToolCall| (call.title.clone().unwrap(), call.input.clone().unwrap().parse()["command"].clone());
    assert_eq!((what(told), told.status.as_deref()), (("ls -l".to_owned(), "ls -l".into()), Some("in_progress")));
    assert_eq!((what(ended), ended.status.as_deref()), (("ls -l".to_owned(), "ls -l".into()), Some("completed")));
}
