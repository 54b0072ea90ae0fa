//! The server: a thin driver around the machine. It steps, commits what is to be stored, and begins the rest after that.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use domain::agent::{AskedChange, ChangeText, Demand, Failure, OptionKind, Place, ToolCall as AgentTool, Update};
use domain::event::{Event, ToolCall};
use domain::host::{self, Act, Keep, Signal, Timer};
use domain::ids::{MessageId, PermissionId, RunnerId};
use domain::machine::{Context, Effect, Input, Machine};
use domain::turn;
use jiff::Timestamp;

use crate::defects::Defect;
use crate::invariants::{Checked, Invariant, hold};
use crate::names;
use crate::runner::{Line, OpenDemand};
use crate::store::Commit;
use crate::tasks::{Task, TaskState};
use crate::world::World;

pub(crate) const WORK_DIR: &str = "/project";
/// When the world begins, since 1970.
const START_SECONDS: i64 = 1_700_000_000;
/// How long an agent has to stop, and a person to agree, in seconds.
const STOP_SECONDS: i64 = 25;
const CONFIRM_SECONDS: i64 = 60;

/// What a server has in memory: all of it is lost when it dies.
pub struct Server {
    pub number: u64,
    pub machine: Machine,
    pub readers: BTreeMap<RunnerId, Reader>,
    pub tasks: Vec<Task>,
    pub next_task: u64,
    pub pending: Option<Pending>,
    pub recovery: VecDeque<Recovery>,
    pub timers: Vec<(i64, Timer)>,
    pub model: Option<ModelRun>,
    pub tools: Vec<ToolCall>,
    /// The policy when it started.
    pub first_policy: domain::policy::Policy,
}

#[derive(Clone, Debug, Default)]
pub struct Reader {
    pub position: u64,
    /// It has told that the process is gone.
    pub ended: bool,
}

/// A step that is decided and not committed.
pub struct Pending {
    pub commit: Commit,
    pub acts: Vec<Effect>,
}

/// What a new server does before anything else.
#[derive(Clone, Copy, Debug)]
pub enum Recovery {
    Confirms,
    Runner(RunnerId),
    Resume,
}

#[derive(Clone, Debug)]
pub struct ModelRun {
    pub message_id: MessageId,
    pub pieces: u32,
}

impl World {
    pub fn input(&mut self, input: Input) -> Checked {
        self.input_closing(input, None)
    }

    /// Steps the machine, and commits at once or later.
    pub fn input_closing(&mut self, input: Input, confirm_closed: Option<String>) -> Checked {
        names::count_input(&mut self.coverage, &input);
        self.oracle.note_input(&input);
        let Some(mut server) = self.server.take() else { return Ok(()) };
        let policy = if self.has(Defect::PolicyStale) { server.first_policy } else { self.policy };
        let effects = {
            let rules = || self.rules.clone();
            let new_id = || self.new_id();
            let context = Context {
                now: Timestamp::from_second(START_SECONDS + self.clock).unwrap_or_default(),
                turn: &self.settings,
                policy,
                rules: &rules,
                work_dir: Path::new(WORK_DIR),
                new_id: &new_id,
                agents: &self.words,
            };
            server.machine.step(input, &context)
        };
        self.check_step(&effects)?;
        let commit = Commit { effects: Vec::new(), rpc: rpc_of(&server.machine, &effects), confirm_closed };
        let mut pending = Pending { commit, acts: Vec::new() };
        for effect in effects {
            let stored = matches!(effect, Effect::Append(_) | Effect::Save(_) | Effect::Keep(_));
            let into = if stored { &mut pending.commit.effects } else { &mut pending.acts };
            into.push(effect);
        }
        self.server = Some(server);
        self.spoil(&mut pending)?;
        if pending.commit.effects.is_empty() && pending.commit.confirm_closed.is_none() {
            return self.begin(pending.acts);
        }
        if let Some(server) = &mut self.server {
            server.pending = Some(pending);
        }
        if self.fault(self.swarm.commits_slow, 4) { Ok(()) } else { self.commit() }
    }

    /// Commits what was decided last, and begins what follows from it.
    pub fn commit(&mut self) -> Checked {
        if self.fault(self.swarm.commits_refused, 8) {
            self.coverage.count("fault: commit refused");
            self.tell(|| "the store refuses the commit".to_owned());
            return Ok(());
        }
        let Some(mut pending) = self.server.as_mut().and_then(|server| server.pending.take()) else { return Ok(()) };
        let later = self.split_off(&mut pending.commit);
        let before = self.cursors_of(&pending.commit);
        self.tell(|| format!("the server commits {}", names::commit(&pending.commit)));
        self.store.commit(&pending.commit);
        self.check_commit(&pending.commit, &before)?;
        if let Some(later) = later {
            let pending = Pending { commit: later, acts: pending.acts };
            if let Some(server) = &mut self.server {
                server.pending = Some(pending);
            }
            return Ok(());
        }
        self.begin(pending.acts)
    }

    fn cursors_of(&self, commit: &Commit) -> Vec<(RunnerId, u64, u64)> {
        let mut cursors = Vec::new();
        for effect in &commit.effects {
            if let Effect::Keep(Keep::Cursor { runner, cursor }) = effect
                && let Some(row) = self.store.runners.get(runner)
            {
                cursors.push((*runner, row.cursor, *cursor));
            }
        }
        cursors
    }

    /// Begins what a commit has decided.
    pub fn begin(&mut self, acts: Vec<Effect>) -> Checked {
        for effect in acts {
            self.begin_one(effect)?;
        }
        Ok(())
    }

    fn begin_one(&mut self, effect: Effect) -> Checked {
        names::count_effect(&mut self.coverage, &effect);
        let Some(server) = &mut self.server else { return Ok(()) };
        match effect {
            Effect::CallModel { message_id, .. } => {
                hold(self.store.turn_from.is_some(), Invariant::CommitFirst, || {
                    "the main AI is asked for a turn that is not stored".into()
                })?;
                server.model = Some(ModelRun { message_id, pieces: 0 });
            }
            Effect::StopModel => server.model = None,
            Effect::RunTool(call) => {
                self.oracle.check_tool(&call, &self.store)?;
                server.tools.push(call);
            }
            Effect::StopTool { call_id } => server.tools.retain(|call| call.id != call_id),
            Effect::Timer(timer) => {
                let seconds = if matches!(timer, Timer::Stop { .. }) { STOP_SECONDS } else { CONFIRM_SECONDS };
                let forgotten = matches!(timer, Timer::Stop { .. }) && self.defect == Some(Defect::StopTimerLost);
                if !forgotten {
                    server.timers.push((self.clock + seconds, timer));
                }
            }
            Effect::Host { act: Act::Adopt { runner, cursor }, .. } => {
                let position = match self.defect {
                    Some(Defect::AdoptFromStart) => 0,
                    Some(Defect::AdoptTooFar) => cursor + 1,
                    _ => cursor,
                };
                server.readers.insert(runner, Reader { position, ended: false });
            }
            Effect::Host { act: Act::GiveUp { id }, .. } => {
                server.tasks.retain(|task| !matches!(&task.act, Act::Do { id: done, .. } if *done == id));
            }
            Effect::Host { agent, act } => {
                server.next_task += 1;
                let id = server.next_task;
                // What a defect hears of before it is done.
                let early = match (&act, self.defect) {
                    (Act::Prompt { call_id, round, .. }, Some(Defect::WrittenEarly)) => {
                        Some(host::Input::Written { call_id: call_id.clone(), round: *round, outcome: host::WriteOutcome::Written })
                    }
                    (Act::Clear { runner, .. }, Some(Defect::ClearedEarly)) => Some(host::Input::Cleared { runner: *runner }),
                    (Act::ForbidAll { runner, session }, Some(Defect::SetEarly)) => {
                        Some(host::Input::Forbidden { told: host::Told::of(*runner, session), asks: true })
                    }
                    _ => None,
                };
                let state = if early.is_some() { TaskState::Silent } else { TaskState::Todo };
                if let Some(outcome) = early {
                    server.tasks.push(Task { id: 0, agent: agent.clone(), act: act.clone(), state: TaskState::Ready(outcome) });
                }
                server.tasks.push(Task { id, agent, act, state });
            }
            Effect::Append(_) | Effect::Save(_) | Effect::Keep(_) => {}
        }
        Ok(())
    }

    /// The runners whose journals have something for the server.
    pub fn readable(&self) -> Vec<RunnerId> {
        let Some(server) = self.server.as_ref().filter(|server| server.is_free()) else { return Vec::new() };
        let readable = server.readers.iter().filter(|(id, reader)| match self.runners.get(id) {
            Some(runner) => runner.end() > reader.position || (!runner.is_alive() && !reader.ended),
            None => !reader.ended,
        });
        readable.map(|(id, _)| *id).collect()
    }

    /// The server reads the next lines of a journal.
    pub fn read(&mut self, id: RunnerId) -> Checked {
        let most = if self.fair { 8 } else { 1 + self.choices.draw(8) as u64 };
        let Some(reader) = self.server.as_ref().and_then(|server| server.readers.get(&id)) else { return Ok(()) };
        let (mut position, mut signals, mut agent) = (reader.position, Vec::new(), None);
        let mut gone = true;
        if let Some(runner) = self.runners.get(&id) {
            hold(position >= runner.trimmed, Invariant::LinesKept, || {
                format!(
                    "the server wants to read on from {position}, and {} has forgotten everything up to {}",
                    runner.label, runner.trimmed
                )
            })?;
            let (to, lines) = runner.read(position, most);
            signals = lines.into_iter().map(|(seq, index, line)| self.signal(id, seq, index, line)).collect();
            gone = !runner.is_alive() && to == runner.end();
            position = to;
            agent = Some(runner.agent.clone());
        }
        let agent = agent.or_else(|| self.store.runners.get(&id).map(|row| row.agent.clone()));
        let label = self.label(id);
        self.tell(|| format!("the server reads the journal of {label} up to {position}{}", if gone { ", which ends there" } else { "" }));
        let Some(server) = &mut self.server else { return Ok(()) };
        if let Some(reader) = server.readers.get_mut(&id) {
            *reader = Reader { position, ended: gone };
        }
        if gone && self.defect != Some(Defect::GoneDropped) {
            signals.push(Signal::Gone { text: "exit status 1".to_owned() });
        }
        let Some(agent) = agent else { return Ok(()) };
        self.input(Input::Host { agent, input: host::Input::Batch { runner: id, cursor: position, signals } })
    }

    fn signal(&self, runner: RunnerId, seq: u64, index: u32, line: &Line) -> Signal {
        match line {
            Line::Text { session, text, .. } => Signal::Text { agent_session: Arc::from(session.as_str()), text: text.clone() },
            Line::Tool { session, id, title, completed, .. } => {
                let status = if *completed { "completed" } else { "in_progress" };
                let call = AgentTool {
                    id: id.clone(),
                    title: Some(title.clone()),
                    kind: Some("execute".to_owned()),
                    status: Some(status.to_owned()),
                    ..AgentTool::default()
                };
                Signal::Update { agent_session: Arc::from(session.as_str()), update: Update::ToolCall(call), described: None }
            }
            Line::Title { session, title } => {
                let update = Update::Title { title: Some(title.clone()) };
                Signal::Update { agent_session: Arc::from(session.as_str()), update, described: None }
            }
            Line::Demand { session, rpc_id, demand } => {
                let place = if self.has(Defect::DemandIdFromRpc) {
                    Place { seq: rpc_id.bytes().map(u64::from).sum(), index: 0 }
                } else {
                    Place { seq, index }
                };
                let mut demand = demand.clone();
                self.decode(&mut demand);
                Signal::Demand { agent_session: Arc::from(session.as_str()), place, rpc_id: rpc_id.clone(), demand }
            }
            Line::Withdrawn { rpc_id } => Signal::Withdrawn { rpc_id: rpc_id.clone() },
            Line::Answered { call, round, result } => {
                let call_id = self.answered_call(runner, call);
                let result = result.clone().map_err(|fault| Failure::new(fault, "the agent said so"));
                Signal::Answered { call_id, round: *round, result }
            }
            Line::Dropped => Signal::LineDropped { bytes: 1 },
        }
    }

    fn decode(&self, demand: &mut Demand) {
        match demand {
            Demand::Permission(ask) => {
                self.look_at(ask);
                if self.has(Defect::OfferRepaired) {
                    let offered = std::mem::take(&mut ask.options);
                    for option in offered.into_iter().filter(|option| option.kind != OptionKind::Unknown && !option.option_id.is_empty()) {
                        ask.options.retain(|other| other.option_id != option.option_id);
                        ask.options.push(option);
                    }
                }
            }
            // What the agent asked about last is taken for what it writes.
            Demand::WriteFile { path, content } if self.has(Defect::ContentLate) => {
                let asked = |demand: &OpenDemand| match &demand.demand {
                    Demand::Permission(ask) => ask.changes.iter().find(|change| change.path == *path).cloned(),
                    _ => None,
                };
                let processes = self.runners.values().filter_map(|runner| runner.process.as_ref());
                let shown = processes.flat_map(|process| &process.asked).filter_map(asked).next_back();
                if let Some(AskedChange { text: ChangeText::Texts { new, .. }, .. }) = shown {
                    *content = new;
                }
            }
            _ => {}
        }
    }

    fn answered_call(&self, runner: RunnerId, call: &str) -> String {
        if self.has(Defect::AnswerBySession)
            && let Some(host) = self.server.as_ref().and_then(|server| server.machine.host_of_runner(runner))
            && let Some(prompt) = host.prompts().iter().find(|prompt| prompt.is_out())
        {
            return prompt.call_id.clone();
        }
        call.to_owned()
    }

    /// The denial that is to be sent next, and when, by the world's clock.
    pub fn held_until(&self) -> Option<(PermissionId, i64)> {
        let turn = self.server.as_ref().and_then(|server| server.machine.turn().turn.as_ref());
        let held = turn?.holds.iter().min_by_key(|held| held.until)?;
        Some((held.request_id, held.until / 1000 - START_SECONDS))
    }

    /// Nobody has taken it back in time.
    pub fn hold_over(&mut self) -> Checked {
        let Some((request_id, _)) = self.held_until() else { return Ok(()) };
        self.tell(|| "a denial was held for its time".to_owned());
        self.input(Input::Turn(turn::Input::HoldOver { request_id }))
    }

    /// A timer that is due fires.
    pub fn fire(&mut self, at: usize) -> Checked {
        let Some(server) = &mut self.server else { return Ok(()) };
        let (_, timer) = server.timers.remove(at);
        match timer {
            Timer::Stop { call_id } => {
                self.tell(|| format!("the deadline to stop {call_id} is over"));
                self.check_told_to_stop(&call_id)?;
                let server = self.server.as_ref();
                let host = server.and_then(|server| server.machine.hosts().find(|host| host.has_call(&call_id)));
                let Some(agent) = host.map(|host| host.agent().to_owned()) else { return Ok(()) };
                self.input(Input::Host { agent, input: host::Input::StopOverdue { call_id } })
            }
            Timer::Confirm { call_id } => {
                self.tell(|| format!("nobody has agreed to {call_id} in time"));
                self.confirm(call_id, false)
            }
        }
    }
}

impl Server {
    /// It takes inputs: nothing waits to be committed, and it has recovered.
    pub fn is_free(&self) -> bool {
        self.pending.is_none() && self.recovery.is_empty()
    }

    /// A prompt waits for the stops that were begun before it: an agent is told to stop a session, not a prompt.
    pub fn is_held(&self, at: usize) -> bool {
        let Act::Prompt { runner: to, .. } = &self.tasks[at].act else { return false };
        self.tasks[..at].iter().any(|task| matches!(&task.act, Act::Cancel { runner, .. } if runner == to))
    }
}

/// Where the permissions that a step opens are answered.
fn rpc_of(machine: &Machine, effects: &[Effect]) -> Vec<(domain::ids::PermissionId, RunnerId, String)> {
    let opened = effects.iter().filter_map(|effect| match effect {
        Effect::Append(Event::PermissionRequest(request)) => Some(request.request_id),
        _ => None,
    });
    opened.filter_map(|id| machine.rpc_of(id).map(|(runner, rpc_id)| (id, runner, rpc_id.to_owned()))).collect()
}
