//! What an agent did on a prompt before its session was ours: the same messages as if we had passed the prompt on.

use jiff::Timestamp;
use serde_json::json;

use super::call::COPILOT_AGENT;
use super::{Call, delegation};
use crate::agent::Update;
use crate::event::{Message, PlacedUpdate, Role, Times, ToolCall};
use crate::ids::MessageId;
use crate::text::utf16_len;

#[derive(Clone, Debug)]
pub struct Past {
    call_id: String,
    session_name: String,
    prompt: String,
    text: String,
    length: u64,
    updates: Vec<PlacedUpdate>,
}

impl Past {
    /// `call_id` is for the call that it would have been; `session_name` how the agent's session is called here.
    pub fn new(call_id: String, session_name: &str, prompt: String) -> Past {
        Past { call_id, session_name: session_name.to_owned(), prompt, text: String::new(), length: 0, updates: Vec::new() }
    }

    pub fn say(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += utf16_len(text);
    }

    /// More of the prompt, where it is repeated in pieces.
    pub fn ask(&mut self, text: &str) {
        self.prompt.push_str(text);
    }

    pub fn has_begun(&self) -> bool {
        !self.text.is_empty() || !self.updates.is_empty()
    }

    /// Only what somebody would look for later: how its options were is not among it.
    pub fn note(&mut self, update: &Update) {
        if matches!(update, Update::Thought { .. } | Update::ToolCall(_) | Update::ToolOutput { .. } | Update::Plan { .. }) {
            // When it was, agents do not say of what they repeat.
            delegation::place(&mut self.updates, self.length, update, Times::default());
        }
    }

    /// The prompt and the answer, and the work between them where there was any.
    pub fn into_messages(mut self, agent: &str, at: Timestamp, mut new_id: impl FnMut() -> MessageId) -> Vec<Message> {
        let mut plain = |role, content: &str| Message::plain(new_id(), role, content.trim().to_owned(), at);
        let mut messages = Vec::new();
        if !self.prompt.trim().is_empty() {
            messages.push(plain(Role::User, &self.prompt));
        }
        if self.updates.is_empty() {
            messages.extend((!self.text.trim().is_empty()).then(|| plain(Role::Assistant, &self.text)));
            return messages;
        }
        for placed in &mut self.updates {
            if let Update::ToolCall(tool_call) = &mut placed.update
                && tool_call.is_open()
            {
                tool_call.status = Some("interrupted".to_owned());
            }
        }
        let arguments = json!({ "prompt": self.prompt, "session_name": self.session_name }).to_string();
        let tool_call = ToolCall { id: self.call_id.clone(), name: COPILOT_AGENT.to_owned(), arguments };
        let mut call = Call::new(tool_call.clone());
        (call.text, call.length, call.updates) = (self.text, self.length, self.updates);
        let summary = delegation::summary(&call);
        let record = delegation::record(&call, &self.session_name, agent, &summary, "end_turn");
        let content = delegation::content(&call, &summary, "end_turn");
        messages.push(Message { tool_calls: vec![tool_call], ..plain(Role::Assistant, "") });
        let result = plain(Role::Tool, &content);
        messages.push(Message { tool_call_id: Some(self.call_id), display: Some(call.text), delegation: Some(record), ..result });
        messages.extend((!summary.is_empty()).then(|| plain(Role::Assistant, &summary)));
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn messages(past: Past) -> Vec<Message> {
        let mut count = 0;
        past.into_messages("x", Timestamp::UNIX_EPOCH, || {
            count += 1;
            MessageId(Uuid::from_u128(count))
        })
    }

    #[test]
    fn an_answer_without_work_is_two_messages() {
        let mut past = Past::new("c".into(), "main", "hel".into());
        past.ask("lo ");
        past.say(" hi ");
        let told: Vec<_> = messages(past).into_iter().map(|message| (message.role, message.content)).collect();
        assert_eq!(told, [(Role::User, "hello".to_owned()), (Role::Assistant, "hi".to_owned())]);
    }

    #[test]
    fn work_stands_at_its_place_and_nothing_looks_as_if_it_still_ran() {
        let report = |status: &str| {
            let call = crate::agent::ToolCall { id: "t".into(), status: Some(status.into()), ..Default::default() };
            Update::ToolCall(call)
        };
        let mut past = Past::new("c".into(), "main", "do it".into());
        past.say("first ");
        past.note(&report("pending"));
        past.note(&Update::Title { title: None });
        past.say("then");
        let messages = messages(past);
        let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
        assert_eq!((messages[1].tool_calls[0].id.as_str(), messages[2].tool_call_id.as_deref()), ("c", Some("c")));
        assert_eq!((messages[2].display.as_deref(), messages[3].content.as_str()), (Some("first then"), "then"));
        let updates = messages[2].delegation.as_ref().map(|record| record.updates.clone()).unwrap_or_default();
        assert_eq!((updates.len(), updates[0].offset, &updates[0].update), (1, 6, &report("interrupted")));
    }
}
