//! The main AI's answer: its text as it comes, its end, its faults, and the cap on how often it is asked.

use crate::event::{Event, Message, Role, TextDelta, ToolCall};
use crate::ids::MessageId;

use super::super::{Effect, MODEL_ATTEMPTS, Phase};
use super::Step;

impl Step<'_> {
    pub(super) fn call_model(&mut self) {
        let Some(turn) = &self.session.turn else { return };
        if turn.step >= self.settings.max_iterations {
            let limit = self.settings.max_iterations;
            let message = format!("the main AI used all its {limit} steps without finishing; send another message to continue");
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

    pub(super) fn model_text(&mut self, message_id: MessageId, content: String) {
        if let Some((_, offset)) = self.model_stream(message_id)
            && !content.is_empty()
        {
            self.append(Event::TextDelta(TextDelta { message_id, offset, content }));
        }
    }

    pub(super) fn model_end(&mut self, message_id: MessageId, text: String, tool_calls: Vec<ToolCall>) {
        let Some((streamed, _)) = self.model_stream(message_id) else { return };
        // What was streamed is what people saw; the completion's own copy only fills in where nothing streamed.
        let unseen = streamed.is_empty();
        let text = if unseen { text } else { streamed.to_owned() };
        let message = Message { tool_calls: tool_calls.clone(), ..self.turn_message(message_id, Role::Assistant, text.clone()) };
        self.effects.push(Effect::Save(message.clone()));
        if tool_calls.is_empty() {
            return self.complete(message);
        }
        // An answer that asks for tools is announced by its text alone, so all of it has to come as text.
        if unseen && !text.is_empty() {
            self.append(Event::TextDelta(TextDelta { message_id, offset: 0, content: text }));
        }
        for call in tool_calls {
            self.append(Event::ToolCall(call));
        }
        self.start_calls();
    }

    pub(super) fn model_fault(&mut self, message_id: MessageId, code: String, message: String, repeat: bool) {
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
}
