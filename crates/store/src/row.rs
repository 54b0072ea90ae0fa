//! The rows beside the log: what is written with events, and what is read back.

use std::sync::Arc;

use domain::attachment::Attachment;
use domain::event::{Event, Message, Notice, PermissionRequest, QueueItem, ReviewArtifact, SessionChange, ToolCall, Turn, TurnState};
use domain::ids::{ArtifactId, MessageId, PermissionId, RuleId, SessionId, TurnId};
use domain::policy::Policy;
use domain::rule::Rule;
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

/// Events and rows of one session that become durable together or not at all.
#[derive(Clone, Debug)]
pub struct Write {
    pub session: SessionId,
    pub events: Vec<Event>,
    pub rows: Vec<Row>,
}

/// A change of the tables; applied in the order given, before the events of the same write are numbered.
#[derive(Clone, Debug)]
pub enum Row {
    CreateSession(NewSession),
    /// Changes the fields that are given.
    UpdateSession(SessionChange),
    /// Removes the session with everything it has; the events of the same write are void.
    DeleteSession,
    /// Inserts at the end of the conversation, or replaces the message of the same id at its place.
    Message(Message),
    /// Inserts or replaces. `started_seq` is the store's to set, at the first write: the given value is ignored.
    Turn(TurnRow),
    Enqueue(QueueItem),
    /// Fails with [`crate::StoreError::Gone`] where the message no longer waits.
    EditQueued {
        message_id: MessageId,
        content: String,
    },
    /// The message started or was withdrawn. Removing it twice changes nothing.
    Dequeue {
        message_id: MessageId,
    },
    /// Kept until the session is deleted, or until `RemoveAttachments` of its message.
    Attachment(AttachmentRow),
    /// The message was withdrawn.
    RemoveAttachments {
        message_id: MessageId,
    },
    /// Inserts or replaces by name; the row's id stays that of the first write.
    AgentSession(AgentSessionRow),
    RemoveAgentSession {
        name: String,
    },
    OpenPermission(PermissionRow),
    /// Only the first answer counts; a later one changes nothing.
    ResolvePermission {
        request_id: PermissionId,
        option_id: Option<String>,
        by: String,
    },
    /// Something that an agent asked of its client. Opening it twice changes nothing.
    OpenRequest(RequestRow),
    /// Its effect begins with the next thing that is done.
    BeginRequest {
        id: PermissionId,
    },
    AnswerRequest {
        id: PermissionId,
        answer: Value,
    },
    /// The agent has its answer.
    CloseRequest {
        id: PermissionId,
    },
    /// Remembers an answer, for the session or for all of its work directory.
    Rule(RuleRow),
    RemoveRule {
        id: RuleId,
    },
    OpenConfirm(ToolCall),
    ResolveConfirm {
        tool_call_id: String,
    },
    /// Inserts or replaces.
    Artifact(ArtifactRow),
    /// Inserts or replaces by id.
    Runner(RunnerRow),
    /// Fails with [`crate::StoreError::Gone`] for an unknown runner: a cursor that is not stored would make its events twice.
    RunnerCursor {
        id: String,
        cursor: u64,
    },
    RunnerCapabilities {
        id: String,
        capabilities: Option<Value>,
    },
    /// With what its agent is still owed.
    RemoveRunner {
        id: String,
    },
    /// Events up to and including this one are dropped; never past the last event or into a running turn.
    Horizon(u64),
}

#[derive(Clone, PartialEq, Debug)]
pub struct NewSession {
    pub title: String,
    pub work_dir: String,
    pub model: String,
    pub agent: String,
    pub permission_policy: Option<Policy>,
    pub created_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: String,
    pub work_dir: String,
    pub model: String,
    pub agent: String,
    pub permission_policy: Option<Policy>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub last_seq: u64,
    pub running: bool,
    pub queue_len: u32,
    /// How many permissions and confirmations wait for a person.
    pub waiting: u32,
}

/// A place in the list of sessions; the list goes on behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionCursor {
    pub updated_at: Timestamp,
    pub id: SessionId,
}

impl SessionRow {
    pub fn cursor(&self) -> SessionCursor {
        SessionCursor { updated_at: self.updated_at, id: self.id }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct TurnRow {
    pub id: TurnId,
    pub state: TurnState,
    pub reason: Option<String>,
    pub user_message_id: Option<MessageId>,
    /// The first event of the write that started the turn.
    pub started_seq: u64,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// What is known about a turn whose outcome is not.
    pub evidence: Option<Value>,
}

/// What was sent along with a message: how it is shown, and its bytes. A path has none.
#[derive(Clone, PartialEq, Debug)]
pub struct AttachmentRow {
    pub message_id: MessageId,
    pub about: Attachment,
    pub data: Arc<[u8]>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct AgentSessionRow {
    pub id: Uuid,
    pub name: String,
    pub acp_session_id: String,
    pub agent: String,
    pub cwd: String,
    pub created_at: Timestamp,
    /// Until the first prompt the agent keeps nothing, so there is nothing to restore.
    pub prompted_at: Option<Timestamp>,
    pub mode: Option<String>,
    pub options: Option<Value>,
    pub usage: Option<Value>,
    /// The slash commands that it offers.
    pub commands: Option<Value>,
    pub title: Option<String>,
    /// What a person wants set and the agent has not been told yet, by option id.
    pub wanted: Option<Value>,
    /// How it was last brought back.
    pub restored: Option<String>,
    /// The runner in whose process it was last opened.
    pub runner_id: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct PermissionRow {
    pub request: PermissionRequest,
    /// The id of the agent's own request, by which it is answered.
    pub rpc_id: String,
    pub runner_id: String,
}

/// A remembered answer, and where it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleRow {
    /// The session in which it was given; on writing, that of the write counts. None for a rule of the whole work directory.
    pub session: Option<SessionId>,
    pub work_dir: String,
    pub rule: Rule,
}

#[derive(Clone, PartialEq, Debug)]
pub struct RequestRow {
    pub id: PermissionId,
    pub runner_id: String,
    /// The id of the agent's own request, by which it is answered.
    pub rpc_id: String,
    /// The delegated call it was made in.
    pub call_id: Option<String>,
    pub request: Value,
    pub begun: bool,
    pub answer: Option<Value>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ArtifactRow {
    /// The session that it belongs to; on writing, that of the write counts.
    pub session: SessionId,
    pub summary: ReviewArtifact,
    /// The files with their diffs.
    pub files: Value,
    /// Viewed marks and comments.
    pub review: Value,
    pub created_at: Timestamp,
}

impl ArtifactRow {
    pub fn id(&self) -> ArtifactId {
        self.summary.artifact_id
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct RunnerRow {
    pub id: String,
    /// The session that it belongs to; on writing, that of the write counts.
    pub session: SessionId,
    pub agent: String,
    pub dir: String,
    /// How much of the runner's journal has become events.
    pub cursor: u64,
    /// What the agent said it can do; nothing until it has.
    pub capabilities: Option<Value>,
}

/// Messages, oldest first.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    pub messages: Vec<Message>,
    /// There are older ones.
    pub more: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunningTurn {
    pub turn_id: TurnId,
    pub started_seq: u64,
}

/// A session as it is after event `seq`: everything a client needs that comes without a cursor.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    pub seq: u64,
    pub session: SessionRow,
    /// The latest ones, oldest first.
    pub messages: Vec<Message>,
    /// There are older messages.
    pub more: bool,
    pub artifacts: Vec<ReviewArtifact>,
    /// What people were told beside the conversation, as far as the log reaches back, each with the turn it happened in.
    pub notices: Vec<(Option<TurnId>, Notice)>,
    /// The turns that ended otherwise than completed.
    pub ended_turns: Vec<Turn>,
    pub turn: Option<RunningTurn>,
    /// The events of the running turn, from its start to `seq`.
    pub turn_events: Vec<Event>,
    pub permissions: Vec<PermissionRequest>,
    pub confirms: Vec<ToolCall>,
    pub queue: Vec<QueueItem>,
}

/// The outcome of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// The session's last sequence number after the commit that held the write: at least that of its last event.
    pub last_seq: u64,
}
