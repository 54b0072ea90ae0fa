//! What the simulation found, as the shortest story of each.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use uuid::Uuid;

mod grants;
mod options;
mod reasons;
mod story;

use super::*;
use crate::agent::{Demand, Failure, Fault, PermissionAsk, Place};
use crate::event::{QueueItem, ToolCall, TurnState};
use crate::ids::{MessageId, PermissionId, TurnId};
use crate::machine::{AgentWords, Context, Effect, Input, Machine};
use crate::policy::Policy;

const AGENT: &str = "alpha";

/// A session's machine, and the world around it in a few words.
struct Rig {
    machine: Machine,
    ids: std::cell::Cell<u64>,
    settings: turn::Settings,
    policy: Policy,
    rules: Vec<crate::rule::Rule>,
    agents: BTreeMap<String, AgentWords>,
    /// Its sessions cannot be set to ask.
    unguarded: bool,
    /// Its sessions are opened with its own "allow all" on.
    allows_all: bool,
}

impl Rig {
    /// A turn whose main AI asks for these calls, each the name of an agent session.
    fn new(names: &[&str]) -> Rig {
        let settings =
            turn::Settings { max_iterations: 9, relay: false, model: "m".into(), agent: AGENT.into(), is_full: false, denial_hold_ms: 0 };
        Rig::of(settings, names, Policy::Ask, AgentWords { title: "Alpha".into(), ..AgentWords::default() })
    }

    fn of(settings: turn::Settings, names: &[&str], policy: Policy, words: AgentWords) -> Rig {
        let (ids, agents) = (std::cell::Cell::new(0), BTreeMap::from([(AGENT.to_owned(), words)]));
        let mut rig =
            Rig { machine: Machine::default(), ids, settings, policy, rules: Vec::new(), agents, unguarded: false, allows_all: false };
        let item = QueueItem {
            message_id: MessageId(Uuid::from_u128(1)),
            turn_id: TurnId(Uuid::from_u128(2)),
            content: "m1".into(),
            created_at: Timestamp::UNIX_EPOCH,
            client_id: None,
            attachments: vec![],
        };
        rig.turn(turn::Input::Message(item));
        let call = |(at, name): (usize, &&str)| ToolCall {
            id: format!("c{}", at + 1),
            name: "copilot_agent".into(),
            arguments: serde_json::json!({ "prompt": "do it", "session_name": name }).to_string(),
        };
        let message_id = TurnId(Uuid::from_u128(2)).assistant_message(0, 0);
        let tool_calls = names.iter().enumerate().map(call).collect();
        rig.turn(turn::Input::ModelEnd { message_id, text: String::new(), tool_calls });
        rig
    }

    fn step(&mut self, input: Input) -> Vec<Effect> {
        let Rig { machine, ids, settings, policy, rules, agents, .. } = self;
        let new_id = || {
            ids.set(ids.get() + 1);
            Uuid::from_u64_pair(9, ids.get())
        };
        let context = Context {
            now: Timestamp::UNIX_EPOCH,
            turn: settings,
            policy: *policy,
            rules: &|| rules.clone(),
            work_dir: Path::new("/project"),
            new_id: &new_id,
            agents,
        };
        machine.step(input, &context)
    }

    fn turn(&mut self, input: turn::Input) -> Vec<Effect> {
        self.step(Input::Turn(input))
    }

    fn host(&mut self, input: super::Input) -> Vec<Effect> {
        self.step(Input::Host { agent: AGENT.into(), input })
    }

    fn runner(&self) -> RunnerId {
        self.machine.hosts().find_map(Host::runner).unwrap()
    }

    fn signals(&mut self, signals: Vec<Signal>) -> Vec<Effect> {
        let runner = self.runner();
        self.host(super::Input::Batch { runner, cursor: 1, signals })
    }

    /// The agent is up and has the sessions open; the first prompts are being written.
    fn open(&mut self, names: &[&str]) -> Vec<Effect> {
        let runner = self.runner();
        let started = Started { capabilities: serde_json::Value::Null, can_reopen: true, warning: None };
        let mut effects = self.host(super::Input::Started { runner, outcome: Ok(started) });
        for name in names {
            let opened = Opened {
                agent_session: format!("s-{name}"),
                how: How::New,
                described: Described { allows_all: self.allows_all, ..Described::default() },
                wanted: None,
                unguarded: self.unguarded,
                cut_off: false,
                damaged: None,
            };
            effects.extend(self.host(super::Input::SessionOpened { runner, name: (*name).into(), outcome: Ok(opened) }));
        }
        effects
    }

    fn answered(&mut self, call: &str, result: Result<&str, Fault>) -> Vec<Effect> {
        let result = result.map(str::to_owned).map_err(|fault| Failure::new(fault, "no"));
        self.signals(vec![Signal::Answered { call_id: call.into(), round: 0, result }])
    }
}

fn words(effects: &[Effect]) -> Vec<String> {
    let word = |effect: &Effect| match effect {
        Effect::Append(Event::CopilotDone(done)) => Some(format!("{} {}", done.tool_call_id, done.stop_reason)),
        Effect::Append(Event::Turn(turn)) if turn.state != TurnState::Running => Some(format!("turn {:?}", turn.state)),
        _ => None,
    };
    effects.iter().filter_map(word).collect()
}

fn acts(effects: &[Effect]) -> Vec<&Act> {
    let mut acts = Vec::new();
    for effect in effects {
        if let Effect::Host { act, .. } = effect {
            acts.push(act);
        }
    }
    acts
}

#[test]
fn the_turn_ends_behind_the_calls_that_were_stopped_with_it() {
    let mut rig = Rig::new(&["side", "side"]);
    let effects = rig.turn(turn::Input::Cancel);
    assert_eq!(words(&effects), ["c2 cancelled", "c1 cancelled", "turn Cancelled"]);
}

#[test]
fn an_agent_that_ends_before_its_start_is_heard_is_cleared_and_started_again() {
    let mut rig = Rig::new(&["main"]);
    let runner = rig.runner();
    rig.signals(vec![Signal::Gone { text: "exit".into() }]);
    let started = Started { capabilities: serde_json::Value::Null, can_reopen: true, warning: None };
    let effects = rig.host(super::Input::Started { runner, outcome: Ok(started) });
    assert!(matches!(acts(&effects)[..], [Act::Clear { .. }]), "{effects:?}");
    let effects = rig.host(super::Input::Cleared { runner });
    assert!(matches!(acts(&effects)[..], [Act::Start { .. }]), "{effects:?}");
}

#[test]
fn a_session_that_its_agent_cut_off_is_stored_as_closed() {
    let mut rig = Rig::new(&["main"]);
    rig.open(&["main"]);
    let effects = rig.answered("c1", Ok("cancelled"));
    assert_eq!(words(&effects), ["c1 interrupted"]);
    let closed = |effect: &Effect| matches!(effect, Effect::Keep(Keep::Session(session)) if session.runner_id.is_none());
    assert!(effects.iter().any(closed), "{effects:?}");
}

#[test]
fn a_prompt_that_was_stopped_while_it_was_sent_does_not_wait_for_a_login() {
    let mut rig = Rig::new(&["main"]);
    rig.open(&["main"]);
    rig.turn(turn::Input::CancelCall { call_id: "c1".into() });
    let effects = rig.answered("c1", Err(Fault::NeedsLogin));
    assert_eq!(words(&effects), ["c1 cancelled"]);
}

/// Its question shows that it has the prompt before the runner says so; the stop can only go behind the prompt.
#[test]
fn what_a_prompt_asked_is_answered_behind_its_stop() {
    let mut rig = Rig::new(&["main"]);
    rig.open(&["main"]);
    let ask = |seq| Signal::Demand {
        agent_session: Arc::from("s-main"),
        place: Place { seq, index: 0 },
        rpc_id: seq.to_string(),
        demand: Demand::Permission(PermissionAsk { title: "Run".into(), options: story::options(), ..PermissionAsk::default() }),
    };
    rig.signals(vec![ask(1)]);
    let mut early = rig.turn(turn::Input::Cancel);
    early.extend(rig.signals(vec![ask(2)]));
    assert!(!acts(&early).iter().any(|act| matches!(act, Act::Reply { .. })), "{early:?}");
    let effects = rig.host(super::Input::Written { call_id: "c1".into(), round: 0, outcome: WriteOutcome::Written });
    let acts: Vec<&Act> = acts(&effects).into_iter().filter(|act| matches!(act, Act::Cancel { .. } | Act::Reply { .. })).collect();
    assert!(matches!(acts[..], [Act::Cancel { .. }, Act::Reply { .. }, Act::Reply { .. }]), "{effects:?}");
}

#[test]
fn a_second_answer_does_not_end_a_prompt_that_waits_for_a_login() {
    let mut rig = Rig::new(&["main"]);
    rig.open(&["main"]);
    rig.answered("c1", Err(Fault::NeedsLogin));
    assert_eq!(words(&rig.answered("c1", Ok("end_turn"))), [""; 0]);
}

#[test]
fn a_name_that_another_agent_takes_over_is_removed_from_the_store_at_once() {
    let mut rig = Rig::new(&["main", "main"]);
    rig.open(&["main"]);
    rig.settings.agent = "beta".into();
    let effects = rig.answered("c1", Ok("end_turn"));
    assert!(effects.contains(&Effect::Keep(Keep::SessionRemoved { name: "main".into() })), "{effects:?}");
}

#[test]
fn what_a_broken_off_turn_left_running_is_stopped_and_its_process_makes_room() {
    let mut rig = Rig::new(&["main"]);
    rig.open(&["main"]);
    rig.host(super::Input::Written { call_id: "c1".into(), round: 0, outcome: WriteOutcome::Written });
    rig.signals(vec![Signal::Text { agent_session: Arc::from("s-main"), text: "hello".into() }]);
    let abort = turn::Input::Abort { state: TurnState::Unknown, code: "outcome_unknown".into(), reason: "lost".into() };
    let effects = rig.turn(abort);
    assert!(acts(&effects).iter().any(|act| matches!(act, Act::Cancel { .. })), "{effects:?}");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Keep(Keep::RunnerEnding { .. }))), "{effects:?}");
    let closed = |effect: &Effect| matches!(effect, Effect::Keep(Keep::Session(session)) if session.runner_id.is_none());
    assert!(effects.iter().any(closed), "{effects:?}");
}

/// The agent may go on with what it was told to stop, and the next call of the session must not be taken for that.
#[test]
fn a_session_in_which_a_prompt_would_not_stop_is_not_open_any_more() {
    let mut rig = Rig::new(&["main", "main"]);
    rig.open(&["main"]);
    rig.host(super::Input::Written { call_id: "c1".into(), round: 0, outcome: super::WriteOutcome::Written });
    rig.turn(turn::Input::CancelCall { call_id: "c1".into() });
    let effects = rig.host(super::Input::StopOverdue { call_id: "c1".into() });
    assert_eq!(words(&effects), ["c1 cancelled"]);
    let closed = |effect: &Effect| matches!(effect, Effect::Keep(Keep::Session(session)) if session.runner_id.is_none());
    assert!(effects.iter().any(closed), "{effects:?}");
}

/// An agent that would act by itself is not run where everything is denied, and people are told elsewhere.
#[test]
fn an_agent_that_does_not_ask_is_not_run_under_deny() {
    let settings =
        || turn::Settings { max_iterations: 9, relay: false, model: "m".into(), agent: AGENT.into(), is_full: false, denial_hold_ms: 0 };
    let never = || AgentWords { title: "Alpha".into(), unasked: Some("it never asks".into()), ..AgentWords::default() };
    let rig = Rig::of(settings(), &["main"], Policy::Deny, never());
    assert!(rig.machine.hosts().all(|host| host.runner().is_none() && host.prompts().is_empty()), "nothing is started");
    for (policy, of, unguarded, sent, warned) in [
        (Policy::Deny, AgentWords::default(), true, false, false),
        (Policy::Deny, AgentWords::default(), false, true, false),
        (Policy::Ask, never(), false, true, true),
        (Policy::ReadOnly, AgentWords::default(), true, true, true),
        (Policy::Auto, never(), true, true, false),
    ] {
        let mut rig = Rig::of(settings(), &["main"], policy, of);
        rig.unguarded = unguarded;
        let effects = rig.open(&["main"]);
        let prompted = acts(&effects).iter().any(|act| matches!(act, Act::Prompt { .. }));
        assert_eq!((prompted, is_told(&effects)), (sent, warned), "{policy:?} {unguarded}");
        assert_eq!(words(&effects), if sent { vec![] } else { vec!["c1 agent_unguarded"] }, "{policy:?}");
    }
}

fn told_of(runner: RunnerId) -> super::Told {
    super::Told { runner, name: "main".into(), agent_session: "s-main".into() }
}

/// People are told that it may act without asking.
fn is_told(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Append(Event::Notice(notice)) if notice.code == "acts_unasked"))
}

/// What was set before a prompt counts for it, so the prompt waits until the agent has said that it does.
#[test]
fn a_prompt_waits_until_the_agent_was_told_what_was_set_before_it() {
    let prompted = |effects: &[Effect]| acts(effects).iter().any(|act| matches!(act, Act::Prompt { .. }));
    for asks in [true, false] {
        let mut rig = Rig::new(&["main", "main"]);
        rig.policy = Policy::Auto;
        rig.allows_all = true;
        rig.open(&["main"]);
        rig.policy = Policy::Ask;
        let effects = rig.host(super::Input::PolicyChanged { by_person: true });
        assert!(acts(&effects).iter().any(|act| matches!(act, Act::ForbidAll { .. })), "{effects:?}");
        assert!(!prompted(&rig.answered("c1", Ok("end_turn"))), "it is not told yet");
        let runner = rig.runner();
        let effects = rig.host(super::Input::Forbidden { told: told_of(runner), asks });
        assert_eq!((prompted(&effects), is_told(&effects)), (true, !asks), "{effects:?}");
    }
    let mut rig = Rig::new(&["main", "main"]);
    rig.open(&["main"]);
    let set = BTreeMap::from([("model".to_owned(), serde_json::json!("large"))]);
    let effects = rig.host(super::Input::SetOptions { name: "main".into(), set, allow_all: None, shown: "model: large".into() });
    assert!(acts(&effects).iter().any(|act| matches!(act, Act::SetOptions { .. })), "{effects:?}");
    assert!(!prompted(&rig.answered("c1", Ok("end_turn"))), "it is not told yet");
    let outcome =
        super::OptionOutcome { id: "model".into(), value: "large".into(), shown: ("Model".into(), "large".into()), outcome: Ok(()) };
    let set = super::Input::OptionsSet { told: told_of(rig.runner()), outcomes: vec![outcome], described: Described::default() };
    assert!(prompted(&rig.host(set)));
}

#[test]
fn a_session_that_could_not_be_set_to_ask_refuses_the_next_prompt() {
    let mut rig = Rig::new(&["main", "main"]);
    rig.open(&["main"]);
    rig.policy = Policy::Deny;
    let runner = rig.runner();
    rig.host(super::Input::Forbidden { told: told_of(runner), asks: false });
    let effects = rig.answered("c1", Ok("end_turn"));
    assert_eq!(words(&effects), ["c1 end_turn", "c2 agent_unguarded"]);
}
