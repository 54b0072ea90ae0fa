//! The agent's process and its named sessions, as this server knows them. Only state: what is done with it is in `delegate`.

use std::collections::{HashMap, HashSet};

use agents::acp::options;
use agents::{Batch, Connection, RpcId};
use domain::agent::Update;
use domain::ids::{PermissionId, SessionId, TurnId};
use serde_json::Value;
use store::{AgentSessionRow, RunnerRow};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::Shared;
use crate::command::{AgentSessionView, Refusal, Reply};
use crate::delegate::requests::{Asked, Running};

/// The agent's process and its named sessions, as far as this server knows them.
pub(crate) struct Host {
    pub(crate) slot: Slot,
    pub(crate) names: HashMap<String, Named>,
    /// Prompts that cannot be written yet, in the order they came.
    pub(crate) jobs: Vec<Job>,
    pub(crate) signals: Option<mpsc::Receiver<Batch>>,
    /// What agents said about sessions, by the agent's own id: some of it comes before we know whose it is.
    pub(crate) told: HashMap<String, Told>,
    pub(crate) asks: HashMap<PermissionId, RpcId>,
    /// What the agent asked of its client and is not answered yet, in the order it came.
    pub(crate) requests: Vec<Asked>,
    /// The commands that run for the agent, by the id it knows them by.
    pub(crate) terminals: HashMap<String, Running>,
    /// What agents asked about in the running calls, by call; whoever answered.
    pub(crate) asked: HashMap<String, Vec<AskedTool>>,
    /// Prompts that are being written, by call: whether they reach the agent is not known yet.
    pub(crate) sending: HashSet<String>,
    /// Those of them whose agent has ended meanwhile, and how.
    pub(crate) unsure: HashMap<String, String>,
    /// Those of them that are to be stopped: a stop that overtakes its prompt stops nothing.
    pub(crate) stop_when_sent: HashSet<String>,
    /// Calls that we told the agent to stop.
    pub(crate) stopped: HashSet<String>,
    /// The agent whose process is in the slot.
    pub(crate) agent: String,
    /// That process was told to end: it takes no more prompts, and what waits gets the next one.
    pub(crate) ending: bool,
    /// The agent wants a login before it works; prompts wait until then.
    pub(crate) login_needed: bool,
    /// The last journal record that was told to the runner to be stored.
    pub(crate) acknowledged: u64,
    /// A runner that a former server left, to be taken up or cleaned away.
    pub(crate) left: Option<RunnerRow>,
}

pub(crate) enum Slot {
    Down,
    Starting {
        runner: Uuid,
    },
    Up {
        runner: Uuid,
        connection: Connection,
    },
    /// The agent has ended. What is left of it and its runner is cleaned away, which begins once its end is stored, and only then
    /// another one is started: an agent session has one owner.
    Clearing {
        runner: Uuid,
        begun: bool,
    },
}

/// A named agent session.
#[derive(Default)]
pub(crate) struct Named {
    pub(crate) row: Option<AgentSessionRow>,
    pub(crate) state: NamedState,
    pub(crate) running: Option<String>,
    /// Whether this server has prompted it: what a restored session must be told goes in front of the first prompt.
    pub(crate) prompted: bool,
    /// The agent is being told what is wanted of its options, and who waits for its answer.
    pub(crate) setting: bool,
    pub(crate) option_replies: Vec<Reply<AgentSessionView>>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NamedState {
    /// Not in the running process.
    #[default]
    Stored,
    Opening,
    Open,
    /// In the running process, but no longer served by it.
    Cut,
}

/// The latest of what an agent said about one of its sessions beside its work.
#[derive(Default, Clone)]
pub(crate) struct Told {
    pub mode: Option<String>,
    pub options: Option<Value>,
    pub usage: Option<Value>,
    pub title: Option<String>,
    pub commands: Option<Value>,
}

/// By what a tool call of the agent's is recognised as one that it asked about.
pub(crate) struct AskedTool {
    pub agent_call: Option<String>,
    pub command: Option<String>,
}

impl Told {
    pub(crate) fn take(&mut self, update: &Update) {
        match update {
            Update::Mode { mode_id } => {
                self.mode = Some(mode_id.clone());
                if let Some(described) = &mut self.options
                    && let Some(id) = options::mode_id(described)
                {
                    options::put(described, &id, &Value::String(mode_id.clone()));
                }
            }
            Update::Options { options } => {
                let described = options::laid_over(self.options.take(), options.clone());
                self.mode = options::mode(&described).or_else(|| self.mode.take());
                self.options = Some(described);
            }
            Update::Title { title } => self.title.clone_from(title),
            Update::Commands { commands } => self.commands = serde_json::to_value(commands).ok(),
            Update::Usage { .. } => self.usage = serde_json::to_value(update).ok(),
            _ => {}
        }
    }

    /// Notes in what is stored of the session what was told of it; whether that changed anything.
    pub(crate) fn lay_over(self, row: &mut AgentSessionRow) -> bool {
        fn lay<T: PartialEq>(field: &mut Option<T>, told: Option<T>) -> bool {
            let changed = told.is_some() && *field != told;
            if changed {
                *field = told;
            }
            changed
        }
        let changes = [
            lay(&mut row.mode, self.mode),
            lay(&mut row.options, self.options),
            lay(&mut row.usage, self.usage),
            lay(&mut row.title, self.title),
            lay(&mut row.commands, self.commands),
        ];
        changes.contains(&true)
    }
}

/// A delegated prompt on its way to the agent.
pub(crate) struct Job {
    pub turn_id: TurnId,
    pub call_id: String,
    pub name: String,
    pub prompt: String,
    /// How many agents have ended before it could reach them.
    pub tries: u32,
}

impl Host {
    pub(crate) async fn load(shared: &Shared, id: SessionId) -> Result<Host, Refusal> {
        let rows = shared.store.agent_sessions(id).await?;
        let names = rows.into_iter().map(|row| (row.name.clone(), Named { row: Some(row), ..Named::default() })).collect();
        let left = shared.store.session_runners(id).await?.into_iter().next_back();
        Ok(Host {
            slot: Slot::Down,
            names,
            jobs: Vec::new(),
            signals: None,
            told: HashMap::new(),
            asks: HashMap::new(),
            requests: Vec::new(),
            terminals: HashMap::new(),
            asked: HashMap::new(),
            sending: HashSet::new(),
            unsure: HashMap::new(),
            stop_when_sent: HashSet::new(),
            stopped: HashSet::new(),
            agent: String::new(),
            ending: false,
            login_needed: false,
            acknowledged: 0,
            left,
        })
    }

    /// Like `recv_many` of the agent's signals; waits for ever while there is no agent.
    pub(crate) async fn receive(&mut self, into: &mut Vec<Batch>, limit: usize) -> usize {
        match &mut self.signals {
            Some(signals) => signals.recv_many(into, limit).await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn signals_ended(&mut self) {
        self.signals = None;
    }

    pub(crate) fn is_up(&self) -> bool {
        matches!(self.slot, Slot::Up { .. })
    }

    pub(crate) fn runner(&self) -> Option<Uuid> {
        match &self.slot {
            Slot::Down | Slot::Clearing { .. } => None,
            Slot::Starting { runner } | Slot::Up { runner, .. } => Some(*runner),
        }
    }

    /// The runner whose directory there still is.
    pub(crate) fn left_runner(&self) -> Option<Uuid> {
        match &self.slot {
            Slot::Clearing { runner, .. } => Some(*runner),
            _ => self.runner(),
        }
    }

    pub(crate) fn connection(&self) -> Option<&Connection> {
        match &self.slot {
            Slot::Up { connection, .. } => Some(connection),
            _ => None,
        }
    }

    /// Where an open permission is answered: the runner and the agent's own request id.
    pub(crate) fn rpc_of(&self, request_id: PermissionId) -> Option<(String, String)> {
        Some((self.runner()?.to_string(), rpc_text(self.asks.get(&request_id)?)))
    }

    /// The name and running call of an agent session.
    pub(crate) fn find(&mut self, agent_session: &str) -> Option<(&str, &mut Named)> {
        self.names
            .iter_mut()
            .find(|(_, named)| {
                matches!(named.state, NamedState::Open | NamedState::Cut)
                    && named.row.as_ref().is_some_and(|row| row.acp_session_id == agent_session)
            })
            .map(|(name, named)| (name.as_str(), named))
    }

    /// Whether any of its sessions has a prompt at work.
    pub(crate) fn is_busy(&self) -> bool {
        self.names.values().any(|named| named.running.is_some())
    }

    pub(crate) fn name_of_call(&self, call_id: &str) -> Option<String> {
        self.names.iter().find(|(_, named)| named.running.as_deref() == Some(call_id)).map(|(name, _)| name.clone())
    }
}

/// An agent's request id as it is stored; [`rpc_id`] reads it back.
pub(crate) fn rpc_text(id: &RpcId) -> String {
    serde_json::to_string(id).expect("an id is a number, a string or null")
}

pub(crate) fn rpc_id(text: &str) -> Option<RpcId> {
    serde_json::from_str(text).ok()
}
