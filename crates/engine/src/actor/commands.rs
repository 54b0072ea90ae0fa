//! What people ask of a session.

use domain::event::{QueueItem, SessionChange};
use domain::ids::{MessageId, TurnId};
use domain::turn::{CallState, Input};
use jiff::Timestamp;
use store::{Row, Write};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{Actor, TaskEnd};
use crate::attachments::NewAttachment;
use crate::command::{Command, Posted, Refusal};

const TITLE_MAX: usize = 60;
const QUEUE_MAX: usize = 100;

impl Actor {
    pub(super) async fn command(&mut self, command: Command) {
        self.touch();
        match command {
            Command::Post { content, client_id, attachments, reply } => {
                let _ = reply.send(self.post(content, client_id, attachments).await);
            }
            Command::Edit { message_id, content, reply } => {
                let done = self.queued(message_id);
                if done.is_ok() {
                    self.step(Input::Edit { message_id, content });
                }
                self.settle().await;
                let _ = reply.send(done);
            }
            Command::Withdraw { message_id, reply } => {
                let done = self.queued(message_id);
                if done.is_ok() {
                    self.step(Input::Withdraw { message_id });
                    self.rows.push(Row::RemoveAttachments { message_id });
                }
                self.settle().await;
                let _ = reply.send(done);
            }
            Command::Cancel { call_id, reply } => {
                let done = self.cancel(call_id);
                self.settle().await;
                let _ = reply.send(done);
            }
            Command::Confirm { call_id, approved, reply } => {
                let done = self.confirm(call_id, approved);
                self.settle().await;
                let _ = reply.send(done);
            }
            Command::Answer { request_id, option_id, content, remember, reply } => {
                let rule = self.answer(request_id, option_id, content, remember);
                self.settle().await;
                // It may well answer something else that waits.
                let done = rule.map(|rule| rule.into_iter().for_each(|rule| self.shared.rules.add(rule)));
                self.reconsider();
                self.settle().await;
                let _ = reply.send(done);
            }
            Command::Revoke { id, reply } => {
                let done = self.revoke(id).await;
                self.settle().await;
                let _ = reply.send(done);
            }
            Command::RulesChanged { project, revoked } if project == self.project => {
                if revoked {
                    self.forget_always();
                }
                self.reconsider();
            }
            Command::RulesChanged { .. } => {}
            Command::Change { change, reply } => {
                self.change(change);
                self.settle().await;
                let _ = reply.send(Ok(()));
            }
            Command::LoggedIn { agent } => self.logged_in(&agent),
            Command::Agents { reply } => {
                let _ = reply.send(Ok(self.agent_views()));
            }
            Command::SetOptions { name, set, reply } => {
                let stored = self.want_options(&name, set);
                self.settle().await;
                self.answer_wanted(&name, stored, reply);
            }
            Command::Delete { .. } => unreachable!("deleting ends the task and is handled by its loop"),
        }
    }

    async fn post(&mut self, content: String, client_id: Option<String>, attachments: Vec<NewAttachment>) -> Result<Posted, Refusal> {
        if let Some(client_id) = &client_id
            && let Some((message_id, turn_id, queued)) = self.shared.store.message_by_client_id(self.id, client_id).await?
        {
            return Ok(Posted { message_id, turn_id, queued });
        }
        if self.state.queue.len() >= QUEUE_MAX {
            return Err(Refusal::Conflict(format!("{QUEUE_MAX} messages wait already; let some run first")));
        }
        let message_id = MessageId(Uuid::now_v7());
        let attachments = self.attach(message_id, attachments)?;
        if self.row.title.is_empty() {
            let title = title_of(&content);
            self.change(SessionChange { title: Some(title), ..SessionChange::default() });
        }
        let item = QueueItem { message_id, turn_id: TurnId(Uuid::now_v7()), content, created_at: Timestamp::now(), client_id, attachments };
        let posted = Posted {
            message_id: item.message_id,
            turn_id: item.turn_id,
            queued: self.state.turn.is_some() || !self.state.queue.is_empty(),
        };
        let before = (self.state.clone(), self.stored_queue.clone());
        self.step(Input::Message(item));
        let (write, acts) = self.take_write();
        // A message that cannot be stored is not accepted: its sender keeps it and is told.
        if let Err(error) = self.shared.store.commit(write).await {
            (self.state, self.stored_queue) = before;
            return Err(error.into());
        }
        for act in acts {
            self.act(act);
        }
        self.settle().await;
        Ok(posted)
    }

    fn queued(&self, message_id: MessageId) -> Result<(), Refusal> {
        if self.state.is_queued(message_id) { Ok(()) } else { Err(Refusal::NotFound("queued message")) }
    }

    fn cancel(&mut self, call_id: Option<String>) -> Result<(), Refusal> {
        let Some(turn) = &self.state.turn else {
            return Err(Refusal::Conflict("nothing runs in this session".to_owned()));
        };
        match call_id {
            None => self.step(Input::Cancel),
            Some(call_id) => match turn.call(&call_id).filter(|call| call.state != CallState::Done) {
                None => return Err(Refusal::NotFound("running tool call")),
                Some(_) => {
                    self.close_confirm(&call_id);
                    self.step(Input::CancelCall { call_id });
                }
            },
        }
        Ok(())
    }

    fn confirm(&mut self, call_id: String, approved: bool) -> Result<(), Refusal> {
        let pending = self.state.turn.as_ref().and_then(|turn| turn.call(&call_id)).is_some_and(|call| call.state == CallState::Asking);
        if !pending {
            return Err(Refusal::Conflict("nothing waits for this confirmation".to_owned()));
        }
        self.close_confirm(&call_id);
        self.step(Input::Confirm { call_id, approved, reason: "the person declined".to_owned() });
        Ok(())
    }

    fn change(&mut self, change: SessionChange) {
        if let Some(title) = &change.title {
            self.row.title = title.clone();
        }
        if let Some(model) = &change.model {
            self.row.model = model.clone();
        }
        if let Some(policy) = change.permission_policy {
            self.row.permission_policy = Some(policy);
        }
        if let Some(agent) = &change.agent
            && *agent != self.row.agent
        {
            self.row.agent = agent.clone();
            self.agent_changed();
        }
        let decides = change.permission_policy.is_some() || change.model.is_some();
        self.announce(change);
        if decides {
            self.policy_changed();
        }
    }

    pub(crate) fn close_confirm(&mut self, call_id: &str) {
        self.rows.push(Row::ResolveConfirm { tool_call_id: call_id.to_owned() });
    }

    pub(super) fn await_confirm(&mut self, call_id: String) {
        let timeout = self.shared.settings.confirm_timeout;
        self.tasks.spawn(async move {
            tokio::time::sleep(timeout).await;
            TaskEnd::ConfirmTimeout { call_id }
        });
    }

    pub(super) async fn delete(&mut self) -> Result<(), Refusal> {
        self.model.stop();
        self.tasks = JoinSet::new();
        self.end_agent().await;
        self.shared.store.commit(Write { session: self.id, events: vec![], rows: vec![Row::DeleteSession] }).await?;
        crate::recover::forget_traces(&self.shared.settings, self.id);
        self.shared.rules.session_deleted(self.id);
        Ok(())
    }
}

/// A session that nobody named is called after its first message.
fn title_of(content: &str) -> String {
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let cut = domain::text::clip(line, TITLE_MAX);
    if cut.len() < line.len() { format!("{}…", cut.trim_end()) } else { cut.to_owned() }
}
