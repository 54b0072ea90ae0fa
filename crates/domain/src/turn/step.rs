//! The decisions: one input in, events and effects out.

use crate::event::{
    AgentUpdate, CopilotDelta, CopilotDone, Done, ErrorEvent, Event, Message, Notice, PermissionRequest, PermissionResolved, Queue, QueueItem,
    Role, TextDelta, ToolCall, ToolResult, Turn as TurnEvent, TurnState,
};
use crate::ids::{MessageId, PermissionId};

use super::call::{CallState, Work};
use super::{AgentEnd, Effect, Input, MODEL_ATTEMPTS, Now, Phase, Session, Settings, ToolEnd, delegation};

/// One step under way: events are applied to the state the moment they are decided, so later decisions see them.
struct Step<'a> {
    session: &'a mut Session,
    settings: &'a Settings,
    now: Now,
    effects: Vec<Effect>,
}

impl Session {
    /// Decides what follows from `input`. An input that no longer fits (a late answer, a repeated cancel) has no effects.
    pub fn step(&mut self, input: Input, settings: &Settings, now: Now) -> Vec<Effect> {
        let mut step = Step { session: self, settings, now, effects: Vec::new() };
        step.take(input);
        step.effects
    }

    /// The effects that a server which has just folded the log still owes. Prompts are among them although they may have been
    /// sent: they carry the same write id as the first time, and the runner lets it through only once.
    pub fn resume(&mut self, settings: &Settings, now: Now) -> Vec<Effect> {
        let mut step = Step { session: self, settings, now, effects: Vec::new() };
        step.resume();
        step.effects
    }
}

impl Step<'_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Message(item) => self.message(item),
            Input::Edit { message_id, content } => self.edit(message_id, content),
            Input::Withdraw { message_id } => self.withdraw(message_id),
            Input::ModelText { message_id, text } => self.model_text(message_id, text),
            Input::ModelEnd { message_id, text, tool_calls } => self.model_end(message_id, text, tool_calls),
            Input::ModelFault { message_id, code, message, repeat } => self.model_fault(message_id, code, message, repeat),
            Input::ToolEnd { call_id, end } => self.tool_end(&call_id, end),
            Input::Confirm { call_id, approved, reason } => self.confirm(&call_id, approved, reason),
            Input::AgentText { call_id, text } => self.agent_text(call_id, text),
            Input::AgentUpdate { call_id, update } => self.agent_update(call_id, update),
            Input::AgentEnd { call_id, end } => self.agent_end(&call_id, end),
            Input::Permission { call_id, request_id, ask } => self.permission(call_id, request_id, ask),
            Input::PermissionAnswer { request_id, option_id, by } => self.permission_answer(request_id, option_id, by),
            Input::Cancel => self.cancel(),
            Input::CancelCall { call_id } => self.stop_call(&call_id),
            Input::Abort { state, code, reason } => self.abort(state, code, reason),
        }
    }

    fn append(&mut self, event: Event) {
        self.session.apply(&event);
        self.effects.push(Effect::Append(event));
    }

    // Messages and the queue.

    fn message(&mut self, item: QueueItem) {
        if self.session.turn.is_none() && self.session.queue.is_empty() {
            self.begin(item);
        } else {
            let mut items: Vec<_> = self.session.queue.iter().cloned().collect();
            items.push(item);
            self.append(Event::Queue(Queue { items }));
        }
    }

    fn edit(&mut self, message_id: MessageId, content: String) {
        let mut items: Vec<_> = self.session.queue.iter().cloned().collect();
        if let Some(item) = items.iter_mut().find(|item| item.message_id == message_id) {
            item.content = content;
            self.append(Event::Queue(Queue { items }));
        }
    }

    fn withdraw(&mut self, message_id: MessageId) {
        if self.session.is_queued(message_id) {
            let items = self.session.queue.iter().filter(|item| item.message_id != message_id).cloned().collect();
            self.append(Event::Queue(Queue { items }));
        }
    }

    fn begin(&mut self, item: QueueItem) {
        let message = Message {
            client_id: item.client_id,
            turn_id: Some(item.turn_id),
            ..self.plain_message(item.message_id, Role::User, item.content)
        };
        self.effects.push(Effect::Save(message.clone()));
        self.append(Event::Message(message));
        self.append(Event::Turn(TurnEvent { turn_id: item.turn_id, state: TurnState::Running, reason: None }));
        self.call_model();
    }

    fn begin_next(&mut self) {
        if let Some(item) = self.session.queue.front().cloned() {
            let items = self.session.queue.iter().skip(1).cloned().collect();
            self.append(Event::Queue(Queue { items }));
            self.begin(item);
        }
    }

    // The model.

    fn call_model(&mut self) {
        let Some(turn) = &self.session.turn else { return };
        if turn.step >= self.settings.max_iterations {
            let limit = self.settings.max_iterations;
            let message = format!("the main AI used all its {limit} steps without finishing; send another message to go on");
            return self.fail("iteration_limit", message);
        }
        let effect = Effect::CallModel { turn_id: turn.id, message_id: turn.message_id() };
        self.effects.push(effect);
    }

    /// The model's stream as it stands, if `message_id` is what it is writing: a superseded attempt speaks to nobody.
    fn model_stream(&self, message_id: MessageId) -> Option<(&str, u64)> {
        let turn = self.session.turn.as_ref().filter(|turn| turn.message_id() == message_id && !turn.cancelling)?;
        match &turn.phase {
            Phase::Model { text, length } => Some((text, *length)),
            Phase::Tools { .. } => None,
        }
    }

    fn model_text(&mut self, message_id: MessageId, content: String) {
        if let Some((_, offset)) = self.model_stream(message_id)
            && !content.is_empty()
        {
            self.append(Event::TextDelta(TextDelta { message_id, offset, content }));
        }
    }

    fn model_end(&mut self, message_id: MessageId, text: String, tool_calls: Vec<ToolCall>) {
        let Some((streamed, _)) = self.model_stream(message_id) else { return };
        // What was streamed is what people saw; the completion's own copy only fills in where nothing streamed.
        let text = if streamed.is_empty() { text } else { streamed.to_owned() };
        let message = Message { tool_calls: tool_calls.clone(), ..self.turn_message(message_id, Role::Assistant, text) };
        self.effects.push(Effect::Save(message.clone()));
        if tool_calls.is_empty() {
            return self.complete(message);
        }
        for call in tool_calls {
            self.append(Event::ToolCall(call));
        }
        self.start_calls();
    }

    fn model_fault(&mut self, message_id: MessageId, code: String, message: String, repeat: bool) {
        if self.model_stream(message_id).is_none() {
            return;
        }
        let attempt = self.session.turn.as_ref().map_or(0, |turn| turn.attempt);
        if repeat && attempt + 1 < MODEL_ATTEMPTS {
            self.append(Event::Superseded { message_id });
            return self.call_model();
        }
        self.fail(&code, message);
    }

    // Tools.

    /// Starts every call that nothing holds back: calls to one agent session go one after the other.
    fn start_calls(&mut self) {
        let Some(turn) = &self.session.turn else { return };
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
            Work::Invalid(reason) => self.tool_end(call_id, ToolEnd { content: reason, is_error: true, ..ToolEnd::default() }),
            Work::Confirm => self.append(Event::ToolConfirm(tool_call)),
            Work::Plain => {
                call.state = CallState::Running;
                self.effects.push(Effect::RunTool(tool_call));
            }
            Work::Delegate { session_name, prompt } => {
                call.state = CallState::Running;
                self.effects.push(Effect::Prompt { turn_id, call_id: tool_call.id, session_name, prompt });
            }
        }
    }

    fn confirm(&mut self, call_id: &str, approved: bool, reason: String) {
        let Some(turn) = &mut self.session.turn else { return };
        let Some(call) = turn.call_mut(call_id).filter(|call| call.state == CallState::Asking) else { return };
        if approved {
            call.state = CallState::Running;
            let effect = Effect::RunTool(call.call.clone());
            self.effects.push(effect);
        } else {
            self.tool_end(call_id, ToolEnd { content: reason, is_error: true, ..ToolEnd::default() });
        }
    }

    fn tool_end(&mut self, call_id: &str, end: ToolEnd) {
        let Some(call) = self.open_call(call_id) else { return };
        let artifact_id = end.artifact.as_ref().map(|artifact| artifact.artifact_id);
        if let Some(artifact) = end.artifact {
            self.append(Event::ReviewArtifact(artifact));
        }
        let result =
            ToolResult { id: call.call.id, name: call.call.name, content: end.content, display: end.display, is_error: end.is_error, artifact_id };
        self.close_call(result, None);
    }

    fn open_call(&self, call_id: &str) -> Option<super::Call> {
        self.session.turn.as_ref()?.call(call_id).filter(|call| call.state != CallState::Done).cloned()
    }

    /// Stores and announces a call's result, and goes on when it was the last.
    fn close_call(&mut self, result: ToolResult, delegation: Option<crate::event::Delegation>) {
        let Some(turn) = &self.session.turn else { return };
        let message = Message {
            tool_call_id: Some(result.id.clone()),
            display: result.display.clone(),
            is_error: result.is_error,
            artifact_id: result.artifact_id,
            delegation,
            ..self.turn_message(turn.id.tool_message(&result.id), Role::Tool, result.content.clone())
        };
        let failed = (self.settings.relay && result.is_error).then(|| result.content.clone());
        self.effects.push(Effect::Save(message));
        self.append(Event::ToolResult(result));
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

    // Agents.

    fn running_delegate(&self, call_id: &str) -> Option<(String, u64)> {
        let call = self.session.turn.as_ref()?.call(call_id).filter(|call| call.state == CallState::Running)?;
        Some((call.session_name()?.to_owned(), call.length))
    }

    fn agent_text(&mut self, call_id: String, content: String) {
        if let Some((session_name, offset)) = self.running_delegate(&call_id)
            && !content.is_empty()
        {
            self.append(Event::CopilotDelta(CopilotDelta { tool_call_id: call_id, session_name, offset, content }));
        }
    }

    fn agent_update(&mut self, call_id: String, update: crate::agent::Update) {
        if let Some((session_name, offset)) = self.running_delegate(&call_id) {
            self.append(Event::AgentUpdate(AgentUpdate { tool_call_id: call_id, session_name, offset, update }));
        }
    }

    fn agent_end(&mut self, call_id: &str, end: AgentEnd) {
        self.resolve_permissions(call_id, if matches!(end, AgentEnd::Gone { .. }) { "agent_gone" } else { "cancel" }, false);
        self.close_agent_calls(call_id);
        let Some(call) = self.open_call(call_id) else { return };
        let Some(session_name) = call.session_name().map(str::to_owned) else { return };
        let summary = delegation::summary(&call);
        let (stop_reason, content, is_error) = match end {
            AgentEnd::Stopped { stop_reason } => {
                let content = delegation::content(&call, &summary, &stop_reason);
                (stop_reason, content, false)
            }
            AgentEnd::Failed { code, message } => (code, message, true),
            AgentEnd::Gone { message } => {
                let kept = delegation::content(&call, &summary, "interrupted");
                let content = if call.text.is_empty() { message } else { format!("{message}\n\nwhat it had written until then:\n\n{kept}") };
                ("interrupted".to_owned(), content, true)
            }
        };
        let record = delegation::record(&call, &session_name, &summary, &stop_reason);
        self.append(Event::CopilotDone(CopilotDone { tool_call_id: call_id.to_owned(), session_name, summary, stop_reason }));
        let result = ToolResult { id: call.call.id, name: call.call.name, content, display: Some(call.text), is_error, artifact_id: None };
        self.close_call(result, Some(record));
    }

    /// Agents leave tool calls open when they are cancelled or die; nothing may look as if it still ran.
    fn close_agent_calls(&mut self, call_id: &str) {
        let Some(call) = self.open_call(call_id) else { return };
        for placed in &call.updates {
            if let crate::agent::Update::ToolCall(tool_call) = &placed.update
                && tool_call.is_open()
            {
                let mut closed = tool_call.clone();
                closed.status = Some("cancelled".to_owned());
                self.agent_update(call_id.to_owned(), crate::agent::Update::ToolCall(closed));
            }
        }
    }

    fn permission(&mut self, call_id: String, request_id: PermissionId, ask: crate::agent::PermissionAsk) {
        let running = self.running_delegate(&call_id).filter(|_| self.session.turn.as_ref().is_some_and(|turn| !turn.cancelling));
        match running {
            Some((session_name, _)) => {
                self.append(Event::PermissionRequest(PermissionRequest { request_id, tool_call_id: call_id, session_name, ask }));
            }
            None => self.effects.push(Effect::AnswerPermission { request_id, option_id: None }),
        }
    }

    fn permission_answer(&mut self, request_id: PermissionId, option_id: Option<String>, by: String) {
        let open = self.session.turn.as_ref().is_some_and(|turn| turn.permissions.iter().any(|open| open.request_id == request_id));
        if open {
            self.effects.push(Effect::AnswerPermission { request_id, option_id: option_id.clone() });
            self.append(Event::PermissionResolved(PermissionResolved { request_id, option_id, by }));
        }
    }

    fn resolve_permissions(&mut self, call_id: &str, by: &str, answer: bool) {
        let Some(turn) = &self.session.turn else { return };
        let open: Vec<_> = turn.permissions.iter().filter(|open| open.tool_call_id == call_id).map(|open| open.request_id).collect();
        for request_id in open {
            if answer {
                self.effects.push(Effect::AnswerPermission { request_id, option_id: None });
            }
            self.append(Event::PermissionResolved(PermissionResolved { request_id, option_id: None, by: by.to_owned() }));
        }
    }

    // Ends.

    fn cancel(&mut self) {
        let Some(turn) = self.session.turn.as_ref().filter(|turn| !turn.cancelling) else { return };
        let (turn_id, message_id) = (turn.id, turn.message_id());
        let in_model = matches!(turn.phase, Phase::Model { .. });
        self.append(Event::Turn(TurnEvent { turn_id, state: TurnState::Running, reason: Some("cancelling".to_owned()) }));
        if in_model {
            self.effects.push(Effect::StopModel);
            self.keep_partial(message_id);
            return self.cancelled();
        }
        self.stop_calls();
    }

    fn stop_calls(&mut self) {
        let Some(turn) = &self.session.turn else { return };
        let calls: Vec<String> = turn.calls().iter().map(|call| call.call.id.clone()).collect();
        for call_id in calls {
            self.stop_call(&call_id);
        }
    }

    fn stop_call(&mut self, call_id: &str) {
        let Some(call) = self.open_call(call_id) else { return };
        match (call.state, &call.work) {
            (CallState::Running, Work::Delegate { .. }) => {
                // The prompt is stopped first and its permissions answered second, as the protocol asks.
                self.effects.push(Effect::StopPrompt { call_id: call_id.to_owned() });
                self.resolve_permissions(call_id, "cancel", true);
            }
            (state, _) => {
                if state == CallState::Running {
                    self.effects.push(Effect::StopTool { call_id: call_id.to_owned() });
                }
                self.tool_end(call_id, ToolEnd { content: "stopped by the person before it ran".to_owned(), is_error: true, ..ToolEnd::default() });
            }
        }
    }

    fn abort(&mut self, state: TurnState, code: String, reason: String) {
        let Some(turn) = &self.session.turn else { return };
        let (turn_id, message_id) = (turn.id, turn.message_id());
        let open: Vec<_> = turn.calls().iter().filter(|call| call.state != CallState::Done).cloned().collect();
        // Cancelling first keeps the last closed call from calling the model again.
        if let Some(turn) = &mut self.session.turn {
            turn.cancelling = true;
        }
        self.keep_partial(message_id);
        for call in open {
            self.close_aborted(&call, &reason);
        }
        self.append(Event::Error(ErrorEvent { turn_id: Some(turn_id), code, message: reason.clone() }));
        self.end(state, Some(reason));
    }

    /// Like the end of a call, but without going on to whatever comes after the last one.
    fn close_aborted(&mut self, call: &super::Call, reason: &str) {
        let Some(turn_id) = self.session.turn.as_ref().map(|turn| turn.id) else { return };
        self.resolve_permissions(&call.call.id, "cancel", false);
        self.close_agent_calls(&call.call.id);
        let call = self.open_call(&call.call.id).unwrap_or_else(|| call.clone());
        let delegation = call.session_name().map(|name| delegation::record(&call, name, &delegation::summary(&call), "interrupted"));
        if let Some(record) = &delegation {
            let (session_name, summary) = (record.session_name.clone(), record.summary.clone());
            let stop_reason = "interrupted".to_owned();
            self.append(Event::CopilotDone(CopilotDone { tool_call_id: call.call.id.clone(), session_name, summary, stop_reason }));
        }
        let display = delegation.is_some().then(|| call.text.clone());
        let result = ToolResult {
            id: call.call.id.clone(),
            name: call.call.name.clone(),
            content: reason.to_owned(),
            display: display.clone(),
            is_error: true,
            artifact_id: None,
        };
        let message = Message {
            tool_call_id: Some(call.call.id.clone()),
            display,
            is_error: true,
            delegation,
            ..self.turn_message(turn_id.tool_message(&call.call.id), Role::Tool, result.content.clone())
        };
        self.effects.push(Effect::Save(message));
        self.append(Event::ToolResult(result));
    }

    fn complete(&mut self, message: Message) {
        let Some(turn_id) = message.turn_id else { return };
        let done = Done { turn_id, message_id: message.id, model: self.settings.model.clone(), html: None };
        self.append(Event::Message(message));
        self.append(Event::Done(done));
        self.end(TurnState::Completed, None);
    }

    fn fail(&mut self, code: &str, message: String) {
        let Some(turn) = &self.session.turn else { return };
        let (turn_id, message_id) = (turn.id, turn.message_id());
        self.keep_partial(message_id);
        self.append(Event::Error(ErrorEvent { turn_id: Some(turn_id), code: code.to_owned(), message: message.clone() }));
        self.end(TurnState::Failed, Some(message));
    }

    fn cancelled(&mut self) {
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
    fn keep_partial(&mut self, message_id: MessageId) {
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
            let event = Event::Turn(TurnEvent { turn_id: turn.id, state, reason });
            self.append(event);
            self.begin_next();
        }
    }

    fn resume(&mut self) {
        let Some(turn) = &self.session.turn else { return self.begin_next() };
        if turn.cancelling && matches!(turn.phase, Phase::Model { .. }) {
            return self.cancelled();
        }
        match &turn.phase {
            Phase::Model { text, .. } => {
                let (message_id, began) = (turn.message_id(), !text.is_empty());
                if began {
                    self.append(Event::Superseded { message_id });
                }
                self.call_model();
            }
            Phase::Tools { calls, .. } => {
                let cancelling = turn.cancelling;
                let begun: Vec<_> = calls.iter().filter(|call| call.state == CallState::Running).map(|call| call.call.id.clone()).collect();
                for call_id in begun {
                    self.set_waiting(&call_id);
                }
                self.start_calls();
                if cancelling {
                    self.stop_calls();
                }
            }
        }
    }

    fn set_waiting(&mut self, call_id: &str) {
        if let Some(turn) = &mut self.session.turn {
            turn.set(call_id, |call| call.state = CallState::Waiting);
        }
    }

    fn plain_message(&self, id: MessageId, role: Role, content: String) -> Message {
        Message {
            id,
            role,
            content,
            html: None,
            created_at: self.now.0,
            turn_id: None,
            client_id: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            display: None,
            is_error: false,
            artifact_id: None,
            delegation: None,
        }
    }

    fn turn_message(&self, id: MessageId, role: Role, content: String) -> Message {
        Message { turn_id: self.session.turn.as_ref().map(|turn| turn.id), ..self.plain_message(id, role, content) }
    }
}
