//! What a person says when they refuse: the agent's next prompt, in the same call.

use uuid::Uuid;

use super::super::{AgentEnd, Effect, Input, Prompt, Session};
use super::{AGENT, Story, delegate};
use crate::agent::{OptionKind, PermissionAsk, PermissionOption, PlanEntry, Update};
use crate::event::{CopilotDone, Event, ToolResult};
use crate::ids::PermissionId;
use crate::rule::RuleUse;

const REASON: &str = "use the other branch";

struct Refused(Story);

impl Refused {
    fn begin() -> Refused {
        let mut story = Story::begin();
        story.answer("", vec![delegate("c", "n")]);
        Refused(story)
    }

    fn refuse(&mut self, number: u128, reason: Option<&str>) {
        let option = |kind: OptionKind| PermissionOption::new(kind.as_str(), kind.as_str(), kind);
        let options = [OptionKind::AllowOnce, OptionKind::RejectOnce].map(option).to_vec();
        let ask = PermissionAsk { title: format!("push {number}"), options, ..PermissionAsk::default() };
        let request_id = PermissionId(Uuid::from_u128(number));
        let (decision, reason) = (ask.refuse(), reason.map(str::to_owned));
        self.0.feed(Input::Permission { call_id: "c".into(), agent: AGENT.into(), request_id, ask });
        self.0.feed(Input::PermissionAnswer { request_id, decision, by: "person".into(), reason, rule: RuleUse::None });
    }

    fn text(&mut self, text: &str) {
        self.0.feed(Input::AgentText { call_id: "c".into(), text: text.into() });
    }

    fn ends(&mut self, end: AgentEnd) -> Vec<Effect> {
        self.0.feed(Input::AgentEnd { call_id: "c".into(), agent: AGENT.to_owned(), end })
    }
}

fn prompts(effects: &[Effect]) -> Vec<(u32, &str)> {
    let prompt = |effect| match effect {
        &Effect::Prompt(Prompt { round, ref prompt, .. }) => Some((round, prompt.as_str())),
        _ => None,
    };
    effects.iter().filter_map(prompt).collect()
}

fn ended(effects: &[Effect]) -> Option<(&CopilotDone, &ToolResult)> {
    let done = effects.iter().find_map(|effect| if let Effect::Append(Event::CopilotDone(done)) = effect { Some(done) } else { None })?;
    let result =
        effects.iter().find_map(|effect| if let Effect::Append(Event::ToolResult(result)) = effect { Some(result) } else { None })?;
    Some((done, result))
}

#[test]
fn the_reason_is_the_next_prompt_of_the_same_call_and_the_call_ends_after_it() {
    for stop_reason in ["end_turn", "cancelled", "refusal"] {
        let mut refused = Refused::begin();
        refused.text("I wanted to push.");
        refused.refuse(1, Some(REASON));
        let effects = refused.ends(AgentEnd::stopped(stop_reason));
        assert_eq!(prompts(&effects), [(1, REASON)], "{stop_reason}");
        assert!(ended(&effects).is_none(), "{stop_reason}");
        refused.text("Done on the other branch.");
        let effects = refused.ends(AgentEnd::stopped("end_turn"));
        let (done, result) = ended(&effects).expect("now it is over");
        assert_eq!((done.stop_reason.as_str(), result.is_error), ("end_turn", false), "{stop_reason}");
        assert_eq!(done.summary, "Done on the other branch.");
        assert_eq!(prompts(&effects), [], "it is told once");
    }
}

#[test]
fn a_restarted_server_sends_what_was_decided_and_nothing_twice() {
    let mut refused = Refused::begin();
    refused.refuse(1, Some(REASON));
    // Before the prompt has ended the call's own prompt is what runs.
    let mut restarted: Session = refused.0.restarted();
    assert_eq!(prompts(&restarted.resume(&refused.0.settings, super::NOW)), [(0, "do it")]);
    refused.ends(AgentEnd::stopped("end_turn"));
    let mut restarted: Session = refused.0.restarted();
    assert_eq!(prompts(&restarted.resume(&refused.0.settings, super::NOW)), [(1, REASON)]);
    let end = Input::AgentEnd { call_id: "c".into(), agent: AGENT.to_owned(), end: AgentEnd::stopped("end_turn") };
    let effects = restarted.step(end, &refused.0.settings, super::NOW);
    assert!(ended(&effects).is_some() && prompts(&effects).is_empty(), "{effects:?}");
}

#[test]
fn a_second_refusal_in_the_second_prompt_is_told_too() {
    let mut refused = Refused::begin();
    refused.refuse(1, Some("first"));
    assert_eq!(prompts(&refused.ends(AgentEnd::stopped("end_turn"))), [(1, "first")]);
    refused.refuse(2, Some("second"));
    assert_eq!(prompts(&refused.ends(AgentEnd::stopped("end_turn"))), [(2, "second")]);
    refused.refuse(3, None);
    let effects = refused.ends(AgentEnd::stopped("end_turn"));
    assert_eq!(ended(&effects).map(|(done, _)| done.stop_reason.as_str()), Some("denied"));
}

#[test]
fn of_several_reasons_each_says_what_it_is_about() {
    let mut refused = Refused::begin();
    refused.refuse(1, Some("no"));
    refused.refuse(2, None);
    refused.refuse(3, Some("neither"));
    assert_eq!(prompts(&refused.ends(AgentEnd::stopped("end_turn"))), [(1, "push 1: no\n\npush 3: neither")]);
}

#[test]
fn a_stop_drops_it() {
    for whole in [true, false] {
        let mut refused = Refused::begin();
        refused.refuse(1, Some(REASON));
        refused.0.feed(if whole { Input::Cancel } else { Input::CancelCall { call_id: "c".into() } });
        let effects = refused.ends(AgentEnd::stopped("cancelled"));
        assert_eq!(prompts(&effects), []);
        let (done, result) = ended(&effects).expect("it is stopped");
        assert_eq!(done.stop_reason, "cancelled");
        assert!(!result.content.contains(REASON), "{}", result.content);
    }
}

#[test]
fn where_the_agent_cannot_be_told_the_main_ai_is() {
    for end in [AgentEnd::failed("agent_error", "no"), AgentEnd::Gone { message: "gone".into() }] {
        let mut refused = Refused::begin();
        refused.refuse(1, Some(REASON));
        let effects = refused.ends(end);
        assert_eq!(prompts(&effects), []);
        assert!(ended(&effects).expect("it is over").1.content.contains(REASON));
    }
}

#[test]
fn no_step_of_the_plan_is_left_running() {
    let mut refused = Refused::begin();
    let entry = |status: &str| PlanEntry { content: status.into(), priority: "medium".into(), status: status.into() };
    let entries = ["completed", "in_progress", "pending"].map(entry).to_vec();
    refused.0.feed(Input::AgentUpdate { call_id: "c".into(), update: Update::Plan { entries } });
    refused.refuse(1, None);
    let effects = refused.ends(AgentEnd::stopped("end_turn"));
    let plan = effects.iter().find_map(|effect| match effect {
        Effect::Append(Event::AgentUpdate(update)) => Some(&update.update),
        _ => None,
    });
    let Some(Update::Plan { entries }) = plan else { panic!("{effects:?}") };
    assert_eq!(entries.iter().map(|entry| entry.status.as_str()).collect::<Vec<_>>(), ["completed", "stopped", "pending"]);
}
