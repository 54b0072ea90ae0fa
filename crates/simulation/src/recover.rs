//! A server dies, and the next one takes up what it left: the folded log, the tables, and the evidence of earlier runners.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use domain::host::{self, Evidence, Found};
use domain::ids::RunnerId;
use domain::machine::{Input, Machine};
use domain::turn;

use crate::agent::allows_all;
use crate::defects::Defect;
use crate::driver::{Recovery, Server};
use crate::invariants::Checked;
use crate::world::World;

impl World {
    pub fn server_dies(&mut self) {
        let Some(server) = self.server.take() else { return };
        self.oracle.forget_grants();
        self.coverage.count("fault: server dies");
        if server.pending.is_some() {
            self.coverage.count("fault: server dies before a commit");
        }
        if !server.recovery.is_empty() {
            self.coverage.count("fault: server dies while it recovers");
        }
        self.tell(|| "the server dies".to_owned());
    }

    pub fn server_starts(&mut self) {
        self.servers += 1;
        self.oracle.server_starts();
        self.coverage.count("fault: server starts");
        self.clear_orphans();
        let mut turn = self.store.fold();
        if self.has(Defect::FoldShort) && self.store.turn_from.is_some() {
            let mut short = self.store.clone();
            short.log.pop();
            turn = short.fold();
        }
        if self.has(Defect::HoldForgotten)
            && let Some(turn) = &mut turn.turn
        {
            turn.holds.clear();
        }
        if self.has(Defect::QueueLost) {
            turn.queue.clear();
        }
        if self.has(Defect::HoldLost) {
            turn.held = false;
        }
        let mut recovery: VecDeque<_> = [Recovery::Confirms].into();
        // Those whose journals are lost come last: they may break off the turn, and what others work on for it must be known by then.
        let mut runners: Vec<_> = self.store.runners.keys().copied().collect();
        runners.sort_by_key(|runner| matches!(self.evidence(*runner), Evidence::Lost { .. }));
        recovery.extend(runners.into_iter().map(Recovery::Runner));
        recovery.push_back(Recovery::Resume);
        if self.has(Defect::ResumeFirst) {
            recovery.rotate_right(1);
        }
        let number = self.servers;
        self.tell(|| format!("server {number} starts"));
        self.server = Some(Server {
            number,
            machine: Machine::new(turn, self.store.sessions.values().cloned().collect()),
            readers: BTreeMap::new(),
            tasks: Vec::new(),
            next_task: 0,
            pending: None,
            recovery,
            timers: Vec::new(),
            model: None,
            tools: Vec::new(),
            first_policy: self.policy,
        });
    }

    /// A runner that no row names is one that was to be cleared, or to be started.
    fn clear_orphans(&mut self) {
        if self.has(Defect::OrphansKept) {
            return;
        }
        let orphans: Vec<_> =
            self.runners.values().filter(|runner| runner.exists && !self.store.runners.contains_key(&runner.id)).collect();
        for id in orphans.into_iter().map(|runner| runner.id).collect::<Vec<_>>() {
            self.end_process(id);
            if let Some(runner) = self.runners.get_mut(&id) {
                runner.exists = false;
            }
        }
    }

    /// The next step of a recovery.
    pub fn recover(&mut self) -> Checked {
        let Some(next) = self.server.as_mut().and_then(|server| server.recovery.pop_front()) else { return Ok(()) };
        match next {
            Recovery::Confirms => {
                let call_ids = if self.has(Defect::ConfirmAssumed) { Vec::new() } else { self.store.confirms.iter().cloned().collect() };
                self.input(Input::Turn(turn::Input::ConfirmsWaiting { call_ids }))
            }
            Recovery::Runner(runner) => self.restore(runner),
            Recovery::Resume => {
                self.tell(|| "the server does what is still owed".to_owned());
                self.input(Input::Resume)
            }
        }
    }

    fn restore(&mut self, runner: RunnerId) -> Checked {
        let Some(row) = self.store.runners.get(&runner).cloned() else { return Ok(()) };
        let evidence = self.evidence(runner);
        let label = self.label(runner);
        self.tell(|| format!("the server finds {label}: {evidence:?}, read up to {}", row.cursor));
        let name = match &evidence {
            Evidence::NeverUp => "evidence: never up",
            Evidence::Alive { restoring: true, .. } => "evidence: alive and restoring",
            Evidence::Alive { ending: true, .. } => "evidence: alive and ending",
            Evidence::Alive { .. } => "evidence: alive",
            Evidence::Dead { .. } => "evidence: dead",
            Evidence::Lost { .. } => "evidence: lost",
        };
        self.coverage.count(name);
        let mut debts = if self.has(Defect::DebtsForgotten) { Vec::new() } else { self.store.owed(runner) };
        if self.has(Defect::BegunForgotten) {
            debts.iter_mut().for_each(|debt| debt.begun = false);
        }
        if self.has(Defect::AnswersForgotten) {
            debts.retain(|debt| debt.reply.is_none() && debt.decision.is_none());
        }
        let of_runner = self.store.permissions.values().filter(|row| row.runner == runner);
        let asked = of_runner.map(|row| (row.request.tool_call_id.clone(), row.request.ask.clone())).collect();
        let allows_all = self.store.sessions.values().filter(|session| allows_all(&session.agent_session));
        let allows_all = allows_all.map(|session| session.name.clone()).collect();
        let found = Found { runner, cursor: row.cursor, evidence, can_reopen: true, allows_all, debts, asked };
        self.input(Input::Host { agent: row.agent, input: host::Input::Restored(Box::new(found)) })
    }

    fn evidence(&self, id: RunnerId) -> Evidence {
        let row = &self.store.runners[&id];
        let found = self.runners.get(&id).filter(|runner| runner.exists);
        match found {
            _ if !row.up => Evidence::NeverUp,
            None if self.has(Defect::LostAsNew) => Evidence::NeverUp,
            None => Evidence::Lost { certain: "nothing".to_owned() },
            Some(runner) => match &runner.process {
                Some(process) if !self.has(Defect::AliveAsDead) => {
                    Evidence::Alive { ending: row.ending, restoring: process.is_restoring() }
                }
                _ if self.has(Defect::WrittenIgnored) => Evidence::Dead { written: Default::default() },
                _ if self.has(Defect::WrittenAssumed) => Evidence::Dead { written: self.oracle.open_calls() },
                _ => Evidence::Dead { written: self.current(runner.written()) },
            },
        }
    }

    /// Of the prompts that a journal holds, those that their calls wait for now.
    fn current(&self, written: BTreeSet<(String, u32)>) -> BTreeSet<String> {
        let turn = self.server.as_ref().map(|server| server.machine.turn());
        let round = |call: &str| turn.and_then(|turn| turn.call(call)).map(|call| call.round);
        written.into_iter().filter(|(call, written)| round(call) == Some(*written)).map(|(call, _)| call).collect()
    }
}
