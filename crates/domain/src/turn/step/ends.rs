//! How turns end: completed, failed, stopped by a person, or broken off from outside.

use crate::event::{Done, Ending, ErrorEvent, Event, Message, Notice, Role, ToolResult, Turn as TurnEvent, TurnState};
use crate::ids::MessageId;

use super::super::call::{Call, CallState};
use super::super::{Effect, Phase, ToolEnd};
use super::Step;
use super::agents::INTERRUPTED;

const STOPPED: &str = "stopped by the person";
const NEVER_RAN: &str = "stopped by the person before it ran";

impl Step<'_> {
    pub(super) fn cancel(&mut self) {
        let Some(turn) = self.session.turn.as_ref().filter(|turn| !turn.cancelling) else { return };
        let (turn_id, message_id) = (turn.id, turn.message_id());
        let in_model = matches!(turn.phase, Phase::Model { .. });
        self.append(Event::Turn(TurnEvent::new(turn_id, TurnState::Running, Some("cancelling".to_owned()))));
        if in_model {
            self.effects.push(Effect::StopModel);
            self.keep_partial(message_id);
            return self.cancelled();
        }
        self.stop_calls();
    }

    /// In the log like the stop of a whole turn: the agent ends the call in its own time, perhaps to another server.
    pub(super) fn cancel_call(&mut self, call_id: &str) {
        let fresh = self.running_delegate(call_id).is_some_and(|call| !call.stopping && !call.stop_sent);
        if fresh {
            self.append(Event::ToolStopping { id: call_id.to_owned() });
        }
        self.stop_call(call_id);
    }

    pub(super) fn stop_calls(&mut self) {
        let Some(turn) = &self.session.turn else { return };
        let calls: Vec<String> = turn.calls().iter().map(|call| call.call.id.clone()).collect();
        for call_id in calls {
            self.stop_call(&call_id);
        }
    }

    pub(super) fn stop_call(&mut self, call_id: &str) {
        let Some(call) = self.open_call(call_id) else { return };
        let began = call.state == CallState::Running;
        let content = if began { STOPPED } else { NEVER_RAN }.to_owned();
        match (call.session_name().is_some(), began) {
            (true, true) => self.stop_prompt(&call),
            (true, false) => {
                let agent = call.agent().unwrap_or(&self.settings.agent).to_owned();
                self.close_delegate(call, agent, "cancelled".to_owned(), content, true);
            }
            (false, _) => {
                if began {
                    self.effects.push(Effect::StopTool { call_id: call_id.to_owned() });
                }
                self.close_plain(call, ToolEnd { content, is_error: true, ..ToolEnd::default() });
            }
        }
    }

    /// Tells an agent to stop, once; the call ends when the agent says so.
    pub(super) fn stop_prompt(&mut self, call: &Call) {
        if call.stop_sent {
            return;
        }
        if let Some(turn) = &mut self.session.turn {
            turn.set(&call.call.id, |call| call.stop_sent = true);
        }
        // The prompt is stopped first and its permissions answered second, as the protocol asks.
        self.effects.push(Effect::StopPrompt { call_id: call.call.id.clone() });
        self.resolve_permissions(&call.call.id, "cancel", true);
    }

    pub(super) fn abort(&mut self, state: TurnState, code: String, reason: String) {
        let Some(turn) = &self.session.turn else { return };
        let (turn_id, message_id) = (turn.id, turn.message_id());
        let open: Vec<_> = turn.calls().iter().filter(|call| call.state != CallState::Done).cloned().collect();
        if matches!(turn.phase, Phase::Model { .. }) {
            self.effects.push(Effect::StopModel);
        }
        self.keep_partial(message_id);
        for call in open {
            self.break_off(&call, &reason);
        }
        self.append(Event::Error(ErrorEvent { turn_id: Some(turn_id), code, message: reason.clone() }));
        self.end(state, Some(reason));
    }

    /// Ends a call with its turn: without waiting for whoever works on it, and without going on to what comes next.
    fn break_off(&mut self, call: &Call, reason: &str) {
        let call_id = &call.call.id;
        match (call.state == CallState::Running, call.session_name().is_some()) {
            (true, true) => self.stop_prompt(call),
            (true, false) => self.effects.push(Effect::StopTool { call_id: call_id.clone() }),
            (false, _) => {}
        }
        self.close_agent_calls(call_id, INTERRUPTED);
        self.stop_plan(call_id);
        let Some(call) = self.open_call(call_id) else { return };
        let plain = ToolResult {
            id: call.call.id.clone(),
            name: call.call.name.clone(),
            content: reason.to_owned(),
            display: None,
            is_error: true,
            artifact_id: None,
        };
        let agent = call.agent().unwrap_or(&self.settings.agent).to_owned();
        match self.delegation_done(call, agent, INTERRUPTED.to_owned(), reason.to_owned(), true) {
            Some((result, record)) => self.record_result(result, Some(record)),
            None => self.record_result(plain, None),
        }
    }

    pub(super) fn complete(&mut self, message: Message) {
        let Some(turn_id) = message.turn_id else { return };
        let done = Done { turn_id, message_id: message.id, model: self.settings.model.clone(), html: None };
        self.append(Event::Message(message));
        self.append(Event::Done(done));
        self.end(TurnState::Completed, None);
    }

    pub(super) fn fail(&mut self, code: &str, message: String) {
        let Some(turn) = &self.session.turn else { return };
        let (turn_id, message_id) = (turn.id, turn.message_id());
        self.keep_partial(message_id);
        self.append(Event::Error(ErrorEvent { turn_id: Some(turn_id), code: code.to_owned(), message: message.clone() }));
        self.end(TurnState::Failed, Some(message));
    }

    pub(super) fn cancelled(&mut self) {
        self.append(Event::Notice(Notice {
            code: "cancelled".to_owned(),
            level: "info".to_owned(),
            title: "Stopped".to_owned(),
            text: "You stopped this turn. What was done until then is kept.".to_owned(),
            session_name: None,
        }));
        self.end(TurnState::Cancelled, Some("stopped by the person".to_owned()));
    }

    /// An answer that was cut short still was on somebody's screen: it becomes a message.
    pub(super) fn keep_partial(&mut self, message_id: MessageId) {
        let partial = self.session.turn.as_ref().and_then(|turn| match &turn.phase {
            Phase::Model { text, .. } if !text.is_empty() => Some(text.clone()),
            _ => None,
        });
        if let Some(text) = partial {
            let message = Message { is_error: true, ..self.turn_message(message_id, Role::Assistant, text) };
            self.effects.push(Effect::Save(message.clone()));
            self.append(Event::Message(message));
        }
    }

    fn end(&mut self, state: TurnState, reason: Option<String>) {
        if let Some(turn) = &self.session.turn {
            // Where a person talks to an agent, the agent's end is the turn's.
            let of_agent = turn.last_ending.filter(|_| self.settings.relay && matches!(state, TurnState::Completed | TurnState::Failed));
            let ending = of_agent.filter(|ending| state == TurnState::Completed || *ending != Ending::Completed);
            let ended = TurnEvent::new(turn.id, state, reason);
            let event = Event::Turn(TurnEvent { ending: ending.or(ended.ending), waited_ms: turn.waited_ms(None, None), ..ended });
            self.append(event);
            self.begin_next();
        }
    }
}
