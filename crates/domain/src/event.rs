//! The events of a session's log: everything a client may see, in the words of the public contract.

mod ending;
mod message;
mod waits;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::agent::{PermissionAsk, Update};
use crate::attachment::Attachment;
use crate::decision::{Decision, Reach, Verdict};
use crate::ids::{ArtifactId, MessageId, PermissionId, RuleId, TurnId};
use crate::policy::Policy;
use crate::rule::Choice;
use crate::runs_later::Warning;

pub use ending::Ending;
pub use message::{Delegation, Message, PlacedUpdate, Role, Times};
pub use waits::{Wait, Waits};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", content = "data", rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "few are held at a time, and a question is asked seldom")]
pub enum Event {
    Message(Message),
    TextDelta(TextDelta),
    Superseded {
        message_id: MessageId,
    },
    ToolCall(ToolCall),
    ToolConfirm(ToolCall),
    /// A person stopped this call alone; it ends when its agent says so.
    ToolStopping {
        id: String,
    },
    ToolResult(ToolResult),
    CopilotDelta(CopilotDelta),
    CopilotDone(CopilotDone),
    AgentUpdate(AgentUpdate),
    PermissionRequest(PermissionRequest),
    PermissionResolved(PermissionResolved),
    PermissionHeld(PermissionHeld),
    /// A denial that was held was taken back: the question waits for an answer again.
    PermissionPending {
        request_id: PermissionId,
    },
    Turn(Turn),
    Waits(Waits),
    Queue(Queue),
    Notice(Notice),
    Session(SessionChange),
    ReviewArtifact(ReviewArtifact),
    Done(Done),
    Error(ErrorEvent),
    Ready {
        seq: u64,
    },
    /// The cursor that was given points into what is no longer kept: forget everything, a snapshot follows.
    Reset {},
    Keepalive {},
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TextDelta {
    pub message_id: MessageId,
    pub offset: u64,
    pub content: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// The arguments as the model wrote them: JSON text, perhaps malformed.
    pub arguments: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolResult {
    pub id: String,
    pub name: String,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    pub is_error: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_id: Option<ArtifactId>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CopilotDelta {
    pub tool_call_id: String,
    pub session_name: String,
    pub offset: u64,
    pub content: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CopilotDone {
    pub tool_call_id: String,
    pub session_name: String,
    /// The id of the agent that worked on it.
    #[serde(default)]
    pub agent: String,
    pub summary: String,
    pub stop_reason: String,
    /// Missing in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// How long of it a person was waited for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: u64,
    /// How long its turn had waited for a person by then; missing in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_waited_ms: Option<u64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct AgentUpdate {
    pub tool_call_id: String,
    pub session_name: String,
    /// Where in the agent's text it happened, in UTF-16 code units.
    pub offset: u64,
    pub update: Update,
    #[serde(default, skip_serializing_if = "Times::are_unknown")]
    pub times: Times,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PermissionRequest {
    pub request_id: PermissionId,
    pub tool_call_id: String,
    pub session_name: String,
    /// The id of the agent that asks; empty in logs of earlier versions.
    #[serde(default)]
    pub agent: String,
    /// From here on counts the time that a person has, where that is limited.
    #[serde(default)]
    #[schema(value_type = String, format = "date-time")]
    pub asked_at: Timestamp,
    /// What an answer for always can cover, the narrowest first. Filled in when it is sent, not stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<Choice>,
    /// Files that would be changed and whose content runs later. Filled in when it is sent, not stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The change that is asked for, file by file. Filled in when it is sent, not stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<FileHunks>,
    #[serde(flatten)]
    pub ask: PermissionAsk,
}

/// The change of one file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct FileHunks {
    pub path: String,
    #[schema(schema_with = crate::agent::hunks_schema)]
    pub hunks: Value,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PermissionResolved {
    pub request_id: PermissionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    /// Missing in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Missing in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// person, mcp (a program for them), policy, rule, timeout, cancel, agent (it no longer asks) or agent_gone.
    pub by: String,
    /// The remembered answer that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<RuleId>,
    /// Of a refusal: what the person said. The agent gets it as its next prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl PermissionResolved {
    pub fn new(request_id: PermissionId, decision: &Decision, by: impl Into<String>, reason: Option<String>) -> PermissionResolved {
        PermissionResolved {
            request_id,
            option_id: decision.option_id().map(str::to_owned),
            verdict: Some(decision.verdict()),
            reach: Some(decision.reach()),
            by: by.into(),
            rule_id: None,
            reason,
        }
    }

    /// What was decided about `ask`.
    pub fn decision(&self, ask: &PermissionAsk) -> Decision {
        Decision::restored(ask, self.verdict, self.reach, self.option_id.clone())
    }
}

/// A denial that the agent is not told yet, so that it can be taken back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PermissionHeld {
    pub request_id: PermissionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    pub verdict: Verdict,
    pub reach: Reach,
    /// As in `permission-resolved`.
    pub by: String,
    /// What the person said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When the agent is told, in ms since 1970.
    pub until: i64,
}

impl PermissionHeld {
    pub fn decision(&self) -> Decision {
        Decision::stored(self.verdict, self.reach, self.option_id.clone())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    Running,
    Completed,
    Cancelled,
    Failed,
    Interrupted,
    Unknown,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Turn {
    pub turn_id: TurnId,
    pub state: TurnState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Missing while it runs, and in logs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// How long of it a person was waited for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: u64,
}

impl Turn {
    pub fn new(turn_id: TurnId, state: TurnState, reason: Option<String>) -> Turn {
        Turn { turn_id, state, reason, ending: Ending::of_turn(state), waited_ms: 0 }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Queue {
    pub items: Vec<QueueItem>,
    /// A person stopped what ran: nothing of it begins until somebody asks for it.
    #[serde(default)]
    pub held: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct QueueItem {
    pub message_id: MessageId,
    pub turn_id: TurnId,
    pub content: String,
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Notice {
    pub code: String,
    /// info, warning or error.
    pub level: String,
    pub title: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
}

impl Notice {
    /// It still matters when its turn is over. That something was tried again, or that a turn was stopped, does not.
    pub fn is_lasting(&self) -> bool {
        self.level != "info" && self.code != "model_retry" || self.code == "late_output"
    }
}

/// The fields of a session that changed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct SessionChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `null` leaves it to the server's setting again.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    #[schema(value_type = Option<Policy>)]
    pub permission_policy: Option<Option<Policy>>,
    /// How many remembered answers hold here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
}

/// A field that is `null` says something else than one that is not there.
pub fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(value: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(value).map(Some)
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReviewArtifact {
    pub artifact_id: ArtifactId,
    pub title: String,
    pub status: String,
    pub total_files: u32,
    pub total_additions: u32,
    pub total_deletions: u32,
    pub files: Vec<ReviewFile>,
}

/// A file of a review artifact without its diff; the diff is fetched with the artifact.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReviewFile {
    pub path: String,
    pub status: String,
    pub additions: u32,
    pub deletions: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Done {
    pub turn_id: TurnId,
    pub message_id: MessageId,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorEvent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    pub code: String,
    pub message: String,
}

impl Event {
    /// The names of those that the log keeps.
    pub const LOGGED: [&str; 22] = [
        "message",
        "text-delta",
        "superseded",
        "tool-call",
        "tool-confirm",
        "tool-stopping",
        "tool-result",
        "copilot-delta",
        "copilot-done",
        "agent-update",
        "permission-request",
        "permission-resolved",
        "permission-held",
        "permission-pending",
        "turn",
        "waits",
        "queue",
        "notice",
        "session",
        "review-artifact",
        "done",
        "error",
    ];

    /// The name by which the stream and the log know this event.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Message(_) => "message",
            Event::TextDelta(_) => "text-delta",
            Event::Superseded { .. } => "superseded",
            Event::ToolCall(_) => "tool-call",
            Event::ToolConfirm(_) => "tool-confirm",
            Event::ToolStopping { .. } => "tool-stopping",
            Event::ToolResult(_) => "tool-result",
            Event::CopilotDelta(_) => "copilot-delta",
            Event::CopilotDone(_) => "copilot-done",
            Event::AgentUpdate(_) => "agent-update",
            Event::PermissionRequest(_) => "permission-request",
            Event::PermissionResolved(_) => "permission-resolved",
            Event::PermissionHeld(_) => "permission-held",
            Event::PermissionPending { .. } => "permission-pending",
            Event::Turn(_) => "turn",
            Event::Waits(_) => "waits",
            Event::Queue(_) => "queue",
            Event::Notice(_) => "notice",
            Event::Session(_) => "session",
            Event::ReviewArtifact(_) => "review-artifact",
            Event::Done(_) => "done",
            Event::Error(_) => "error",
            Event::Ready { .. } => "ready",
            Event::Reset {} => "reset",
            Event::Keepalive {} => "keepalive",
        }
    }

    /// The event's data as JSON text: what follows `data:` on the wire and what the log stores.
    pub fn data(&self) -> String {
        let text = match self {
            Event::Message(data) => serde_json::to_string(data),
            Event::TextDelta(data) => serde_json::to_string(data),
            Event::Superseded { message_id } => serde_json::to_string(&serde_json::json!({ "message_id": message_id })),
            Event::ToolCall(data) | Event::ToolConfirm(data) => serde_json::to_string(data),
            Event::ToolStopping { id } => serde_json::to_string(&serde_json::json!({ "id": id })),
            Event::ToolResult(data) => serde_json::to_string(data),
            Event::CopilotDelta(data) => serde_json::to_string(data),
            Event::CopilotDone(data) => serde_json::to_string(data),
            Event::AgentUpdate(data) => serde_json::to_string(data),
            Event::PermissionRequest(data) => serde_json::to_string(data),
            Event::PermissionResolved(data) => serde_json::to_string(data),
            Event::PermissionHeld(data) => serde_json::to_string(data),
            Event::PermissionPending { request_id } => serde_json::to_string(&serde_json::json!({ "request_id": request_id })),
            Event::Turn(data) => serde_json::to_string(data),
            Event::Waits(data) => serde_json::to_string(data),
            Event::Queue(data) => serde_json::to_string(data),
            Event::Notice(data) => serde_json::to_string(data),
            Event::Session(data) => serde_json::to_string(data),
            Event::ReviewArtifact(data) => serde_json::to_string(data),
            Event::Done(data) => serde_json::to_string(data),
            Event::Error(data) => serde_json::to_string(data),
            Event::Ready { seq } => serde_json::to_string(&serde_json::json!({ "seq": seq })),
            Event::Reset {} | Event::Keepalive {} => Ok("{}".to_owned()),
        };
        text.expect("events hold nothing that JSON cannot say")
    }

    /// Reads an event back from its kind and data; `None` for a kind of a later version.
    pub fn parse(kind: &str, data: &str) -> Option<Event> {
        let data: Value = serde_json::from_str(data).ok()?;
        serde_json::from_value(serde_json::json!({ "event": kind, "data": data })).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(call: &str, offset: u64, content: &str) -> Event {
        Event::CopilotDelta(CopilotDelta { tool_call_id: call.into(), session_name: "n".into(), offset, content: content.into() })
    }

    #[test]
    fn an_event_survives_the_log() {
        let event = delta("a", 7, "text");
        assert_eq!(Event::parse(event.kind(), &event.data()), Some(event));
        assert_eq!(Event::parse("from-the-future", "{}"), None);
        assert_eq!(Event::parse("reset", "{}"), Some(Event::Reset {}));
    }
}
