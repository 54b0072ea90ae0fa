//! The tool calls of one answer: which may start, and what the result of each leads to.

use crate::event::{Delegation, Event, Message, Role, ToolResult};

use super::super::call::{Call, CallState, Work};
use super::super::{Effect, Phase, Prompt, ToolEnd};
use super::Step;

impl Step<'_> {
    /// Starts every call that nothing holds back: calls to one agent session go one after the other.
    pub(super) fn start_calls(&mut self) {
        let Some(turn) = self.session.turn.as_ref().filter(|turn| !turn.cancelling) else { return };
        let mut busy: Vec<String> = Vec::new();
        let mut starting = Vec::new();
        for call in turn.calls() {
            let name = call.session_name().map(str::to_owned);
            let held = name.as_ref().is_some_and(|name| busy.contains(name));
            if call.state == CallState::Waiting && !held {
                starting.push(call.call.id.clone());
            }
            if call.state != CallState::Done {
                busy.extend(name);
            }
        }
        for call_id in starting {
            self.start_call(&call_id);
        }
    }

    fn start_call(&mut self, call_id: &str) {
        let Some(turn) = &mut self.session.turn else { return };
        let turn_id = turn.id;
        let Some(call) = turn.call_mut(call_id).filter(|call| call.state == CallState::Waiting) else { return };
        let (tool_call, work) = (call.call.clone(), call.work.clone());
        match work {
            Work::Invalid(reason) => {
                let call = call.clone();
                self.close_plain(call, ToolEnd { content: reason, is_error: true, ..ToolEnd::default() });
            }
            Work::Confirm => {
                let call_id = tool_call.id.clone();
                self.append(Event::ToolConfirm(tool_call));
                self.effects.push(Effect::AwaitConfirm { call_id });
            }
            Work::Plain => {
                call.state = CallState::Running;
                self.effects.push(Effect::RunTool(tool_call));
            }
            Work::Delegate { agent, session_name, prompt } => {
                call.state = CallState::Running;
                let (round, prompt) = (call.round, call.follow_up.clone().unwrap_or(prompt));
                let agent = agent.unwrap_or_else(|| self.settings.agent.clone());
                self.effects.push(Effect::Prompt(Prompt { turn_id, call_id: tool_call.id, round, agent, session_name, prompt }));
            }
        }
    }

    pub(super) fn confirm(&mut self, call_id: &str, approved: bool, reason: String) {
        let Some(turn) = &mut self.session.turn else { return };
        let Some(call) = turn.call_mut(call_id).filter(|call| call.state == CallState::Asking) else { return };
        if approved {
            call.state = CallState::Running;
            let effect = Effect::RunTool(call.call.clone());
            self.effects.push(effect);
        } else {
            let call = call.clone();
            self.close_plain(call, ToolEnd { content: reason, is_error: true, ..ToolEnd::default() });
        }
    }

    /// What was agreed to before a restart runs; who has not agreed yet has the whole time anew, as the old server's clock stopped with it.
    pub(super) fn confirms_waiting(&mut self, waiting: &[String]) {
        let Some(Phase::Tools { calls, .. }) = self.session.turn.as_mut().map(|turn| &mut turn.phase) else { return };
        for call in calls.iter_mut().filter(|call| call.state == CallState::Asking) {
            if waiting.contains(&call.call.id) {
                self.effects.push(Effect::AwaitConfirm { call_id: call.call.id.clone() });
            } else {
                call.work = Work::Plain;
                call.state = CallState::Waiting;
            }
        }
    }

    /// The outcome of a tool that runs here. What an agent works on ends by the agent alone.
    pub(super) fn tool_end(&mut self, call_id: &str, end: ToolEnd) {
        let running = self.open_call(call_id).filter(|call| call.state == CallState::Running && call.session_name().is_none());
        if let Some(call) = running {
            self.close_plain(call, end);
        }
    }

    /// Ends a call that no agent works on, whether or not it ever ran.
    pub(super) fn close_plain(&mut self, call: Call, end: ToolEnd) {
        let artifact_id = end.artifact.as_ref().map(|artifact| artifact.artifact_id);
        if let Some(artifact) = end.artifact {
            self.append(Event::ReviewArtifact(artifact));
        }
        let (id, name) = (call.call.id, call.call.name);
        let result = ToolResult { id, name, content: end.content, display: end.display, is_error: end.is_error, artifact_id };
        self.close_call(result, None);
    }

    pub(super) fn open_call(&self, call_id: &str) -> Option<Call> {
        self.session.turn.as_ref()?.call(call_id).filter(|call| call.state != CallState::Done).cloned()
    }

    /// Stores and announces a call's result.
    pub(super) fn record_result(&mut self, result: ToolResult, delegation: Option<Delegation>) {
        let Some(turn) = &self.session.turn else { return };
        let message = Message {
            tool_call_id: Some(result.id.clone()),
            display: result.display.clone(),
            is_error: result.is_error,
            artifact_id: result.artifact_id,
            delegation,
            ..self.turn_message(turn.id.tool_message(&result.id), Role::Tool, result.content.clone())
        };
        self.effects.push(Effect::Save(message));
        self.append(Event::ToolResult(result));
    }

    /// Records a call's result, and goes on when it was the last.
    pub(super) fn close_call(&mut self, result: ToolResult, delegation: Option<Delegation>) {
        // Where the agent's words are the answer, its failure is the turn's.
        // The first paragraph says why; what an agent had written until then stands in the block already.
        let denied = delegation.as_ref().is_some_and(|record| record.stop_reason == super::agents::DENIED);
        let failed =
            (self.settings.relay && result.is_error && !denied).then(|| result.content.split("\n\n").next().unwrap_or_default().to_owned());
        self.record_result(result, delegation);
        let Some(turn) = &self.session.turn else { return };
        let all_done = matches!(turn.phase, Phase::Model { .. });
        match (all_done, turn.cancelling, failed) {
            (true, true, _) => self.cancelled(),
            (true, false, Some(reason)) => self.fail("agent_failed", reason),
            (true, false, None) => self.call_model(),
            (false, true, _) => {}
            (false, false, _) => self.start_calls(),
        }
    }
}
