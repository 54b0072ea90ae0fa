//! What a session's task tells about itself: numbers, and spans of its turns. It looks at what is stored and what is heard, and decides
//! nothing.
//!
//! A turn's spans have the turn's id as their trace, and ids that follow from those of what they are about: whichever server a thing ends
//! under tells of it, in the same place. Nothing that was said or done in words gets into one.

pub(crate) mod model;
mod pending;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use domain::event::{Event, Turn as TurnEvent, TurnState};
use domain::host::{Host, Process, Signal};
use domain::ids::{PermissionId, SessionId, TurnId};
use domain::turn::CallState;
use jiff::Timestamp;
use store::{Row, SessionRow, Snapshot, StoreError, Write};
use telemetry::{Held, Metrics, Spans};
use uuid::Uuid;

pub(crate) use pending::Pending;
use pending::Trace;

use crate::Shared;

/// The main AI's own tools: a model may ask for any other word, which is then its own.
static TOOLS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| tools::definitions().iter().map(|tool| tool.name).chain(["delegate"]).collect());

pub(crate) struct Observer {
    session: SessionId,
    metrics: Arc<Metrics>,
    spans: Spans,
    turn: Option<Running>,
    /// The running turn's, by their ids.
    calls: HashMap<String, Pending>,
    /// By call and round.
    prompts: HashMap<(String, u32), Pending>,
    asked: HashMap<PermissionId, (Pending, Held)>,
    confirms: HashMap<String, Held>,
}

struct Running {
    id: TurnId,
    span: Pending,
    _counted: Held,
}

impl Shared {
    /// For a session as it was found.
    pub(crate) async fn observer(&self, snapshot: &Snapshot) -> Result<Observer, StoreError> {
        let begun_at = match snapshot.turn.filter(|_| self.settings.spans.are_wanted()) {
            Some(turn) => self.store.turn(snapshot.session.id, turn.turn_id).await?.map(|row| row.started_at),
            None => None,
        };
        Ok(Observer::new(&self.metrics, &self.settings.spans, snapshot, begun_at))
    }
}

impl Observer {
    /// `begun_at` is when the turn began that an earlier server left.
    fn new(metrics: &Arc<Metrics>, spans: &Spans, snapshot: &Snapshot, begun_at: Option<Timestamp>) -> Observer {
        let mut observer = Observer {
            session: snapshot.session.id,
            metrics: metrics.clone(),
            spans: spans.clone(),
            turn: None,
            calls: HashMap::new(),
            prompts: HashMap::new(),
            asked: HashMap::new(),
            confirms: HashMap::new(),
        };
        if let Some(turn) = &snapshot.turn {
            observer.turn_began(turn.turn_id, begun_at.unwrap_or_else(Timestamp::now), &snapshot.session);
            let calls = snapshot.turn_state.turn.iter().flat_map(|turn| turn.calls());
            for call in calls.filter(|call| call.state != CallState::Done) {
                // When it began is not stored: what is told of it is this server's part.
                observer.call_began(&call.call.id, &call.call.name, true);
            }
        }
        snapshot.permissions.iter().for_each(|request| observer.question(request));
        snapshot.confirms.iter().for_each(|call| observer.confirm(&call.id));
        observer
    }

    /// A write of the session is durable, after so long.
    pub(crate) fn committed(&mut self, write: &Write, session: &SessionRow, took: Duration) {
        self.metrics.write_seconds.observe(took);
        for event in &write.events {
            match event {
                Event::Turn(turn) => self.turn_changed(turn, write, session),
                Event::ToolCall(call) => self.call_began(&call.id, &call.name, false),
                Event::ToolResult(result) => self.call_ended(&result.id, result.is_error),
                Event::ToolConfirm(call) => self.confirm(&call.id),
                Event::PermissionRequest(request) => self.question(request),
                Event::PermissionResolved(resolved) => {
                    if let Some((span, _)) = self.asked.remove(&resolved.request_id) {
                        span.with("by", known_answer(&resolved.by)).end(false);
                    }
                }
                Event::Error(error) => self.metrics.errors.count(&error.code),
                _ => {}
            }
        }
        for row in &write.rows {
            if let Row::ResolveConfirm { tool_call_id } = row {
                self.confirms.remove(tool_call_id);
            }
        }
    }

    /// What came out of an agent, before anything follows from it.
    pub(crate) fn heard(&mut self, host: &Host, signals: &[Signal]) {
        for signal in signals {
            match signal {
                Signal::Text { text, .. } => {
                    self.metrics.agent_chunks.increment();
                    self.metrics.agent_bytes.add(text.len());
                }
                Signal::Answered { call_id, round, result } => {
                    if let Some(span) = self.prompts.remove(&(call_id.clone(), *round)) {
                        span.end(result.is_err());
                    }
                }
                Signal::Gone { .. } => {
                    let counts = self.metrics.agents.of(host.agent());
                    let told = matches!(host.process(), Process::Ending { .. });
                    if told { &counts.ended } else { &counts.died }.increment();
                }
                _ => {}
            }
        }
    }

    /// A prompt goes out.
    pub(crate) fn prompted(&mut self, agent: &str, turn_id: TurnId, call_id: &str, round: u32) {
        let trace = Trace::of(turn_id).beneath(call_span(turn_id, call_id));
        let id = last_half(turn_id.prompt_write(call_id, round));
        let span = Pending::begin(&self.spans, "prompt", trace, id).with("agent", agent).with("round", u64::from(round));
        self.prompts.insert((call_id.to_owned(), round), span);
    }

    /// Something begins on behalf of the running turn, or of nobody's.
    pub(crate) fn begin(&self, name: &'static str) -> Pending {
        let trace = self.turn.as_ref().map_or_else(|| Trace::alone(Uuid::now_v7()), |turn| Trace::of(turn.id));
        Pending::begin(&self.spans, name, trace, last_half(Uuid::new_v4()))
    }

    fn turn_changed(&mut self, turn: &TurnEvent, write: &Write, session: &SessionRow) {
        let row = write.rows.iter().find_map(|row| match row {
            Row::Turn(row) if row.id == turn.turn_id => Some(row),
            _ => None,
        });
        match (turn.state, &turn.reason) {
            (TurnState::Running, None) => {
                let begun_at = row.map_or_else(Timestamp::now, |row| row.started_at);
                self.turn_began(turn.turn_id, begun_at, session);
            }
            (TurnState::Running, Some(_)) => {}
            (state, _) => {
                let ended_at = row.and_then(|row| row.ended_at).unwrap_or_else(Timestamp::now);
                self.turn_ended(state, ended_at);
            }
        }
    }

    fn turn_began(&mut self, id: TurnId, begun_at: Timestamp, session: &SessionRow) {
        let span = Pending::begin(&self.spans, "turn", Trace::alone(id.0), last_half(id.0)).since(begun_at);
        let span = span.with("session.id", self.session.to_string()).with("turn.id", id.to_string());
        let span = span.with("model", session.model.as_str()).with("agent", session.agent.as_str());
        self.turn = Some(Running { id, span, _counted: self.metrics.turns_running.hold() });
    }

    fn turn_ended(&mut self, state: TurnState, ended_at: Timestamp) {
        let ending = ending(state);
        self.metrics.turns_ended.of(ending).increment();
        // What is still open is not heard of any more.
        self.prompts.drain().for_each(|(_, span)| span.with("outcome", "unanswered").end(true));
        self.calls.drain().for_each(|(_, span)| span.with("outcome", "unfinished").end(true));
        if let Some(turn) = self.turn.take() {
            let failed = !matches!(state, TurnState::Completed | TurnState::Cancelled);
            turn.span.with("ending", ending).end_at(ended_at, failed);
        }
    }

    fn call_began(&mut self, id: &str, name: &str, taken_up: bool) {
        let Some(turn) = &self.turn else { return };
        let tool = TOOLS.iter().find(|known| **known == name).copied().unwrap_or("other");
        let span = Pending::begin(&self.spans, "tool call", Trace::of(turn.id), call_span(turn.id, id)).with("tool", tool);
        let span = if taken_up { span.with("taken_up", true) } else { span };
        self.calls.insert(id.to_owned(), span);
    }

    fn call_ended(&mut self, id: &str, is_error: bool) {
        // One whose agent was gone has no answer.
        let unanswered: Vec<_> = self.prompts.keys().filter(|(call, _)| call == id).cloned().collect();
        for key in unanswered {
            if let Some(span) = self.prompts.remove(&key) {
                span.with("outcome", "unanswered").end(true);
            }
        }
        if let Some(span) = self.calls.remove(id) {
            span.with("outcome", if is_error { "error" } else { "done" }).end(is_error);
        }
    }

    fn question(&mut self, request: &domain::event::PermissionRequest) {
        let id = last_half(request.request_id.0);
        let trace = match &self.turn {
            Some(turn) => Trace::of(turn.id).beneath(call_span(turn.id, &request.tool_call_id)),
            None => Trace::alone(request.request_id.0),
        };
        let span = Pending::begin(&self.spans, "permission", trace, id).since(request.asked_at).with("agent", request.agent.as_str());
        self.asked.insert(request.request_id, (span, self.metrics.permissions_waiting.hold()));
    }

    fn confirm(&mut self, call_id: &str) {
        self.confirms.insert(call_id.to_owned(), self.metrics.confirmations_waiting.hold());
    }
}

fn ending(state: TurnState) -> &'static str {
    match state {
        TurnState::Running => "running",
        TurnState::Completed => "completed",
        TurnState::Cancelled => "cancelled",
        TurnState::Failed => "failed",
        TurnState::Interrupted => "interrupted",
        TurnState::Unknown => "unknown",
    }
}

/// Who answers is one of a few words; a log of another version may hold others.
fn known_answer(by: &str) -> &'static str {
    const KNOWN: [&str; 8] = ["person", "mcp", "policy", "rule", "timeout", "cancel", "agent", "agent_gone"];
    KNOWN.into_iter().find(|known| *known == by).unwrap_or("other")
}

/// The span of a call is the same whoever tells of it.
fn call_span(turn_id: TurnId, call_id: &str) -> [u8; 8] {
    last_half(Uuid::new_v5(&turn_id.0, format!("span/{call_id}").as_bytes()))
}

/// The half without the time in it.
fn last_half(id: Uuid) -> [u8; 8] {
    let [.., a, b, c, d, e, f, g, h] = *id.as_bytes();
    [a, b, c, d, e, f, g, h]
}
