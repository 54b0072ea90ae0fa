//! What an agent asks of its client, what it is answered, and how it fails us: the dialects are behind these words.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::PermissionAsk;
use crate::json::value_bytes;

/// Where a request of the agent's stands in its runner's journal: the record, and which message of that record. This names the
/// request. The agent's own id does not, since agents use one twice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Place {
    pub seq: u64,
    pub index: u32,
}

/// What an agent asks of its client. Each one is owed exactly one [`Reply`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "few are held at a time, and permissions are what most of them are")]
pub enum Demand {
    Permission(PermissionAsk),
    ReadFile {
        path: String,
        /// The first line, counted from 1.
        line: Option<u64>,
        limit: Option<u64>,
    },
    WriteFile {
        path: String,
        content: String,
    },
    StartTerminal(StartTerminal),
    TerminalOutput {
        terminal_id: String,
    },
    WaitForTerminal {
        terminal_id: String,
    },
    KillTerminal {
        terminal_id: String,
    },
    ReleaseTerminal {
        terminal_id: String,
    },
    Form {
        message: String,
        schema: Value,
    },
    /// Nothing that we can do, or nothing that makes sense: the reply is decided already.
    Unknown {
        problem: Problem,
        message: String,
    },
}

impl Demand {
    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Demand::Permission(ask) => ask.bytes(),
            Demand::WriteFile { path, content } => path.len() + content.len(),
            Demand::StartTerminal(start) => {
                let env: usize = start.env.iter().map(|(name, value)| 2 * size_of::<String>() + name.len() + value.len()).sum();
                start.command.len() + start.args.iter().map(|arg| size_of::<String>() + arg.len()).sum::<usize>() + env
            }
            Demand::Form { message, schema } => message.len() + value_bytes(schema),
            Demand::Unknown { message, .. } => message.len(),
            Demand::ReadFile { path: text, .. }
            | Demand::TerminalOutput { terminal_id: text }
            | Demand::WaitForTerminal { terminal_id: text }
            | Demand::KillTerminal { terminal_id: text }
            | Demand::ReleaseTerminal { terminal_id: text } => text.len(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StartTerminal {
    pub command: String,
    pub args: Vec<String>,
    /// Name and value.
    pub env: Vec<(String, String)>,
    pub cwd: Option<String>,
    pub output_byte_limit: Option<u64>,
}

/// The one answer that a demand gets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    /// To a permission; none is "cancelled".
    Chosen {
        option_id: Option<String>,
    },
    /// What is in a file.
    Text {
        content: String,
    },
    /// It is written, killed or released.
    Done,
    TerminalStarted {
        terminal_id: String,
    },
    Output {
        output: String,
        truncated: bool,
        exit: Option<Exited>,
    },
    Exited(Exited),
    Form {
        action: FormAction,
        content: Option<Value>,
    },
    Refused {
        problem: Problem,
        message: String,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Exited {
    pub code: Option<i32>,
    /// By its name, such as SIGKILL.
    pub signal: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormAction {
    Accept,
    Decline,
    Cancel,
}

/// Why a demand is not met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// The policy or a person said no.
    NotAllowed,
    NotFound,
    Invalid,
    /// It was given up before it was done.
    Cancelled,
    Unsupported,
    Internal,
}

impl Reply {
    pub fn refused(problem: Problem, message: impl Into<String>) -> Reply {
        Reply::Refused { problem, message: message.into() }
    }
}

/// Why an agent did not do what it was asked, as far as anybody acts on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It works only after a login, and reads its credentials when it starts.
    NeedsLogin,
    /// It does not know the session, or no longer.
    UnknownSession,
    /// Another program works in the session; nothing is made in its place.
    OwnedElsewhere,
    /// It has said that it cannot do this; nothing was sent.
    Unsupported,
    /// Its process has ended.
    Gone,
    /// The runner would not take the line just now; nothing reached the agent.
    NotSent,
    TimedOut,
    /// It refused for a reason of its own.
    Refused,
}

/// A fault, in words for a person: a fragment that names the thing, without the agent's name in front.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub fault: Fault,
    pub message: String,
}

impl Failure {
    pub fn new(fault: Fault, message: impl Into<String>) -> Failure {
        Failure { fault, message: message.into() }
    }
}
