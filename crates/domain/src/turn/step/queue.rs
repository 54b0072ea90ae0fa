//! Messages and what waits behind the running turn: begun at once or in order, edited, moved or withdrawn until then.

use crate::event::{Event, Message, Queue, QueueItem, Role, Turn as TurnEvent, TurnState};
use crate::ids::MessageId;

use super::super::Effect;
use super::Step;

impl Step<'_> {
    pub(super) fn message(&mut self, item: QueueItem) {
        // What is held does not hold up what somebody sends now.
        if self.session.turn.is_none() && (self.session.queue.is_empty() || self.session.held) {
            return self.begin(item);
        }
        let mut items = self.queued();
        items.push(item);
        self.set_queue(items);
        // Messages wait only behind a turn: where none runs, the first of them is overdue.
        if self.session.turn.is_none() {
            self.begin_next();
        }
    }

    pub(super) fn edit(&mut self, message_id: MessageId, content: String) {
        let mut items = self.queued();
        if let Some(item) = items.iter_mut().find(|item| item.message_id == message_id) {
            item.content = content;
            self.set_queue(items);
        }
    }

    pub(super) fn move_to(&mut self, message_id: MessageId, position: usize) {
        let mut items = self.queued();
        let Some(place) = items.iter().position(|item| item.message_id == message_id) else { return };
        let item = items.remove(place);
        let to = position.min(items.len());
        items.insert(to, item);
        if to != place {
            self.set_queue(items);
        }
    }

    pub(super) fn withdraw(&mut self, message_id: MessageId) {
        if self.session.is_queued(message_id) {
            let items = self.session.queue.iter().filter(|item| item.message_id != message_id).cloned().collect();
            self.set_queue(items);
        }
    }

    pub(super) fn send_next(&mut self) {
        if self.session.held {
            self.append(Event::Queue(Queue { items: self.queued(), held: false }));
        }
        if self.session.turn.is_none() {
            self.begin_next();
        }
    }

    pub(super) fn send_now(&mut self, message_id: MessageId) {
        if self.session.is_queued(message_id) {
            self.move_to(message_id, 0);
            self.cancel();
            self.send_next();
        }
    }

    /// What waits is not begun because of a stop.
    pub(super) fn hold_queue(&mut self) {
        if self.session.turn.is_some() && !self.session.queue.is_empty() && !self.session.held {
            self.append(Event::Queue(Queue { items: self.queued(), held: true }));
        }
    }

    fn queued(&self) -> Vec<QueueItem> {
        self.session.queue.iter().cloned().collect()
    }

    fn set_queue(&mut self, items: Vec<QueueItem>) {
        let held = self.session.held && !items.is_empty();
        self.append(Event::Queue(Queue { items, held }));
    }

    fn begin(&mut self, item: QueueItem) {
        let message = Message {
            client_id: item.client_id,
            attachments: item.attachments,
            turn_id: Some(item.turn_id),
            ..self.plain_message(item.message_id, Role::User, item.content)
        };
        self.effects.push(Effect::Save(message.clone()));
        self.append(Event::Message(message));
        self.append(Event::Turn(TurnEvent::new(item.turn_id, TurnState::Running, None)));
        self.call_model();
    }

    pub(super) fn begin_next(&mut self) {
        if let Some(item) = self.session.queue.front().filter(|_| !self.session.held).cloned() {
            let items = self.session.queue.iter().skip(1).cloned().collect();
            self.set_queue(items);
            self.begin(item);
        }
    }
}
