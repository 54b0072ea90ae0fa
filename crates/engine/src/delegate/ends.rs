//! How delegated work ends: answered, refused, stopped, or with the process.

use std::time::Duration;

use agents::{Connection, RpcError};
use domain::turn::{AgentEnd, CallState, Input};
use store::Row;
use uuid::Uuid;

use super::AgentTask;
use crate::actor::{Actor, TaskEnd};
use crate::host::{Job, Named, NamedState, Slot};

/// An agent that is reached over TCP ends the sessions of a lost connection after a moment, and with them whatever was brought back
/// before that. Copilot takes two seconds.
const REMOTE_SETTLES: Duration = Duration::from_secs(3);
/// How many agents may end before a prompt could reach one of them.
const TRIES: u32 = 3;

impl Actor {
    pub(super) fn fail_named(&mut self, name: &str, error: &RpcError) {
        if error.is_auth_required() {
            return self.need_login(name, error);
        }
        let (code, message) = self.explain(error);
        self.fail_opening(name, code, &message);
    }

    /// Ends the prompts that waited for a session which cannot be opened.
    fn fail_opening(&mut self, name: &str, code: &str, message: &str) {
        let (failed, kept) = std::mem::take(&mut self.host.jobs).into_iter().partition::<Vec<_>, _>(|job| job.name == name);
        self.host.jobs = kept;
        for job in failed {
            self.end_call(job.call_id, AgentEnd::Failed { code: code.to_owned(), message: message.to_owned() });
        }
    }

    /// The agent works only after a login: the prompts wait for it, and the process is ended, since credentials are read at its start.
    fn need_login(&mut self, name: &str, error: &RpcError) {
        let (code, text) = self.explain(error);
        self.notice(code, "error", "Login required", text, Some(name.to_owned()));
        self.host.login_needed = true;
        self.shared.learn(&self.row.agent, |learned| learned.logged_in = Some(false));
        self.stop_agent();
    }

    /// Somebody has logged in, or says so: what waits is tried once more.
    pub(crate) fn logged_in(&mut self, agent: &str) {
        if self.row.agent == agent && std::mem::take(&mut self.host.login_needed) {
            tracing::info!(session = %self.id, agent, "trying again after a login");
        }
    }

    pub(super) fn fail_jobs(&mut self, code: &str, message: &str) {
        for job in std::mem::take(&mut self.host.jobs) {
            self.end_call(job.call_id, AgentEnd::Failed { code: code.to_owned(), message: message.to_owned() });
        }
    }

    /// A prompt was written, or could not be.
    pub(super) fn prompted(&mut self, job: Job, outcome: Result<(), RpcError>, unsent: bool) {
        self.host.sending.remove(&job.call_id);
        let gone = self.host.unsure.remove(&job.call_id);
        if gone.is_some() {
            self.forget_runner();
        }
        let stopped = self.host.stop_when_sent.remove(&job.call_id);
        match (outcome, gone) {
            // It is in the journal now, so a stop comes behind it.
            (Ok(()), None) if stopped => self.stop_prompt(&job.call_id),
            (Err(_), _) if unsent && stopped => {
                self.end_call(job.call_id, AgentEnd::Stopped { stop_reason: "cancelled".to_owned() });
            }
            // No agent has seen it, so the next one gets it.
            (Err(error), _) if unsent => {
                if let Some(name) = self.host.name_of_call(&job.call_id)
                    && let Some(named) = self.host.names.get_mut(&name)
                {
                    named.running = None;
                }
                // Until its end is heard, it takes no more.
                self.host.ending |= self.host.is_up();
                self.try_again(job, "agent_gone", &ended_early(&error.to_string()));
            }
            (_, Some(text)) => self.interrupted(job.call_id, &text),
            // Where the process is gone, its own end says so, with everything it had sent before.
            (Err(RpcError::Gone(_)) | Ok(()), None) => {}
            (Err(error), None) => {
                let (code, message) = self.explain(&error);
                self.end_call(job.call_id, AgentEnd::Failed { code: code.to_owned(), message });
            }
        }
    }

    /// An agent ended before the prompt could reach it. Another one is tried, but not for ever: it may be the prompt's session that
    /// ends them.
    fn try_again(&mut self, mut job: Job, code: &str, message: &str) {
        let open = self.state.turn.as_ref().and_then(|turn| turn.call(&job.call_id)).is_some_and(|call| call.state != CallState::Done);
        job.tries += 1;
        if !open {
            return;
        }
        if job.tries < TRIES {
            self.host.jobs.push(job);
        } else {
            self.end_call(job.call_id, AgentEnd::Failed { code: code.to_owned(), message: message.to_owned() });
        }
    }

    pub(super) fn try_jobs_again(&mut self, code: &str, message: &str) {
        for job in std::mem::take(&mut self.host.jobs) {
            self.try_again(job, code, message);
        }
    }

    pub(super) fn explain(&self, error: &RpcError) -> (&'static str, String) {
        let title = self.agent_title();
        if error.is_auth_required() {
            let advice = if self.row.agent == "copilot" {
                "run `copilot login` or `gh auth login`; the message waits and is sent afterwards. A token in COPILOT_GITHUB_TOKEN works too, after a restart of the server"
            } else {
                "log in with its own command; the message waits and is sent afterwards"
            };
            return ("auth_required", format!("{title} needs a login: {advice}"));
        }
        let code = match error {
            RpcError::Timeout { .. } => "agent_timeout",
            RpcError::NotSent(_) => "agent_not_sent",
            RpcError::Unsupported(_) => "attachment_unsupported",
            _ => "agent_error",
        };
        (code, format!("{title} refused: {error}"))
    }

    pub(crate) fn agent_title(&self) -> String {
        self.shared.settings.agent(&self.row.agent).map_or_else(|_| self.row.agent.clone(), |agent| agent.title.clone())
    }

    /// Ends a delegated call in the turn, and frees its named session for the next.
    pub(super) fn end_call(&mut self, call_id: String, end: AgentEnd) {
        if let Some(name) = self.host.name_of_call(&call_id)
            && let Some(named) = self.host.names.get_mut(&name)
        {
            named.running = None;
        }
        self.close_requests_of(&call_id);
        self.host.asked.remove(&call_id);
        self.step(Input::AgentEnd { call_id, end });
        let idle = self.host.names.values().all(|named| named.running.is_none());
        if let Some(connection) = self.host.connection().filter(|_| idle).cloned() {
            let stored = self.host.acknowledged;
            connection.set_busy(false);
            self.tasks.spawn(async move {
                connection.tell_busy().await;
                connection.ack(stored).await;
                TaskEnd::Agent(AgentTask::Written)
            });
        }
    }

    pub(crate) fn stop_prompt(&mut self, call_id: &str) {
        if let Some(index) = self.host.jobs.iter().position(|job| job.call_id == call_id) {
            self.host.jobs.remove(index);
            return self.end_call(call_id.to_owned(), AgentEnd::Stopped { stop_reason: "cancelled".to_owned() });
        }
        if self.host.sending.contains(call_id) {
            self.host.stop_when_sent.insert(call_id.to_owned());
            return;
        }
        let agent_session =
            self.host.name_of_call(call_id).and_then(|name| self.host.names.get(&name)?.row.as_ref().map(|row| row.acp_session_id.clone()));
        let (Some(connection), Some(agent_session)) = (self.host.connection().cloned(), agent_session) else {
            return self.end_call(call_id.to_owned(), AgentEnd::Stopped { stop_reason: "cancelled".to_owned() });
        };
        self.kill_terminals_of(call_id);
        self.host.stopped.insert(call_id.to_owned());
        let (call_id, timeout) = (call_id.to_owned(), self.shared.settings.cancel_timeout);
        let write_id = self.id.cancel_write(&call_id);
        self.tasks.spawn(async move {
            if let Err(error) = connection.cancel(write_id, &agent_session).await {
                tracing::warn!(agent_session, %error, "the agent could not be told to stop");
            }
            tokio::time::sleep(timeout).await;
            TaskEnd::Agent(AgentTask::CancelOverdue { call_id })
        });
    }

    /// An agent that does not stop when told is ended where it works on nothing else, and left alone where it does.
    pub(super) fn cancel_overdue(&mut self, call_id: String) {
        let Some(name) = self.host.name_of_call(&call_id) else { return };
        tracing::warn!(session = %self.id, name, "the agent did not stop in time");
        let alone = self.host.names.values().filter(|named| named.running.is_some()).count() == 1;
        if alone {
            self.stop_agent();
        } else if let Some(named) = self.host.names.get_mut(&name) {
            // What it still writes belongs to nobody; the name gets a new agent session with its next prompt.
            *named = Named::default();
            self.rows.push(Row::RemoveAgentSession { name });
        }
        self.end_call(call_id, AgentEnd::Stopped { stop_reason: "cancelled".to_owned() });
    }

    /// The process has ended: what it worked on ends with it, and its sessions are brought back when they are next needed.
    pub(crate) fn agent_gone(&mut self, runner: Uuid, text: &str) {
        self.host.slot = Slot::Clearing { runner, begun: false };
        self.host.asks.clear();
        self.host.requests.clear();
        self.host.terminals.clear();
        self.host.asked.clear();
        let told = std::mem::take(&mut self.host.ending);
        let (mut running, mut opening) = (Vec::new(), Vec::new());
        for (name, named) in &mut self.host.names {
            if std::mem::take(&mut named.state) == NamedState::Opening {
                opening.push(name.clone());
            }
            running.extend(named.running.take());
        }
        tracing::info!(session = %self.id, %runner, calls = running.len(), text, "the agent is gone");
        self.host.jobs.retain(|job| !running.contains(&job.call_id));
        for call_id in running {
            if self.host.sending.contains(&call_id) {
                self.host.unsure.insert(call_id, text.to_owned());
            } else {
                self.interrupted(call_id, text);
            }
        }
        self.forget_runner();
        for job in std::mem::take(&mut self.host.jobs) {
            if told || !opening.contains(&job.name) {
                self.host.jobs.push(job);
            } else {
                self.try_again(job, "agent_gone", &ended_early(text));
            }
        }
    }

    /// Once it is certain what became of every prompt that the agent was given. A server that dies before that leaves the runner to the
    /// next one, which reads in its journal which prompts it had; without it they would be sent again.
    fn forget_runner(&mut self) {
        if let Slot::Clearing { runner, .. } = &self.host.slot
            && self.host.unsure.is_empty()
        {
            self.rows.push(Row::RemoveRunner { id: runner.to_string() });
        }
    }

    /// The agent had the prompt and ended before it had answered.
    fn interrupted(&mut self, call_id: String, text: &str) {
        let title = self.agent_title();
        self.notice("agent_gone", "error", "The agent is gone", format!("{title} ended in the middle of its work: {text}"), None);
        let message = format!("the agent ended before it had finished: {text}");
        self.step(Input::AgentEnd { call_id, end: AgentEnd::Gone { message } });
    }

    /// Begins to clean away what the agent left. Its end is stored by now, and nobody needs its journal any more.
    pub(super) fn clear_agent(&mut self) {
        let Slot::Clearing { runner, begun } = &mut self.host.slot else { return };
        if *begun || !self.host.sending.is_empty() {
            return;
        }
        *begun = true;
        let remote = self.shared.settings.agent(&self.host.agent).is_ok_and(|agent| agent.remote.is_some());
        let (runner, shared) = (*runner, self.shared.clone());
        self.tasks.spawn(async move {
            let dir = shared.settings.runners_dir().join(runner.to_string());
            crate::recover::clear_dir(&shared.settings, &dir).await;
            if remote {
                tokio::time::sleep(REMOTE_SETTLES).await;
            }
            TaskEnd::Agent(AgentTask::Cleared { runner })
        });
    }

    pub(super) fn agent_cleared(&mut self, runner: Uuid) {
        if matches!(self.host.slot, Slot::Clearing { runner: cleared, .. } if cleared == runner) {
            self.host.slot = Slot::Down;
        }
    }

    /// Ends the agent's process in the background; its last signal says when it is gone.
    pub(crate) fn stop_agent(&mut self) {
        if let Some(connection) = self.host.connection().cloned() {
            self.host.ending = true;
            self.tasks.spawn(async move {
                stop(&connection).await;
                TaskEnd::Agent(AgentTask::Written)
            });
        }
    }

    /// Another agent takes over: the running one is ended once nothing needs it.
    pub(crate) fn agent_changed(&mut self) {
        if self.state.turn.is_none() {
            self.stop_agent();
        }
    }

    /// Ends the agent's process and waits until it is gone.
    pub(crate) async fn end_agent(&mut self) {
        let Some(runner) = self.host.left_runner() else { return };
        if let Slot::Up { connection, .. } = std::mem::replace(&mut self.host.slot, Slot::Down) {
            stop(&connection).await;
        }
        // One that was still starting has no connection yet, and one that has ended none any more; what there is is in its directory.
        let settings = &self.shared.settings;
        crate::recover::clear_dir(settings, &settings.runners_dir().join(runner.to_string())).await;
    }

    /// The server stops. An agent in the middle of a turn is left to its runner, which goes on and is taken up by the next server;
    /// an idle one is ended.
    pub(crate) async fn leave(&mut self) {
        if self.state.turn.is_none() && self.host.left_runner().is_some() {
            let runner = self.host.left_runner();
            self.end_agent().await;
            self.rows.extend(runner.map(|runner| Row::RemoveRunner { id: runner.to_string() }));
            let (write, _) = self.take_write();
            if let Err(error) = self.shared.store.commit(write).await {
                tracing::warn!(session = %self.id, %error, "the end of the agent could not be stored");
            }
        }
    }
}

async fn stop(connection: &Connection) {
    if let Err(error) = connection.stop().await {
        tracing::warn!(%error, "the agent could not be ended");
    }
}

fn ended_early(text: &str) -> String {
    format!("the agent ended {TRIES} times before it could be asked: {text}")
}
