//! The neutral history in the form of the model library, always well-formed: endpoints reject a
//! conversation in which a tool call has no result or a result has no call, and a server that was
//! killed in between leaves just that behind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use genai::chat::{ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolResponse};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::message::{Image, Message, Request, ToolCall};

const NO_RESULT: &str = "no result was recorded for this call";

pub(super) fn to_chat(request: &Request) -> ChatRequest {
    let mut messages = Vec::new();
    let mut open = OpenCalls::default();
    for message in &request.messages {
        if let Message::Tool { call_id, content } = message {
            open.answer(call_id, content);
            continue;
        }
        messages.extend(open.close());
        match message {
            Message::System(text) => messages.push(ChatMessage::system(text.as_str())),
            Message::User(text) => messages.push(ChatMessage::user(text.as_str())),
            Message::UserWithImages { text, images } => messages.push(with_images(text, images)),
            Message::Assistant { text, tool_calls } => {
                messages.extend(assistant(text, tool_calls));
                open = OpenCalls::new(tool_calls);
            }
            Message::Tool { .. } => {}
        }
    }
    messages.extend(open.close());
    let chat = ChatRequest::new(messages);
    if request.tools.is_empty() {
        return chat;
    }
    let tools = request
        .tools
        .iter()
        .map(|tool| Tool::new(tool.name.as_str()).with_description(tool.description.as_str()).with_schema(tool.parameters.clone()));
    chat.with_tools(tools)
}

/// The calls of the last assistant message, each with its result once that is known.
#[derive(Default)]
struct OpenCalls(Vec<(ToolCall, Option<String>)>);

impl OpenCalls {
    fn new(calls: &[ToolCall]) -> OpenCalls {
        OpenCalls(calls.iter().map(|call| (call.clone(), None)).collect())
    }

    fn answer(&mut self, call_id: &str, content: &str) {
        let waiting = |(call, result): &&mut (ToolCall, Option<String>)| call.id == call_id && result.is_none();
        match self.0.iter_mut().find(waiting) {
            Some((_, result)) => *result = Some(content.to_owned()),
            None => tracing::warn!(call_id, "a tool result without a call is left out"),
        }
    }

    /// All results in one message: some dialects want them together.
    fn close(&mut self) -> Option<ChatMessage> {
        let responses: Vec<ToolResponse> = std::mem::take(&mut self.0)
            .into_iter()
            .map(|(call, result)| {
                let content = result.unwrap_or_else(|| NO_RESULT.to_owned());
                ToolResponse::new(call.id, content).with_fn_name(call.name)
            })
            .collect();
        (!responses.is_empty()).then(|| ChatMessage::from(responses))
    }
}

fn with_images(text: &str, images: &[Image]) -> ChatMessage {
    let mut parts = vec![ContentPart::Text(text.to_owned())];
    for image in images {
        let encoded = STANDARD.encode(&image.data);
        parts.push(ContentPart::from_binary_base64(image.mime_type.as_str(), encoded, Some(image.name.clone())));
    }
    ChatMessage::user(MessageContent::from_parts(parts))
}

fn assistant(text: &str, calls: &[ToolCall]) -> Option<ChatMessage> {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(ContentPart::Text(text.to_owned()));
    }
    for call in calls {
        parts.push(ContentPart::ToolCall(genai::chat::ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: arguments_value(&call.arguments),
            thought_signatures: None,
        }));
    }
    (!parts.is_empty()).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
}

/// Every dialect accepts an object; what the model had garbled is shown back to it inside one.
fn arguments_value(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ => json!({"malformed_arguments": text}),
    }
}

/// The library keeps text that it could not parse as a string value.
pub(super) fn arguments_text(arguments: Value) -> String {
    match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) if text.trim().is_empty() => "{}".to_owned(),
        Value::String(text) => text,
        value => value.to_string(),
    }
}

/// An id for a call that came without one: the same for the same history, and no other history's.
pub(super) fn made_id(messages: &[Message], index: usize) -> String {
    let place = format!("{index} {messages:?}");
    let id = Uuid::new_v5(&Uuid::NAMESPACE_OID, place.as_bytes());
    format!("call_{}", id.simple())
}
