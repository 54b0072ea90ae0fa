//! The messages of a conversation, as the log and the contract know them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Ending, ToolCall};
use crate::agent::Update;
use crate::attachment::Attachment;
use crate::ids::{ArtifactId, MessageId, TurnId};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    Tool,
}

/// A message of the conversation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Message {
    pub id: MessageId,
    pub role: Role,
    /// The text; of a tool's message what the model was given.
    pub content: String,
    /// `content` rendered and sanitised; added when it is sent, not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Of a person's message: what was sent along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Of a tool's message: the full output, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
    /// Of a delegation: what the agent did beside talking, each at its place in `display`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation: Option<Delegation>,
}

impl Message {
    /// A message of nothing but words.
    pub fn plain(id: MessageId, role: Role, content: String, created_at: Timestamp) -> Self {
        Self {
            id,
            role,
            content,
            html: None,
            created_at,
            turn_id: None,
            client_id: None,
            attachments: Vec::new(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            display: None,
            is_error: false,
            artifact_id: None,
            delegation: None,
        }
    }
}

/// The part of a delegation's result that is not text.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Delegation {
    pub session_name: String,
    /// The id of the agent that worked on it; empty where an older version did not write it down.
    #[serde(default)]
    pub agent: String,
    pub stop_reason: String,
    /// Missing where an earlier version wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// How long of it a person was waited for.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub waited_ms: u64,
    /// How long its turn had waited for a person by then: several that wait together count once, and none while another works. Missing
    /// where an earlier version wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_waited_ms: Option<u64>,
    pub summary: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<PlacedUpdate>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlacedUpdate {
    /// Where in the agent's text it first happened, in UTF-16 code units.
    pub offset: u64,
    pub update: Update,
    #[serde(default, skip_serializing_if = "Times::are_unknown")]
    pub times: Times,
}

/// When something was heard of, in ms since 1970. Logs of earlier versions do not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, ToSchema)]
pub struct Times {
    /// For the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// For the first time, where several of it are told as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// How long of that a person was waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
}

impl Times {
    pub fn at(time: Timestamp) -> Self {
        Times { at_ms: Some(time.as_millisecond()), ..Times::default() }
    }

    pub(super) fn are_unknown(&self) -> bool {
        *self == Times::default()
    }

    /// It was heard of again.
    pub fn extend(&mut self, later: Times) {
        self.since_ms = self.since_ms.or(self.at_ms);
        self.at_ms = later.at_ms.or(self.at_ms);
        self.waited_ms = later.waited_ms.or(self.waited_ms);
    }
}
