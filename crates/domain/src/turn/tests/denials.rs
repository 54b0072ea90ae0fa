//! What was rejected decides how a call ends; the agent's own word for it does not.

use jiff::Timestamp;
use uuid::Uuid;

use super::super::{AgentEnd, Effect, Input};
use super::{AGENT, Story, delegate};
use crate::agent::{OptionKind, PermissionAsk, PermissionOption, ToolCall as AgentCall, Update};
use crate::decision::Decision;
use crate::event::{CopilotDone, Event, ToolResult};
use crate::ids::{PermissionId, RuleId};
use crate::rule::{Rule, RuleUse, Scope, Subject};

fn ask(number: u128, agent_call: &str) -> (PermissionId, PermissionAsk) {
    let option = |kind: OptionKind| PermissionOption::new(format!("id of {}", kind.as_str()), kind.as_str(), kind);
    let ask = PermissionAsk {
        title: "rm -rf /".into(),
        kind: Some("execute".into()),
        command: Some("rm -rf /".into()),
        options: [OptionKind::AllowOnce, OptionKind::RejectOnce].map(option).to_vec(),
        agent_call: Some(agent_call.into()),
        ..PermissionAsk::default()
    };
    (PermissionId(Uuid::from_u128(number)), ask)
}

struct Asked(Story);

impl Asked {
    fn begin(relay: bool) -> Asked {
        let mut story = Story::begin();
        story.settings.relay = relay;
        story.answer("", vec![delegate("c", "n")]);
        Asked(story)
    }

    fn answered(&mut self, number: u128, option_id: Option<&str>, by: &str) {
        let (request_id, ask) = ask(number, "t");
        let decision = option_id.map_or_else(Decision::cancelled, |id| ask.choose(id).expect("it is offered"));
        self.0.feed(Input::Permission { call_id: "c".into(), agent: "a".to_owned(), request_id, ask });
        self.0.feed(Input::PermissionAnswer { request_id, decision, by: by.into(), reason: None, rule: RuleUse::None });
    }

    /// What a remembered answer had to do with it.
    fn ruled(&mut self, number: u128, option_id: &str, rule: RuleUse) -> Vec<Event> {
        let (request_id, ask) = ask(number, "t");
        let decision = ask.choose(option_id).expect("it is offered");
        self.0.feed(Input::Permission { call_id: "c".into(), agent: "a".to_owned(), request_id, ask });
        let by = if matches!(rule, RuleUse::Applied(_)) { "rule" } else { "person" }.to_owned();
        let effects = self.0.feed(Input::PermissionAnswer { request_id, decision, by, reason: None, rule });
        effects.into_iter().filter_map(|effect| if let Effect::Append(event) = effect { Some(event) } else { None }).collect()
    }

    fn completes(&mut self, id: &str) {
        let call = AgentCall { id: id.into(), status: Some("completed".into()), ..AgentCall::default() };
        self.0.feed(Input::AgentUpdate { call_id: "c".into(), update: Update::ToolCall(call) });
    }

    /// The agent says how its command stands.
    fn reports(&mut self, status: &str) {
        let input = Some(serde_json::json!({ "command": "rm -rf /" }));
        let call = AgentCall {
            id: "t".into(),
            kind: Some("execute".into()),
            status: Some(status.into()),
            input: input.map(Into::into),
            ..AgentCall::default()
        };
        self.0.feed(Input::AgentUpdate { call_id: "c".into(), update: Update::ToolCall(call) });
    }

    /// How it is shown, and who declined it.
    fn shown(&self) -> Option<(String, Option<String>)> {
        let updates = &self.0.session.turn.as_ref()?.call("c")?.updates;
        updates.iter().rev().find_map(|placed| match &placed.update {
            Update::ToolCall(call) if call.id == "t" => Some((call.status.clone()?, call.declined_by.clone())),
            _ => None,
        })
    }

    fn ends(&mut self, stop_reason: &str) -> (CopilotDone, ToolResult) {
        let end = AgentEnd::stopped(stop_reason);
        let effects = self.0.feed(Input::AgentEnd { call_id: "c".into(), agent: AGENT.to_owned(), end });
        let mut done = None;
        let mut result = None;
        for effect in effects {
            match effect {
                Effect::Append(Event::CopilotDone(event)) => done = Some(event),
                Effect::Append(Event::ToolResult(event)) => result = Some(event),
                _ => {}
            }
        }
        (done.expect("it is done"), result.expect("it has a result"))
    }
}

/// C26: derived from our own decision, not from the stop reason.
#[test]
fn a_rejected_call_ends_as_denied_for_people_and_for_the_main_ai() {
    for (by, option) in [("person", Some("id of reject_once")), ("policy", None), ("timeout", Some("id of reject_once"))] {
        for stop_reason in ["end_turn", "cancelled", "refusal"] {
            let mut asked = Asked::begin(false);
            asked.answered(1, option, by);
            let (done, result) = asked.ends(stop_reason);
            assert_eq!(done.stop_reason, "denied", "{by} {stop_reason}");
            assert_eq!(done.agent, AGENT);
            assert!(result.is_error && result.content.starts_with("denied: this was not allowed: rm -rf /"), "{}", result.content);
        }
    }
}

#[test]
fn what_was_allowed_withdrawn_or_stopped_is_not_denied() {
    let mut asked = Asked::begin(false);
    asked.answered(1, Some("id of allow_once"), "person");
    asked.answered(2, None, "agent");
    assert_eq!(asked.ends("end_turn").0.stop_reason, "end_turn");
    let mut asked = Asked::begin(false);
    asked.answered(1, Some("id of reject_once"), "person");
    asked.0.feed(Input::CancelCall { call_id: "c".into() });
    assert_eq!(asked.ends("cancelled").0.stop_reason, "cancelled");
}

#[test]
fn an_agent_that_found_another_way_has_done_its_work() {
    let mut asked = Asked::begin(false);
    asked.completes("before");
    asked.answered(1, Some("id of reject_once"), "person");
    asked.completes("before");
    asked.completes("t");
    assert_eq!(asked.0.restarted().call("c").and_then(|call| call.rejected().map(str::to_owned)).as_deref(), Some("rm -rf /"));
    asked.completes("another");
    assert_eq!(asked.ends("end_turn").0.stop_reason, "end_turn");
}

#[test]
fn a_turn_of_the_relay_whose_call_was_denied_is_completed() {
    let mut asked = Asked::begin(true);
    asked.answered(1, Some("id of reject_once"), "person");
    let (done, _) = asked.ends("end_turn");
    assert!(done.summary.starts_with("denied"), "{}", done.summary);
    assert!(asked.0.kinds().iter().all(|kind| kind != "error"));
    asked.0.answer("denied", Vec::new());
    assert_eq!(asked.0.kinds().last().map(String::as_str), Some("turn completed"));
}

#[test]
fn cancelled_that_nobody_asked_for_is_an_interruption() {
    let mut asked = Asked::begin(false);
    let (done, result) = asked.ends("cancelled");
    assert_eq!(done.stop_reason, "interrupted");
    assert!(result.is_error && result.content.contains("nobody had asked for that"), "{}", result.content);
}

/// The agent calls it failed or even completed, or leaves it open; it was not allowed, and did not run.
#[test]
fn a_call_that_was_not_allowed_is_called_so() {
    let status = |asked: &Asked| {
        let updates = &asked.0.session.turn.as_ref().unwrap().call("c").unwrap().updates;
        let mut calls = updates.iter().filter_map(|placed| match &placed.update {
            Update::ToolCall(call) if call.id == "t" => call.status.clone(),
            _ => None,
        });
        calls.next_back()
    };
    let report = |asked: &mut Asked, status: &str| {
        let input = Some(serde_json::json!({ "command": "rm -rf /" }));
        let call = AgentCall {
            id: "t".into(),
            kind: Some("execute".into()),
            status: Some(status.into()),
            input: input.map(Into::into),
            ..AgentCall::default()
        };
        asked.0.feed(Input::AgentUpdate { call_id: "c".into(), update: Update::ToolCall(call) });
    };
    for (option, reported, shown) in [
        (Some("id of reject_once"), "failed", "declined"),
        (Some("id of reject_once"), "completed", "declined"),
        (Some("id of reject_once"), "in_progress", "declined"),
        (Some("id of allow_once"), "failed", "failed"),
    ] {
        let mut asked = Asked::begin(false);
        report(&mut asked, "pending");
        asked.answered(1, option, "person");
        report(&mut asked, reported);
        assert_eq!(status(&asked).as_deref(), Some(shown), "{option:?} {reported}");
    }
    let mut asked = Asked::begin(false);
    report(&mut asked, "pending");
    asked.answered(1, Some("id of reject_once"), "person");
    assert_eq!(status(&asked).as_deref(), Some("declined"), "at once, and for whoever reads the log");
    let (done, result) = asked.ends("cancelled");
    assert_eq!(done.stop_reason, "denied");
    assert!(
        result.content.contains("command not allowed, so not run: rm -rf /") && !result.content.contains("(failed)"),
        "{}",
        result.content
    );
    // Asked again and allowed, it may fail.
    let mut asked = Asked::begin(false);
    asked.answered(1, Some("id of reject_once"), "person");
    asked.answered(2, Some("id of allow_once"), "person");
    report(&mut asked, "failed");
    assert_eq!(status(&asked).as_deref(), Some("failed"));
}

/// Straight talk and delegation alike: what an agent calls cancelled by itself is no completed turn, and after a rejection it is denied.
#[test]
fn cancelled_by_itself_is_an_interruption_and_after_a_rejection_a_denial() {
    for relay in [false, true] {
        let mut asked = Asked::begin(relay);
        assert_eq!(asked.ends("cancelled").0.stop_reason, "interrupted", "relay: {relay}");
        let mut asked = Asked::begin(relay);
        asked.answered(1, Some("id of reject_once"), "person");
        assert_eq!(asked.ends("cancelled").0.stop_reason, "denied", "relay: {relay}");
    }
}

/// A rule is shown where it was saved, and whatever it decided later names it.
#[test]
fn a_rule_stands_where_it_was_saved_and_where_it_decided() {
    let rule_id = RuleId(Uuid::from_u128(7));
    let subject = Subject::of(&ask(1, "t").1);
    let rule = Rule { id: rule_id, scope: Scope::Session, allow: false, subject, created_at: Timestamp::UNIX_EPOCH };
    let mut asked = Asked::begin(false);
    let saved = asked.ruled(1, "id of reject_once", RuleUse::Saved(rule.saved()));
    let [Event::PermissionResolved(answer), Event::Waits(_), Event::AgentUpdate(row)] = &saved[..] else { panic!("{saved:?}") };
    assert_eq!((answer.by.as_str(), answer.rule_id, &row.update), ("person", None, &Update::Rule(rule.saved())));

    for (option, allowed) in [("id of reject_once", false), ("id of allow_once", true)] {
        let decided = asked.ruled(2, option, RuleUse::Applied(rule_id));
        let [Event::PermissionResolved(answer), Event::Waits(_), Event::AgentUpdate(row)] = &decided[..] else { panic!("{decided:?}") };
        assert_eq!((answer.by.as_str(), answer.rule_id), ("rule", Some(rule_id)));
        let named = match &row.update {
            Update::Approved(approval) if allowed => (approval.by.clone(), approval.rule_id),
            Update::Denied { by, rule_id, malformed: None, .. } if !allowed => (by.clone(), *rule_id),
            other => panic!("{other:?}"),
        };
        assert_eq!(named, ("rule".to_owned(), Some(rule_id)));
    }
    assert!(asked.0.restarted().call("c").unwrap().updates.iter().any(|placed| placed.update == Update::Rule(rule.saved())));
}

/// Who decided is told with the call, so that a page that is loaded again can still say it.
#[test]
fn a_declined_call_names_who_declined_it() {
    for (option, by) in [(Some("id of reject_once"), "person"), (None, "policy"), (Some("id of reject_once"), "timeout")] {
        let mut asked = Asked::begin(false);
        asked.reports("pending");
        asked.answered(1, option, by);
        asked.reports("failed");
        assert_eq!(asked.shown(), Some(("declined".to_owned(), Some(by.to_owned()))), "{by}");
    }
}

/// Copilot calls it failed, the demo agent too, Codex interrupts it, others say that it is completed: nobody had allowed it.
#[test]
fn a_call_that_was_stopped_while_it_waited_never_ran() {
    for reported in ["failed", "completed", "in_progress", "cancelled"] {
        let mut asked = Asked::begin(true);
        asked.reports("pending");
        let (request_id, ask) = ask(1, "t");
        asked.0.feed(Input::Permission { call_id: "c".into(), agent: "a".to_owned(), request_id, ask });
        asked.0.feed(Input::Cancel);
        assert_eq!(asked.shown(), Some(("cancelled".to_owned(), Some("cancel".to_owned()))), "at once");
        asked.reports(reported);
        assert_eq!(asked.shown(), Some(("cancelled".to_owned(), Some("cancel".to_owned()))), "{reported}");
        let (done, result) = asked.ends("cancelled");
        assert_eq!(done.stop_reason, "cancelled");
        assert!(!result.content.contains("exit code"), "{}", result.content);
    }
}

#[test]
fn what_a_person_reads_of_a_denial_has_nothing_that_is_meant_for_the_model() {
    let mut asked = Asked::begin(true);
    asked.reports("pending");
    asked.answered(1, Some("id of reject_once"), "person");
    let (done, _) = asked.ends("end_turn");
    assert_eq!(done.summary, "denied: this was not allowed: rm -rf /");
}
