//! What a step of a host leads to: what is stored, what the turn is told, and what is done outside once all of that is durable.

use serde_json::Value;

use super::{AgentSession, DebtRecord};
use crate::agent::{Demand, Reply, Shown};
use crate::decision::Decision;
use crate::event::{Event, PermissionRequest};
use crate::ids::{PermissionId, RunnerId, TurnId};
use crate::turn;

#[derive(Clone, Debug)]
pub enum Effect {
    Append(Event),
    Keep(Keep),
    /// For the turn machine, at this place in the order.
    Turn(turn::Input),
    Act(Act),
}

/// A change of the tables beside the log, in the same commit as the events.
#[derive(Clone, PartialEq, Debug)]
pub enum Keep {
    RunnerStarted {
        runner: RunnerId,
        agent: String,
    },
    RunnerUp {
        runner: RunnerId,
        capabilities: Value,
    },
    /// It takes no more prompts; a later server ends it when it has none.
    RunnerEnding {
        runner: RunnerId,
    },
    /// With what its agent is still owed.
    RunnerRemoved {
        runner: RunnerId,
    },
    /// The journal is read up to here.
    Cursor {
        runner: RunnerId,
        cursor: u64,
    },
    Session(AgentSession),
    SessionRemoved {
        name: String,
    },
    /// A permission that the policy has decided: nobody was asked.
    PolicyDecided {
        runner: RunnerId,
        rpc_id: String,
        request: PermissionRequest,
        decision: Decision,
    },
    DebtOpened {
        runner: RunnerId,
        debt: DebtRecord,
    },
    DebtBegun {
        id: PermissionId,
    },
    DebtReply {
        id: PermissionId,
        reply: Reply,
    },
    /// The runner has the reply.
    DebtClosed {
        id: PermissionId,
    },
}

/// Something that leaves the machine. Run only after the commit that decided it.
#[derive(Clone, PartialEq, Debug)]
pub enum Act {
    Start {
        runner: RunnerId,
        agent: String,
    },
    /// Reattaches to a runner of an earlier server, from where its journal was read last.
    Adopt {
        runner: RunnerId,
        cursor: u64,
    },
    Open {
        runner: RunnerId,
        name: String,
        known: Option<Box<AgentSession>>,
        closing: bool,
    },
    Prompt {
        runner: RunnerId,
        turn_id: TurnId,
        call_id: String,
        /// Which of the call's prompts it is: see [`turn::Prompt`].
        round: u32,
        agent_session: String,
        name: String,
        text: String,
        introduce: bool,
    },
    Cancel {
        runner: RunnerId,
        call_id: String,
        agent_session: String,
    },
    /// Sent until the runner has it. Only the first reply to a request ever reaches the agent.
    Reply {
        runner: RunnerId,
        id: PermissionId,
        rpc_id: String,
        reply: Reply,
    },
    /// Finds out what a person would be asked.
    Prepare {
        id: PermissionId,
        demand: Demand,
    },
    Do {
        runner: RunnerId,
        id: PermissionId,
        call_id: Option<String>,
        demand: Demand,
        /// Of what changes something: what was shown. It is done only as long as it is that.
        shown: Option<Box<Shown>>,
    },
    /// What is being done is not wanted any more.
    GiveUp {
        id: PermissionId,
    },
    SetOptions {
        runner: RunnerId,
        session: Box<AgentSession>,
    },
    /// The agent's own "allow all" is turned off: the session's policy decides.
    ForbidAll {
        runner: RunnerId,
        session: Box<AgentSession>,
    },
    /// Waits until a command that runs for the agent has something new to show.
    WatchTerminal {
        runner: RunnerId,
        terminal_id: String,
    },
    KillTerminals {
        call_id: String,
    },
    /// Everything up to the cursor is stored, and no prompt runs.
    Acknowledge {
        runner: RunnerId,
        cursor: u64,
    },
    End {
        runner: RunnerId,
    },
    /// Ends whatever is left of the runner and its agent, and removes its directory.
    Clear {
        runner: RunnerId,
        agent: String,
    },
    Timer(Timer),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Timer {
    /// How long an agent has to stop when it is told.
    Stop { call_id: String },
    /// How long a person has to agree to a tool of the main AI's.
    Confirm { call_id: String },
}
