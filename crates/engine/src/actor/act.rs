//! Effects, run: the only place where anything is begun outside of a session's own task. What was decided is durable by then.

use domain::event::TurnState;
use domain::host::{self, Act, Timer};
use domain::ids::{PermissionId, RunnerId};
use domain::machine::{Effect, Input};
use domain::turn::{self, ToolEnd};
use tokio::task::JoinError;

use super::Actor;
use crate::agent::{self, Task, Work};
use crate::changes::{Scanned, TreeTaken};
use crate::room::Place;
use crate::tool_call;

/// What a task of the session's came to.
pub(crate) enum Ended {
    Tool {
        call_id: String,
        output: tools::Output,
    },
    Timer(Timer),
    /// An agent does not take something that its prompt should carry; `write` sends it the rest.
    LeftOut {
        call_id: String,
        text: String,
        write: Task,
    },
    Started {
        agent: String,
        runner: RunnerId,
        outcome: Result<(agents::Connection, Place), agents::ConnectError>,
    },
    /// A command runs for the agent, or could not be started.
    TerminalStarted {
        agent: String,
        id: PermissionId,
        outcome: Result<agents::Terminal, String>,
    },
    TerminalChanged {
        runner: RunnerId,
        terminal_id: String,
    },
    TerminalReleased {
        runner: RunnerId,
        id: PermissionId,
        terminal_id: String,
    },
    /// The work directory before or after a turn; none where it could not be taken down.
    Tree(Option<TreeTaken>),
    /// What tool calls wrote.
    Scanned(Scanned),
    /// What npx says while it fetches an agent.
    Fetching(agent::Progress),
    Host {
        agent: String,
        input: Box<host::Input>,
    },
    Nothing,
}

impl Actor {
    pub(super) async fn act(&mut self, effect: Effect) {
        match effect {
            Effect::Append(_) | Effect::Save(_) | Effect::Keep(_) => unreachable!("these are stored, not run"),
            Effect::CallModel { turn_id, message_id } => {
                let work = self.call_model(turn_id, message_id);
                let task = self.tasks.start(work);
                self.model.began(task);
            }
            Effect::StopModel => self.model.stop(),
            Effect::RunTool(call) => {
                let (project, id) = (self.shared.project(&self.row.work_dir), call.id.clone());
                let task = self.tasks.start(async move {
                    let output = tools::run(&project, &call.name, &call.arguments).await;
                    Ended::Tool { call_id: call.id, output }
                });
                self.tool_tasks.insert(id, task);
            }
            Effect::StopTool { call_id } => {
                if let Some(task) = self.tool_tasks.remove(&call_id) {
                    task.abort();
                }
            }
            Effect::Timer(timer) => {
                let settings = &self.shared.settings;
                let after = match timer {
                    Timer::Stop { .. } => settings.cancel_timeout,
                    Timer::Confirm { .. } => settings.confirm_timeout,
                };
                self.tasks.start(async move {
                    tokio::time::sleep(after).await;
                    Ended::Timer(timer)
                });
            }
            Effect::Host { agent, act } => self.host_act(agent, act).await,
        }
    }

    async fn host_act(&mut self, agent: String, act: Act) {
        match act {
            Act::GiveUp { id } => {
                if let Some(task) = self.demand_tasks.remove(&id) {
                    task.abort();
                }
            }
            Act::Adopt { runner, cursor } => self.adopt(&agent, runner, cursor).await,
            act => {
                let demand = if let Act::Do { id, .. } = &act { Some(*id) } else { None };
                match self.work(agent, act) {
                    Work::Task(work) => {
                        let task = self.tasks.start(work);
                        demand.map(|id| self.demand_tasks.insert(id, task));
                    }
                    Work::Input(agent, input) => self.tell_host(agent, *input),
                    Work::Nothing => {}
                }
            }
        }
    }

    pub(crate) fn begin(&mut self, work: impl Future<Output = Ended> + Send + 'static) {
        self.tasks.start(work);
    }

    pub(super) async fn task_ended(&mut self, ended: Result<Ended, JoinError>) {
        match ended {
            Ok(Ended::Tool { call_id, output }) => {
                self.tool_tasks.remove(&call_id);
                let end = tool_call::end(output, &mut self.reviews);
                self.turn_input(turn::Input::ToolEnd { call_id, end });
            }
            Ok(Ended::Timer(timer)) => self.timer_fired(timer),
            Ok(Ended::LeftOut { call_id, text, write }) => {
                self.left_out(call_id, text);
                self.flush().await;
                self.tasks.start(write);
            }
            Ok(Ended::Started { agent, runner, outcome }) => self.agent_started(agent, runner, outcome),
            Ok(Ended::TerminalStarted { agent, id, outcome }) => self.terminal_started(agent, id, outcome),
            Ok(Ended::TerminalChanged { runner, terminal_id }) => self.terminal_changed(runner, &terminal_id),
            Ok(Ended::TerminalReleased { runner, id, terminal_id }) => self.terminal_released(runner, id, &terminal_id),
            Ok(Ended::Host { agent, input }) => {
                if let host::Input::Done { id, .. } = &*input {
                    self.demand_tasks.remove(id);
                }
                self.learn(&agent, &input);
                self.options_answered(&agent, &input);
                self.tell_host(agent, *input);
            }
            Ok(Ended::Fetching(progress)) => self.fetch_went_on(progress),
            Ok(Ended::Tree(Some(taken))) => {
                self.trees.heard(&taken);
                self.rows.push(store::Row::Tree(taken.row));
                self.rows.extend(taken.counts.map(|counts| store::Row::Changed(Some(counts))));
                self.rows.extend(taken.credits);
                self.scan();
            }
            Ok(Ended::Scanned(scanned)) => {
                self.scans.ended(&scanned);
                self.rows.extend(scanned.rows);
                self.scan();
            }
            Ok(Ended::Tree(None) | Ended::Nothing) => {}
            Err(error) if error.is_cancelled() => {}
            Err(error) => self.task_panicked(&error),
        }
    }

    fn timer_fired(&mut self, timer: Timer) {
        match timer {
            Timer::Stop { call_id } => {
                let host = self.machine.hosts().find(|host| host.has_call(&call_id)).map(|host| host.agent().to_owned());
                if let Some(agent) = host {
                    self.tell_host(agent, host::Input::StopOverdue { call_id });
                }
            }
            Timer::Confirm { call_id } => {
                let reason = "nobody agreed in time, so the file was not read".to_owned();
                self.close_confirm(&call_id);
                self.turn_input(turn::Input::Confirm { call_id, approved: false, reason });
            }
        }
    }

    /// A tool that panicked has no result of its own; the call it belonged to gets one, so that the turn can go on.
    fn task_panicked(&mut self, error: &JoinError) {
        tracing::error!(session = %self.id, %error, "a task of the session failed");
        let found = self.tool_tasks.iter().find(|(_, handle)| handle.id() == error.id()).map(|(call_id, _)| call_id.clone());
        match found {
            Some(call_id) => {
                self.tool_tasks.remove(&call_id);
                let content = "the tool failed with an internal error".to_owned();
                self.turn_input(turn::Input::ToolEnd { call_id, end: ToolEnd { content, is_error: true, ..ToolEnd::default() } });
            }
            None => self.step(Input::Turn(turn::Input::Abort {
                state: TurnState::Failed,
                code: "internal".to_owned(),
                reason: "an internal error ended this turn".to_owned(),
            })),
        }
    }

    /// Everything that the session started is ended: its agents, each told to stop what it works on first.
    pub(crate) async fn end_agents(&mut self) {
        self.model.stop();
        // One that starts an agent would go on starting it.
        self.tasks.end().await;
        agent::end_all(self).await;
    }

    /// The server stops. Agents in the middle of a turn are left to their runners, which go on and are taken up by the next server;
    /// idle ones are ended.
    pub(super) async fn leave(&mut self) {
        if self.machine.turn().turn.is_some() {
            return;
        }
        let runners: Vec<_> = self.machine.hosts().filter_map(host::Host::runner).collect();
        if runners.is_empty() {
            return;
        }
        agent::end_all(self).await;
        self.rows.extend(runners.into_iter().map(|runner| store::Row::RemoveRunner { id: runner.to_string() }));
        let (write, _) = self.take_write();
        if let Err(error) = self.shared.store.commit(write).await {
            tracing::warn!(session = %self.id, %error, "the end of the agents could not be stored");
        }
    }
}
