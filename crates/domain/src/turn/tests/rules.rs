//! What must hold for every sequence of effects, whatever led to it: the promises of the event log as assertions.

use std::collections::{HashMap, HashSet, VecDeque};

use super::super::call::{Call, Work};
use super::super::{Effect, Prompt};
use crate::decision::Verdict;
use crate::event::{Event, Message, Queue, QueueItem, Role, ToolResult, Turn, TurnState};
use crate::ids::{MessageId, PermissionId, TurnId};
use crate::text::utf16_len;

#[derive(Clone, Default)]
pub(super) struct Rules {
    max_iterations: u32,
    /// Messages in the order they were sent, and those that were taken back.
    pub sent: Vec<MessageId>,
    pub withdrawn: HashSet<MessageId>,
    /// Somebody asked for what is held.
    pub released: bool,
    held: bool,
    queued: Vec<MessageId>,
    begun: usize,
    running: Option<Running>,
    turns: HashSet<TurnId>,
    calls: HashSet<String>,
    asked: HashSet<PermissionId>,
    answered: HashSet<PermissionId>,
    streams: HashMap<String, u64>,
    void: HashSet<MessageId>,
    prompted: HashSet<(TurnId, String)>,
    last: Option<Event>,
    saved: Option<Message>,
}

#[derive(Clone)]
struct Running {
    id: TurnId,
    cancelling: bool,
    steps: HashSet<MessageId>,
    open: HashMap<String, Work>,
    permissions: HashSet<PermissionId>,
    held: HashSet<PermissionId>,
    excused: bool,
    done: u32,
}

impl Rules {
    pub(super) fn new(max_iterations: u32) -> Rules {
        Rules { max_iterations, ..Rules::default() }
    }

    pub(super) fn check(&mut self, effect: &Effect) {
        match effect {
            Effect::Append(event) => {
                self.event(event);
                self.last = Some(event.clone());
                self.saved = None;
            }
            Effect::Save(message) => self.saved = Some(message.clone()),
            Effect::CallModel { turn_id, message_id } => self.model_called(*turn_id, *message_id),
            Effect::RunTool(call) => self.started(&call.id),
            Effect::Prompt(Prompt { turn_id, call_id, .. }) => {
                self.started(call_id);
                self.prompted.insert((*turn_id, call_id.clone()));
            }
            Effect::AnswerPermission { request_id, .. } => {
                assert!(self.answered.insert(*request_id), "a permission was answered twice");
            }
            Effect::StopModel | Effect::AwaitConfirm { .. } | Effect::StopTool { .. } | Effect::StopPrompt { .. } => {}
        }
    }

    /// It begins before those that are held.
    pub(super) fn sent_past_queue(&mut self, id: MessageId) {
        let place = self.sent.iter().skip(self.begun).position(|other| !self.withdrawn.contains(other));
        self.sent.insert(place.map_or(self.sent.len(), |place| self.begun + place), id);
    }

    /// It now runs before all others that are queued.
    pub(super) fn next(&mut self, id: MessageId, queue: &VecDeque<QueueItem>) {
        if queue.iter().any(|item| item.message_id == id) {
            self.sent.retain(|other| *other != id);
            self.sent.insert(self.begun, id);
        }
    }

    /// It now runs before the one that stands behind it.
    pub(super) fn moved(&mut self, id: MessageId, queue: &VecDeque<QueueItem>) {
        let Some(place) = queue.iter().position(|item| item.message_id == id) else { return };
        self.sent.retain(|other| *other != id);
        let next = queue.get(place + 1).and_then(|next| self.sent.iter().position(|other| *other == next.message_id));
        self.sent.insert(next.unwrap_or(self.sent.len()), id);
    }

    pub(super) fn finished(&self) {
        assert!(self.running.is_none(), "a turn never ended");
        let left: Vec<_> = self.sent[self.begun..].iter().filter(|id| !self.withdrawn.contains(id)).collect();
        assert!(left.is_empty(), "messages never began: {left:?}");
    }

    pub(super) fn was_prompted(&self, turn_id: TurnId, call_id: &str) -> bool {
        self.prompted.contains(&(turn_id, call_id.to_owned()))
    }

    /// What is held stays where it is until somebody asks for it.
    fn queue(&mut self, queue: &Queue) {
        let now: Vec<_> = queue.items.iter().map(|item| item.message_id).collect();
        if self.held && (queue.held || !self.released) {
            assert!(queue.held || now.is_empty(), "the queue goes on by itself after a stop");
            let begun = self.queued.iter().find(|id| !now.contains(id) && !self.withdrawn.contains(id));
            assert!(begun.is_none(), "{begun:?} begins although a person stopped");
        }
        self.released &= queue.held;
        (self.held, self.queued) = (queue.held, now);
    }

    fn turn(&mut self) -> &mut Running {
        self.running.as_mut().expect("this belongs to a running turn")
    }

    fn event(&mut self, event: &Event) {
        if let Some(Event::CopilotDone(done)) = &self.last {
            let follows = matches!(event, Event::ToolResult(result) if result.id == done.tool_call_id);
            assert!(follows, "copilot-done is not followed by its tool-result but by {event:?}");
        }
        match event {
            Event::Turn(turn) => self.turn_event(turn),
            Event::Message(message) => self.message(message),
            Event::TextDelta(delta) => {
                assert!(!self.void.contains(&delta.message_id), "a superseded answer goes on");
                self.stream(delta.message_id.to_string(), delta.offset, &delta.content);
            }
            Event::Superseded { message_id } => assert!(self.void.insert(*message_id), "superseded twice"),
            Event::ToolCall(call) => {
                assert!(self.calls.insert(call.id.clone()), "a call was announced twice");
                let work = Call::new(call.clone()).work;
                self.turn().open.insert(call.id.clone(), work);
            }
            Event::ToolConfirm(call) => assert!(self.turn().open.contains_key(&call.id)),
            Event::CopilotDelta(delta) => {
                assert!(self.turn().open.contains_key(&delta.tool_call_id), "text of a call that is not open");
                self.stream(delta.tool_call_id.clone(), delta.offset, &delta.content);
            }
            Event::AgentUpdate(update) => assert!(self.turn().open.contains_key(&update.tool_call_id)),
            Event::CopilotDone(done) => assert!(self.turn().open.contains_key(&done.tool_call_id)),
            Event::ToolResult(result) => self.result(result),
            Event::PermissionRequest(request) => {
                assert!(self.asked.insert(request.request_id), "asked twice");
                assert!(!self.turn().cancelling && self.turn().open.contains_key(&request.tool_call_id));
                self.turn().permissions.insert(request.request_id);
            }
            Event::PermissionResolved(resolved) => {
                assert!(self.turn().permissions.remove(&resolved.request_id), "resolved what was not open");
                let denied = resolved.by == "person" && resolved.verdict != Some(Verdict::Allow);
                assert_eq!(
                    self.turn().held.remove(&resolved.request_id) && resolved.by == "person",
                    denied,
                    "only denials are held: {resolved:?}"
                );
            }
            Event::Queue(queue) => self.queue(queue),
            Event::PermissionHeld(held) => {
                let turn = self.turn();
                assert!(turn.permissions.contains(&held.request_id) && turn.held.insert(held.request_id), "held twice, or not asked");
                assert_ne!(held.verdict, Verdict::Allow);
            }
            Event::PermissionPending { request_id } => assert!(self.turn().held.remove(request_id), "taken back, and not held"),
            Event::Done(done) => {
                let Some(Event::Message(message)) = &self.last else { panic!("done without its message") };
                assert!(message.id == done.message_id && message.role == Role::Assistant);
                assert_eq!(self.turn().id, done.turn_id);
                self.turn().done += 1;
            }
            Event::Error(_) | Event::Notice(_) => self.turn().excused = true,
            _ => {}
        }
    }

    fn turn_event(&mut self, turn: &Turn) {
        match (turn.state, &mut self.running) {
            (TurnState::Running, Some(running)) => {
                assert!(running.id == turn.turn_id && !running.cancelling, "two turns at once");
                running.cancelling = true;
            }
            (TurnState::Running, None) => {
                assert!(self.turns.insert(turn.turn_id), "a turn began twice");
                let begins = matches!(&self.last, Some(Event::Message(message)) if message.turn_id == Some(turn.turn_id));
                assert!(begins, "a turn began without its message");
                self.running = Some(Running {
                    id: turn.turn_id,
                    cancelling: false,
                    steps: HashSet::new(),
                    open: HashMap::new(),
                    permissions: HashSet::new(),
                    held: HashSet::new(),
                    excused: false,
                    done: 0,
                });
            }
            (state, running) => {
                let ended = running.take().expect("only a running turn ends");
                assert_eq!(ended.id, turn.turn_id);
                assert!(ended.open.is_empty(), "calls without a result: {:?}", ended.open.keys());
                assert!(ended.permissions.is_empty(), "a permission outlived its turn");
                assert_eq!(ended.done, u32::from(state == TurnState::Completed), "done and the final state disagree");
                assert!(state == TurnState::Completed || ended.excused, "{state:?} without a word");
            }
        }
    }

    fn message(&mut self, message: &Message) {
        assert_eq!(self.saved.as_ref(), Some(message), "a message was announced but not stored");
        if message.role == Role::User {
            let position = self.sent.iter().position(|id| *id == message.id).expect("this message was sent");
            assert!(position >= self.begun, "a message began twice or out of order");
            let skipped = &self.sent[self.begun..position];
            assert!(skipped.iter().all(|id| self.withdrawn.contains(id)), "a message was passed over");
            assert!(!self.withdrawn.contains(&message.id), "a withdrawn message began");
            self.begun = position + 1;
        }
    }

    fn result(&mut self, result: &ToolResult) {
        let work = self.turn().open.remove(&result.id).expect("the call is open");
        let announced = matches!(&self.last, Some(Event::CopilotDone(done)) if done.tool_call_id == result.id);
        assert_eq!(announced, matches!(work, Work::Delegate { .. }), "copilot-done belongs to delegations, directly before the result");
        let stored = self.saved.as_ref().expect("a result is stored with its announcement");
        assert!(stored.role == Role::Tool && stored.tool_call_id.as_ref() == Some(&result.id));
        assert_eq!((&stored.content, &stored.display, stored.is_error), (&result.content, &result.display, result.is_error));
        assert_eq!(stored.delegation.is_some(), announced);
    }

    fn stream(&mut self, stream: String, offset: u64, content: &str) {
        let length = self.streams.entry(stream).or_default();
        assert_eq!(*length, offset, "a gap or an overlap in a stream");
        *length += utf16_len(content);
    }

    fn model_called(&mut self, turn_id: TurnId, message_id: MessageId) {
        let max = self.max_iterations as usize;
        let voided = self.void.clone();
        let turn = self.turn();
        assert!(turn.id == turn_id && !turn.cancelling && turn.open.is_empty(), "the model is asked at a wrong moment");
        turn.steps.insert(message_id);
        assert!(turn.steps.difference(&voided).count() <= max, "more steps than allowed");
    }

    fn started(&mut self, call_id: &str) {
        let turn = self.turn();
        assert!(!turn.cancelling, "{call_id} starts although the turn is being stopped");
        assert!(turn.open.contains_key(call_id), "{call_id} starts although it is done");
    }
}
