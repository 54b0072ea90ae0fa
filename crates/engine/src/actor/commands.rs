//! What people ask of a session.

use std::sync::Arc;

use domain::event::{Message, QueueItem, Role, SessionChange};
use domain::ids::{CommentId, MessageId, TurnId};
use domain::turn::{CallState, Input, Phase};
use domain::{host, machine};
use jiff::Timestamp;
use store::Row;
use tokio::time::Instant;
use uuid::Uuid;

use super::Actor;
use crate::attachments::NewAttachment;
use crate::browse::{KeptRecord, delete_records};
use crate::command::{Cancelled, Command, Posted, Refusal, Reply};

const QUEUE_MAX: usize = 100;
/// The texts of all messages that wait: every change of the queue is told with all of them.
const QUEUE_BYTES_MAX: usize = 4 * 1024 * 1024;

impl Actor {
    pub(super) async fn command(&mut self, command: Command) {
        self.touch();
        match command {
            Command::Post { content, client_id, attachments, sent, reply } => {
                let _ = reply.send(self.post(content, client_id, attachments, sent).await);
            }
            Command::Edit { message_id, content, position, reply } => {
                let done = self.edit(message_id, content, position);
                self.flush_and_tell(reply, done).await;
            }
            Command::Now { message_id, reply } => {
                let done = self.queued(message_id).map(|()| self.turn_input(Input::SendNow { message_id }));
                self.flush_and_tell(reply, done).await;
            }
            Command::SendNext { reply } => {
                let done = self.send_next();
                self.flush_and_tell(reply, done).await;
            }
            Command::Withdraw { message_id, reply } => {
                let done = self.queued(message_id).map(|()| self.withdraw(message_id));
                self.flush_and_tell(reply, done).await;
            }
            Command::Cancel { what, reply } => {
                let done = self.cancel(what);
                self.flush_and_tell(reply, done).await;
            }
            Command::Confirm { call_id, approved, reply } => {
                let done = self.confirm(call_id, approved);
                self.flush_and_tell(reply, done).await;
            }
            Command::Answer { request_id, answer, reply } => {
                let rule = self.answer(request_id, answer);
                self.flush().await;
                // It may well answer something else that waits.
                let done = rule.map(|rule| rule.map(|row| (row.rule.scope, self.shared.rules.add(row)).0));
                self.count_rules();
                self.step(machine::Input::Reconsider);
                self.flush_and_tell(reply, done).await;
            }
            Command::TakeBack { request_id, reply } => {
                let done = self.take_back(request_id);
                self.flush_and_tell(reply, done).await;
            }
            Command::Revoke { id, reply } => {
                let done = self.revoke(id).await;
                self.flush_and_tell(reply, done).await;
            }
            Command::RulesChanged { project, revoked } => {
                if project == self.project {
                    self.rules_changed(revoked);
                }
            }
            Command::ChoicesChanged { policy } => self.choices_changed(policy),
            Command::Change { change, reply } => {
                self.change(change);
                self.flush_and_tell(reply, Ok(())).await;
            }
            Command::MakeRoom => self.make_room(),
            Command::LoggedIn { agent } => self.tell_host(agent, host::Input::LoggedIn),
            Command::Agents { reply } => drop(reply.send(Ok(self.agent_views()))),
            Command::Unfinished { message_id, reply } => drop(reply.send(Ok(self.unfinished(message_id)))),
            Command::SetOptions { name, set, reply } => {
                self.want_options(&name, set, reply).await;
            }
            Command::Delete { .. } => unreachable!("deleting ends the task and is handled by its loop"),
        }
    }

    /// Whoever asked is told when what was done is stored.
    async fn flush_and_tell<T>(&mut self, reply: Reply<T>, done: Result<T, Refusal>) {
        self.flush().await;
        // Whoever asked may have left.
        let _ = reply.send(done);
    }

    fn make_room(&mut self) {
        if self.machine.turn().turn.is_none() {
            self.tell_hosts(|| host::Input::Retire);
        }
    }

    /// What was decided is stored before another command is taken, so this is what readers of the log have been shown.
    fn unfinished(&self, message_id: MessageId) -> Option<Message> {
        let turn = self.machine.turn().turn.as_ref().filter(|turn| turn.message_id() == message_id)?;
        let Phase::Model { text, .. } = &turn.phase else { return None };
        Some(Message { turn_id: Some(turn.id), ..Message::plain(message_id, Role::Assistant, text.clone(), Timestamp::now()) })
    }

    fn rules_changed(&mut self, revoked: bool) {
        if revoked {
            self.tell_hosts(|| host::Input::ForgetAlways);
        }
        // A session that nobody looks at is not active for that.
        if self.is_watched() {
            self.count_rules();
        }
        self.step(machine::Input::Reconsider);
    }

    fn choices_changed(&mut self, policy: bool) {
        self.turn_settings_changed();
        if policy && self.row.permission_policy.is_none() {
            self.policy_changed(true);
        }
    }

    fn withdraw(&mut self, message_id: MessageId) {
        self.turn_input(Input::Withdraw { message_id });
        self.rows.push(Row::RemoveAttachments { message_id });
    }

    async fn post(
        &mut self,
        content: String,
        client_id: Option<String>,
        attachments: Vec<NewAttachment>,
        sent: Vec<CommentId>,
    ) -> Result<Posted, Refusal> {
        if let Some(client_id) = &client_id
            && let Some((message_id, turn_id, queued)) = self.shared.store.message_by_client_id(self.id, client_id).await?
        {
            return Ok(Posted { message_id, turn_id, queued });
        }
        self.check_queue(&content, None)?;
        self.check_room_for(&attachments).await?;
        // What is decided from here on counts only once it is stored.
        self.flush().await;
        let before = (self.machine.clone(), self.row.clone(), self.stored_queue.clone());
        let message_id = MessageId(Uuid::now_v7());
        let attachments = self.attach(message_id, attachments)?;
        if self.row.title.is_empty() {
            let title = crate::title::of(&content);
            self.change(SessionChange { title: Some(title), ..SessionChange::default() });
        }
        let item = QueueItem { message_id, turn_id: TurnId(Uuid::now_v7()), content, created_at: Timestamp::now(), client_id, attachments };
        let (message_id, turn_id) = (item.message_id, item.turn_id);
        self.turn_input(Input::Message(item));
        let posted = Posted { message_id, turn_id, queued: self.machine.turn().is_queued(message_id) };
        if !sent.is_empty() {
            self.rows.push(Row::SendComments { ids: sent, at: Timestamp::now() });
        }
        let (write, acts) = self.take_write();
        let (write, begun) = (Arc::new(write), Instant::now());
        // A message that cannot be stored is not accepted: its sender keeps it and is told.
        if let Err(error) = self.shared.store.commit(Arc::clone(&write)).await {
            (self.machine, self.row, self.stored_queue) = before;
            self.begun_by = None;
            return Err(error.into());
        }
        self.observer.committed(&write, &self.row, begun.elapsed());
        for act in acts {
            self.act(act).await;
        }
        self.flush().await;
        Ok(posted)
    }

    /// Whether a text may wait too, in place of another or behind all.
    fn check_queue(&self, content: &str, instead_of: Option<MessageId>) -> Result<(), Refusal> {
        let others = || self.machine.turn().queue.iter().filter(|item| Some(item.message_id) != instead_of);
        if others().count() >= QUEUE_MAX {
            return Err(Refusal::Conflict(format!("{QUEUE_MAX} messages are queued already; wait for some to finish")));
        }
        let bytes: usize = others().map(|item| item.content.len()).sum();
        if bytes > 0 && bytes + content.len() > QUEUE_BYTES_MAX {
            let most = crate::size(QUEUE_BYTES_MAX as u64);
            return Err(Refusal::Conflict(format!("queued messages may have {most} in total; wait for some to finish")));
        }
        Ok(())
    }

    fn queued(&self, message_id: MessageId) -> Result<(), Refusal> {
        if self.machine.turn().is_queued(message_id) { Ok(()) } else { Err(Refusal::NotFound("queued message")) }
    }

    fn edit(&mut self, message_id: MessageId, content: Option<String>, position: Option<usize>) -> Result<(), Refusal> {
        self.queued(message_id)?;
        if let Some(content) = content {
            self.check_queue(&content, Some(message_id))?;
            self.turn_input(Input::Edit { message_id, content });
        }
        if let Some(position) = position {
            self.turn_input(Input::Move { message_id, position });
        }
        Ok(())
    }

    fn send_next(&mut self) -> Result<(), Refusal> {
        if self.machine.turn().queue.is_empty() {
            return Err(Refusal::Conflict("no messages are queued".to_owned()));
        }
        self.turn_input(Input::SendNext);
        Ok(())
    }

    fn cancel(&mut self, what: Cancelled) -> Result<(), Refusal> {
        let Some(turn) = &self.machine.turn().turn else {
            return Err(Refusal::Conflict("nothing runs in this session".to_owned()));
        };
        match what {
            Cancelled::Turn => self.turn_input(Input::Cancel),
            Cancelled::OwnTurn => self.turn_input(Input::CancelTurn),
            Cancelled::Call(call_id) => match turn.call(&call_id).filter(|call| call.state != CallState::Done) {
                None => return Err(Refusal::NotFound("running tool call")),
                Some(_) => {
                    self.close_confirm(&call_id);
                    self.turn_input(Input::CancelCall { call_id });
                }
            },
        }
        Ok(())
    }

    fn confirm(&mut self, call_id: String, approved: bool) -> Result<(), Refusal> {
        let pending =
            self.machine.turn().turn.as_ref().and_then(|turn| turn.call(&call_id)).is_some_and(|call| call.state == CallState::Asking);
        if !pending {
            return Err(Refusal::Conflict("this confirmation is no longer pending".to_owned()));
        }
        self.close_confirm(&call_id);
        self.turn_input(Input::Confirm { call_id, approved, reason: "the person declined".to_owned() });
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
            self.row.permission_policy = policy;
        }
        if let Some(agent) = &change.agent
            && *agent != self.row.agent
        {
            let before = std::mem::replace(&mut self.row.agent, agent.clone());
            // It finishes what it has, and then makes room.
            self.tell_host(before, host::Input::Retire);
        }
        let (by_person, decides) = (change.permission_policy.is_some(), change.permission_policy.is_some() || change.model.is_some());
        self.turn_settings_changed();
        self.announce(change);
        if decides {
            self.policy_changed(by_person);
        }
    }

    fn policy_changed(&mut self, by_person: bool) {
        self.step(machine::Input::Reconsider);
        self.tell_hosts(|| host::Input::PolicyChanged { by_person });
    }

    pub(crate) fn close_confirm(&mut self, call_id: &str) {
        self.rows.push(Row::ResolveConfirm { tool_call_id: call_id.to_owned() });
    }

    pub(super) async fn delete(&mut self, agent_records: bool) -> Result<Vec<KeptRecord>, Refusal> {
        self.end_agents().await;
        // Before the session itself: after a crash in between it can be deleted again.
        let kept =
            if agent_records { delete_records(&self.shared, self.shared.store.agent_sessions(self.id).await?).await? } else { Vec::new() };
        self.shared.store.delete(self.id).await?;
        crate::recover::forget_traces(&self.shared.settings, self.id);
        crate::changes::forget(&self.shared.settings, self.id);
        self.shared.undos.session_deleted(self.id);
        self.shared.rules.session_deleted(self.id);
        Ok(kept)
    }
}
