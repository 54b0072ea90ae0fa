//! The turn machine: what a session does next, decided without I/O, clock or randomness.
//!
//! The state changes only through [`Session::apply`], one event at a time, so a restarted server that feeds the log back in stands
//! where the old one stood. [`Session::step`] takes an input, decides, and returns the events to append and the effects to run.

mod answer;
mod call;
mod delegation;
mod past;
mod step;
#[cfg(test)]
mod tests;
mod volume;
mod waits;

use std::collections::VecDeque;

use jiff::Timestamp;

use crate::agent::{PermissionAsk, Update};
use crate::decision::Decision;
use crate::event::{
    Ending, Event, Message, PermissionHeld, PermissionRequest, PermissionResolved, Queue, QueueItem, ToolCall, TurnState, Wait,
};
use crate::ids::{MessageId, PermissionId, TurnId};
use crate::rule::RuleUse;
use crate::text::utf16_len;

pub use call::{Call, CallState, Work};
pub use past::Past;

/// How often an unfinished answer of the model is asked for again before the turn fails.
pub const MODEL_ATTEMPTS: u32 = 3;

/// A session's turns: the running one and what waits behind it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Session {
    pub turn: Option<Turn>,
    pub queue: VecDeque<QueueItem>,
    /// A person stopped what ran: the queue waits until somebody sends the next message of it. Never where nothing is queued.
    pub held: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Turn {
    pub id: TurnId,
    /// How many answers of the model came before the current one.
    pub step: u32,
    /// How often the current answer was begun anew.
    pub attempt: u32,
    pub phase: Phase,
    /// A person asked to stop: nothing new starts, and the turn ends when what runs has ended.
    pub cancelling: bool,
    pub permissions: Vec<PermissionRequest>,
    /// The answers to some of them, which the agent is not told yet.
    pub holds: Vec<PermissionHeld>,
    /// How long it and what is done in it waited for a person.
    pub waits: Vec<Wait>,
    /// How the delegation ended that ended last.
    pub last_ending: Option<Ending>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Phase {
    /// The model is answering; its text so far.
    Model { text: String, length: u64 },
    /// The tools that the answer asked for.
    Tools { text: String, calls: Vec<Call> },
}

/// What a session is set to; read at the moment of a decision, never stored in the log's fold.
#[derive(Clone, Debug)]
pub struct Settings {
    pub max_iterations: u32,
    /// The model is the relay: the agent's failure is the turn's failure.
    pub relay: bool,
    pub model: String,
    /// The agent behind `copilot_agent`.
    pub agent: String,
    /// The session holds as much as a session may: of further calls little is kept.
    pub is_full: bool,
    /// How long a person can take back a denial; none is held where it is 0.
    pub denial_hold_ms: i64,
}

#[derive(Clone, Debug)]
pub enum Input {
    Message(QueueItem),
    Edit {
        message_id: MessageId,
        content: String,
    },
    /// To that place among those that wait, 0 being the next; behind the last where there are fewer.
    Move {
        message_id: MessageId,
        position: usize,
    },
    Withdraw {
        message_id: MessageId,
    },
    /// The queue is held no more: its first message begins as soon as nothing runs.
    SendNext,
    /// A queued message is the next, and what runs is stopped for it.
    SendNow {
        message_id: MessageId,
    },
    ModelText {
        message_id: MessageId,
        text: String,
    },
    /// No two calls of a session have the same id; whoever asks the model sees to that.
    ModelEnd {
        message_id: MessageId,
        text: String,
        tool_calls: Vec<ToolCall>,
    },
    ModelFault {
        message_id: MessageId,
        code: String,
        message: String,
        repeat: bool,
    },
    ToolEnd {
        call_id: String,
        end: ToolEnd,
    },
    Confirm {
        call_id: String,
        approved: bool,
        reason: String,
    },
    /// After a restart: the confirmations that still wait. One that the log opened and that waits no longer was given, and its tool has
    /// not answered yet.
    ConfirmsWaiting {
        call_ids: Vec<String>,
    },
    AgentText {
        call_id: String,
        text: String,
    },
    AgentUpdate {
        call_id: String,
        update: Update,
    },
    /// After a restart: the agent has this call's prompt, so whatever it says belongs to it.
    AgentHas {
        call_id: String,
    },
    AgentEnd {
        call_id: String,
        /// The agent's id.
        agent: String,
        end: AgentEnd,
    },
    Permission {
        call_id: String,
        /// The id of the agent that asks.
        agent: String,
        request_id: PermissionId,
        ask: PermissionAsk,
    },
    PermissionAnswer {
        request_id: PermissionId,
        decision: Decision,
        by: String,
        /// Of a refusal: what the person says, for the agent.
        reason: Option<String>,
        rule: RuleUse,
    },
    /// The time in which a denial could be taken back is over.
    HoldOver {
        request_id: PermissionId,
    },
    /// A person takes back a denial that is held.
    TakeBack {
        request_id: PermissionId,
    },
    /// A person stops the turn; what is queued is held.
    Cancel,
    /// A program ends its own work; what others have queued goes on.
    CancelTurn,
    CancelCall {
        call_id: String,
    },
    /// The turn cannot go on for a reason outside of it.
    Abort {
        state: TurnState,
        code: String,
        reason: String,
    },
}

/// What one of the main AI's own tools gave.
#[derive(Clone, Debug, Default)]
pub struct ToolEnd {
    pub content: String,
    pub display: Option<String>,
    pub is_error: bool,
    pub artifact: Option<crate::event::ReviewArtifact>,
}

/// How an agent's work on a delegated prompt ended.
#[derive(Clone, PartialEq, Debug)]
pub enum AgentEnd {
    Stopped {
        stop_reason: String,
    },
    /// The agent refused or could not start; it may still be alive.
    Failed {
        code: String,
        message: String,
    },
    /// The agent's process is gone.
    Gone {
        message: String,
    },
}

#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "a step has few of them, and an event is what most of them are")]
pub enum Effect {
    /// Append to the log, in this order.
    Append(Event),
    /// Store a message; beside the log, in the same transaction.
    Save(Message),
    CallModel {
        turn_id: TurnId,
        message_id: MessageId,
    },
    StopModel,
    RunTool(ToolCall),
    StopTool {
        call_id: String,
    },
    /// A person has so long to agree.
    AwaitConfirm {
        call_id: String,
    },
    Prompt(Prompt),
    StopPrompt {
        call_id: String,
    },
    AnswerPermission {
        request_id: PermissionId,
        decision: Decision,
    },
}

/// What an agent is to work on.
#[derive(Clone, PartialEq, Debug)]
pub struct Prompt {
    pub turn_id: TurnId,
    pub call_id: String,
    /// 0 for the call's own prompt; what its agent was told afterwards counts on.
    pub round: u32,
    /// The id of the agent that is to work on it.
    pub agent: String,
    pub session_name: String,
    pub prompt: String,
}

/// Everything a step decides is stamped with one time, given from outside.
#[derive(Clone, Copy, Debug)]
pub struct Now(pub Timestamp);

impl Session {
    /// Folds one event of the log into the state. Events that do not concern a turn change nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Queue(queue) => self.set_queue(queue),
            Event::Turn(turn) => match (turn.state, &mut self.turn) {
                (TurnState::Running, Some(running)) if running.id == turn.turn_id => running.cancelling = true,
                (TurnState::Running, _) => self.turn = Some(Turn::new(turn.turn_id)),
                _ => self.turn = None,
            },
            _ => {
                if let Some(turn) = &mut self.turn {
                    turn.apply(event);
                }
            }
        }
    }

    pub fn set_queue(&mut self, queue: &Queue) {
        self.queue = queue.items.iter().cloned().collect();
        self.held = queue.held && !self.queue.is_empty();
    }

    /// The call of this id, if it is one of the running turn's.
    pub fn call(&self, call_id: &str) -> Option<&Call> {
        self.turn.as_ref()?.call(call_id)
    }

    pub fn is_queued(&self, message_id: MessageId) -> bool {
        self.queue.iter().any(|item| item.message_id == message_id)
    }
}

impl Turn {
    fn new(id: TurnId) -> Turn {
        Turn {
            id,
            step: 0,
            attempt: 0,
            phase: Phase::Model { text: String::new(), length: 0 },
            cancelling: false,
            permissions: Vec::new(),
            holds: Vec::new(),
            waits: Vec::new(),
            last_ending: None,
        }
    }

    /// The id of the message that the model is writing, or wrote to ask for the tools that run.
    pub fn message_id(&self) -> MessageId {
        self.id.assistant_message(self.step, self.attempt)
    }

    pub fn calls(&self) -> &[Call] {
        match &self.phase {
            Phase::Model { .. } => &[],
            Phase::Tools { calls, .. } => calls,
        }
    }

    /// The answer that the agent is not told yet.
    pub fn held(&self, request_id: PermissionId) -> Option<&PermissionHeld> {
        self.holds.iter().find(|held| held.request_id == request_id)
    }

    pub fn call(&self, call_id: &str) -> Option<&Call> {
        self.calls().iter().find(|call| call.call.id == call_id)
    }

    fn call_mut(&mut self, call_id: &str) -> Option<&mut Call> {
        match &mut self.phase {
            Phase::Model { .. } => None,
            Phase::Tools { calls, .. } => calls.iter_mut().find(|call| call.call.id == call_id),
        }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::TextDelta(delta) => {
                if let Phase::Model { text, length } = &mut self.phase {
                    text.push_str(&delta.content);
                    *length = delta.offset + utf16_len(&delta.content);
                }
            }
            Event::Superseded { .. } => {
                self.attempt += 1;
                self.phase = Phase::Model { text: String::new(), length: 0 };
            }
            Event::ToolCall(call) => self.open_call(call),
            Event::ToolConfirm(call) => self.set(&call.id, |call| call.state = CallState::Asking),
            Event::ToolStopping { id } => self.set(id, |call| call.stopping = true),
            Event::CopilotDelta(delta) => self.set(&delta.tool_call_id, |call| {
                call.state = CallState::Running;
                call.answer.written(call.text.len(), &delta.content);
                call.text.push_str(&delta.content);
                call.length = delta.offset + utf16_len(&delta.content);
            }),
            Event::AgentUpdate(update) => self.set(&update.tool_call_id, |call| {
                call.state = CallState::Running;
                call.note_rejection(&update.update);
                call.note_follow_up(&update.update);
                answer::follow(call, &update.update);
                let (grown, shrunk) = delegation::place(&mut call.updates, update.offset, &update.update, update.times);
                call.volume.note(&update.update, grown, shrunk);
            }),
            Event::Waits(waits) => waits.changed.iter().for_each(|wait| self.note_wait(wait)),
            Event::CopilotDone(done) => self.last_ending = done.ending,
            Event::PermissionRequest(request) => self.permissions.push(request.clone()),
            Event::PermissionHeld(held) => self.holds.push(held.clone()),
            Event::PermissionPending { request_id } => self.holds.retain(|held| held.request_id != *request_id),
            Event::PermissionResolved(resolved) => self.resolved(resolved),
            Event::ToolResult(result) => {
                self.set(&result.id, |call| call.state = CallState::Done);
                if !self.calls().is_empty() && self.calls().iter().all(|call| call.state == CallState::Done) {
                    self.step += 1;
                    self.attempt = 0;
                    self.phase = Phase::Model { text: String::new(), length: 0 };
                }
            }
            _ => {}
        }
    }

    /// Which of a call's permissions were rejected decides how the call ends.
    fn resolved(&mut self, resolved: &PermissionResolved) {
        self.holds.retain(|held| held.request_id != resolved.request_id);
        let Some(at) = self.permissions.iter().position(|open| open.request_id == resolved.request_id) else { return };
        let open = self.permissions.remove(at);
        if is_rejection(&open.ask, resolved) {
            self.set(&open.tool_call_id, |call| {
                call.reject(&open.ask.title, open.ask.agent_call.as_ref(), &resolved.by);
                call.reasons.extend(resolved.reason.clone().map(|reason| (open.ask.title.clone(), reason)));
            });
        } else if call::is_withdrawal(&resolved.by) {
            self.set(&open.tool_call_id, |call| call.withdraw(open.ask.agent_call.as_ref(), &resolved.by));
        } else {
            self.set(&open.tool_call_id, |call| call.allow(open.ask.agent_call.as_ref()));
        }
    }

    fn open_call(&mut self, call: &ToolCall) {
        if let Phase::Model { text, .. } = &mut self.phase {
            self.phase = Phase::Tools { text: std::mem::take(text), calls: Vec::new() };
        }
        if let Phase::Tools { calls, .. } = &mut self.phase {
            calls.push(Call::new(call.clone()));
        }
    }

    fn set(&mut self, call_id: &str, change: impl FnOnce(&mut Call)) {
        if let Some(call) = self.call_mut(call_id) {
            change(call);
        }
    }
}

impl AgentEnd {
    pub fn stopped(stop_reason: &str) -> AgentEnd {
        AgentEnd::Stopped { stop_reason: stop_reason.to_owned() }
    }

    pub fn failed(code: &str, message: impl Into<String>) -> AgentEnd {
        AgentEnd::Failed { code: code.to_owned(), message: message.into() }
    }
}

/// A person, a rule, the policy or the clock said no. What ends with its call, or is withdrawn by the agent, was not rejected.
fn is_rejection(ask: &PermissionAsk, resolved: &PermissionResolved) -> bool {
    let decided = matches!(resolved.by.as_str(), "person" | "mcp" | "rule" | "policy" | "timeout");
    decided && ask.form.is_none() && !resolved.decision(ask).allows()
}
