//! What can be asked of a session's task, and how it refuses.

use std::collections::BTreeMap;

use domain::event::{Message, SessionChange};
use domain::ids::{CommentId, MessageId, PermissionId, RuleId, TurnId};
use domain::rule::Scope;
use serde::Serialize;
use serde_json::Value;
use store::StoreError;
use tokio::sync::oneshot;

use crate::attachments::NewAttachment;
use crate::browse::KeptRecord;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

pub(crate) enum Command {
    Post {
        content: String,
        client_id: Option<String>,
        attachments: Vec<NewAttachment>,
        /// The comments on changes that it holds: they are gone with it.
        sent: Vec<CommentId>,
        reply: Reply<Posted>,
    },
    Edit {
        message_id: MessageId,
        content: Option<String>,
        position: Option<usize>,
        reply: Reply<()>,
    },
    /// It is the next, and what runs is stopped for it.
    Now {
        message_id: MessageId,
        reply: Reply<()>,
    },
    Withdraw {
        message_id: MessageId,
        reply: Reply<()>,
    },
    /// What waits after a stop goes on.
    SendNext {
        reply: Reply<()>,
    },
    Cancel {
        what: Cancelled,
        reply: Reply<()>,
    },
    Confirm {
        call_id: String,
        approved: bool,
        reply: Reply<()>,
    },
    Answer {
        request_id: PermissionId,
        answer: Answer,
        /// How far what was remembered reaches.
        reply: Reply<Option<Scope>>,
    },
    /// A denial that is held.
    TakeBack {
        request_id: PermissionId,
        reply: Reply<()>,
    },
    Revoke {
        id: RuleId,
        reply: Reply<Scope>,
    },
    /// What is remembered for a whole work directory has changed.
    RulesChanged {
        project: String,
        revoked: bool,
    },
    /// Of the sessions that have none of their own.
    ChoicesChanged {
        policy: bool,
    },
    Change {
        change: SessionChange,
        reply: Reply<()>,
    },
    /// Agents with nothing to do are ended: others wait for their places.
    MakeRoom,
    LoggedIn {
        agent: String,
    },
    Agents {
        reply: Reply<Vec<AgentSessionView>>,
    },
    /// What the model has written of a message that it has not finished.
    Unfinished {
        message_id: MessageId,
        reply: Reply<Option<Message>>,
    },
    SetOptions {
        name: String,
        set: BTreeMap<String, Value>,
        reply: Reply<AgentSessionView>,
    },
    Delete {
        /// What agents keep of the session by themselves goes too, where they can delete it.
        agent_records: bool,
        reply: Reply<Vec<KeptRecord>>,
    },
}

/// What is to be stopped.
pub(crate) enum Cancelled {
    /// The turn that runs, and with it what is queued.
    Turn,
    /// The turn of the program that asks; what others have queued goes on.
    OwnTurn,
    Call(String),
}

/// Who answered an agent: themselves, or through a program that speaks MCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnsweredBy {
    Person,
    Mcp,
}

impl AnsweredBy {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            AnsweredBy::Person => "person",
            AnsweredBy::Mcp => "mcp",
        }
    }
}

/// How a permission is answered.
#[derive(Clone, Debug)]
pub struct Answer {
    pub option_id: String,
    /// What was filled in, where the request is a form.
    pub content: Option<Value>,
    /// How far an answer for always reaches; this session where nothing is said.
    pub remember: Option<Scope>,
    /// The id of one of the request's choices: what is remembered, instead of `remember`.
    pub scope: Option<String>,
    /// Of a refusal: what the agent is told.
    pub reason: Option<String>,
    /// What the record says of who answered.
    pub by: AnsweredBy,
}

impl Answer {
    /// Nothing is remembered and nothing said.
    pub fn once(option_id: String, by: AnsweredBy) -> Answer {
        Answer { option_id, content: None, remember: None, scope: None, reason: None, by }
    }
}

/// The answer to a message: the same for every repetition of one client id.
#[derive(Clone, Debug)]
pub struct Posted {
    pub message_id: MessageId,
    pub turn_id: TurnId,
    pub queued: bool,
}

/// A named agent session, as people see it.
#[derive(Clone, Debug, Serialize)]
pub struct AgentSessionView {
    pub name: String,
    pub agent: String,
    /// stored, opening, idle or running.
    pub state: String,
    pub mode: Option<String>,
    /// What can be set, as the agent describes it.
    pub options: Option<Value>,
    /// What was set and the agent has not been told yet, by option id.
    pub wanted: Option<Value>,
    pub usage: Option<Value>,
    pub title: Option<String>,
    /// The slash commands that it offers.
    pub commands: Option<Value>,
    /// new, resumed, loaded or lost: how it came to be in the running process.
    pub restored: Option<String>,
}

/// Why something was not done; the message is for a person.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("{0} not found")]
    NotFound(&'static str),
    #[error("{0}")]
    Conflict(String),
    /// What was meant is no longer what was shown.
    #[error("{0}")]
    Changed(String),
    /// The model is asked for at a provider, and none is set up.
    #[error("{0}")]
    NoProvider(String),
    /// It takes a model, and the session has none.
    #[error("{0}")]
    NoModel(String),
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Unavailable(String),
    #[error("{0}")]
    TooLarge(String),
    /// The quota is used up.
    #[error("{0}")]
    NoRoom(String),
    #[error("the database refused")]
    Store(#[from] StoreError),
}

impl Refusal {
    pub(crate) fn stopping() -> Refusal {
        Refusal::Unavailable("the server is shutting down; try again when it is back".to_owned())
    }
}
