//! The order of events within a turn, as the public contract words it.

use super::super::{AgentEnd, Input, ToolEnd};
use super::{AGENT, Story, delegate, kinds, tool_call};
use crate::agent::Update;
use crate::event::TurnState;

fn end(reason: &str) -> AgentEnd {
    AgentEnd::Stopped { stop_reason: reason.to_owned() }
}

#[test]
fn a_delegation_comes_in_the_order_of_the_contract() {
    let mut story = Story::begin();
    let message_id = story.session.turn.as_ref().unwrap().message_id();
    story.feed(Input::ModelText { message_id, text: "let me ".to_owned() });
    story.feed(Input::ModelText { message_id, text: "see".to_owned() });
    story.answer("let me see", vec![delegate("d", "docs")]);
    story.feed(Input::AgentText { call_id: "d".to_owned(), text: "working".to_owned() });
    story.feed(Input::AgentUpdate { call_id: "d".to_owned(), update: Update::Thought { text: "hm".to_owned() } });
    story.feed(Input::AgentEnd { call_id: "d".to_owned(), agent: AGENT.to_owned(), end: end("end_turn") });
    let message_id = story.session.turn.as_ref().unwrap().message_id();
    story.feed(Input::ModelText { message_id, text: "done".to_owned() });
    story.answer("done", vec![]);
    let expected = [
        "message",
        "turn running",
        "text-delta",
        "text-delta",
        "tool-call",
        "copilot-delta",
        "agent-update",
        "copilot-done",
        "tool-result",
        "text-delta",
        "message",
        "done",
        "turn completed",
    ];
    assert_eq!(story.kinds(), expected);
    assert!(story.session.turn.is_none());
}

#[test]
fn a_tool_of_ours_comes_in_the_order_of_the_contract() {
    let mut story = Story::begin();
    story.answer("", vec![tool_call("t", "read_file", "{}")]);
    story.feed(Input::ToolEnd { call_id: "t".to_owned(), end: ToolEnd::default() });
    story.answer("done", vec![]);
    assert_eq!(story.kinds(), ["message", "turn running", "tool-call", "tool-result", "message", "done", "turn completed"]);
}

#[test]
fn text_that_did_not_stream_is_seen_before_the_calls_that_follow_it() {
    let mut story = Story::begin();
    let effects = story.answer("I will look", vec![tool_call("t", "read_file", "{}")]);
    assert_eq!(kinds(&effects), ["text-delta", "tool-call"]);
}

#[test]
fn a_turn_that_does_not_complete_says_why_before_its_end() {
    let fault = |message_id| Input::ModelFault { message_id, code: "c".to_owned(), message: "m".to_owned(), repeat: false };
    let mut failed = Story::begin();
    let message_id = failed.session.turn.as_ref().unwrap().message_id();
    assert_eq!(kinds(&failed.feed(fault(message_id))), ["error", "turn failed"]);

    let mut partial = Story::begin();
    partial.feed(Input::ModelText { message_id, text: "half".to_owned() });
    assert_eq!(kinds(&partial.feed(fault(message_id))), ["message", "error", "turn failed"]);

    let mut stopped = Story::begin();
    assert_eq!(kinds(&stopped.feed(Input::Cancel)), ["turn running", "notice", "turn cancelled"]);

    let mut broken = Story::begin();
    let abort = Input::Abort { state: TurnState::Unknown, code: "c".to_owned(), reason: "r".to_owned() };
    assert_eq!(kinds(&broken.feed(abort)), ["error", "turn unknown"]);
}

#[test]
fn a_queued_message_begins_when_the_turn_before_it_has_ended() {
    let mut story = Story::begin();
    assert_eq!(kinds(&story.feed(Input::Message(super::item(2)))), ["queue"]);
    let effects = story.answer("done", vec![]);
    assert_eq!(kinds(&effects), ["message", "done", "turn completed", "queue", "message", "turn running"]);
}

#[test]
fn a_cut_answer_is_superseded_and_asked_for_again_a_bounded_number_of_times() {
    let mut story = Story::begin();
    for attempt in 1..=super::super::MODEL_ATTEMPTS {
        let message_id = story.session.turn.as_ref().unwrap().message_id();
        story.feed(Input::ModelText { message_id, text: "half".to_owned() });
        let effects = story.feed(Input::ModelFault { message_id, code: "model_cut".to_owned(), message: "m".to_owned(), repeat: true });
        match attempt {
            super::super::MODEL_ATTEMPTS => assert_eq!(kinds(&effects), ["message", "error", "turn failed"]),
            _ => assert_eq!(kinds(&effects), ["superseded"]),
        }
    }
}

#[test]
fn the_relay_fails_with_its_agent() {
    let mut story = Story::begin();
    story.settings.relay = true;
    story.answer("", vec![delegate("d", "main")]);
    let failed = AgentEnd::Failed { code: "auth_required".to_owned(), message: "log in".to_owned() };
    let effects = story.feed(Input::AgentEnd { call_id: "d".to_owned(), agent: AGENT.to_owned(), end: failed });
    assert_eq!(kinds(&effects), ["copilot-done", "tool-result", "error", "turn failed"]);
}

#[test]
fn the_step_after_the_last_allowed_one_is_refused() {
    let mut story = Story::begin();
    for step in 0..story.settings.max_iterations {
        let id = format!("t{step}");
        story.answer("", vec![tool_call(&id, "read_file", "{}")]);
        story.feed(Input::ToolEnd { call_id: id, end: ToolEnd::default() });
    }
    assert_eq!(story.kinds().iter().rev().take(2).collect::<Vec<_>>(), ["turn failed", "error"]);
}
