//! A model of the store: a log and tables that change only together.

use std::collections::{BTreeMap, BTreeSet};

use domain::agent::Demand;
use domain::decision::Decision;
use domain::event::{Event, PermissionRequest, Queue, TurnState};
use domain::host::{AgentSession, DebtRecord, Keep};
use domain::ids::{PermissionId, RunnerId};
use domain::machine::Effect;
use domain::turn::Session;

#[derive(Clone, Debug, Default)]
pub struct Store {
    pub log: Vec<Event>,
    pub sessions: BTreeMap<String, AgentSession>,
    pub runners: BTreeMap<RunnerId, RunnerRow>,
    pub debts: Vec<(RunnerId, DebtRecord)>,
    pub permissions: BTreeMap<PermissionId, PermissionRow>,
    pub queue: Queue,
    /// The confirmations that wait for a person.
    pub confirms: BTreeSet<String>,
    /// Where in the log the running turn begins.
    pub turn_from: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct RunnerRow {
    pub agent: String,
    pub cursor: u64,
    pub up: bool,
    pub ending: bool,
}

#[derive(Clone, Debug)]
pub struct PermissionRow {
    pub runner: RunnerId,
    pub rpc_id: String,
    pub request: PermissionRequest,
    /// What was decided, where it is resolved.
    pub resolved: Option<Decision>,
    pub delivered: bool,
}

/// What goes into one commit.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    pub effects: Vec<Effect>,
    /// Where the permissions that are opened in it are answered.
    pub rpc: Vec<(PermissionId, RunnerId, String)>,
    pub confirm_closed: Option<String>,
}

impl Store {
    pub fn commit(&mut self, commit: &Commit) {
        for effect in &commit.effects {
            match effect {
                Effect::Append(event) => self.append(event, &commit.rpc),
                Effect::Keep(keep) => self.keep(keep),
                _ => {}
            }
        }
        if let Some(call) = &commit.confirm_closed {
            self.confirms.remove(call);
        }
    }

    fn append(&mut self, event: &Event, rpc: &[(PermissionId, RunnerId, String)]) {
        match event {
            Event::Queue(queue) => self.queue = queue.clone(),
            Event::Turn(turn) if turn.state == TurnState::Running => _ = self.turn_from.get_or_insert(self.log.len()),
            Event::Turn(_) => self.turn_from = None,
            Event::ToolConfirm(call) => _ = self.confirms.insert(call.id.clone()),
            Event::ToolResult(result) => _ = self.confirms.remove(&result.id),
            Event::PermissionRequest(request) => {
                if let Some((_, runner, rpc_id)) = rpc.iter().find(|(id, ..)| *id == request.request_id) {
                    let (runner, rpc_id, request) = (*runner, rpc_id.clone(), request.clone());
                    let row = PermissionRow { runner, rpc_id, request, resolved: None, delivered: false };
                    self.permissions.insert(row.request.request_id, row);
                }
            }
            Event::PermissionResolved(resolved) => {
                if let Some(row) = self.permissions.get_mut(&resolved.request_id) {
                    row.resolved = Some(resolved.decision(&row.request.ask));
                }
            }
            _ => {}
        }
        self.log.push(event.clone());
    }

    fn keep(&mut self, keep: &Keep) {
        match keep {
            Keep::RunnerStarted { runner, agent } => {
                let row = RunnerRow { agent: agent.clone(), cursor: 0, up: false, ending: false };
                self.runners.insert(*runner, row);
            }
            Keep::RunnerUp { runner, .. } => self.runner(*runner, |row| row.up = true),
            Keep::RunnerEnding { runner } => self.runner(*runner, |row| row.ending = true),
            Keep::RunnerRemoved { runner } => {
                self.runners.remove(runner);
                self.debts.retain(|(of, _)| of != runner);
                self.permissions.retain(|_, row| row.runner != *runner);
            }
            Keep::Cursor { runner, cursor } => self.runner(*runner, |row| row.cursor = *cursor),
            Keep::Session(session) => _ = self.sessions.insert(session.name.clone(), session.clone()),
            Keep::SessionRemoved { name } => _ = self.sessions.remove(name),
            Keep::PolicyDecided { runner, rpc_id, request, decision } => {
                let resolved = Some(decision.clone());
                let row = PermissionRow { runner: *runner, rpc_id: rpc_id.clone(), request: request.clone(), resolved, delivered: false };
                self.permissions.insert(request.request_id, row);
            }
            Keep::DebtOpened { runner, debt } => self.debts.push((*runner, debt.clone())),
            Keep::DebtBegun { id } => self.debt(*id, |debt| debt.begun = true),
            Keep::DebtReply { id, reply } => self.debt(*id, |debt| debt.reply = Some(reply.clone())),
            Keep::DebtClosed { id } => {
                self.debts.retain(|(_, debt)| debt.id != *id);
                if let Some(row) = self.permissions.get_mut(id) {
                    row.delivered = true;
                }
            }
        }
    }

    fn runner(&mut self, runner: RunnerId, change: impl FnOnce(&mut RunnerRow)) {
        if let Some(row) = self.runners.get_mut(&runner) {
            change(row);
        }
    }

    fn debt(&mut self, id: PermissionId, change: impl FnOnce(&mut DebtRecord)) {
        if let Some((_, debt)) = self.debts.iter_mut().find(|(_, debt)| debt.id == id) {
            change(debt);
        }
    }

    /// The turn's state: the events of the running turn folded, and the queue.
    pub fn fold(&self) -> Session {
        let mut session = Session::default();
        if let Some(from) = self.turn_from {
            self.log[from..].iter().for_each(|event| session.apply(event));
        }
        session.set_queue(&self.queue);
        session
    }

    /// What is owed to a runner's agent: demands, and permissions that were asked for without one.
    pub fn owed(&self, runner: RunnerId) -> Vec<DebtRecord> {
        let mut owed: Vec<_> = self.debts.iter().filter(|(of, _)| *of == runner).map(|(_, debt)| debt.clone()).collect();
        for (id, row) in self.permissions.iter().filter(|(_, row)| row.runner == runner && !row.delivered) {
            if owed.iter().all(|debt| debt.id != *id) {
                owed.push(DebtRecord {
                    id: *id,
                    rpc_id: row.rpc_id.clone(),
                    call_id: Some(row.request.tool_call_id.clone()),
                    demand: Demand::Permission(row.request.ask.clone()),
                    begun: false,
                    decision: row.resolved.clone(),
                    reply: None,
                });
            }
        }
        owed
    }
}
