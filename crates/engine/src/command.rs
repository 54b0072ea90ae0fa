//! What can be asked of a session's task, and how it refuses.

use std::collections::BTreeMap;

use domain::event::SessionChange;
use domain::ids::{MessageId, PermissionId, RuleId, TurnId};
use domain::rule::Scope;
use serde::Serialize;
use serde_json::Value;
use store::StoreError;
use tokio::sync::oneshot;

use crate::attachments::NewAttachment;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

pub(crate) enum Command {
    Post {
        content: String,
        client_id: Option<String>,
        attachments: Vec<NewAttachment>,
        reply: Reply<Posted>,
    },
    Edit {
        message_id: MessageId,
        content: String,
        reply: Reply<()>,
    },
    Withdraw {
        message_id: MessageId,
        reply: Reply<()>,
    },
    Cancel {
        call_id: Option<String>,
        reply: Reply<()>,
    },
    Confirm {
        call_id: String,
        approved: bool,
        reply: Reply<()>,
    },
    Answer {
        request_id: PermissionId,
        option_id: String,
        content: Option<Value>,
        remember: Option<Scope>,
        by: AnsweredBy,
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
    PolicyChanged,
    Change {
        change: SessionChange,
        reply: Reply<()>,
    },
    LoggedIn {
        agent: String,
    },
    Agents {
        reply: Reply<Vec<AgentSessionView>>,
    },
    SetOptions {
        name: String,
        set: BTreeMap<String, Value>,
        reply: Reply<AgentSessionView>,
    },
    Delete {
        reply: Reply<()>,
    },
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
        Refusal::Unavailable("the server is stopping; try again when it is back".to_owned())
    }
}
