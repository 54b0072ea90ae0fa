//! What waits for a person is no time of the work, and how work ended is one word everywhere.

use jiff::{SignedDuration, Timestamp};

use super::super::{AgentEnd, Effect, Input, Now, Session};
use super::{AGENT, Story, delegate};
use crate::agent::{OptionKind, PermissionAsk, PermissionOption, ToolCall, Update};
use crate::decision::Decision;
use crate::event::{Ending, Event, TurnState};
use crate::ids::PermissionId;
use crate::rule::RuleUse;

fn request(number: u128) -> PermissionId {
    PermissionId(uuid::Uuid::from_u128(number))
}

/// A story with a clock, in seconds.
struct Told {
    story: Story,
}

impl Told {
    fn begin(relay: bool, calls: &[(&str, &str)]) -> Told {
        let mut story = Story::begin();
        story.settings.relay = relay;
        story.answer("", calls.iter().map(|(id, name)| delegate(id, name)).collect());
        Told { story }
    }

    fn at(&mut self, second: i64, input: Input) -> Vec<Event> {
        let now = Now(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second));
        let effects = self.story.session.step(input, &self.story.settings, now);
        self.story.effects.extend(effects.iter().cloned());
        effects.into_iter().filter_map(|effect| if let Effect::Append(event) = effect { Some(event) } else { None }).collect()
    }

    fn reports(&mut self, second: i64, status: &str) -> Vec<Event> {
        let update = Update::ToolCall(ToolCall { id: "run".to_owned(), status: Some(status.to_owned()), ..ToolCall::default() });
        self.at(second, Input::AgentUpdate { call_id: "d".to_owned(), update })
    }

    fn asks(&mut self, second: i64, call_id: &str, number: u128) -> Vec<Event> {
        let ask = PermissionAsk { title: "run".to_owned(), agent_call: Some("run".to_owned()), ..PermissionAsk::default() };
        let (call_id, agent) = (call_id.to_owned(), AGENT.to_owned());
        self.at(second, Input::Permission { call_id, agent, request_id: request(number), ask })
    }

    fn allows(&mut self, second: i64, number: u128) -> Vec<Event> {
        let decision = Decision::of(&PermissionOption::new("yes", "Yes", OptionKind::AllowOnce));
        let (request_id, by) = (request(number), "person".to_owned());
        self.at(second, Input::PermissionAnswer { request_id, decision, by, reason: None, rule: RuleUse::None })
    }

    fn ends(&mut self, second: i64, end: AgentEnd) -> Vec<Event> {
        self.at(second, Input::AgentEnd { call_id: "d".to_owned(), agent: AGENT.to_owned(), end })
    }
}

/// The call, the agent's own call, how long it waited, and since when it waits.
type Shown<'a> = (Option<&'a str>, Option<&'a str>, u64, Option<i64>);

fn waits(events: &[Event]) -> Vec<Shown<'_>> {
    let changed = events.iter().filter_map(|event| if let Event::Waits(waits) = event { Some(&waits.changed) } else { None }).flatten();
    changed.map(|wait| (wait.tool_call_id.as_deref(), wait.agent_call.as_deref(), wait.waited_ms, wait.waiting_since_ms)).collect()
}

fn waited(session: &Session) -> u64 {
    session.turn.as_ref().map_or(0, |turn| turn.waited_ms(None, None))
}

#[test]
fn the_time_that_a_person_takes_to_answer_is_kept_apart_from_that_of_the_work() {
    let mut told = Told::begin(false, &[("d", "main")]);
    told.reports(1, "pending");
    let asked = waits(&told.asks(2, "d", 1)).len();
    assert_eq!(asked, 3, "the turn, the call, and the agent's own call");
    let answered = told.allows(602, 1);
    let all = [(Some("d"), None), (None, None), (Some("d"), Some("run"))];
    assert_eq!(waits(&answered), all.map(|(call, agent_call)| (call, agent_call, 600_000, None)));
    let reported = told.reports(604, "completed");
    let [Event::AgentUpdate(update)] = &reported[..] else { panic!("{reported:?}") };
    assert_eq!(update.times.waited_ms, Some(600_000));
    let restarted = told.story.restarted();
    assert_eq!(waited(&restarted), 600_000);
    let ended = told.ends(605, AgentEnd::stopped("end_turn"));
    let done = ended.iter().find_map(|event| if let Event::CopilotDone(done) = event { Some(done) } else { None }).unwrap();
    assert_eq!((done.waited_ms, done.ending), (600_000, Some(Ending::Completed)));
}

#[test]
fn a_wait_goes_on_over_a_restart_and_ends_with_what_waited() {
    let mut told = Told::begin(false, &[("d", "main")]);
    told.asks(2, "d", 1);
    told.story.session = told.story.restarted();
    told.at(3, Input::AgentHas { call_id: "d".to_owned() });
    told.at(12, Input::Cancel);
    let ended = told.ends(20, AgentEnd::stopped("cancelled"));
    let Some(Event::Turn(turn)) = ended.last() else { panic!("{ended:?}") };
    assert_eq!((turn.state, turn.ending, turn.waited_ms), (TurnState::Cancelled, Some(Ending::Stopped), 10_000));
}

#[test]
fn a_turn_in_which_another_agent_works_does_not_wait() {
    let mut told = Told::begin(false, &[("d", "main"), ("e", "other")]);
    assert!(waits(&told.asks(2, "d", 1)).iter().all(|(call, ..)| call.is_some()));
    let both = told.asks(3, "e", 2);
    assert!(waits(&both).contains(&(None, None, 0, Some(3_000))), "{both:?}");
    told.allows(5, 2);
    assert_eq!(waited(&told.story.session), 2_000);
}

#[test]
fn agents_that_wait_together_hold_up_their_turn_once() {
    let mut told = Told::begin(false, &[("d", "main"), ("e", "other")]);
    told.asks(2, "d", 1);
    told.asks(4, "e", 2);
    told.allows(10, 1);
    told.ends(11, AgentEnd::stopped("end_turn"));
    told.allows(15, 2);
    let end = AgentEnd::stopped("end_turn");
    told.at(16, Input::AgentEnd { call_id: "e".to_owned(), agent: AGENT.to_owned(), end });
    let done = told.story.effects.iter().filter_map(|effect| match effect {
        Effect::Append(Event::CopilotDone(done)) => Some((done.tool_call_id.as_str(), done.waited_ms, done.turn_waited_ms)),
        _ => None,
    });
    let together = 6_000;
    let alone = 4_000;
    assert_eq!(done.collect::<Vec<_>>(), [("d", 8_000, Some(together)), ("e", 11_000, Some(together + alone))]);
}

#[test]
fn where_a_person_talks_to_an_agent_its_end_is_the_turns() {
    let gone = |text: &str| AgentEnd::Gone { message: text.to_owned() };
    let crash = format!("{}: killed", crate::host::prompt::PROCESS_ENDED);
    let ends = [
        (AgentEnd::stopped("end_turn"), Ending::Completed, Ending::Completed),
        (AgentEnd::stopped("max_tokens"), Ending::Limit, Ending::Completed),
        (gone(&crash), Ending::Crashed, Ending::Completed),
        (gone("it broke off"), Ending::Interrupted, Ending::Completed),
        (AgentEnd::failed("auth_required", "log in"), Ending::NeedsSignIn, Ending::Completed),
        (AgentEnd::failed("owned_elsewhere", "busy"), Ending::InUse, Ending::Completed),
        (AgentEnd::failed("agent_timeout", "late"), Ending::Failed, Ending::Completed),
    ];
    for (end, straight, with_main_ai) in ends {
        for (relay, ending) in [(true, straight), (false, with_main_ai)] {
            let mut told = Told::begin(relay, &[("d", "main")]);
            told.ends(1, end.clone());
            if told.story.session.turn.is_some() {
                told.story.answer("so it is", vec![]);
            }
            let last = told.story.effects.iter().rev().find_map(|effect| match effect {
                Effect::Append(Event::Turn(turn)) => Some(turn.ending),
                _ => None,
            });
            assert_eq!(last, Some(Some(ending)), "{end:?}, relay: {relay}");
        }
    }
}
