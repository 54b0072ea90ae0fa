//! Stopping: what runs is told, what has not begun never begins, and every call still has its result.

use super::super::{AgentEnd, Effect, Input, Prompt, Session, ToolEnd};
use super::{AGENT, NOW, Story, delegate, item, kinds, tool_call};
use crate::agent::PermissionAsk;
use crate::decision::Decision;
use crate::event::{Event, TurnState};
use crate::ids::PermissionId;

fn ask() -> PermissionAsk {
    PermissionAsk { title: "run".to_owned(), ..PermissionAsk::default() }
}

fn stopped(call_id: &str) -> Input {
    Input::AgentEnd { call_id: call_id.to_owned(), agent: AGENT.to_owned(), end: AgentEnd::Stopped { stop_reason: "cancelled".to_owned() } }
}

fn stops(effects: &[Effect]) -> usize {
    effects.iter().filter(|effect| matches!(effect, Effect::StopPrompt { .. } | Effect::StopTool { .. } | Effect::StopModel)).count()
}

#[test]
fn a_delegation_that_waits_for_its_name_is_closed_like_any_other() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("first", "docs"), delegate("second", "docs")]);
    let effects = story.feed(Input::Cancel);
    assert_eq!(kinds(&effects), ["turn running", "copilot-done", "tool-result"]);
    assert_eq!(stops(&effects), 1);
    assert_eq!(kinds(&story.feed(stopped("first"))), ["copilot-done", "tool-result", "notice", "turn cancelled"]);
}

#[test]
fn one_call_is_stopped_and_the_turn_goes_on() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("d", "docs"), tool_call("t", "read_file", "{}")]);
    story.feed(Input::CancelCall { call_id: "t".to_owned() });
    story.feed(Input::CancelCall { call_id: "d".to_owned() });
    let effects = story.feed(stopped("d"));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::CallModel { .. })), "{effects:?}");
}

#[test]
fn an_agent_that_was_told_to_stop_is_told_once_and_gets_no_more_permissions() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("d", "docs")]);
    let request_id = PermissionId(uuid::Uuid::from_u128(7));
    story.feed(Input::Permission { call_id: "d".to_owned(), agent: "a".to_owned(), request_id, ask: ask() });
    let effects = story.feed(Input::CancelCall { call_id: "d".to_owned() });
    assert_eq!(kinds(&effects), ["tool-stopping", "permission-resolved", "waits"]);
    let acts: Vec<_> = effects.iter().filter(|effect| !matches!(effect, Effect::Append(_))).collect();
    assert!(
        matches!(&acts[..], [Effect::StopPrompt { .. }, Effect::AnswerPermission { decision, .. }] if *decision == Decision::cancelled()),
        "in this order"
    );
    assert_eq!(stops(&story.feed(Input::CancelCall { call_id: "d".to_owned() })), 0);
    assert_eq!(stops(&story.feed(Input::Cancel)), 0);
    let request_id = PermissionId(uuid::Uuid::from_u128(8));
    let effects = story.feed(Input::Permission { call_id: "d".to_owned(), agent: "a".to_owned(), request_id, ask: ask() });
    assert_eq!(effects, [Effect::AnswerPermission { request_id, decision: Decision::cancelled() }]);
}

#[test]
fn a_turn_that_is_broken_off_stops_what_it_had_begun() {
    let abort = || Input::Abort { state: TurnState::Failed, code: "internal".to_owned(), reason: "r".to_owned() };
    let mut asking = Story::begin();
    assert_eq!(stops(&asking.feed(abort())), 1, "the model");

    let mut working = Story::begin();
    working.answer("", vec![delegate("a", "docs"), delegate("b", "docs"), tool_call("t", "read_file", "{}")]);
    let effects = working.feed(abort());
    assert_eq!(stops(&effects), 2, "the first agent and the tool, but not what never began");
    let expected = ["copilot-done", "tool-result", "copilot-done", "tool-result", "tool-result", "error", "turn failed"];
    assert_eq!(kinds(&effects), expected);
}

#[test]
fn after_a_restart_a_stopped_turn_begins_nothing_and_tells_the_agent_again() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("d", "docs"), tool_call("t", "read_file", "{}")]);
    story.feed(Input::Cancel);
    let mut restarted = story.restarted();
    let effects = restarted.resume(&story.settings, NOW);
    assert_eq!(effects, [Effect::StopPrompt { call_id: "d".to_owned() }]);
    let effects = restarted.step(stopped("d"), &story.settings, NOW);
    assert_eq!(kinds(&effects).last().map(String::as_str), Some("turn cancelled"));
}

#[test]
fn after_a_restart_a_stopped_call_is_not_begun_again_and_its_agent_is_told_again() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("d", "docs"), delegate("later", "docs"), delegate("other", "tests")]);
    story.feed(Input::CancelCall { call_id: "d".to_owned() });
    let mut restarted = story.restarted();
    let effects = restarted.resume(&story.settings, NOW);
    let [Effect::Prompt(Prompt { call_id, .. }), Effect::StopPrompt { call_id: told }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((call_id.as_str(), told.as_str()), ("other", "d"));
    let again = restarted.step(Input::CancelCall { call_id: "d".to_owned() }, &story.settings, NOW);
    assert_eq!(again, [], "it was told already");
    let effects = restarted.step(stopped("d"), &story.settings, NOW);
    assert!(matches!(effects.last(), Some(Effect::Prompt(Prompt { call_id, .. })) if call_id == "later"), "{effects:?}");
}

#[test]
fn after_a_restart_the_agent_of_a_call_that_was_stopped_before_its_turn_is_told_again() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("d", "docs")]);
    story.feed(Input::CancelCall { call_id: "d".to_owned() });
    story.feed(Input::Cancel);
    assert_eq!(story.restarted().resume(&story.settings, NOW), [Effect::StopPrompt { call_id: "d".to_owned() }]);
}

#[test]
fn a_tool_result_cannot_end_what_an_agent_works_on_or_what_nobody_agreed_to() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("d", "docs"), tool_call("c", "read_file_external", "{}")]);
    for call_id in ["d", "c"] {
        let effects = story.feed(Input::ToolEnd { call_id: call_id.to_owned(), end: ToolEnd::default() });
        assert_eq!(effects, [], "{call_id}");
    }
    let early =
        story.feed(Input::AgentEnd { call_id: "c".to_owned(), agent: AGENT.to_owned(), end: AgentEnd::Gone { message: "m".to_owned() } });
    assert_eq!(early, []);
}

/// Whether the queue is held, and the contents of what is in it.
fn queue(session: &Session) -> (bool, Vec<&str>) {
    (session.held, session.queue.iter().map(|item| item.content.as_str()).collect())
}

#[test]
fn what_is_queued_waits_after_a_stop_until_somebody_sends_it_also_over_a_restart() {
    let mut story = Story::begin();
    story.feed(Input::Message(item(2)));
    story.feed(Input::Message(item(3)));
    assert_eq!(kinds(&story.feed(Input::Cancel)), ["queue", "turn running", "notice", "turn cancelled"]);
    assert_eq!(queue(&story.session), (true, vec!["message 2", "message 3"]));
    let mut restarted = story.restarted();
    assert_eq!(restarted.resume(&story.settings, NOW), []);
    assert_eq!(queue(&restarted), (true, vec!["message 2", "message 3"]));
    let effects = story.feed(Input::SendNext);
    assert_eq!(kinds(&effects), ["queue", "queue", "message", "turn running"]);
    assert_eq!(queue(&story.session), (false, vec!["message 3"]));
    story.answer("done", vec![]);
    assert_eq!(queue(&story.session), (false, vec![]), "the others follow in order");
}

#[test]
fn a_message_sent_while_the_queue_is_held_begins_and_leaves_it_held() {
    let mut story = Story::begin();
    story.feed(Input::Message(item(2)));
    story.feed(Input::Cancel);
    assert_eq!(kinds(&story.feed(Input::Message(item(3)))), ["message", "turn running"]);
    story.answer("done", vec![]);
    assert!(story.session.turn.is_none());
    assert_eq!(queue(&story.session), (true, vec!["message 2"]));
}

#[test]
fn what_is_sent_now_stops_what_runs_and_begins_although_the_queue_was_held() {
    let mut story = Story::begin();
    story.answer("", vec![delegate("d", "docs")]);
    story.feed(Input::Message(item(2)));
    story.feed(Input::Message(item(3)));
    story.feed(Input::Cancel);
    story.feed(Input::SendNow { message_id: item(3).message_id });
    assert_eq!(queue(&story.session), (false, vec!["message 3", "message 2"]));
    story.feed(stopped("d"));
    assert_eq!(queue(&story.session), (false, vec!["message 2"]));
    assert!(story.session.turn.is_some());
}

#[test]
fn a_program_that_ends_its_own_work_holds_nothing_of_others() {
    let mut story = Story::begin();
    story.feed(Input::Message(item(2)));
    story.feed(Input::CancelTurn);
    assert_eq!(queue(&story.session), (false, vec![]));
    assert!(story.session.turn.is_some());
}

#[test]
fn a_stop_of_the_agent_that_a_person_talks_to_holds_the_queue_and_a_stop_of_one_of_several_does_not() {
    for relay in [true, false] {
        let mut story = Story::begin();
        story.settings.relay = relay;
        story.answer("", vec![delegate("d", "main")]);
        story.feed(Input::Message(item(2)));
        story.feed(Input::CancelCall { call_id: "d".to_owned() });
        assert_eq!(queue(&story.session), (relay, vec!["message 2"]));
    }
}

#[test]
fn a_queue_that_is_withdrawn_is_not_held_any_more() {
    let mut story = Story::begin();
    story.feed(Input::Message(item(2)));
    story.feed(Input::Cancel);
    story.feed(Input::Withdraw { message_id: item(2).message_id });
    assert_eq!(queue(&story.session), (false, vec![]));
}

#[test]
fn the_text_of_a_stopped_answer_is_kept() {
    let mut story = Story::begin();
    let message_id = story.session.turn.as_ref().unwrap().message_id();
    story.feed(Input::ModelText { message_id, text: "half".to_owned() });
    let effects = story.feed(Input::Cancel);
    let kept = effects.iter().any(|effect| matches!(effect, Effect::Append(Event::Message(message)) if message.content == "half"));
    assert!(kept && kinds(&effects) == ["turn running", "message", "notice", "turn cancelled"], "{effects:?}");
}
