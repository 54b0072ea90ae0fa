//! What the server has begun for the hosts: each task does one thing outside, and its end comes back as an input.

use domain::agent::{
    AskedFile, Demand, Exited, Failure, Fault, OptionKind, PermissionAsk, PermissionOption, Reply, Run, Shown, is_system_shell,
    shell_script,
};
use domain::host::{self, Act, Described, OptionOutcome, Prepared, StartFailure, Told, WriteOutcome};
use domain::ids::{PermissionId, RunnerId};
use domain::machine::Input;
use uuid::Uuid;

use crate::asking::place;
use crate::defects::Defect;
use crate::disk::{self, FILES};
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
                let outcome = self.prepare(&demand);
                Next::Ready(host::Input::Prepared { id, outcome: Box::new(outcome) })
            }
            Act::ForbidAll { runner, session } => {
                let asks = !self.fault(self.swarm.agents_err, 3);
                self.oracle.unguarded += u32::from(!asks);
                Next::Ready(host::Input::Forbidden { told: Told::of(runner, &session), asks })
            }
            Act::Do { id, demand, shown, .. } => self.do_demand(id, &demand, shown)?,
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
        // Whoever uses an id twice at a time gets each answer by the id, and cannot tell them apart.
        let under = |made: bool| process.demands.iter().position(|demand| demand.rpc_id == rpc_id && (!made || demand.id == made_for));
        let Some(at) = under(true).or_else(|| under(false)) else {
            return hold(false, Invariant::ReplyOnce, || format!("request {rpc_id} is answered, and nothing is open under that id"));
        };
        let OpenDemand { id: demand_id, demand, .. } = process.demands.remove(at);
        let mistaken = self.defect == Some(Defect::DemandIdFromRpc);
        hold(mistaken || demand_id == made_for, Invariant::ReplyOnce, || {
            format!("request {rpc_id} is answered with what was decided about another one")
        })?;
        self.oracle.check_reply(demand_id, &demand, reply)
    }

    fn do_demand(&mut self, id: PermissionId, demand: &Demand, shown: Option<Box<Shown>>) -> Result<Next, Box<Violation>> {
        let reply = match demand {
            Demand::ReadFile { .. } => Reply::Text { content: "text".to_owned() },
            Demand::WriteFile { path, content } => self.write_file(id, path, content, shown)?,
            Demand::StartTerminal(start) => {
                self.oracle.side_effect(id, &disk::command(start))?;
                Reply::TerminalStarted { terminal_id: id.to_string() }
            }
            Demand::TerminalOutput { .. } => Reply::Output { output: "out".to_owned(), truncated: false, exit: None },
            Demand::WaitForTerminal { .. } => Reply::Exited(Exited { code: Some(0), signal: None }),
            _ => Reply::Done,
        };
        Ok(Next::Ready(host::Input::Done { id, reply, update: None }))
    }

    /// Writes what was shown, if it still is what it was.
    fn write_file(&mut self, id: PermissionId, name: &str, content: &str, shown: Option<Box<Shown>>) -> Result<Reply, Box<Violation>> {
        let Some(Shown::File { path, before, .. }) = shown.map(|shown| *shown) else {
            return Ok(Reply::refused(domain::agent::Problem::NotAllowed, "nobody was shown this"));
        };
        let followed = self.has(Defect::LinkFollowed) || self.has(Defect::GrantStretched);
        if !followed && !self.disk.is_as_shown(&path, before.as_deref()) {
            self.coverage.count("refused: not as shown");
            return Ok(Reply::refused(domain::agent::Problem::Invalid, "it is another file by now"));
        }
        let path = if followed { self.disk.resolve(name) } else { path };
        let said = if self.has(Defect::ContentLate) { self.content_of(id) } else { None };
        let content = said.as_deref().unwrap_or(content);
        self.oracle.side_effect(id, &self.disk.change(&path, content))?;
        self.disk.write(&path, content);
        Ok(Reply::Done)
    }

    /// What the agent said when it asked for the write.
    fn content_of(&self, id: PermissionId) -> Option<String> {
        let processes = self.runners.values().filter_map(|runner| runner.process.as_ref());
        processes.flat_map(|process| &process.asked).find(|asked| asked.id == id).and_then(|asked| match &asked.demand {
            Demand::WriteFile { content, .. } => Some(content.clone()),
            _ => None,
        })
    }

    /// What a person is asked before something is changed for an agent.
    fn prepare(&self, demand: &Demand) -> Result<Prepared, Reply> {
        let kinds = [OptionKind::AllowOnce, OptionKind::AllowAlways, OptionKind::RejectOnce];
        let options = kinds.map(|kind| PermissionOption::new(kind.as_str(), kind.as_str(), kind)).to_vec();
        let ask = PermissionAsk { title: "something".to_owned(), options, ..PermissionAsk::default() };
        match demand {
            Demand::WriteFile { path, content } => {
                let path = if self.has(Defect::GrantStretched) { FILES[0] } else { path };
                let (shown, real) = (self.disk.look(path, content), self.disk.resolve(path));
                let ask = PermissionAsk {
                    kind: Some("edit".to_owned()),
                    diff: Some(self.disk.change(&real, content)),
                    files: vec![AskedFile { path: real.clone(), place: place(&real) }],
                    shown: Some(Box::new(shown)),
                    ..ask
                };
                Ok(Prepared { ask, before: self.disk.text(&real).map(str::to_owned) })
            }
            Demand::StartTerminal(start) => {
                let shell = shell_script(start).and(is_system_shell(&start.command).then(|| start.command.clone()));
                let ask = PermissionAsk {
                    kind: Some("execute".to_owned()),
                    command: Some(disk::command(start)),
                    run: Some(Box::new(Run::of(start))),
                    shown: Some(Box::new(Shown::Command { cwd: ".".to_owned(), shell })),
                    ..ask
                };
                Ok(Prepared { ask, before: None })
            }
            _ => Err(Reply::refused(domain::agent::Problem::Invalid, "nothing to ask")),
        }
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
