//! What is stored of agent sessions and of what agents are owed.

use jiff::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::agent::{Demand, Reply};
use crate::decision::Decision;
use crate::ids::{PermissionId, RunnerId};

/// A named agent session, as it is stored.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentSession {
    pub id: Uuid,
    pub name: String,
    /// The agent's own id of it.
    pub agent_session: String,
    pub agent: String,
    pub cwd: String,
    pub created_at: Timestamp,
    /// Until the first prompt the agent keeps nothing, so there is nothing to restore.
    pub prompted_at: Option<Timestamp>,
    pub mode: Option<String>,
    /// What can be set, as the agent describes it.
    pub options: Option<Value>,
    pub usage: Option<Value>,
    /// The slash commands that it offers.
    pub commands: Option<Value>,
    pub title: Option<String>,
    /// What a person wants set and the agent has not been told yet, by option id.
    pub wanted: Option<Value>,
    /// A person chose the agent's own "allow all".
    pub allow_all: bool,
    /// How it was last brought back: see [`How::as_str`].
    pub restored: Option<String>,
    /// The runner in whose process it was last opened.
    pub runner_id: Option<RunnerId>,
}

/// How a session came to be in a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    New,
    Resumed,
    Loaded,
    /// It existed and could not be brought back; a new one stands in its place.
    Lost,
}

impl How {
    pub fn as_str(self) -> &'static str {
        match self {
            How::New => "new",
            How::Resumed => "resumed",
            How::Loaded => "loaded",
            How::Lost => "lost",
        }
    }
}

/// What an agent says of a session's options.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Described {
    pub mode: Option<String>,
    pub options: Option<Value>,
    /// Its own "allow all" is on.
    pub allows_all: bool,
}

/// What an agent is owed, as it is stored.
#[derive(Clone, PartialEq, Debug)]
pub struct DebtRecord {
    pub id: PermissionId,
    /// The agent's own id of the request, by which it is answered.
    pub rpc_id: String,
    /// The delegated call it was made in; none where no prompt ran.
    pub call_id: Option<String>,
    pub demand: Demand,
    /// What it does had begun: where no reply follows, nobody knows how far it came.
    pub begun: bool,
    /// Of a permission: what was decided about it. The reply follows from that.
    pub decision: Option<Decision>,
    pub reply: Option<Reply>,
}
