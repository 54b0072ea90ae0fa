//! What an agent says and does about a delegated prompt, and how that ends.

use crate::agent::Update;
use crate::event::{AgentUpdate, CopilotDelta, CopilotDone, Delegation, Event, ToolResult};

use super::super::call::{Call, CallState};
use super::super::{AgentEnd, delegation};
use super::Step;

impl Step<'_> {
    pub(super) fn running_delegate(&self, call_id: &str) -> Option<&Call> {
        let turn = self.session.turn.as_ref()?;
        turn.call(call_id).filter(|call| call.state == CallState::Running && call.session_name().is_some())
    }

    pub(super) fn agent_text(&mut self, call_id: String, content: String) {
        let running = self.running_delegate(&call_id).and_then(|call| Some((call.session_name()?.to_owned(), call.length)));
        if let Some((session_name, offset)) = running
            && !content.is_empty()
        {
            self.append(Event::CopilotDelta(CopilotDelta { tool_call_id: call_id, session_name, offset, content }));
        }
    }

    pub(super) fn agent_update(&mut self, call_id: String, update: Update) {
        let running = self.running_delegate(&call_id).and_then(|call| Some((call.session_name()?.to_owned(), call.length)));
        if let Some((session_name, offset)) = running {
            self.append(Event::AgentUpdate(AgentUpdate { tool_call_id: call_id, session_name, offset, update }));
        }
    }

    /// The end of a prompt that an agent has. A call that has not begun has no prompt that could end.
    pub(super) fn agent_end(&mut self, call_id: &str, end: AgentEnd) {
        if self.running_delegate(call_id).is_none() {
            return;
        }
        self.resolve_permissions(call_id, if matches!(end, AgentEnd::Gone { .. }) { "agent_gone" } else { "cancel" }, false);
        self.close_agent_calls(call_id);
        let Some(call) = self.open_call(call_id) else { return };
        let (stop_reason, content, is_error) = match end {
            AgentEnd::Stopped { stop_reason } => {
                let content = delegation::content(&call, &delegation::summary(&call), &stop_reason);
                (stop_reason, content, false)
            }
            AgentEnd::Failed { code, message } => (code, message, true),
            AgentEnd::Gone { message } => {
                let kept = delegation::content(&call, &delegation::summary(&call), "interrupted");
                let content =
                    if call.text.is_empty() { message } else { format!("{message}\n\nwhat it had written until then:\n\n{kept}") };
                ("interrupted".to_owned(), content, true)
            }
        };
        self.close_delegate(call, stop_reason, content, is_error);
    }

    /// Ends a delegated call, whether or not its prompt ever reached the agent, and goes on.
    pub(super) fn close_delegate(&mut self, call: Call, stop_reason: String, content: String, is_error: bool) {
        if let Some((result, record)) = self.delegation_done(call, stop_reason, content, is_error) {
            self.close_call(result, Some(record));
        }
    }

    /// Announces the end of a delegation; its result is to follow at once.
    pub(super) fn delegation_done(
        &mut self,
        call: Call,
        stop_reason: String,
        content: String,
        is_error: bool,
    ) -> Option<(ToolResult, Delegation)> {
        let session_name = call.session_name()?.to_owned();
        let summary = delegation::summary(&call);
        let record = delegation::record(&call, &session_name, &summary, &stop_reason);
        let tool_call_id = call.call.id.clone();
        self.append(Event::CopilotDone(CopilotDone { tool_call_id, session_name, summary, stop_reason }));
        let result = ToolResult { id: call.call.id, name: call.call.name, content, display: Some(call.text), is_error, artifact_id: None };
        Some((result, record))
    }

    /// Agents leave tool calls open when they are cancelled or die; nothing may look as if it still ran.
    pub(super) fn close_agent_calls(&mut self, call_id: &str) {
        let updates = self.session.turn.as_ref().and_then(|turn| turn.call(call_id)).map_or(&[][..], |call| &call.updates);
        let open = updates.iter().filter_map(|placed| match &placed.update {
            Update::ToolCall(tool_call) if tool_call.is_open() => Some(tool_call.clone()),
            _ => None,
        });
        for mut closed in open.collect::<Vec<_>>() {
            closed.status = Some("cancelled".to_owned());
            self.agent_update(call_id.to_owned(), Update::ToolCall(closed));
        }
    }
}
