//! What is written: events, and the changes of the tables that become durable with them.

use domain::decision::Decision;
use domain::event::{Ending, Event, Message, QueueItem, SessionChange, ToolCall};
use domain::host::AgentSession;
use domain::ids::{CommentId, DeviceId, MessageId, PermissionId, RuleId, SessionId, TurnId};
use domain::review::Comment;
use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::frame::piece;
use crate::table::artifact::ArtifactRow;
use crate::table::attachment::AttachmentRow;
use crate::table::audit::AuditRow;
use crate::table::credit::{CreditRow, WindowRow};
use crate::table::device::DeviceRow;
use crate::table::link::LinkRow;
use crate::table::permission::PermissionRow;
use crate::table::push::PushRow;
use crate::table::request::RequestRow;
use crate::table::rule::RuleRow;
use crate::table::runner::RunnerRow;
use crate::table::session::{ChangeCounts, Marks, NewSession};
use crate::table::tree::TreeRow;
use crate::table::turn::TurnRow;

/// Events and rows of one session that become durable together or not at all.
#[derive(Clone, Debug)]
pub struct Write {
    pub session: SessionId,
    pub events: Vec<Event>,
    pub rows: Vec<Row>,
}

impl Write {
    /// There is nothing in it but a little of a stream, and how far its runner has come.
    pub(crate) fn is_piece(&self, bytes_most: usize) -> bool {
        let bytes = self.events.iter().try_fold(0, |bytes, event| piece(event).map(|(_, content)| bytes + content.len()));
        let only_cursors = self.rows.iter().all(|row| matches!(row, Row::RunnerCursor { .. }));
        only_cursors && bytes.is_some_and(|bytes| bytes < bytes_most)
    }
}

/// A change of the tables; applied in the order given, before the events of the same write are numbered.
#[derive(Clone, Debug)]
pub enum Row {
    CreateSession(NewSession),
    /// Changes the fields that are given.
    UpdateSession(SessionChange),
    /// How people keep it in their list; that is no activity of the session.
    MarkSession(Marks),
    /// The working tree before or after a turn: fills in what is given.
    Tree(TreeRow),
    /// When a tool call of an agent could write: inserts it, or sets its end.
    Window(WindowRow),
    /// The call's windows prove nothing.
    RemoveWindows {
        call: String,
    },
    /// A file that an agent of the session wrote. Inserting it twice changes nothing.
    Credit(CreditRow),
    /// What the last turn changed in the work directory; none where that is not known.
    Changed(Option<ChangeCounts>),
    /// Removes the session with everything it has; the events of the same write are void.
    DeleteSession,
    /// Inserts at the end of the conversation, or replaces the message of the same id at its place.
    Message(Message),
    /// Inserts or replaces. `started_seq` is the store's to set, at the first write: the given value is ignored.
    Turn(TurnRow),
    /// How the turn ended, in the word that people read.
    TurnEnding {
        id: TurnId,
        ending: Ending,
    },
    /// How long of the turn a person was waited for, and since when one is.
    TurnWaits {
        id: TurnId,
        waited_ms: u64,
        waiting_since_ms: Option<i64>,
    },
    Enqueue(QueueItem),
    /// Fails with [`crate::StoreError::Gone`] where the message no longer waits.
    EditQueued {
        message_id: MessageId,
        content: String,
    },
    /// All that wait, in the order in which they are to run.
    OrderQueue(Vec<MessageId>),
    /// A person stopped what ran, or sent the next message of what waits.
    HoldQueue(bool),
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
    AgentSession(AgentSession),
    RemoveAgentSession {
        name: String,
    },
    OpenPermission(PermissionRow),
    /// Only the first answer counts; a later one changes nothing.
    ResolvePermission {
        request_id: PermissionId,
        decision: Decision,
        by: String,
    },
    /// The runner has taken the answer: it need not be given again.
    PermissionDelivered {
        request_id: PermissionId,
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
    /// A comment on changes; of one that is there only the text is replaced.
    Comment {
        scope: String,
        comment: Comment,
    },
    /// They went out with a message that is part of the same write.
    SendComments {
        ids: Vec<CommentId>,
        at: Timestamp,
    },
    /// They are not wanted any more, or were sent and are resolved.
    RemoveComments {
        ids: Vec<CommentId>,
    },
    /// A file was looked at in this state; none: it is to be looked at again.
    View {
        scope: String,
        path: String,
        digest: Option<String>,
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
    /// It was told to end: the next server clears it away.
    RunnerEnding {
        id: String,
    },
    /// With what its agent is still owed.
    RemoveRunner {
        id: String,
    },
    /// What an agent in this version calls the protocol's methods. Inserts or replaces, for all sessions.
    MethodNames {
        agent: String,
        version: String,
        names: Value,
    },
    /// Events up to and including this one are dropped; never past the last event or into a running turn.
    Horizon(u64),
}

impl Row {
    /// The row keeps the number of the write's first event, so that event must not be joined to an earlier one.
    pub(crate) fn keeps_place(&self) -> bool {
        matches!(self, Row::Turn(_) | Row::OpenPermission(_) | Row::OpenConfirm(_))
    }

    /// The row changes what the list of sessions shows, besides the time of the latest activity.
    pub(crate) fn is_listed(&self) -> bool {
        matches!(
            self,
            Row::CreateSession(_)
                | Row::UpdateSession(_)
                | Row::MarkSession(_)
                | Row::Changed(_)
                | Row::DeleteSession
                | Row::Turn(_)
                | Row::TurnEnding { .. }
                | Row::TurnWaits { .. }
                | Row::Enqueue(_)
                | Row::Dequeue { .. }
                | Row::OpenPermission(_)
                | Row::ResolvePermission { .. }
                | Row::OpenConfirm(_)
                | Row::ResolveConfirm { .. }
                | Row::Rule(_)
                | Row::RemoveRule { .. }
        )
    }

    /// The row changes what the log is, not only what is in it: its write has a transaction of its own.
    pub(crate) fn is_exclusive(&self) -> bool {
        matches!(self, Row::DeleteSession | Row::Horizon(_))
    }
}

/// A change of what belongs to the server as a whole, not to one session.
#[derive(Clone, Debug)]
pub enum ServerRow {
    Device(DeviceRow),
    RenameDevice {
        id: DeviceId,
        name: String,
    },
    DeviceUsed {
        id: DeviceId,
        at: Timestamp,
        address: String,
    },
    /// Whatever is told of it afterwards changes nothing.
    RemoveDevice(DeviceId),
    /// Inserts or replaces by id.
    Link(LinkRow),
    RemoveLink(Uuid),
    /// Adds to the audit log, which forgets its oldest entries. The id is the store's to give.
    Audit(AuditRow),
    /// Inserts or replaces by key.
    Preference {
        key: String,
        value: String,
    },
    RemovePreference {
        key: String,
    },
    /// Inserts or replaces by device.
    Push(PushRow),
    RemovePush(DeviceId),
    /// Nothing is reached there any more.
    DropEndpoint(String),
}

/// The outcome of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Committed {
    /// The session's last sequence number after the commit that held the write: at least that of its last event.
    pub last_seq: u64,
}
