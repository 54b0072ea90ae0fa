//! Which rows go with which events: the tables beside the log change in the same transaction.

use domain::event::{Event, Queue, TurnState};
use domain::ids::{MessageId, TurnId};
use domain::turn::Effect;
use jiff::Timestamp;
use store::{ArtifactRow, PermissionRow, Row, TurnRow, Write};

use super::Actor;

/// A turn as it begins or as it ends; the store keeps what a later row leaves out.
pub(super) fn turn_row(id: TurnId, state: TurnState, reason: Option<String>, user_message_id: Option<MessageId>) -> Row {
    let now = Timestamp::now();
    let ended_at = (state != TurnState::Running).then_some(now);
    Row::Turn(TurnRow { id, state, reason, user_message_id, started_seq: 0, started_at: now, ended_at })
}

impl Actor {
    /// Splits what was decided into one write and the effects to run once it is durable.
    pub(crate) fn take_write(&mut self) -> (Write, Vec<Effect>) {
        let mut events = Vec::new();
        let mut rows = std::mem::take(&mut self.rows);
        let mut acts = Vec::new();
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Append(event) => {
                    self.rows_for(&event, &mut rows);
                    events.push(event);
                }
                Effect::Save(message) => rows.push(Row::Message(message)),
                act => acts.push(act),
            }
        }
        (Write { session: self.id, events, rows }, acts)
    }

    fn rows_for(&mut self, event: &Event, rows: &mut Vec<Row>) {
        match event {
            Event::Message(message) if message.role == domain::event::Role::User => self.begun_by = Some(message.id),
            Event::Turn(turn) if turn.state == TurnState::Running && turn.reason.is_none() => {
                rows.push(turn_row(turn.turn_id, TurnState::Running, None, self.begun_by.take()));
            }
            Event::Turn(turn) if turn.state == TurnState::Running => {}
            Event::Turn(turn) => {
                rows.push(turn_row(turn.turn_id, turn.state, turn.reason.clone(), None));
                self.touch();
            }
            Event::Queue(queue) => self.queue_rows(queue, rows),
            Event::ToolConfirm(call) => {
                rows.push(Row::OpenConfirm(call.clone()));
                self.await_confirm(call.id.clone());
            }
            Event::ToolResult(result) => rows.push(Row::ResolveConfirm { tool_call_id: result.id.clone() }),
            Event::PermissionRequest(request) => {
                if let Some((runner_id, rpc_id)) = self.host.rpc_of(request.request_id) {
                    rows.push(Row::OpenPermission(PermissionRow { request: request.clone(), rpc_id, runner_id }));
                }
            }
            Event::PermissionResolved(resolved) => rows.push(Row::ResolvePermission {
                request_id: resolved.request_id,
                option_id: resolved.option_id.clone(),
                by: resolved.by.clone(),
            }),
            Event::ReviewArtifact(artifact) => {
                let review = self.reviews.remove(&artifact.artifact_id);
                let files = review.map(|review| serde_json::to_value(review.files)).and_then(Result::ok).unwrap_or_default();
                rows.push(Row::Artifact(ArtifactRow {
                    session: self.id,
                    summary: artifact.clone(),
                    files,
                    review: serde_json::Value::Null,
                    created_at: Timestamp::now(),
                }));
            }
            Event::Session(change) => rows.push(Row::UpdateSession(change.clone())),
            _ => {}
        }
    }

    fn queue_rows(&mut self, queue: &Queue, rows: &mut Vec<Row>) {
        let before = std::mem::replace(&mut self.stored_queue, queue.clone());
        for item in &before.items {
            if !queue.items.iter().any(|now| now.message_id == item.message_id) {
                rows.push(Row::Dequeue { message_id: item.message_id });
            }
        }
        for item in &queue.items {
            match before.items.iter().find(|was| was.message_id == item.message_id) {
                None => rows.push(Row::Enqueue(item.clone())),
                Some(was) if was.content != item.content => {
                    rows.push(Row::EditQueued { message_id: item.message_id, content: item.content.clone() });
                }
                Some(_) => {}
            }
        }
    }
}
