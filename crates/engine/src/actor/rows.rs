//! Which rows go with which effects: the tables beside the log change in the same transaction.

use domain::decision::{Decision, Reach, Verdict};
use domain::event::{Event, Message, Queue, QueueItem, TurnState};
use domain::host::{DebtRecord, Keep};
use domain::ids::{MessageId, RunnerId, TurnId};
use domain::machine::Effect;
use jiff::Timestamp;
use store::{ArtifactRow, PermissionRow, RequestRow, Row, RunnerRow, TurnRow, Write};

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
        let now_ms = Timestamp::now().as_millisecond();
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Append(event) => {
                    self.rows_for(&event, &mut rows);
                    self.attribution.follow(&event, now_ms, &mut rows);
                    events.push(event);
                }
                Effect::Save(message) => {
                    self.count(&message);
                    rows.push(Row::Message(message));
                }
                Effect::Keep(keep) => {
                    if let Keep::DebtBegun { id } = keep {
                        self.attribution.begun(id, now_ms);
                    }
                    self.keep(keep, &mut rows);
                }
                act => acts.push(act),
            }
        }
        (Write { session: self.id, events, rows }, acts)
    }

    /// What is kept of the next call depends on what there is.
    fn count(&mut self, message: &Message) {
        let display = message.display.as_ref().map_or(0, String::len);
        let updates: usize = message.delegation.iter().flat_map(|done| &done.updates).map(|placed| placed.update.bytes()).sum();
        self.message_bytes += (message.content.len() + display + updates) as u64;
        self.turn_settings_changed();
    }

    fn rows_for(&mut self, event: &Event, rows: &mut Vec<Row>) {
        match event {
            Event::Message(message) if message.role == domain::event::Role::User => self.begun_by = Some(message.id),
            Event::Turn(turn) if turn.state == TurnState::Running && turn.reason.is_none() => {
                rows.push(turn_row(turn.turn_id, TurnState::Running, None, self.begun_by.take()));
                self.trees.begun = Some(turn.turn_id);
            }
            Event::Turn(turn) if turn.state == TurnState::Running => {}
            Event::Turn(turn) => {
                rows.push(turn_row(turn.turn_id, turn.state, turn.reason.clone(), None));
                rows.extend(turn.ending.map(|ending| Row::TurnEnding { id: turn.turn_id, ending }));
                self.trees.ended = Some(turn.turn_id);
                self.touch();
            }
            Event::Waits(waits) => {
                let of_turn = waits.changed.iter().filter(|wait| wait.is_of(None, None));
                rows.extend(of_turn.map(|wait| Row::TurnWaits {
                    id: waits.turn_id,
                    waited_ms: wait.waited_ms,
                    waiting_since_ms: wait.waiting_since_ms,
                }));
            }
            Event::Queue(queue) => self.queue_rows(queue, rows),
            Event::ToolConfirm(call) => rows.push(Row::OpenConfirm(call.clone())),
            Event::ToolResult(result) => rows.push(Row::ResolveConfirm { tool_call_id: result.id.clone() }),
            Event::PermissionRequest(request) => {
                if let Some((runner, rpc_id)) = self.machine.rpc_of(request.request_id) {
                    let (runner_id, rpc_id) = (runner.to_string(), rpc_id.to_owned());
                    rows.push(Row::OpenPermission(PermissionRow { request: request.clone(), rpc_id, runner_id }));
                }
            }
            Event::PermissionResolved(resolved) => {
                let (verdict, reach) = (resolved.verdict.unwrap_or(Verdict::Cancel), resolved.reach.unwrap_or(Reach::Once));
                let decision = Decision::stored(verdict, reach, resolved.option_id.clone());
                rows.push(Row::ResolvePermission { request_id: resolved.request_id, decision, by: resolved.by.clone() });
            }
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

    fn keep(&self, keep: Keep, rows: &mut Vec<Row>) {
        match keep {
            Keep::RunnerStarted { runner, agent } => rows.push(Row::Runner(RunnerRow {
                id: runner.to_string(),
                session: self.id,
                agent,
                dir: self.shared.settings.runner_dir(runner).to_string_lossy().into_owned(),
                cursor: 0,
                capabilities: None,
                ending: false,
            })),
            Keep::RunnerUp { runner, capabilities } => {
                rows.push(Row::RunnerCapabilities { id: runner.to_string(), capabilities: Some(capabilities) });
            }
            Keep::RunnerEnding { runner } => rows.push(Row::RunnerEnding { id: runner.to_string() }),
            Keep::RunnerRemoved { runner } => rows.push(Row::RemoveRunner { id: runner.to_string() }),
            Keep::Cursor { runner, cursor } => move_cursor(runner, cursor, rows),
            Keep::Session(session) => rows.push(Row::AgentSession(session)),
            Keep::SessionRemoved { name } => rows.push(Row::RemoveAgentSession { name }),
            Keep::PolicyDecided { runner, rpc_id, request, decision } => {
                let request_id = request.request_id;
                rows.push(Row::OpenPermission(PermissionRow { request, rpc_id, runner_id: runner.to_string() }));
                rows.push(Row::ResolvePermission { request_id, decision, by: "policy".to_owned() });
            }
            Keep::DebtOpened { runner, debt } => rows.push(Row::OpenRequest(request_row(runner, debt))),
            Keep::DebtBegun { id } => rows.push(Row::BeginRequest { id }),
            Keep::DebtReply { id, reply } => {
                rows.push(Row::AnswerRequest { id, answer: serde_json::to_value(&reply).expect("a reply is JSON") });
            }
            // It is in one of the two tables.
            Keep::DebtClosed { id } => rows.extend([Row::CloseRequest { id }, Row::PermissionDelivered { request_id: id }]),
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
        if queue.held != before.held {
            rows.push(Row::HoldQueue(queue.held));
        }
        let ids = |items: &[QueueItem]| items.iter().map(|item| item.message_id).collect::<Vec<_>>();
        let now = ids(&queue.items);
        let mut kept = ids(&before.items);
        kept.retain(|id| now.contains(id));
        if !now.starts_with(&kept) {
            rows.push(Row::OrderQueue(now));
        }
    }
}

/// Of several batches in one write only the last place counts.
fn move_cursor(runner: RunnerId, to: u64, rows: &mut Vec<Row>) {
    let runner = runner.to_string();
    let moved = rows.iter_mut().rev().find_map(|row| match row {
        Row::RunnerCursor { id, cursor } if *id == runner => Some(cursor),
        _ => None,
    });
    match moved {
        Some(cursor) => *cursor = to,
        None => rows.push(Row::RunnerCursor { id: runner, cursor: to }),
    }
}

fn request_row(runner: RunnerId, debt: DebtRecord) -> RequestRow {
    RequestRow {
        id: debt.id,
        runner_id: runner.to_string(),
        rpc_id: debt.rpc_id,
        call_id: debt.call_id,
        request: serde_json::to_value(&debt.demand).expect("a demand is JSON"),
        begun: debt.begun,
        answer: debt.reply.map(|reply| serde_json::to_value(&reply).expect("a reply is JSON")),
    }
}
