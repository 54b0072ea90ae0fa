//! The neutral form of a conversation: what goes to a model and what comes back.
//! Free of any provider's wire format.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of the history, oldest first in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    System(String),
    User(String),
    /// A person's words with images; only ever with at least one.
    UserWithImages {
        text: String,
        images: Vec<Image>,
    },
    Assistant {
        text: String,
        tool_calls: Vec<ToolCall>,
    },
    Tool {
        call_id: String,
        content: String,
    },
}

#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    pub name: String,
    pub mime_type: String,
    pub data: Arc<[u8]>,
}

/// The bytes say nothing to a reader of a log.
impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {}, {} bytes)", self.name, self.mime_type, self.data.len())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON text as the model gave it. It may be malformed; the tool answers that with an error.
    pub arguments: String,
}

/// A tool as it is offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// A JSON schema of the arguments.
    pub parameters: Value,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub messages: Vec<Message>,
    pub tools: Vec<ToolSpec>,
}

/// What is heard while a completion is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next piece of the answer.
    Text(String),
    /// The next piece of the model's reasoning, where it shows it.
    Thought(String),
    /// The request failed before anything was heard and is sent again after a pause.
    Retrying {
        after_ms: u64,
        reason: String,
    },
    End(Completion),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    pub tool_calls: Vec<ToolCall>,
    pub usage: Option<Usage>,
    pub model: String,
    /// The endpoint's token limit ended the answer early.
    pub truncated: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}
