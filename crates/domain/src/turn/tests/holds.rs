//! A person's denial is held before the agent is told, and can be taken back until then.

use uuid::Uuid;

use super::super::{AgentEnd, Effect, Input, Turn};
use super::{AGENT, NOW, Story, delegate};
use crate::agent::{OptionKind, PermissionAsk, PermissionOption};
use crate::decision::Decision;
use crate::event::{Event, PermissionResolved};
use crate::ids::{PermissionId, RuleId};
use crate::rule::RuleUse;

const HOLD_MS: i64 = 3000;

fn id(number: u128) -> PermissionId {
    PermissionId(Uuid::from_u128(number))
}

struct Asked(Story);

impl Asked {
    /// The agent asks two things.
    fn begin() -> Asked {
        let mut story = Story::begin();
        story.settings.denial_hold_ms = HOLD_MS;
        story.answer("", vec![delegate("c", "n")]);
        for number in [1, 2] {
            let ask = PermissionAsk { title: "Run".into(), agent_call: Some(format!("t{number}")), ..PermissionAsk::default() };
            story.feed(Input::Permission { call_id: "c".into(), agent: "a".into(), request_id: id(number), ask });
        }
        Asked(story)
    }

    fn answer(&mut self, kind: OptionKind, by: &str, rule: RuleUse) -> Vec<Effect> {
        let decision = Decision::of(&PermissionOption::new(kind.as_str(), "Name", kind));
        self.0.feed(Input::PermissionAnswer { request_id: id(1), decision, by: by.into(), reason: Some("not now".into()), rule })
    }

    fn deny(&mut self) -> Vec<Effect> {
        self.answer(OptionKind::RejectOnce, "person", RuleUse::None)
    }

    fn turn(&self) -> &Turn {
        self.0.session.turn.as_ref().expect("it runs")
    }

    fn answers(&self) -> Vec<&PermissionResolved> {
        let resolved = |effect| if let &Effect::Append(Event::PermissionResolved(ref resolved)) = effect { Some(resolved) } else { None };
        self.0.effects.iter().filter_map(resolved).collect()
    }
}

#[test]
fn a_denial_is_held_and_then_sent_as_it_was_given() {
    let mut asked = Asked::begin();
    let effects = asked.deny();
    let [Effect::Append(Event::PermissionHeld(held))] = &effects[..] else { panic!("the agent is told: {effects:?}") };
    assert_eq!(held.until, NOW.0.as_millisecond() + HOLD_MS);
    assert_eq!(asked.0.restarted().turn.map(|turn| turn.holds), Some(asked.turn().holds.clone()), "another server goes on with it");
    let effects = asked.0.feed(Input::HoldOver { request_id: id(1) });
    assert!(matches!(&effects[0], Effect::AnswerPermission { decision, .. } if *decision == held.decision()), "{effects:?}");
    let answers = asked.answers();
    assert_eq!((answers.len(), answers[0].by.as_str(), answers[0].reason.as_deref()), (1, "person", Some("not now")));
    assert!(asked.turn().holds.is_empty());
    assert!(
        asked.0.feed(Input::HoldOver { request_id: id(1) }).is_empty() && asked.0.feed(Input::TakeBack { request_id: id(1) }).is_empty()
    );
}

#[test]
fn a_denial_that_is_taken_back_was_never_given() {
    let mut asked = Asked::begin();
    asked.deny();
    asked.0.feed(Input::TakeBack { request_id: id(1) });
    assert!(asked.0.feed(Input::HoldOver { request_id: id(1) }).is_empty());
    assert!(asked.answers().is_empty() && asked.turn().permissions.len() == 2 && asked.turn().holds.is_empty());
    asked.answer(OptionKind::AllowOnce, "person", RuleUse::None);
    assert_eq!(asked.answers().len(), 1);
}

#[test]
fn what_is_held_is_decided_by_nobody_else_until_the_agent_gives_it_up() {
    for by in ["person", "mcp", "policy", "rule", "timeout"] {
        let mut asked = Asked::begin();
        asked.deny();
        assert!(asked.answer(OptionKind::AllowOnce, by, RuleUse::None).is_empty(), "{by}");
    }
    let mut asked = Asked::begin();
    asked.deny();
    asked.answer(OptionKind::RejectOnce, "agent", RuleUse::None);
    assert_eq!(asked.answers()[0].by, "agent");
    assert!(asked.turn().holds.is_empty());
}

#[test]
fn only_a_persons_denial_of_this_once_is_held() {
    for (kind, by, rule) in [
        (OptionKind::AllowOnce, "person", RuleUse::None),
        (OptionKind::RejectOnce, "mcp", RuleUse::None),
        (OptionKind::RejectOnce, "timeout", RuleUse::None),
        (OptionKind::RejectOnce, "rule", RuleUse::Applied(RuleId(Uuid::nil()))),
    ] {
        let mut asked = Asked::begin();
        asked.answer(kind, by, rule);
        assert_eq!((asked.answers().len(), asked.turn().holds.len()), (1, 0), "{by}");
    }
    let mut asked = Asked::begin();
    asked.0.settings.denial_hold_ms = 0;
    asked.deny();
    assert_eq!(asked.answers().len(), 1, "where nothing is to be held");
}

#[test]
fn a_stop_and_the_end_of_the_agent_end_what_is_held() {
    let mut asked = Asked::begin();
    asked.deny();
    asked.0.feed(Input::Cancel);
    assert!(asked.answers().iter().all(|answer| answer.by == "cancel" && answer.reason.is_none()), "{:?}", asked.answers());
    assert!(asked.turn().holds.is_empty());

    let mut asked = Asked::begin();
    asked.deny();
    asked.0.feed(Input::AgentEnd { call_id: "c".into(), agent: AGENT.to_owned(), end: AgentEnd::Gone { message: "gone".into() } });
    assert!(asked.answers().iter().all(|answer| answer.by == "agent_gone") && asked.turn().holds.is_empty());
}
