//! The session's agent at work: one process for all its named sessions, started when it is first needed.
//!
//! A delegated prompt waits until the process runs and its named session is open, is then written exactly once, and ends when the
//! agent answers it, or when the process is gone.

mod ends;
mod launch;
pub(crate) mod options;
pub(crate) mod requests;
mod signals;
mod trust;
mod view;

use std::path::PathBuf;

use agents::{Batch, ConnectError, Connection, RpcError, RpcId};
use domain::event::{Event, Notice};
use domain::ids::{PermissionId, SessionId, TurnId};
use domain::turn::{CallState, Effect};
use jiff::Timestamp;
use store::{AgentSessionRow, Row, RunnerRow, Store};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::actor::{Actor, TaskEnd};
use crate::attachments;
use crate::history;
use crate::host::{Job, NamedState, Slot};
use crate::open::{How, LOST, NEW, Open, open, reopen};
use crate::settings::RELAY;
use crate::trace::kept;

pub(crate) const SIGNALS: usize = 32;
const LOST_TEXT: &str = "The previous Copilot session could not be restored. A new session has been started. \
                         Your conversation history in VoxPilot is intact.";

pub(crate) enum AgentTask {
    Started {
        runner: Uuid,
        outcome: Result<(Connection, mpsc::Receiver<Batch>), ConnectError>,
    },
    Opened {
        runner: Uuid,
        name: String,
        outcome: Box<Result<Open, RpcError>>,
        /// Whether the answer before was cut off when its process ended.
        cut_off: bool,
    },
    /// `unsent`: the agent was gone and the prompt is not in its journal, so it was never seen by it.
    Prompted {
        job: Job,
        outcome: Result<(), RpcError>,
        unsent: bool,
    },
    CancelOverdue {
        call_id: String,
    },
    Request(requests::RequestTask),
    OptionsSet {
        name: String,
        outcomes: options::Outcomes,
    },
    Written,
    /// Nothing of the runner is left.
    Cleared {
        runner: Uuid,
    },
}

impl Actor {
    /// Takes a prompt for the named session; `advance` brings it on its way.
    pub(crate) fn delegate(&mut self, turn_id: TurnId, call_id: String, name: String, prompt: String) {
        self.host.names.entry(name.clone()).or_default();
        // A prompt that comes after the ones that waited for a login were given up: perhaps somebody has logged in meanwhile.
        self.host.login_needed &= !self.host.jobs.is_empty();
        self.host.jobs.push(Job { turn_id, call_id, name, prompt, tries: 0 });
    }

    /// Does the next thing that waiting prompts need: a process, an open session, the prompt itself. Called when everything decided
    /// so far is durable, as each of these is an act.
    pub(crate) fn advance(&mut self) {
        self.clear_agent();
        self.advance_requests();
        self.apply_wanted();
        self.drop_ended_jobs();
        if self.host.jobs.is_empty() || self.host.login_needed {
            return;
        }
        match &self.host.slot {
            Slot::Down => self.start_agent(),
            Slot::Starting { .. } | Slot::Clearing { .. } => {}
            Slot::Up { .. } if self.host.ending => {}
            // Another agent was chosen meanwhile: this one finishes what it has, and then makes room.
            Slot::Up { .. } if self.host.agent != self.row.agent => {
                if !self.host.is_busy() {
                    self.stop_agent();
                }
            }
            Slot::Up { .. } => {
                for job in std::mem::take(&mut self.host.jobs) {
                    self.advance_job(job);
                }
            }
        }
    }

    /// After a restart a prompt waits although its agent may have answered it: the journal's end is read meanwhile, and then it must
    /// not be sent again.
    fn drop_ended_jobs(&mut self) {
        let turn = self.state.turn.as_ref();
        let open = |job: &Job| turn.and_then(|turn| turn.call(&job.call_id)).is_some_and(|call| call.state != CallState::Done);
        self.host.jobs.retain(open);
    }

    fn advance_job(&mut self, job: Job) {
        let named = self.host.names.entry(job.name.clone()).or_default();
        match named.state {
            // A prompt of a turn that was broken off: an agent that is asked again while it works would drop the first.
            NamedState::Open | NamedState::Cut if named.running.as_ref().is_some_and(|running| *running != job.call_id) => {
                self.host.jobs.push(job);
            }
            NamedState::Stored | NamedState::Cut => {
                let cut = named.state == NamedState::Cut;
                named.state = NamedState::Opening;
                self.open_session(job.name.clone(), cut);
                self.host.jobs.push(job);
            }
            NamedState::Opening => self.host.jobs.push(job),
            NamedState::Open => match &mut named.row {
                // That the session is prompted is known before the prompt is sent: from then on it is worth restoring.
                Some(row) if row.prompted_at.is_none() => {
                    row.prompted_at = Some(Timestamp::now());
                    self.rows.push(Row::AgentSession(row.clone()));
                    self.host.jobs.push(job);
                }
                _ => self.prompt(job),
            },
        }
    }

    fn start_agent(&mut self) {
        let runner = Uuid::now_v7();
        let label = format!("session {} agent {}", self.id, self.row.agent);
        let launch = match self.shared.settings.launch(&self.row.agent, runner, PathBuf::from(&self.row.work_dir), label) {
            Ok(launch) => launch,
            Err(refusal) => return self.fail_jobs("agent_not_found", &refusal.to_string()),
        };
        self.host.slot = Slot::Starting { runner };
        self.host.agent.clone_from(&self.row.agent);
        self.host.ending = false;
        self.rows.push(Row::Runner(RunnerRow {
            ending: false,
            id: runner.to_string(),
            session: self.id,
            agent: self.row.agent.clone(),
            dir: launch.dir.to_string_lossy().into_owned(),
            cursor: 0,
            capabilities: None,
        }));
        let deadlines = self.shared.settings.deadlines;
        if let Err(error) = kept::reserve(&self.shared.settings.traces_dir(), self.id, runner) {
            tracing::warn!(session = %self.id, %runner, %error, "the traffic of the agent will not be kept");
        }
        self.tasks.spawn(async move {
            let (sender, receiver) = mpsc::channel(SIGNALS);
            let outcome = Connection::start(launch, deadlines, sender).await.map(|connection| (connection, receiver));
            TaskEnd::Agent(AgentTask::Started { runner, outcome })
        });
    }

    fn open_session(&mut self, name: String, cut: bool) {
        let Slot::Up { runner, connection } = &self.host.slot else { return };
        let (runner, connection) = (*runner, connection.clone());
        let agent = self.row.agent.clone();
        let known = self.host.names.get(&name).and_then(|named| named.row.clone()).filter(|row| row.agent == agent);
        let cwd = PathBuf::from(&self.row.work_dir);
        let (store, id) = (self.shared.store.clone(), self.id);
        self.tasks.spawn(async move {
            let outcome = match known.as_ref().filter(|_| cut) {
                Some(known) => reopen(&connection, &name, &cwd, known).await,
                None => open(&connection, &name, &cwd, known.as_ref()).await,
            };
            let restored = matches!(&outcome, Ok(open) if matches!(open.how, How::Resumed | How::Loaded));
            let cut_off = restored && store.history(id).await.is_ok_and(|messages| history::cut_off(&messages, &name).is_some());
            TaskEnd::Agent(AgentTask::Opened { runner, name, outcome: Box::new(outcome), cut_off })
        });
    }

    fn prompt(&mut self, job: Job) {
        let Some(connection) = self.host.connection().cloned() else { return self.host.jobs.push(job) };
        let Some(named) = self.host.names.get_mut(&job.name) else { return };
        let Some(row) = &named.row else { return };
        named.running = Some(job.call_id.clone());
        let agent_session = row.acp_session_id.clone();
        // With anything in front of it a command of the agent's would be none; the next prompt carries it.
        let untold = (!named.prompted && !job.prompt.starts_with('/')).then(|| row.clone());
        named.prompted |= untold.is_some();
        let (store, id) = (self.shared.store.clone(), self.id);
        let write_id = job.turn_id.prompt_write(&job.call_id);
        let dir = self.host.runner().map(|runner| self.shared.settings.runners_dir().join(runner.to_string()));
        self.host.sending.insert(job.call_id.clone());
        // Where a person talks straight to the agent, what they sent along is for it.
        let straight = (self.row.model == RELAY).then(|| PathBuf::from(&self.row.work_dir));
        connection.set_busy(true);
        self.tasks.spawn(async move {
            connection.tell_busy().await;
            let text = match untold {
                Some(row) => with_preface(&store, id, &row, &job.prompt).await,
                None => job.prompt.clone(),
            };
            let outcome = match attachments::for_agent(&store, id, &job, straight).await {
                Ok(attached) => connection.prompt(write_id, &job.call_id, &agent_session, &text, &attached).await,
                Err(error) => Err(error),
            };
            let unsent = match (&outcome, dir) {
                (Err(RpcError::Gone(_)), Some(dir)) => {
                    let written = tokio::task::spawn_blocking(move || agents::written(&dir)).await.ok().flatten();
                    written.is_some_and(|written| !written.contains(&write_id))
                }
                _ => false,
            };
            TaskEnd::Agent(AgentTask::Prompted { job, outcome, unsent })
        });
    }

    pub(crate) fn agent_task(&mut self, task: AgentTask) {
        match task {
            AgentTask::Started { runner, outcome } if self.host.runner() == Some(runner) => self.agent_started(runner, outcome),
            AgentTask::Opened { runner, name, outcome, cut_off } if self.host.runner() == Some(runner) => {
                self.session_opened(&name, *outcome, cut_off);
            }
            AgentTask::Prompted { job, outcome, unsent } => self.prompted(job, outcome, unsent),
            AgentTask::CancelOverdue { call_id } => self.cancel_overdue(call_id),
            AgentTask::OptionsSet { name, outcomes } => self.options_set(&name, outcomes),
            AgentTask::Cleared { runner } => self.agent_cleared(runner),
            AgentTask::Request(task) => self.request_task(task),
            AgentTask::Started { .. } | AgentTask::Opened { .. } | AgentTask::Written => {}
        }
    }

    fn agent_started(&mut self, runner: Uuid, outcome: Result<(Connection, mpsc::Receiver<Batch>), ConnectError>) {
        match outcome {
            Ok((connection, signals)) => {
                tracing::info!(session = %self.id, %runner, agent = self.row.agent, "the agent is up");
                let capabilities = serde_json::to_value(connection.capabilities()).ok();
                self.shared.learn(&self.row.agent, |learned| {
                    (learned.capabilities, learned.problem) = (capabilities.clone(), None);
                });
                self.rows.push(Row::RunnerCapabilities { id: runner.to_string(), capabilities });
                let connection = self.offer(connection, &self.host.agent);
                self.warn_of_remote();
                self.host.slot = Slot::Up { runner, connection };
                self.host.signals = Some(signals);
                self.touch();
            }
            Err(error) => {
                tracing::warn!(session = %self.id, %runner, agent = self.row.agent, %error, "the agent did not start");
                self.shared.learn(&self.row.agent, |learned| learned.problem = Some(error.to_string()));
                self.host.slot = Slot::Clearing { runner, begun: false };
                self.rows.push(Row::RemoveRunner { id: runner.to_string() });
                let message = format!("{} could not be started: {error}", self.agent_title());
                match error.is_gone() {
                    true => self.try_jobs_again("agent_not_started", &message),
                    false => self.fail_jobs("agent_not_started", &message),
                }
            }
        }
    }

    fn session_opened(&mut self, name: &str, outcome: Result<Open, RpcError>, cut_off: bool) {
        let agent = self.row.agent.clone();
        let cwd = self.row.work_dir.clone();
        let runner_id = self.host.runner().map(|runner| runner.to_string());
        let Some(named) = self.host.names.get_mut(name) else { return };
        match outcome {
            Ok(Open { opened, how, put_back }) => {
                self.shared.learn(&agent, |learned| learned.logged_in = Some(true));
                let known = named.row.take();
                // One that was lost and never prompted since has still to be told what was lost.
                let untold = how == How::New && known.as_ref().is_some_and(|row| row.restored.as_deref() == Some(LOST));
                let restored = if untold { LOST } else { how.as_str() };
                let known = known.filter(|row| row.agent == agent);
                let settings = options::Settings::of_opened(&opened, known.as_ref(), &put_back);
                let old = known.filter(|_| how != How::New && !matches!(how, How::Lost { .. }));
                // An agent tells its commands as soon as it has the session, often before its answer is taken up here.
                let commands = self.host.told.get(&opened.agent_session).and_then(|told| told.commands.clone());
                let row = AgentSessionRow {
                    allow_all: false,
                    id: old.as_ref().map_or_else(Uuid::now_v7, |row| row.id),
                    name: name.to_owned(),
                    acp_session_id: opened.agent_session,
                    agent,
                    cwd,
                    created_at: old.as_ref().map_or_else(Timestamp::now, |row| row.created_at),
                    prompted_at: old.as_ref().and_then(|row| row.prompted_at),
                    mode: settings.mode,
                    options: settings.options,
                    wanted: settings.wanted,
                    usage: old.as_ref().and_then(|row| row.usage.clone()),
                    commands: commands.or_else(|| old.as_ref().and_then(|row| row.commands.clone())),
                    title: old.and_then(|row| row.title),
                    restored: Some(restored.to_owned()),
                    runner_id,
                };
                self.rows.push(Row::AgentSession(row.clone()));
                let told = self.host.told.entry(row.acp_session_id.clone()).or_default();
                (told.mode, told.options) = (row.mode.clone(), row.options.clone());
                named.row = Some(row);
                named.state = NamedState::Open;
                named.prompted = false;
                self.restore_notice(name, &how, cut_off);
            }
            // Its end is about to be heard, and decides what becomes of the prompt.
            Err(RpcError::Gone(_)) => {}
            Err(error) => {
                named.state = NamedState::Stored;
                self.fail_named(name, &error);
            }
        }
    }

    fn restore_notice(&mut self, name: &str, how: &How, cut_off: bool) {
        let warning = if cut_off { " Its last answer was cut off and may be incomplete." } else { "" };
        let (code, level, title, text) = match how {
            How::New => return,
            How::Resumed | How::Loaded => {
                ("session_restored", "info", "Session restored", format!("The agent session \"{name}\" goes on where it was.{warning}"))
            }
            How::Lost { .. } => ("session_lost", "warning", "Session history lost", LOST_TEXT.to_owned()),
        };
        self.notice(code, level, title, text, Some(name.to_owned()));
    }

    pub(crate) fn notice(&mut self, code: &str, level: &str, title: &str, text: String, session_name: Option<String>) {
        let notice = Notice { code: code.to_owned(), level: level.to_owned(), title: title.to_owned(), text, session_name };
        self.effects.push(Effect::Append(Event::Notice(notice)));
    }

    pub(crate) fn answer_permission(&mut self, request_id: PermissionId, option_id: Option<String>) {
        let rpc_id = self.host.asks.remove(&request_id);
        if self.request_decided(request_id, option_id.as_deref()) {
            return;
        }
        let Some(rpc_id) = rpc_id else { return };
        self.reply_permission(rpc_id, option_id);
    }

    pub(super) fn reply_permission(&mut self, rpc_id: RpcId, option_id: Option<String>) {
        let Some(connection) = self.host.connection().cloned() else { return };
        self.tasks.spawn(async move {
            if let Err(error) = connection.answer_permission(&rpc_id, option_id.as_deref()).await {
                tracing::warn!(%rpc_id, %error, "a permission could not be answered");
            }
            TaskEnd::Agent(AgentTask::Written)
        });
    }
}

/// What is asked, and in front of it what a restored session does not know by itself. A history that cannot be read is no reason to
/// refuse the prompt.
async fn with_preface(store: &Store, id: SessionId, row: &AgentSessionRow, prompt: &str) -> String {
    if matches!(row.restored.as_deref(), None | Some(NEW)) {
        return prompt.to_owned();
    }
    match store.history(id).await.map(|messages| history::preface(&messages, row)) {
        Ok(Some(preface)) => format!("{preface}\n\n{prompt}"),
        Ok(None) => prompt.to_owned(),
        Err(error) => {
            tracing::warn!(session = %id, name = row.name, %error, "the agent could not be told what its session has lost");
            prompt.to_owned()
        }
    }
}
