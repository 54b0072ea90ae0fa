//! What a host can be told.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{AgentSession, Described, Found, How};
use crate::agent::{Demand, Failure, Fault, PermissionAsk, Place, Reply, Update};
use crate::decision::Decision;
use crate::ids::{PermissionId, RunnerId, TurnId};

#[derive(Clone, Debug)]
pub enum Input {
    /// The turn wants this prompted. A call that the host knows already is not prompted twice.
    Prompt {
        turn_id: TurnId,
        call_id: String,
        round: u32,
        name: String,
        text: String,
    },
    /// The turn wants this stopped.
    Stop {
        call_id: String,
    },
    /// A permission was decided: by a person, a rule, the clock or a stop. `content` is what was filled into a form.
    Decided {
        request_id: PermissionId,
        decision: Decision,
        content: Option<Value>,
    },
    Started {
        runner: RunnerId,
        outcome: Result<Started, StartFailure>,
    },
    Batch {
        runner: RunnerId,
        cursor: u64,
        signals: Vec<Signal>,
    },
    SessionOpened {
        runner: RunnerId,
        name: String,
        outcome: Result<Opened, Failure>,
    },
    Written {
        call_id: String,
        round: u32,
        outcome: WriteOutcome,
    },
    Cleared {
        runner: RunnerId,
    },
    Prepared {
        id: PermissionId,
        outcome: Box<Result<Prepared, Reply>>,
    },
    Done {
        id: PermissionId,
        reply: Reply,
        update: Option<Box<Update>>,
    },
    ReplySent {
        id: PermissionId,
    },
    /// A command that runs for the agent has said something, or ended.
    TerminalChanged {
        call_id: String,
        terminal_id: String,
        update: Box<Update>,
        running: bool,
    },
    StopOverdue {
        call_id: String,
    },
    /// A person sets options. `set` is checked; `shown` says it in words; `allow_all` is set where the agent's own is among them.
    SetOptions {
        name: String,
        set: BTreeMap<String, Value>,
        allow_all: Option<bool>,
        shown: String,
    },
    OptionsSet {
        told: Told,
        outcomes: Vec<OptionOutcome>,
        described: Described,
    },
    /// The agent was told to ask; `asks`: and from now on it does.
    Forbidden {
        told: Told,
        asks: bool,
    },
    PolicyChanged {
        by_person: bool,
    },
    /// An answer for always was taken back: the agent must forget it too.
    ForgetAlways,
    LoggedIn,
    Retire,
    /// The name belongs to another agent from now on.
    ForgetSession {
        name: String,
    },
    Restored(Box<Found>),
}

/// What a person would be asked before something is done for an agent.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub ask: PermissionAsk,
    /// The text of the file that would be replaced.
    pub before: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Started {
    pub capabilities: Value,
    pub can_reopen: bool,
    /// For people, where the connection is not safe.
    pub warning: Option<String>,
}

#[derive(Clone, Debug)]
pub struct StartFailure {
    pub code: &'static str,
    /// The agent ended before it could answer; another one may do better.
    pub gone: bool,
    pub message: String,
}

#[derive(Clone, Debug)]
pub struct Opened {
    pub agent_session: String,
    pub how: How,
    pub described: Described,
    /// What is still wanted of its options.
    pub wanted: Option<Value>,
    /// It was to ask before it acts, and could not be brought to.
    pub unguarded: bool,
    /// The answer before was cut off when its process ended.
    pub cut_off: bool,
    /// The agent session that was lost because the agent's own record of it is damaged.
    pub damaged: Option<String>,
}

/// What became of a prompt that was handed to the runner.
#[derive(Clone, Debug)]
pub enum WriteOutcome {
    Written,
    /// The agent is gone, and its journal does not hold the prompt: it was never seen.
    Unsent(String),
    /// The agent is gone, and the journal holds the prompt, or cannot tell.
    Gone,
    Failed(Failure),
}

#[derive(Clone, Debug)]
pub struct OptionOutcome {
    pub id: String,
    pub value: Value,
    /// In words: the option and the value.
    pub shown: (String, String),
    pub outcome: Result<(), Failure>,
}

impl OptionOutcome {
    /// What a person is told where the agent refused.
    pub fn refusal(&self, agent_title: &str) -> Option<String> {
        let (option, choice) = &self.shown;
        let failure = self.outcome.as_ref().err().filter(|failure| failure.fault != Fault::Gone)?;
        Some(format!("{agent_title} refused to set `{option}` to `{choice}`: {failure}"))
    }
}

/// What the agent said, in the order of its journal.
#[derive(Clone, Debug)]
pub enum Signal {
    Text {
        agent_session: Arc<str>,
        text: String,
    },
    /// `described` where it says something of the session's options.
    Update {
        agent_session: Arc<str>,
        update: Update,
        described: Option<Described>,
    },
    Demand {
        agent_session: Arc<str>,
        place: Place,
        rpc_id: String,
        demand: Demand,
    },
    /// The agent no longer wants the answer, and is owed one all the same.
    Withdrawn {
        rpc_id: String,
    },
    Answered {
        call_id: String,
        round: u32,
        result: Result<String, Failure>,
    },
    LineDropped {
        bytes: u64,
    },
    Notice(String),
    /// Always the last one.
    Gone {
        text: String,
    },
}

/// The session that an agent was told something of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    pub runner: RunnerId,
    pub name: String,
    pub agent_session: String,
}

impl Told {
    pub fn of(runner: RunnerId, session: &AgentSession) -> Told {
        Told { runner, name: session.name.clone(), agent_session: session.agent_session.clone() }
    }
}
