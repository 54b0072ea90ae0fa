//! The decisions: one input in, events and effects out. Each file below decides about one subject.

mod agents;
mod calls;
mod ends;
mod model;
mod permissions;
mod queue;
mod resume;

use crate::event::{Event, Message, Role, Waits};
use crate::ids::MessageId;

use super::{Effect, Input, Now, Session, Settings};

/// One step under way: events are applied to the state the moment they are decided, so later decisions see them.
struct Step<'a> {
    session: &'a mut Session,
    settings: &'a Settings,
    now: Now,
    effects: Vec<Effect>,
}

impl Session {
    /// Decides what follows from `input`. An input that no longer fits (a late answer, a repeated cancel) has no effects.
    pub fn step(&mut self, input: Input, settings: &Settings, now: Now) -> Vec<Effect> {
        let mut step = Step { session: self, settings, now, effects: Vec::new() };
        step.take(input);
        step.effects
    }

    /// The effects that a server which has just folded the log still owes. Prompts are among them although they may have been
    /// sent: they carry the same write id as the first time, and the runner lets it through only once.
    pub fn resume(&mut self, settings: &Settings, now: Now) -> Vec<Effect> {
        let mut step = Step { session: self, settings, now, effects: Vec::new() };
        step.resume();
        step.effects
    }
}

impl Step<'_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Message(item) => self.message(item),
            Input::Edit { message_id, content } => self.edit(message_id, content),
            Input::Move { message_id, position } => self.move_to(message_id, position),
            Input::Withdraw { message_id } => self.withdraw(message_id),
            Input::SendNext => self.send_next(),
            Input::SendNow { message_id } => self.send_now(message_id),
            Input::ModelText { message_id, text } => self.model_text(message_id, text),
            Input::ModelEnd { message_id, text, tool_calls } => self.model_end(message_id, text, tool_calls),
            Input::ModelFault { message_id, code, message, repeat } => self.model_fault(message_id, code, message, repeat),
            Input::ToolEnd { call_id, end } => self.tool_end(&call_id, end),
            Input::Confirm { call_id, approved, reason } => self.confirm(&call_id, approved, reason),
            Input::ConfirmsWaiting { call_ids } => self.confirms_waiting(&call_ids),
            Input::AgentText { call_id, text } => self.agent_text(call_id, text),
            Input::AgentUpdate { call_id, update } => self.agent_update(call_id, update),
            Input::AgentHas { call_id } => self.agent_has(&call_id),
            Input::AgentEnd { call_id, agent, end } => self.agent_end(&call_id, agent, end),
            Input::Permission { call_id, agent, request_id, ask } => self.permission(call_id, agent, request_id, ask),
            Input::PermissionAnswer { request_id, decision, by, reason, rule } => {
                self.permission_answer(request_id, decision, by, reason, rule);
            }
            Input::HoldOver { request_id } => self.hold_over(request_id),
            Input::TakeBack { request_id } => self.take_back(request_id),
            Input::Cancel => {
                self.hold_queue();
                self.cancel();
            }
            Input::CancelTurn => self.cancel(),
            Input::CancelCall { call_id } => {
                // The agent's work is all that the turn is.
                if self.settings.relay && self.open_call(&call_id).is_some() {
                    self.hold_queue();
                }
                self.cancel_call(&call_id);
            }
            Input::Abort { state, code, reason } => self.abort(state, code, reason),
        }
    }

    fn append(&mut self, event: Event) {
        self.session.apply(&event);
        let asks =
            matches!(event, Event::PermissionRequest(_) | Event::PermissionResolved(_) | Event::ToolConfirm(_) | Event::ToolResult(_));
        self.effects.push(Effect::Append(event));
        if asks {
            self.note_waits();
        }
    }

    fn note_waits(&mut self) {
        let Some(turn) = &self.session.turn else { return };
        let (turn_id, changed) = (turn.id, turn.changed_waits(self.now.0.as_millisecond()));
        if !changed.is_empty() {
            self.append(Event::Waits(Waits { turn_id, changed }));
        }
    }

    fn plain_message(&self, id: MessageId, role: Role, content: String) -> Message {
        Message::plain(id, role, content, self.now.0)
    }

    fn turn_message(&self, id: MessageId, role: Role, content: String) -> Message {
        Message { turn_id: self.session.turn.as_ref().map(|turn| turn.id), ..self.plain_message(id, role, content) }
    }
}
