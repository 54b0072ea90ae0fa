//! What an agent says, and what becomes of it in the turn.

use agents::{Batch, RpcId, Signal, TurnEnd};
use domain::agent::{PermissionAsk, Update};
use domain::event::PermissionRequest;
use domain::ids::PermissionId;
use domain::policy::Decision;
use domain::rule::Decider;
use domain::turn::{AgentEnd, Input};
use jiff::Timestamp;
use store::{PermissionRow, Row};
use uuid::Uuid;

use crate::actor::Actor;
use crate::host::{NamedState, rpc_text};

impl Actor {
    /// One batch becomes one write: its events, and the cursor that says its lines are done with.
    pub(crate) fn agent_batch(&mut self, batch: Batch) {
        let Some(runner) = self.host.runner() else { return };
        self.touch();
        self.rows.push(Row::RunnerCursor { id: runner.to_string(), cursor: batch.cursor });
        self.host.acknowledged = batch.cursor;
        for signal in batch.signals {
            self.agent_signal(runner, signal);
        }
    }

    pub(crate) fn agent_signal(&mut self, runner: Uuid, signal: Signal) {
        match signal {
            Signal::Text { agent_session, text } => self.agent_text(&agent_session, text),
            Signal::Update { agent_session, update } => self.agent_update(&agent_session, update),
            Signal::Permission { agent_session, rpc_id, ask } => self.agent_asks(runner, &agent_session, rpc_id, ask),
            Signal::Request { agent_session, rpc_id, request } => self.agent_requests(runner, &agent_session, rpc_id, request),
            Signal::TurnEnd { call_id, result } => {
                let end = match result {
                    Ok(TurnEnd { stop_reason, .. }) => {
                        // Cancelled although nobody cancelled it: the agent has cut the session's stream.
                        if stop_reason == "cancelled" && !self.host.stopped.remove(&call_id) {
                            self.reopen_next(&call_id);
                        }
                        AgentEnd::Stopped { stop_reason }
                    }
                    Err(error) => {
                        if error.is_not_found() {
                            self.reopen_next(&call_id);
                        }
                        let (code, message) = self.explain(&error);
                        AgentEnd::Failed { code: code.to_owned(), message }
                    }
                };
                self.end_call(call_id, end);
            }
            Signal::Withdrawn { rpc_id } => {
                let request_id = permission_id(runner, &rpc_id);
                self.withdraw_request(request_id);
                self.step(Input::PermissionAnswer { request_id, option_id: None, by: "agent".to_owned() });
            }
            Signal::BadLine { text, oversized_bytes } => {
                tracing::warn!(session = %self.id, %runner, text, oversized_bytes, "the agent sent a line that is no message");
                if let Some(bytes) = oversized_bytes {
                    let text = format!("A line of {bytes} bytes from the agent was too long and was dropped.");
                    self.notice("line_dropped", "warning", "Output too large", text, None);
                }
            }
            Signal::Notice(text) => self.notice("runner", "warning", "The agent's runner says", text, None),
            Signal::Gone { text, .. } => self.agent_gone(runner, &text),
            // Replayed history is ours already, and other notifications concern no session; both stay in the runner's journal.
            Signal::Replay { .. } | Signal::Other { .. } => {}
        }
    }

    fn agent_text(&mut self, agent_session: &str, text: String) {
        match self.host.find(agent_session).map(|(name, named)| (name.to_owned(), named.running.clone())) {
            Some((_, Some(call_id))) => self.step(Input::AgentText { call_id, text }),
            Some((name, None)) => {
                self.notice("late_output", "info", "The agent wrote after it had finished", text, Some(name));
            }
            None => tracing::warn!(session = %self.id, agent_session, bytes = text.len(), "text from an agent session that nobody opened"),
        }
    }

    fn agent_update(&mut self, agent_session: &str, update: Update) {
        let told = self.host.told.entry(agent_session.to_owned()).or_default();
        let before = told.options.clone();
        told.take(&update);
        let told = told.clone();
        let Some((name, named)) = self.host.find(agent_session) else { return };
        let name = name.to_owned();
        let before = before.or_else(|| named.row.as_ref()?.options.clone());
        let changed = named.row.as_mut().is_some_and(|row| told.lay_over(row));
        let (call_id, row) = (named.running.clone(), named.row.clone().filter(|_| changed));
        // What a restored session is put back to.
        self.rows.extend(row.map(Row::AgentSession));
        if let Update::Options { options } = &update {
            self.options_changed(&name, before.as_ref(), options);
        }
        if let Some(call_id) = call_id {
            if let Update::ToolCall(tool_call) = &update {
                self.notice_unasked(&name, &call_id, tool_call);
            }
            self.step(Input::AgentUpdate { call_id, update });
        }
    }

    /// The agent no longer serves the session of this call, and whatever it is asked next would not be answered. The session is closed
    /// and loaded again before that.
    fn reopen_next(&mut self, call_id: &str) {
        let Some(name) = self.host.name_of_call(call_id) else { return };
        tracing::warn!(session = %self.id, name, "the agent has lost the session; it is opened anew before the next prompt");
        if let Some(named) = self.host.names.get_mut(&name) {
            named.state = NamedState::Cut;
        }
    }

    fn agent_asks(&mut self, runner: Uuid, agent_session: &str, rpc_id: RpcId, ask: PermissionAsk) {
        let request_id = permission_id(runner, &rpc_id);
        let running = self.host.find(agent_session).and_then(|(name, named)| Some((name.to_owned(), named.running.clone()?)));
        let Some((session_name, tool_call_id)) = running else {
            return self.reply_permission(rpc_id, None);
        };
        self.note_asked(&tool_call_id, &ask);
        let (decision, by) = self.decide(&ask);
        let option_id = match &decision {
            Decision::Select(option) => Some(option.option_id.clone()),
            Decision::Ask | Decision::Cancel => None,
        };
        // What a policy lets through or not is not worth a word; what a person is asked is, and what they said earlier.
        if decision == Decision::Ask || by == Decider::Rule {
            self.host.asks.insert(request_id, rpc_id);
            self.step(Input::Permission { call_id: tool_call_id, request_id, ask });
            if decision != Decision::Ask {
                self.step(Input::PermissionAnswer { request_id, option_id, by: by.as_str().to_owned() });
            }
            return;
        }
        // The answer is stored with the cursor that moves past the question: should this server die before it is sent, the next
        // one sends it, and the runner lets only one through.
        let request = PermissionRequest { request_id, tool_call_id, session_name, asked_at: Timestamp::now(), ask };
        self.rows.push(Row::OpenPermission(PermissionRow { request, rpc_id: rpc_text(&rpc_id), runner_id: runner.to_string() }));
        self.rows.push(Row::ResolvePermission { request_id, option_id: option_id.clone(), by: "policy".to_owned() });
        self.reply_permission(rpc_id, option_id);
    }
}

/// The same request has the same id however often its line is read.
pub(super) fn permission_id(runner: Uuid, rpc_id: &RpcId) -> PermissionId {
    PermissionId(Uuid::new_v5(&runner, rpc_id.to_string().as_bytes()))
}
