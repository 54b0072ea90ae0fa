//! What the server has begun for the hosts: each task does one thing outside, and its end comes back as an input.

use domain::agent::{AskedFile, Demand, Exited, Failure, Fault, FilePlace, PermissionAsk, PermissionOption, Reply};
use domain::host::{self, Act, Described, OptionOutcome, StartFailure, Told, WriteOutcome};
use domain::ids::{PermissionId, RunnerId};
use domain::machine::Input;
use uuid::Uuid;

use crate::agent::FILES;
use crate::defects::Defect;
use crate::driver::Reader;
use crate::invariants::{Checked, Invariant, Violation, hold};
use crate::names;
use crate::runner::{OpenDemand, Opening, Runner, Work, Write, Wrote};
use crate::world::World;

#[derive(Clone, Debug)]
pub struct Task {
    pub id: u64,
    pub agent: String,
    pub act: Act,
    pub state: TaskState,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "few live at a time")]
pub enum TaskState {
    Todo,
    /// As if it were done already: nobody hears of its end.
    Silent,
    /// It is for somebody else to go on.
    Waiting,
    Ready(host::Input),
}

/// How a task goes on once it was performed.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
enum Next {
    Ready(host::Input),
    Waiting,
    /// Nobody wants to hear of it.
    Over,
    /// It could not be done just now, and is tried again.
    Again,
}

impl World {
    /// Does what a task is for.
    pub fn perform(&mut self, at: usize) -> Checked {
        let Some(server) = &self.server else { return Ok(()) };
        let Task { id, act, state, .. } = server.tasks[at].clone();
        self.check_committed(&act)?;
        let line = names::act(self, &act);
        let next = self.do_act(id, act)?;
        self.tell(|| format!("{line}{}", if matches!(next, Next::Again) { ", and is refused" } else { "" }));
        let Some(server) = &mut self.server else { return Ok(()) };
        match (next, state) {
            (Next::Again, _) => {}
            (Next::Ready(_) | Next::Over, TaskState::Silent) | (Next::Over, _) => _ = server.tasks.remove(at),
            (Next::Ready(input), _) => server.tasks[at].state = TaskState::Ready(input),
            (Next::Waiting, _) => server.tasks[at].state = TaskState::Waiting,
        }
        Ok(())
    }

    /// The end of a task comes to the machine.
    pub fn deliver(&mut self, at: usize) -> Checked {
        let Some(server) = &mut self.server else { return Ok(()) };
        let Task { agent, state, .. } = server.tasks.remove(at);
        let TaskState::Ready(input) = state else { return Ok(()) };
        self.tell(|| format!("the server hears: {}", names::host_input(&input)));
        self.input(Input::Host { agent, input })
    }

    fn do_act(&mut self, task: u64, act: Act) -> Result<Next, Box<Violation>> {
        Ok(match act {
            Act::Start { runner, agent } => self.start_runner(task, runner, agent)?,
            Act::Open { runner, name, known, .. } => {
                let restore = known.filter(|known| known.prompted_at.is_some()).map(|known| known.agent_session);
                self.open_session(task, runner, name, restore)?
            }
            Act::Prompt { runner, turn_id, call_id, round, agent_session, .. } => {
                self.check_set_before(task, runner, &call_id, &agent_session)?;
                let id = if self.has(Defect::PromptIdDrawn) { self.new_id() } else { turn_id.prompt_write(&call_id, round) };
                self.write_prompt(runner, id, (call_id, round), agent_session)?
            }
            Act::Cancel { runner, call_id, agent_session } => self.write_cancel(runner, call_id, &agent_session)?,
            Act::Reply { runner, id, rpc_id, reply } => self.write_reply(runner, id, rpc_id, reply)?,
            Act::Prepare { id, demand } => {
                let mut outcome = prepare(&demand);
                if let (Ok(ask), true) = (&mut outcome, self.has(Defect::GrantStretched)) {
                    ask.files.iter_mut().for_each(|file| FILES[0].clone_into(&mut file.path));
                }
                Next::Ready(host::Input::Prepared { id, outcome: Box::new(outcome) })
            }
            Act::ForbidAll { runner, session } => {
                let asks = !self.fault(self.swarm.agents_err, 3);
                self.oracle.unguarded += u32::from(!asks);
                Next::Ready(host::Input::Forbidden { told: Told::of(runner, &session), asks })
            }
            Act::Do { id, demand, .. } => self.do_demand(id, &demand)?,
            Act::SetOptions { runner, session } => {
                let told = Told::of(runner, &session);
                let wanted = session.wanted.as_ref().and_then(|wanted| wanted.as_object()).cloned().unwrap_or_default();
                let outcomes = wanted.into_iter().map(|(id, value)| OptionOutcome {
                    shown: (id.clone(), value.to_string()),
                    id,
                    value,
                    outcome: Ok(()),
                });
                let (outcomes, described) = (outcomes.collect(), Described::default());
                Next::Ready(host::Input::OptionsSet { told, outcomes, described })
            }
            Act::Acknowledge { runner, cursor } => {
                self.trim(runner, cursor)?;
                Next::Over
            }
            Act::End { runner } => {
                if let Some(process) = self.runners.get_mut(&runner).and_then(|runner| runner.process.as_mut()) {
                    process.ending = true;
                }
                Next::Over
            }
            Act::Clear { runner, .. } => {
                self.end_process(runner);
                if let Some(runner) = self.runners.get_mut(&runner) {
                    runner.exists = false;
                }
                if let Some(server) = &mut self.server {
                    server.readers.remove(&runner);
                }
                Next::Ready(host::Input::Cleared { runner })
            }
            Act::WatchTerminal { .. } | Act::KillTerminals { .. } | Act::GiveUp { .. } | Act::Adopt { .. } | Act::Timer(_) => Next::Over,
        })
    }

    fn check_set_before(&self, id: u64, prompted: RunnerId, call: &str, agent_session: &str) -> Checked {
        let Some(server) = &self.server else { return Ok(()) };
        let setting = server.tasks.iter().any(|task| match &task.act {
            Act::SetOptions { runner, session } | Act::ForbidAll { runner, session } => {
                task.id < id && *runner == prompted && session.agent_session == agent_session
            }
            _ => false,
        });
        hold(!setting || self.oracle.is_sent_again(call), Invariant::SetFirst, || {
            format!("{agent_session} is prompted while it is being set")
        })
    }

    fn start_runner(&mut self, _task: u64, runner: RunnerId, agent: String) -> Result<Next, Box<Violation>> {
        if self.fault(self.swarm.starts_fail, 6) {
            self.coverage.count("fault: not started");
            self.oracle.start_failures += 1;
            let outcome = Err(StartFailure { code: "agent_not_started", gone: false, message: "no such file".to_owned() });
            return Ok(Next::Ready(host::Input::Started { runner, outcome }));
        }
        let other = self.runners.values().find(|other| other.agent == agent && other.is_alive());
        hold(other.is_none(), Invariant::OneOwner, || {
            format!("{agent} is started although {} lives", other.map_or("", |other| other.label.as_str()))
        })?;
        let label = format!("runner {} of {agent}", self.number());
        let logged_in = self.agents.get(agent.as_str()).is_some_and(|agent| agent.logged_in);
        self.runners.insert(runner, Runner::new(runner, label, agent, logged_in));
        if let Some(server) = &mut self.server {
            server.readers.insert(runner, Reader::default());
        }
        Ok(Next::Waiting)
    }

    fn open_session(&mut self, task: u64, runner: RunnerId, name: String, restore: Option<String>) -> Result<Next, Box<Violation>> {
        let server = self.servers;
        let Some(process) = self.runners.get_mut(&runner).and_then(|runner| runner.process.as_mut()) else {
            let outcome = Err(Failure::new(Fault::Gone, "the agent has ended"));
            return Ok(Next::Ready(host::Input::SessionOpened { runner, name, outcome }));
        };
        let twice = restore.is_some() && process.openings.iter().any(|opening| opening.restore == restore);
        hold(!twice, Invariant::OneOwner, || format!("{name} is brought back twice at once in one process"))?;
        process.openings.push(Opening { server, task, name, restore });
        Ok(Next::Waiting)
    }

    fn write_prompt(&mut self, runner: RunnerId, id: Uuid, prompt: (String, u32), session: String) -> Result<Next, Box<Violation>> {
        let (call, round) = prompt;
        let alive = self.runners.get(&runner).is_some_and(|runner| runner.is_alive() && !runner.writes.contains(&id));
        if alive && self.fault(self.swarm.writes_refused, 8) {
            self.coverage.count("fault: prompt refused");
            self.oracle.not_sent.insert(call.clone());
            let outcome = WriteOutcome::Failed(Failure::new(Fault::NotSent, "too much waits"));
            return Ok(Next::Ready(host::Input::Written { call_id: call, round, outcome }));
        }
        let deaf = self.fault(self.swarm.agents_deaf, 3);
        let gone_as_unsent = self.has(Defect::GoneAsUnsent);
        let wrote = match self.runners.get_mut(&runner) {
            Some(runner) => runner.write(id, Write::Prompt { call: call.clone(), round, session: session.clone() }),
            None => Wrote::Gone { held: true },
        };
        let outcome = match wrote {
            Wrote::Written { again } => {
                if !again {
                    self.oracle.prompt_reached(&call, runner)?;
                    self.take_prompt(runner, (&call, round), session, deaf)?;
                }
                WriteOutcome::Written
            }
            Wrote::Gone { held } if held && !gone_as_unsent => WriteOutcome::Gone,
            Wrote::Gone { .. } => WriteOutcome::Unsent("the agent has ended".to_owned()),
        };
        Ok(Next::Ready(host::Input::Written { call_id: call, round, outcome }))
    }

    fn take_prompt(&mut self, id: RunnerId, (call, round): (&str, u32), session: String, deaf: bool) -> Checked {
        let Some(runner) = self.runners.get_mut(&id) else { return Ok(()) };
        let told = runner
            .journal
            .iter()
            .any(|record| matches!(record, crate::runner::Record::In(Write::Cancel { call: cancelled }) if cancelled == call));
        hold(!told, Invariant::StopStops, || format!("the stop of {call} has overtaken its prompt"))?;
        let Some(process) = runner.process.as_mut() else { return Ok(()) };
        let inside = process.sessions.iter().any(|open| open.id == session);
        hold(inside, Invariant::OpenSession, || format!("{call} goes into {session}, which is not open in {}", runner.label))?;
        hold(process.works.iter().all(|work| work.session != session), Invariant::OpenSession, || {
            format!("{call} goes into {session}, which works on another prompt")
        })?;
        process.works.push(Work { call: call.to_owned(), round, session, cancelled: false, deaf, asked: false, tools: Vec::new() });
        Ok(())
    }

    /// An agent is told to stop whatever it does in a session.
    fn write_cancel(&mut self, runner: RunnerId, call: String, session: &str) -> Result<Next, Box<Violation>> {
        let alive = self.runners.get(&runner).is_some_and(Runner::is_alive);
        if alive && self.fault(self.swarm.writes_refused, 4) {
            return Ok(Next::Again);
        }
        let id = self.session.cancel_write(&call);
        if let Some(runner) = self.runners.get_mut(&runner)
            && runner.write(id, Write::Cancel { call: call.clone() }) == (Wrote::Written { again: false })
            && let Some(process) = &mut runner.process
        {
            for work in process.works.iter_mut().filter(|work| work.session == session) {
                work.cancelled = true;
                hold(work.call == call, Invariant::StopStops, || format!("the stop of {call} comes late and stops {}", work.call))?;
            }
        }
        Ok(Next::Over)
    }

    fn write_reply(&mut self, runner: RunnerId, id: PermissionId, rpc_id: String, reply: Reply) -> Result<Next, Box<Violation>> {
        let alive = self.runners.get(&runner).is_some_and(Runner::is_alive);
        if alive && self.fault(self.swarm.writes_refused, 4) {
            self.coverage.count("fault: reply refused");
            return Ok(if self.has(Defect::ReplyDropped) { Next::Over } else { Next::Again });
        }
        let write = if self.has(Defect::ReplyIdFromRpc) { Uuid::new_v5(&runner.0, rpc_id.as_bytes()) } else { id.reply_write() };
        let Some(found) = self.runners.get_mut(&runner) else { return Ok(Next::Over) };
        match found.write(write, Write::Reply { rpc_id: rpc_id.clone() }) {
            Wrote::Gone { .. } => return Ok(Next::Over),
            Wrote::Written { again: true } => {}
            Wrote::Written { again: false } => self.take_reply(runner, id, &rpc_id, &reply)?,
        }
        Ok(Next::Ready(host::Input::ReplySent { id }))
    }

    fn take_reply(&mut self, id: RunnerId, made_for: PermissionId, rpc_id: &str, reply: &Reply) -> Checked {
        let Some(process) = self.runners.get_mut(&id).and_then(|runner| runner.process.as_mut()) else { return Ok(()) };
        let at = process.demands.iter().position(|demand| demand.rpc_id == rpc_id);
        let Some(at) = at else {
            return hold(false, Invariant::ReplyOnce, || format!("request {rpc_id} is answered, and nothing is open under that id"));
        };
        let OpenDemand { id: demand_id, demand, .. } = process.demands.remove(at);
        let mistaken = self.defect == Some(Defect::DemandIdFromRpc);
        hold(mistaken || demand_id == made_for, Invariant::ReplyOnce, || {
            format!("request {rpc_id} is answered with what was decided about another one")
        })?;
        self.oracle.check_reply(demand_id, &demand, reply)
    }

    fn do_demand(&mut self, id: PermissionId, demand: &Demand) -> Result<Next, Box<Violation>> {
        let reply = match demand {
            Demand::ReadFile { .. } => Reply::Text { content: "text".to_owned() },
            Demand::WriteFile { .. } => {
                self.oracle.side_effect(id)?;
                Reply::Done
            }
            Demand::StartTerminal(_) => {
                self.oracle.side_effect(id)?;
                Reply::TerminalStarted { terminal_id: id.to_string() }
            }
            Demand::TerminalOutput { .. } => Reply::Output { output: "out".to_owned(), truncated: false, exit: None },
            Demand::WaitForTerminal { .. } => Reply::Exited(Exited { code: Some(0), signal: None }),
            _ => Reply::Done,
        };
        Ok(Next::Ready(host::Input::Done { id, reply, update: None }))
    }

    fn trim(&mut self, id: RunnerId, cursor: u64) -> Checked {
        let Some(runner) = self.runners.get_mut(&id) else { return Ok(()) };
        runner.trimmed = runner.trimmed.max(cursor);
        let stored = self.store.runners.get(&id).map_or(u64::MAX, |row| row.cursor);
        hold(stored >= cursor, Invariant::LinesKept, || {
            format!("{} forgets up to {cursor}, and only the meaning of {stored} records is committed", runner.label)
        })
    }

    /// An agent's process ends, and whoever waits for it hears of that.
    pub fn end_process(&mut self, id: RunnerId) {
        let Some(runner) = self.runners.get_mut(&id).filter(|runner| runner.process.is_some()) else { return };
        runner.process = None;
        self.oracle.deaths += 1;
        let Some(server) = &mut self.server else { return };
        for task in server.tasks.iter_mut().filter(|task| matches!(task.state, TaskState::Waiting)) {
            let ended = match &task.act {
                Act::Start { runner, .. } if *runner == id => {
                    let outcome = Err(StartFailure { code: "agent_not_started", gone: true, message: "exit status 1".to_owned() });
                    host::Input::Started { runner: id, outcome }
                }
                Act::Open { runner, name, .. } if *runner == id => {
                    let outcome = Err(Failure::new(Fault::Gone, "the agent has ended"));
                    host::Input::SessionOpened { runner: id, name: name.clone(), outcome }
                }
                _ => continue,
            };
            task.state = TaskState::Ready(ended);
        }
    }
}

/// What a person is asked before something is changed for an agent.
fn prepare(demand: &Demand) -> Result<PermissionAsk, Reply> {
    let option = |kind: &str| PermissionOption { option_id: kind.to_owned(), name: kind.to_owned(), kind: kind.to_owned() };
    let mut ask = PermissionAsk {
        title: "something".to_owned(),
        kind: None,
        command: None,
        diff: None,
        cwd: None,
        files: Vec::new(),
        locations: Vec::new(),
        options: ["allow_once", "allow_always", "reject_once"].map(option).to_vec(),
        agent_call: None,
        input: None,
        form: None,
        reason: None,
    };
    match demand {
        Demand::WriteFile { path, content } => {
            ask.kind = Some("edit".to_owned());
            ask.diff = Some(format!("--- a/{path}\n+++ b/{path}\n@@ -0,0 +1 @@\n{content}\n"));
            ask.files = vec![AskedFile { path: path.clone(), place: FilePlace::Inside }];
            Ok(ask)
        }
        Demand::StartTerminal(start) => {
            ask.kind = Some("execute".to_owned());
            ask.command = Some(start.command.clone());
            Ok(ask)
        }
        _ => Err(Reply::refused(domain::agent::Problem::Invalid, "nothing to ask")),
    }
}
