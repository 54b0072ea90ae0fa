//! What an agent says and does about a delegated prompt, and how that ends.

use crate::agent::Update;
use crate::event::{AgentUpdate, CopilotDelta, CopilotDone, Delegation, Ending, Event, Times, ToolResult};

use super::super::answer::{self, Repetition};
use super::super::call::{Call, CallState};
use super::super::{AgentEnd, Effect, Prompt, delegation, volume};
use super::Step;
use crate::host::prompt::PROCESS_ENDED;

const END_TURN: &str = "end_turn";
const CANCELLED: &str = "cancelled";
const REFUSAL: &str = "refusal";
const IN_PROGRESS: &str = "in_progress";
pub(super) const INTERRUPTED: &str = "interrupted";
pub(super) const DENIED: &str = "denied";
const UNASKED: &str = "the agent broke off by itself: it says that the work was cancelled, and nobody had asked for that";

impl Step<'_> {
    pub(super) fn running_delegate(&self, call_id: &str) -> Option<&Call> {
        let turn = self.session.turn.as_ref()?;
        turn.call(call_id).filter(|call| call.state == CallState::Running && call.session_name().is_some())
    }

    /// Text that an agent repeats because its model had failed is not shown twice: what is new of it is appended.
    pub(super) fn agent_text(&mut self, call_id: String, content: String) {
        let Some(call) = self.running_delegate(&call_id).filter(|_| !content.is_empty()) else { return };
        match answer::incoming(call, &content) {
            Some(repetition) => self.append_repetition(&call_id, repetition),
            None => self.append_text(&call_id, content),
        }
    }

    pub(super) fn agent_update(&mut self, call_id: String, update: Update) {
        let Some(call) = self.running_delegate(&call_id) else { return };
        let cut_short = if answer::ends(call, &update) { answer::cut_short(call) } else { None };
        let update = call.with_declined_status(answer::number(call, update));
        if let Some(repetition) = cut_short {
            self.append_repetition(&call_id, repetition);
        }
        let denied = if let Update::Denied { agent_call, .. } = &update { agent_call.clone() } else { None };
        self.append_update(&call_id, update);
        self.decline(&call_id, denied.as_deref());
    }

    /// An agent's call that was not allowed says so at once, whatever the agent makes of it.
    pub(super) fn decline(&mut self, call_id: &str, agent_call: Option<&str>) {
        let declined = agent_call.and_then(|agent_call| self.running_delegate(call_id)?.to_decline(agent_call));
        if let Some(update) = declined {
            self.append_update(call_id, update);
        }
    }

    fn append_repetition(&mut self, call_id: &str, repetition: Repetition) {
        self.append_update(call_id, repetition.notice);
        self.append_text(call_id, repetition.text);
    }

    fn append_text(&mut self, call_id: &str, content: String) {
        let Some(call) = self.running_delegate(call_id) else { return };
        let (content, cut) = volume::text(call, content, self.settings);
        let (Some(session_name), offset) = (call.session_name().map(str::to_owned), call.length) else { return };
        if !content.is_empty() {
            self.append(Event::CopilotDelta(CopilotDelta { tool_call_id: call_id.to_owned(), session_name, offset, content }));
        }
        if let Some(notice) = cut {
            self.log_update(call_id, notice);
        }
    }

    /// What is kept of it.
    pub(super) fn append_update(&mut self, call_id: &str, update: Update) {
        let Some(call) = self.running_delegate(call_id) else { return };
        let (update, cut) = volume::update(call, update, self.settings);
        for update in [cut, update].into_iter().flatten() {
            self.log_update(call_id, update);
        }
    }

    fn log_update(&mut self, call_id: &str, update: Update) {
        let running = self.running_delegate(call_id).and_then(|call| Some((call.session_name()?.to_owned(), call.length)));
        if let Some((session_name, offset)) = running {
            let (tool_call_id, times) = (call_id.to_owned(), self.times_of(call_id, &update));
            self.append(Event::AgentUpdate(AgentUpdate { tool_call_id, session_name, offset, update, times }));
        }
    }

    fn times_of(&self, call_id: &str, update: &Update) -> Times {
        let agent_call = if let Update::ToolCall(call) = update { Some(call.id.as_str()) } else { None };
        let waited = agent_call.zip(self.session.turn.as_ref()).map_or(0, |(call, turn)| turn.waited_ms(Some(call_id), Some(call)));
        Times { waited_ms: (waited > 0).then_some(waited), ..Times::at(self.now.0) }
    }

    pub(super) fn agent_has(&mut self, call_id: &str) {
        if let Some(turn) = &mut self.session.turn {
            turn.set(call_id, |call| call.state = CallState::Running);
        }
    }

    /// What an agent calls cancelled although nobody stopped it is an interruption; after a rejection it is the end of what was rejected.
    fn judge(&self, call_id: &str, end: AgentEnd) -> (AgentEnd, Option<String>) {
        let Some(call) = self.running_delegate(call_id) else { return (end, None) };
        let stopped = self.is_stopped(call);
        let rejected = call.rejected().map(str::to_owned);
        match &end {
            AgentEnd::Stopped { stop_reason } if stopped || !matches!(stop_reason.as_str(), END_TURN | CANCELLED | REFUSAL) => (end, None),
            AgentEnd::Stopped { .. } if rejected.is_some() => (AgentEnd::stopped(DENIED), rejected),
            AgentEnd::Stopped { stop_reason } if stop_reason == CANCELLED => (AgentEnd::Gone { message: UNASKED.to_owned() }, None),
            _ => (end, None),
        }
    }

    fn is_stopped(&self, call: &Call) -> bool {
        call.stopping || call.stop_sent || self.session.turn.as_ref().is_some_and(|turn| turn.cancelling)
    }

    /// What a person said when they refused something is the agent's next prompt, in the same call: whoever waits for the call sees what
    /// came of both. What was stopped, has failed or is gone is told nothing more.
    fn follow_up(&mut self, call_id: &str, agent: &str, end: &AgentEnd) -> bool {
        let Some(call) = self.running_delegate(call_id) else { return false };
        let ended = matches!(end, AgentEnd::Stopped { .. }) && call.answer.fault().is_none() && !self.is_stopped(call);
        let (Some(text), Some(session_name)) = (call.owed_reasons().filter(|_| ended), call.session_name().map(str::to_owned)) else {
            return false;
        };
        self.append_update(call_id, Update::FollowUp { text: text.clone() });
        let next = self.session.turn.as_ref().and_then(|turn| Some((turn.id, turn.call(call_id)?.round)));
        if let Some((turn_id, round)) = next {
            let (call_id, agent) = (call_id.to_owned(), agent.to_owned());
            self.effects.push(Effect::Prompt(Prompt { turn_id, call_id, round, agent, session_name, prompt: text }));
        }
        true
    }

    /// The end of a prompt that an agent has. A call that has not begun has no prompt that could end.
    pub(super) fn agent_end(&mut self, call_id: &str, agent: String, end: AgentEnd) {
        if self.running_delegate(call_id).is_none() {
            return;
        }
        let (end, denied) = self.judge(call_id, end);
        self.resolve_permissions(call_id, if matches!(end, AgentEnd::Gone { .. }) { "agent_gone" } else { "cancel" }, false);
        let fault = self.running_delegate(call_id).and_then(|call| call.answer.fault().map(str::to_owned));
        self.close_agent_calls(call_id, if matches!(end, AgentEnd::Gone { .. }) { INTERRUPTED } else { CANCELLED });
        let cut_short = self.running_delegate(call_id).filter(|_| fault.is_none()).and_then(answer::cut_short);
        if let Some(repetition) = cut_short.filter(|_| matches!(&end, AgentEnd::Stopped { stop_reason } if stop_reason == END_TURN)) {
            self.append_repetition(call_id, repetition);
        }
        if self.follow_up(call_id, &agent, &end) {
            return;
        }
        self.stop_plan(call_id);
        let Some(call) = self.open_call(call_id) else { return };
        let untold = call.owed_reasons().filter(|_| !self.is_stopped(&call));
        let (stop_reason, content, is_error) = match (end, fault) {
            // It says that it has finished, and has just said that it could not.
            (AgentEnd::Stopped { stop_reason }, Some(fault)) if stop_reason == END_TURN => {
                ("failed".to_owned(), delegation::failure(&call, format!("the agent could not finish: {fault}"), "failed"), true)
            }
            (AgentEnd::Stopped { stop_reason }, _) if stop_reason == DENIED => {
                let reason = format!("denied: this was not allowed: {}", denied.unwrap_or_default());
                (stop_reason, delegation::failure(&call, reason, DENIED), true)
            }
            (AgentEnd::Stopped { stop_reason }, _) => {
                let content = delegation::content(&call, &delegation::summary(&call), &stop_reason);
                (stop_reason, content, false)
            }
            (AgentEnd::Failed { code, message }, _) => (code, message, true),
            (AgentEnd::Gone { message }, _) => (INTERRUPTED.to_owned(), delegation::failure(&call, message, INTERRUPTED), true),
        };
        let content = match untold {
            Some(reason) => format!("{content}\n\nwhat the person said when they refused, which the agent was not told: {reason}"),
            None => content,
        };
        self.close_delegate(call, agent, stop_reason, content, is_error);
    }

    /// No step of the plan may look as if it still ran.
    pub(super) fn stop_plan(&mut self, call_id: &str) {
        let updates = self.session.turn.as_ref().and_then(|turn| turn.call(call_id)).map_or(&[][..], |call| &call.updates);
        let plan = updates.iter().find_map(|placed| match &placed.update {
            Update::Plan { entries } if entries.iter().any(|entry| entry.status == IN_PROGRESS) => Some(entries.clone()),
            _ => None,
        });
        if let Some(mut entries) = plan {
            entries.iter_mut().filter(|entry| entry.status == IN_PROGRESS).for_each(|entry| entry.status = "stopped".to_owned());
            self.append_update(call_id, Update::Plan { entries });
        }
    }

    /// Ends a delegated call, whether or not its prompt ever reached the agent, and goes on.
    pub(super) fn close_delegate(&mut self, call: Call, agent: String, stop_reason: String, content: String, is_error: bool) {
        if let Some((result, record)) = self.delegation_done(call, agent, stop_reason, content, is_error) {
            self.close_call(result, Some(record));
        }
    }

    /// Announces the end of a delegation; its result is to follow at once.
    pub(super) fn delegation_done(
        &mut self,
        call: Call,
        agent: String,
        stop_reason: String,
        content: String,
        is_error: bool,
    ) -> Option<(ToolResult, Delegation)> {
        let session_name = call.session_name()?.to_owned();
        let summary = match (delegation::summary(&call), stop_reason.as_str()) {
            // For people: the first paragraph says what was not allowed, what follows is for the model.
            (text, DENIED) if text.is_empty() => content.split("\n\n").next().unwrap_or_default().to_owned(),
            (text, _) => text,
        };
        let ending = Ending::of_reason(&stop_reason, content.starts_with(PROCESS_ENDED));
        let turn = self.session.turn.as_ref();
        let waited_ms = turn.map_or(0, |turn| turn.waited_ms(Some(&call.call.id), None));
        let turn_waited_ms = turn.map(|turn| turn.waited_ms(None, None));
        let record = delegation::record(&call, &session_name, &agent, &summary, &stop_reason);
        let record = Delegation { ending: Some(ending), waited_ms, turn_waited_ms, ..record };
        let (tool_call_id, ending) = (call.call.id.clone(), Some(ending));
        let done = CopilotDone { tool_call_id, session_name, agent, summary, stop_reason, ending, waited_ms, turn_waited_ms };
        self.append(Event::CopilotDone(done));
        let result = ToolResult { id: call.call.id, name: call.call.name, content, display: Some(call.text), is_error, artifact_id: None };
        Some((result, record))
    }

    /// Agents leave tool calls open when they are cancelled or die; nothing may look as if it still ran.
    pub(super) fn close_agent_calls(&mut self, call_id: &str, status: &str) {
        let updates = self.session.turn.as_ref().and_then(|turn| turn.call(call_id)).map_or(&[][..], |call| &call.updates);
        let open = updates.iter().filter_map(|placed| match &placed.update {
            Update::ToolCall(tool_call) if tool_call.is_open() => Some(tool_call.clone()),
            _ => None,
        });
        for mut closed in open.collect::<Vec<_>>() {
            closed.status = Some(status.to_owned());
            self.agent_update(call_id.to_owned(), Update::ToolCall(closed));
        }
    }
}
