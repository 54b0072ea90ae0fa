//! How delegated work ends: answered, refused, stopped, or with the process.

use agents::{Connection, RpcError};
use domain::turn::{AgentEnd, Input};
use store::Row;
use uuid::Uuid;

use super::AgentTask;
use crate::actor::{Actor, TaskEnd};
use crate::host::{Named, NamedState, Slot};

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

    pub(super) fn prompt_failed(&mut self, call_id: String, error: &RpcError) {
        // Where the process is gone, its own end says so, with everything it had sent before.
        if !matches!(error, RpcError::Gone(_)) {
            let (code, message) = self.explain(error);
            self.end_call(call_id, AgentEnd::Failed { code: code.to_owned(), message });
        }
    }

    pub(super) fn explain(&self, error: &RpcError) -> (&'static str, String) {
        let title = self.agent_title();
        if error.is_auth_required() {
            let advice = if self.row.agent == "copilot" {
                "run `copilot login` (or `gh auth login`), or set COPILOT_GITHUB_TOKEN, then send the message again"
            } else {
                "log in with its own command, then send the message again"
            };
            return ("auth_required", format!("{title} needs a login: {advice}"));
        }
        let code = match error {
            RpcError::Timeout { .. } => "agent_timeout",
            RpcError::NotSent(_) => "agent_not_sent",
            _ => "agent_error",
        };
        (code, format!("{title} refused: {error}"))
    }

    pub(super) fn agent_title(&self) -> String {
        self.shared.settings.agent(&self.row.agent).map_or_else(|_| self.row.agent.clone(), |agent| agent.title.clone())
    }

    /// Ends a delegated call in the turn, and frees its named session for the next.
    pub(super) fn end_call(&mut self, call_id: String, end: AgentEnd) {
        if let Some(name) = self.host.name_of_call(&call_id)
            && let Some(named) = self.host.names.get_mut(&name)
        {
            named.running = None;
        }
        self.step(Input::AgentEnd { call_id, end });
        let idle = self.host.names.values().all(|named| named.running.is_none());
        if let Some(connection) = self.host.connection().filter(|_| idle).cloned() {
            let stored = self.host.acknowledged;
            self.tasks.spawn(async move {
                connection.busy(false).await;
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
        let agent_session =
            self.host.name_of_call(call_id).and_then(|name| self.host.names.get(&name)?.row.as_ref().map(|row| row.acp_session_id.clone()));
        let (Some(connection), Some(agent_session)) = (self.host.connection().cloned(), agent_session) else {
            return self.end_call(call_id.to_owned(), AgentEnd::Stopped { stop_reason: "cancelled".to_owned() });
        };
        self.host.stopped.insert(call_id.to_owned());
        let (call_id, timeout) = (call_id.to_owned(), self.shared.settings.cancel_timeout);
        self.tasks.spawn(async move {
            if let Err(error) = connection.cancel(&agent_session).await {
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
        self.host.slot = Slot::Down;
        self.host.asks.clear();
        self.rows.push(Row::RemoveRunner { id: runner.to_string() });
        let told = std::mem::take(&mut self.host.ending);
        let (mut interrupted, mut opening) = (Vec::new(), Vec::new());
        for (name, named) in &mut self.host.names {
            if std::mem::take(&mut named.state) == NamedState::Opening {
                opening.push(name.clone());
            }
            interrupted.extend(named.running.take());
        }
        tracing::info!(session = %self.id, %runner, calls = interrupted.len(), text, "the agent is gone");
        if !interrupted.is_empty() {
            let title = self.agent_title();
            self.notice("agent_gone", "error", "The agent is gone", format!("{title} ended in the middle of its work: {text}"), None);
        }
        for call_id in interrupted {
            let message = format!("the agent ended before it had finished: {text}");
            self.step(Input::AgentEnd { call_id, end: AgentEnd::Gone { message } });
        }
        // An agent that ends whenever a session is opened would be started again and again for the same prompt.
        for name in opening.into_iter().filter(|_| !told) {
            self.fail_opening(&name, "agent_gone", &format!("the agent ended while its session was opened: {text}"));
        }
        self.remove_runner_dir(runner);
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
        let Some(runner) = self.host.runner() else { return };
        if let Slot::Up { connection, .. } = std::mem::replace(&mut self.host.slot, Slot::Down) {
            stop(&connection).await;
        }
        // One that was still starting has no connection yet; what there is of it is found by its directory.
        crate::recover::clear_dir(&self.shared.settings.runners_dir().join(runner.to_string())).await;
    }

    /// The server stops. An agent in the middle of a turn is left to its runner, which goes on and is taken up by the next server;
    /// an idle one is ended.
    pub(crate) async fn leave(&mut self) {
        if self.state.turn.is_none() && self.host.runner().is_some() {
            let runner = self.host.runner();
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
