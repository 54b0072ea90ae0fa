//! Everything around the machine, played at random: a model, tools, agents and people that answer, repeat themselves, come late, or
//! name what never was.

use std::collections::HashSet;

use uuid::Uuid;

use super::super::call::{Call, CallState};
use super::super::{AgentEnd, Effect, Input, Phase, Prompt, Session, Settings, ToolEnd};
use super::rules::Rules;
use super::{AGENT, NOW, delegate, item, settings, tool_call};
use crate::agent::{OptionKind, PermissionAsk, PermissionOption, ToolCall as AgentCall, Update};
use crate::decision::Decision;
use crate::event::{Event, ToolCall, TurnState};
use crate::ids::{MessageId, PermissionId};
use crate::rule::RuleUse;

/// One thing that happens. Numbers pick among what there is; see [`World::pick`].
#[derive(Clone, Debug)]
pub(super) enum Op {
    Message,
    Edit(usize),
    Move(usize, usize),
    Withdraw(usize),
    ModelText(usize),
    ModelEnd(usize, Vec<Wish>),
    ModelFault(usize, bool),
    ToolEnd(usize),
    Confirm(usize, bool),
    AgentText(usize),
    AgentUpdate(usize, bool),
    AgentEnd(usize, u8),
    Permission(usize, usize),
    Answer(usize),
    SendNext,
    SendNow(usize),
    HoldOver(usize),
    TakeBack(usize),
    Cancel,
    CancelTurn,
    CancelCall(usize),
    Abort(u8),
    Restart(bool),
}

/// A call that the model asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    Plain,
    Confirm,
    Delegate(u8),
    Nonsense,
}

#[derive(Clone)]
pub(super) struct World {
    pub session: Session,
    pub rules: Rules,
    settings: Settings,
    log: Vec<Event>,
    folded: Session,
    model: Option<MessageId>,
    tools: HashSet<String>,
    /// Running prompts: call and session name.
    prompts: Vec<(String, String)>,
    stopped: HashSet<String>,
    /// Confirmations as a table beside the log would hold them.
    confirms: Vec<ToolCall>,
    models: Vec<MessageId>,
    calls: Vec<String>,
    requests: Vec<PermissionId>,
    count: u128,
}

impl World {
    pub(super) fn new(relay: bool) -> World {
        let settings = Settings { relay, denial_hold_ms: 3000, ..settings() };
        World {
            session: Session::default(),
            rules: Rules::new(settings.max_iterations),
            settings,
            log: Vec::new(),
            folded: Session::default(),
            model: None,
            tools: HashSet::new(),
            prompts: Vec::new(),
            stopped: HashSet::new(),
            confirms: Vec::new(),
            models: Vec::new(),
            calls: Vec::new(),
            requests: Vec::new(),
            count: 0,
        }
    }

    pub(super) fn play(&mut self, op: &Op) {
        match op {
            Op::Message => {
                let item = item(self.next());
                if self.session.held && self.session.turn.is_none() {
                    self.rules.sent_past_queue(item.message_id);
                } else {
                    self.rules.sent.push(item.message_id);
                }
                self.feed(Input::Message(item));
            }
            Op::Edit(n) => {
                let message_id = self.queued(*n);
                self.feed(Input::Edit { message_id, content: format!("edited {n}") });
            }
            Op::Move(n, position) => {
                let (message_id, position) = (self.queued(*n), position % (self.session.queue.len() + 2));
                self.feed(Input::Move { message_id, position });
                self.rules.moved(message_id, &self.session.queue);
            }
            Op::Withdraw(n) => {
                let message_id = self.queued(*n);
                if self.session.is_queued(message_id) {
                    self.rules.withdrawn.insert(message_id);
                }
                self.feed(Input::Withdraw { message_id });
            }
            Op::SendNext => self.send_next(),
            Op::SendNow(n) => {
                let message_id = self.queued(*n);
                self.rules.next(message_id, &self.session.queue);
                self.rules.released = self.session.is_queued(message_id);
                self.feed(Input::SendNow { message_id });
            }
            Op::Cancel => self.feed(Input::Cancel),
            Op::CancelTurn => self.feed(Input::CancelTurn),
            Op::Abort(n) => {
                let state = [TurnState::Failed, TurnState::Interrupted, TurnState::Unknown][usize::from(*n) % 3];
                self.tools.clear();
                self.feed(Input::Abort { state, code: "c".to_owned(), reason: "r".to_owned() });
            }
            Op::Restart(begun) => self.restart(*begun),
            Op::ModelText(..) | Op::ModelEnd(..) | Op::ModelFault(..) => self.play_model(op),
            _ => self.play_call(op),
        }
    }

    fn send_next(&mut self) {
        self.rules.released = true;
        self.feed(Input::SendNext);
    }

    /// A model that was asked, or one that was asked long ago.
    fn play_model(&mut self, op: &Op) {
        let (n, input): (usize, Box<dyn FnOnce(MessageId) -> Input>) = match op.clone() {
            Op::ModelText(n) => (n, Box::new(move |message_id| Input::ModelText { message_id, text: format!("t😀{n} ") })),
            Op::ModelEnd(n, wishes) => {
                let tool_calls: Vec<_> = wishes.iter().map(|wish| self.wished(*wish)).collect();
                (n, Box::new(move |message_id| Input::ModelEnd { message_id, text: format!("end {n}"), tool_calls }))
            }
            Op::ModelFault(n, repeat) => {
                let fault = move |message_id| Input::ModelFault { message_id, code: "c".to_owned(), message: "m".to_owned(), repeat };
                (n, Box::new(fault))
            }
            other => unreachable!("{other:?} does not concern the model"),
        };
        let late = self.models.get(n % (self.models.len() + 1)).copied();
        let message_id = if n % 4 == 3 { late } else { self.model }.unwrap_or(MessageId(Uuid::from_u128(u128::MAX)));
        let fits = self.model == Some(message_id);
        if fits && !matches!(op, Op::ModelText(_)) {
            self.model = None;
        }
        self.feed_fitting(input(message_id), fits);
    }

    fn wished(&mut self, wish: Wish) -> ToolCall {
        let id = format!("call {}", self.next());
        self.calls.push(id.clone());
        match wish {
            Wish::Plain => tool_call(&id, "read_file", "{}"),
            Wish::Confirm => tool_call(&id, "read_file_external", "{}"),
            Wish::Delegate(name) => delegate(&id, &format!("name {}", name % 2)),
            Wish::Nonsense => tool_call(&id, "copilot_agent", "{"),
        }
    }

    fn play_call(&mut self, op: &Op) {
        match op {
            Op::ToolEnd(n) => {
                let call_id = self.pick(*n);
                let fits = self.tools.remove(&call_id);
                let end = ToolEnd { content: "result".to_owned(), is_error: n % 5 == 0, ..ToolEnd::default() };
                self.feed_fitting(Input::ToolEnd { call_id, end }, fits);
            }
            Op::Confirm(n, approved) => {
                let call_id = self.pick(*n);
                let fits = self.state(&call_id) == Some(CallState::Asking);
                self.confirms.retain(|open| open.id != call_id);
                self.feed_fitting(Input::Confirm { call_id, approved: *approved, reason: "no".to_owned() }, fits);
            }
            Op::AgentText(n) => {
                let call_id = self.pick(*n);
                let fits = self.is_prompted(&call_id);
                self.feed_fitting(Input::AgentText { call_id, text: format!("ä😀{n} ") }, fits);
            }
            Op::AgentUpdate(n, thinks) => {
                let call_id = self.pick(*n);
                let fits = self.is_prompted(&call_id);
                let update = if *thinks { Update::Thought { text: "hm".to_owned() } } else { Update::ToolCall(agent_call(*n)) };
                self.feed_fitting(Input::AgentUpdate { call_id, update }, fits);
            }
            Op::AgentEnd(n, how) => self.agent_end(*n, *how),
            Op::Permission(n, again) => self.permission(*n, *again),
            Op::Answer(n) => {
                let request_id = self.request(*n);
                let reason = n.is_multiple_of(2).then(|| "rather so".to_owned());
                let kind = if n.is_multiple_of(3) { OptionKind::RejectOnce } else { OptionKind::AllowOnce };
                let decision = Decision::of(&PermissionOption::new("id", "Name", kind));
                self.feed(Input::PermissionAnswer { request_id, decision, by: "person".to_owned(), reason, rule: RuleUse::None });
            }
            Op::HoldOver(n) => {
                let request_id = self.request(*n);
                self.feed_fitting(Input::HoldOver { request_id }, self.is_held(request_id));
            }
            Op::TakeBack(n) => {
                let request_id = self.request(*n);
                self.feed_fitting(Input::TakeBack { request_id }, self.is_held(request_id));
            }
            Op::CancelCall(n) => {
                let call_id = self.pick(*n);
                let is_open = self.state(&call_id).is_some_and(|state| state != CallState::Done);
                let holds = self.settings.relay && !self.session.queue.is_empty() && !self.session.held;
                let fits = is_open && (holds || !self.stopped.contains(&call_id));
                self.tools.remove(&call_id);
                self.confirms.retain(|open| open.id != call_id);
                self.feed_fitting(Input::CancelCall { call_id }, fits);
            }
            other => unreachable!("{other:?} does not concern a call"),
        }
    }

    fn agent_end(&mut self, n: usize, how: u8) {
        let call_id = self.pick(n);
        let fits = self.is_prompted(&call_id);
        self.prompts.retain(|(running, _)| *running != call_id);
        let end = match how % 3 {
            0 => AgentEnd::Stopped { stop_reason: "end_turn".to_owned() },
            1 => AgentEnd::Failed { code: "agent_error".to_owned(), message: "m".to_owned() },
            _ => AgentEnd::Gone { message: "gone".to_owned() },
        };
        self.feed_fitting(Input::AgentEnd { call_id, agent: AGENT.to_owned(), end }, fits);
    }

    /// One that was asked, or one that never was.
    fn request(&self, n: usize) -> PermissionId {
        self.requests.get(n % (self.requests.len() + 1)).copied().unwrap_or(PermissionId(Uuid::from_u128(u128::MAX)))
    }

    fn is_held(&self, request_id: PermissionId) -> bool {
        self.session.turn.as_ref().is_some_and(|turn| turn.held(request_id).is_some())
    }

    fn permission(&mut self, n: usize, again: usize) {
        let call_id = self.pick(n);
        // Now and then a question that is still open is read a second time.
        let open = self.session.turn.as_ref().and_then(|turn| turn.permissions.first()).map(|open| open.request_id);
        let request_id = match open.filter(|_| again.is_multiple_of(3)) {
            Some(open) => open,
            None => PermissionId(Uuid::from_u128(self.next())),
        };
        self.requests.push(request_id);
        let ask = PermissionAsk { title: "t".to_owned(), ..PermissionAsk::default() };
        self.feed(Input::Permission { call_id, agent: "a".to_owned(), request_id, ask });
    }

    fn feed_fitting(&mut self, input: Input, fits: bool) {
        let shown = format!("{input:?}");
        let effects = self.session.step(input, &self.settings, NOW);
        assert_eq!(effects.is_empty(), !fits, "{shown} gave {effects:?}");
        self.take(effects);
    }

    fn feed(&mut self, input: Input) {
        let effects = self.session.step(input, &self.settings, NOW);
        self.take(effects);
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.rules.check(&effect);
            match effect {
                Effect::Append(event) => self.appended(event),
                Effect::Save(_) | Effect::AnswerPermission { .. } | Effect::AwaitConfirm { .. } => {}
                Effect::CallModel { message_id, .. } => {
                    assert_eq!(self.model.replace(message_id), None, "two model calls at once");
                    self.models.push(message_id);
                }
                Effect::StopModel => assert!(self.model.take().is_some(), "stopped a model that was not asked"),
                Effect::RunTool(call) => assert!(self.tools.insert(call.id), "a tool was started twice"),
                Effect::StopTool { call_id } => _ = self.tools.remove(&call_id),
                Effect::Prompt(Prompt { call_id, session_name, .. }) => {
                    let busy = self.prompts.iter().any(|(_, name)| *name == session_name);
                    assert!(!busy, "two prompts for {session_name} at once");
                    self.prompts.push((call_id, session_name));
                }
                Effect::StopPrompt { call_id } => assert!(self.stopped.insert(call_id), "an agent was told to stop twice"),
            }
        }
        assert_alike(&self.session, &self.folded);
    }

    fn appended(&mut self, event: Event) {
        match &event {
            Event::ToolConfirm(call) => self.confirms.push(call.clone()),
            Event::ToolResult(result) => {
                self.confirms.retain(|open| open.id != result.id);
                self.prompts.retain(|(call_id, _)| *call_id != result.id);
            }
            _ => {}
        }
        self.folded.apply(&event);
        self.log.push(event);
    }

    /// The server dies between two steps and another one takes over. Agents live on; `begun` says that their runner proves it.
    pub(super) fn restart(&mut self, begun: bool) {
        let mut session = Session::default();
        self.log.iter().for_each(|event| session.apply(event));
        let call_ids = self.confirms.iter().map(|call| call.id.clone()).collect();
        session.step(Input::ConfirmsWaiting { call_ids }, &self.settings, NOW);
        for (call_id, _) in self.prompts.iter().filter(|_| begun) {
            session.step(Input::AgentHas { call_id: call_id.clone() }, &self.settings, NOW);
        }
        self.session = session;
        let prompted = std::mem::take(&mut self.prompts);
        self.stopped.clear();
        self.model = None;
        self.tools.clear();
        let turn = self.session.turn.clone();
        let effects = self.session.resume(&self.settings, NOW);
        if let Some(turn) = turn.filter(|turn| !turn.cancelling) {
            let (stopped, going) =
                prompted.into_iter().partition::<Vec<_>, _>(|(call_id, _)| turn.call(call_id).is_some_and(|call| call.stopping));
            let again: HashSet<_> = going.into_iter().map(|(call_id, _)| call_id).collect();
            self.prompts = stopped;
            let repeated = effects.iter().filter_map(|effect| match effect {
                Effect::Prompt(Prompt { turn_id, call_id, .. }) if self.rules.was_prompted(*turn_id, call_id) => Some(call_id.clone()),
                _ => None,
            });
            assert_eq!(repeated.collect::<HashSet<_>>(), again, "every prompt that runs is sent again, under the same id: {:?}", turn.id);
        } else {
            self.prompts = prompted;
        }
        self.take(effects);
    }

    /// Answers everything that is owed until nothing is left to do.
    pub(super) fn drive_to_the_end(&mut self) {
        let mut steps = 0;
        self.send_next();
        while let Some(turn) = &self.session.turn {
            steps += 1;
            assert!(steps < 10_000, "the turn does not end: {turn:?}");
            let asking = turn.calls().iter().find(|call| call.state == CallState::Asking).map(|call| call.call.id.clone());
            if let Some(message_id) = self.model.take() {
                self.feed(Input::ModelEnd { message_id, text: "that is all".to_owned(), tool_calls: Vec::new() });
            } else if let Some(call_id) = self.tools.iter().next().cloned() {
                self.tools.remove(&call_id);
                self.feed(Input::ToolEnd { call_id, end: ToolEnd::default() });
            } else if let Some((call_id, _)) = self.prompts.first().cloned() {
                self.prompts.remove(0);
                self.feed(Input::AgentEnd {
                    call_id,
                    agent: AGENT.to_owned(),
                    end: AgentEnd::Stopped { stop_reason: "end_turn".to_owned() },
                });
            } else if let Some(call_id) = asking {
                self.confirms.retain(|open| open.id != call_id);
                self.feed(Input::Confirm { call_id, approved: false, reason: "no".to_owned() });
            } else {
                panic!("nothing is owed and the turn goes on: {turn:?}");
            }
        }
        assert!(self.session.queue.is_empty(), "messages wait behind nothing");
        self.rules.finished();
    }

    /// The kinds of all events so far.
    pub(super) fn kinds(&self) -> Vec<String> {
        self.log.iter().map(super::kind).collect()
    }

    /// Mostly a call that is open, at times one that is over, at times one that never was.
    fn pick(&self, n: usize) -> String {
        let open: Vec<_> = self.session.turn.iter().flat_map(|turn| turn.calls()).filter(|call| call.state != CallState::Done).collect();
        match n % 6 {
            0 => "never was".to_owned(),
            1 if !self.calls.is_empty() => self.calls[n % self.calls.len()].clone(),
            _ if !open.is_empty() => open[n % open.len()].call.id.clone(),
            _ => "never was".to_owned(),
        }
    }

    fn queued(&self, n: usize) -> MessageId {
        let queue = &self.session.queue;
        queue.get(n % (queue.len() + 1)).map_or(MessageId(Uuid::from_u128(u128::MAX)), |item| item.message_id)
    }

    fn state(&self, call_id: &str) -> Option<CallState> {
        self.session.turn.as_ref()?.call(call_id).map(|call| call.state)
    }

    fn is_prompted(&self, call_id: &str) -> bool {
        self.prompts.iter().any(|(running, _)| running == call_id)
    }

    fn next(&mut self) -> u128 {
        self.count += 1;
        self.count
    }
}

fn agent_call(n: usize) -> AgentCall {
    AgentCall { id: format!("agent call {}", n % 3), status: n.is_multiple_of(2).then(|| "completed".to_owned()), ..AgentCall::default() }
}

/// The state is what the log says. Three things live in memory only: that a silent call runs, that a person agreed, and that an agent
/// was told to stop.
fn assert_alike(live: &Session, folded: &Session) {
    assert_eq!((&live.queue, live.held), (&folded.queue, folded.held));
    assert!(!live.held || !live.queue.is_empty(), "nothing is held");
    let (Some(live), Some(folded)) = (&live.turn, &folded.turn) else {
        return assert!(live.turn.is_none() && folded.turn.is_none(), "{:?} but {:?}", live.turn, folded.turn);
    };
    assert_eq!((live.id, live.step, live.attempt), (folded.id, folded.step, folded.attempt));
    assert_eq!((live.cancelling, &live.permissions, &live.holds), (folded.cancelling, &folded.permissions, &folded.holds));
    match (&live.phase, &folded.phase) {
        (Phase::Model { text, length }, Phase::Model { text: other, length: other_length }) => {
            assert_eq!((text, length), (other, other_length));
        }
        (Phase::Tools { text, calls }, Phase::Tools { text: other, calls: others }) => {
            assert_eq!((text, calls.len()), (other, others.len()));
            calls.iter().zip(others).for_each(|(call, other)| assert_alike_calls(call, other));
        }
        (live, folded) => panic!("{live:?} but {folded:?}"),
    }
}

fn assert_alike_calls(live: &Call, folded: &Call) {
    assert_eq!(live.call, folded.call);
    assert_eq!((&live.text, live.length, &live.updates, live.stopping), (&folded.text, folded.length, &folded.updates, folded.stopping));
    let started = live.state == CallState::Running && folded.state != CallState::Done;
    let reopened = live.state == CallState::Waiting && folded.state == CallState::Running;
    assert!(live.state == folded.state || started || reopened, "{live:?} but {folded:?}");
}
