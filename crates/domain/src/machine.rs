//! A session's two machines as one: the turn, and a host for each agent that works in it.
//!
//! It only passes on: what the turn wants of an agent goes to that agent's host, what a host has for the turn goes to the turn, at
//! once and in order. What is left is what has to be stored and what has to be done, in that order.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::agent::{PermissionAsk, SavedRule};
use crate::decision::Decision;
use crate::event::{Event, Message, PermissionRequest, ToolCall};
use crate::host::{self, Act, AgentSession, Host, Keep, Timer};
use crate::ids::{MessageId, PermissionId, RunnerId, TurnId};
use crate::policy::{Policy, PolicyOutcome};
use crate::rule::{Decider, Rule, RuleUse, decide};
use crate::turn::{self, Now, Session};

/// What a decision may depend on beside the state: read at that moment, never kept.
pub struct Context<'a> {
    pub now: Timestamp,
    pub turn: &'a turn::Settings,
    pub policy: Policy,
    /// The remembered answers that hold here.
    pub rules: &'a dyn Fn() -> Vec<Rule>,
    pub work_dir: &'a Path,
    pub new_id: &'a dyn Fn() -> Uuid,
    /// By agent id.
    pub agents: &'a BTreeMap<String, AgentWords>,
}

/// How people call an agent, and what they have to do to log in.
#[derive(Clone, Debug, Default)]
pub struct AgentWords {
    pub title: String,
    pub short_title: String,
    pub login_advice: String,
    /// Why the agent cannot be kept from acting without asking; none where it can.
    pub unasked: Option<String>,
}

impl Context<'_> {
    pub(crate) fn new_id(&self) -> Uuid {
        (self.new_id)()
    }

    pub(crate) fn rules(&self) -> Vec<Rule> {
        (self.rules)()
    }

    pub(crate) fn decide(&self, agent: &str, ask: &PermissionAsk) -> (PolicyOutcome, Decider) {
        decide(self.policy, &self.rules(), agent, ask)
    }

    pub(crate) fn agent_title(&self, agent: &str) -> String {
        self.agents.get(agent).map_or_else(|| agent.to_owned(), |words| words.title.clone())
    }

    pub(crate) fn agent_short_title(&self, agent: &str) -> String {
        self.agents.get(agent).map_or_else(|| agent.to_owned(), |words| words.short_title.clone())
    }

    pub(crate) fn login_advice(&self, agent: &str) -> String {
        self.agents.get(agent).map(|words| words.login_advice.clone()).unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
pub enum Input {
    Turn(turn::Input),
    /// For the host of this agent.
    Host {
        agent: String,
        input: host::Input,
    },
    /// A person answers, or the clock does. `content` is what was filled into a form.
    Answer {
        request_id: PermissionId,
        decision: Decision,
        by: String,
        content: Option<Value>,
        /// Of a refusal: what the person says, for the agent.
        reason: Option<String>,
        /// What they have remembered of it.
        saved: Option<SavedRule>,
    },
    /// A person takes back a denial that its agent was not told yet.
    TakeBack {
        request_id: PermissionId,
    },
    /// The policy or the rules have changed: what waits is decided anew.
    Reconsider,
    /// After the log was folded and the evidence of earlier runners taken: what is still owed is done.
    Resume,
}

/// What has to be stored, and what has to be done once it is.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Append to the log, in this order.
    Append(Event),
    /// Store a message; beside the log, in the same commit.
    Save(Message),
    Keep(Keep),
    CallModel {
        turn_id: TurnId,
        message_id: MessageId,
    },
    StopModel,
    RunTool(ToolCall),
    StopTool {
        call_id: String,
    },
    /// For the host of this agent.
    Host {
        agent: String,
        act: Act,
    },
    Timer(Timer),
}

#[derive(Clone, Debug, Default)]
pub struct Machine {
    turn: Session,
    hosts: BTreeMap<String, Host>,
}

impl Machine {
    /// From the folded log and the stored sessions of agents.
    pub fn new(turn: Session, sessions: Vec<AgentSession>) -> Machine {
        let mut machine = Machine { turn, hosts: BTreeMap::new() };
        for session in sessions {
            machine.host(&session.agent.clone()).know(session);
        }
        machine
    }

    pub fn turn(&self) -> &Session {
        &self.turn
    }

    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.values()
    }

    pub fn host_of_session(&self, name: &str) -> Option<&Host> {
        self.hosts.values().find(|host| host.sessions().any(|(known, named)| known == name && named.record.is_some()))
    }

    pub fn host_of_runner(&self, runner: RunnerId) -> Option<&Host> {
        self.hosts.values().find(|host| host.runner() == Some(runner))
    }

    /// Where an open permission is answered: the runner and the agent's own request id.
    pub fn rpc_of(&self, request_id: PermissionId) -> Option<(RunnerId, &str)> {
        self.hosts.values().find_map(|host| Some((host.runner()?, host.debt(request_id)?.rpc_id.as_str())))
    }

    pub fn step(&mut self, input: Input, context: &Context<'_>) -> Vec<Effect> {
        let mut run = Run { machine: self, context, effects: Vec::new(), asked: VecDeque::new(), content: None };
        match input {
            Input::Turn(input) => run.turn(input),
            Input::Host { agent, input } => run.host(&agent, input),
            Input::Answer { request_id, decision, by, content, reason, saved } => {
                run.content = content;
                let rule = saved.map_or(RuleUse::None, RuleUse::Saved);
                run.turn(turn::Input::PermissionAnswer { request_id, decision, by, reason, rule });
            }
            Input::TakeBack { request_id } => {
                run.turn(turn::Input::TakeBack { request_id });
                // They may have changed meanwhile.
                run.reconsider();
            }
            Input::Reconsider => run.reconsider(),
            Input::Resume => {
                let effects = run.machine.turn.resume(context.turn, Now(context.now));
                run.route(effects);
                run.ask_hosts();
                run.reconsider();
            }
        }
        run.ask_hosts();
        run.effects
    }

    fn host(&mut self, agent: &str) -> &mut Host {
        self.hosts.entry(agent.to_owned()).or_insert_with(|| Host::new(agent))
    }

    /// The host that has the call, whatever agent is chosen by now.
    fn agent_of_call(&self, call_id: &str) -> Option<String> {
        self.hosts.values().find(|host| host.has_call(call_id)).map(|host| host.agent().to_owned())
    }
}

/// What a turn wants of a host.
enum Asked {
    Prompt(turn::Prompt),
    Stop { call_id: String },
    Decided { request_id: PermissionId, decision: Decision },
}

struct Run<'a> {
    machine: &'a mut Machine,
    context: &'a Context<'a>,
    effects: Vec<Effect>,
    /// What the turn wants of hosts. They are asked when everything that was decided before is among the effects: what a host answers is
    /// decided later, so it stands later in the log.
    asked: VecDeque<Asked>,
    /// What was filled into the form that is being answered.
    content: Option<Value>,
}

impl Run<'_> {
    fn turn(&mut self, input: turn::Input) {
        let effects = self.machine.turn.step(input, self.context.turn, Now(self.context.now));
        self.route(effects);
    }

    fn route(&mut self, effects: Vec<turn::Effect>) {
        for effect in effects {
            match effect {
                turn::Effect::Append(event) => self.effects.push(Effect::Append(event)),
                turn::Effect::Save(message) => self.effects.push(Effect::Save(message)),
                turn::Effect::CallModel { turn_id, message_id } => self.effects.push(Effect::CallModel { turn_id, message_id }),
                turn::Effect::StopModel => self.effects.push(Effect::StopModel),
                turn::Effect::RunTool(call) => self.effects.push(Effect::RunTool(call)),
                turn::Effect::StopTool { call_id } => self.effects.push(Effect::StopTool { call_id }),
                turn::Effect::AwaitConfirm { call_id } => self.effects.push(Effect::Timer(Timer::Confirm { call_id })),
                turn::Effect::Prompt(wanted) => {
                    self.asked.push_back(Asked::Prompt(wanted));
                }
                turn::Effect::StopPrompt { call_id } => self.asked.push_back(Asked::Stop { call_id }),
                turn::Effect::AnswerPermission { request_id, decision } => {
                    self.asked.push_back(Asked::Decided { request_id, decision });
                }
            }
        }
    }

    fn ask_hosts(&mut self) {
        while let Some(asked) = self.asked.pop_front() {
            match asked {
                Asked::Prompt(wanted) => self.prompt(wanted),
                Asked::Stop { call_id } => self.stop(call_id),
                Asked::Decided { request_id, decision } => self.decided(request_id, decision),
            }
        }
    }

    fn prompt(&mut self, wanted: turn::Prompt) {
        let turn::Prompt { turn_id, call_id, round, agent, session_name: name, prompt: text } = wanted;
        let agent = self.machine.agent_of_call(&call_id).unwrap_or(agent);
        // A name belongs to one agent.
        let others: Vec<_> = self.machine.hosts.keys().filter(|other| **other != agent).cloned().collect();
        for other in others {
            self.host(&other, host::Input::ForgetSession { name: name.clone() });
        }
        self.host(&agent, host::Input::Prompt { turn_id, call_id, round, name, text });
    }

    fn stop(&mut self, call_id: String) {
        let agent = self.machine.agent_of_call(&call_id).unwrap_or_else(|| self.context.turn.agent.clone());
        self.host(&agent, host::Input::Stop { call_id });
    }

    fn decided(&mut self, request_id: PermissionId, decision: Decision) {
        let found = self.machine.hosts.values().find(|host| host.debt(request_id).is_some()).map(|host| host.agent().to_owned());
        if let Some(agent) = found {
            let content = self.content.take();
            self.host(&agent, host::Input::Decided { request_id, decision, content });
        }
    }

    fn host(&mut self, agent: &str, input: host::Input) {
        let Machine { turn, hosts } = &mut *self.machine;
        let host = hosts.entry(agent.to_owned()).or_insert_with(|| Host::new(agent));
        for effect in host.step(input, turn, self.context) {
            match effect {
                host::Effect::Append(event) => self.effects.push(Effect::Append(event)),
                host::Effect::Keep(keep) => self.effects.push(Effect::Keep(keep)),
                host::Effect::Turn(input) => self.turn(input),
                host::Effect::Act(Act::Timer(timer)) => self.effects.push(Effect::Timer(timer)),
                host::Effect::Act(act) => self.effects.push(Effect::Host { agent: agent.to_owned(), act }),
            }
        }
    }

    /// A person is asked only what is still theirs to decide.
    fn reconsider(&mut self) {
        let open: Vec<PermissionRequest> = self.machine.turn.turn.iter().flat_map(|turn| turn.permissions.clone()).collect();
        for open in open {
            let (PolicyOutcome::Decided(decision), by) = self.context.decide(&open.agent, &open.ask) else { continue };
            let (rule, by) = (by.rule_use(), by.as_str().to_owned());
            self.turn(turn::Input::PermissionAnswer { request_id: open.request_id, decision, by, reason: None, rule });
        }
    }
}
