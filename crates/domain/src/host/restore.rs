//! After a restart: what an earlier server left is evidence, and comes in like everything else.

use std::collections::BTreeSet;

use super::prompt::{Prompt, PromptState};
use super::{Act, DebtRecord, NamedState, Process, Step};
use crate::agent::PermissionAsk;
use crate::event::TurnState;
use crate::ids::{RunnerId, TurnId};
use crate::turn::{CallState, Input as TurnInput};

/// A runner that an earlier server had, and what can be known about it.
#[derive(Clone, Debug)]
pub struct Found {
    pub runner: RunnerId,
    /// How far its journal was read.
    pub cursor: u64,
    pub evidence: Evidence,
    pub can_reopen: bool,
    /// The names of the sessions whose agent has its own "allow all" on.
    pub allows_all: BTreeSet<String>,
    pub debts: Vec<DebtRecord>,
    /// What the agent asked about so far, by call.
    pub asked: Vec<(String, PermissionAsk)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// It had not come up when the server died, so nothing was asked of it.
    NeverUp,
    /// `ending`: it was to make room. `restoring`: it is in the middle of bringing back a session for the earlier server, and asked
    /// twice, an agent may serve such a session twice over.
    Alive { ending: bool, restoring: bool },
    /// Its journal is whole up to its death, and holds the prompts of these calls.
    Dead { written: BTreeSet<String> },
    /// It is gone and its journal with it. What is certain all the same, in words.
    Lost { certain: String },
}

impl Step<'_> {
    pub(super) fn restored(&mut self, found: Found) {
        let Found { runner, cursor, evidence, can_reopen, allows_all, debts, asked } = found;
        self.host.cursor = cursor;
        self.host.can_reopen = can_reopen;
        let written = match evidence {
            Evidence::NeverUp => return self.never_up(runner),
            Evidence::Lost { certain } => return self.outcome_unknown(runner, &certain),
            Evidence::Alive { ending, restoring } => {
                self.host.process = Process::Up { runner, leaving: ending || restoring };
                None
            }
            // What waits is for the next one, and what this one had been given is in the journal that is about to be read.
            Evidence::Dead { written } => {
                self.host.process = Process::Ending { runner };
                Some(written)
            }
        };
        self.act(Act::Adopt { runner, cursor });
        self.reenter_sessions(runner, &allows_all);
        // Whether the earlier server could still tell it to ask is not known.
        self.align_allow_all();
        self.take_up_prompts(runner, written.as_ref());
        for (call_id, ask) in asked {
            self.note_asked(&call_id, &ask);
        }
        if written.is_none() {
            self.say_recovered();
            debts.into_iter().for_each(|debt| self.restore_debt(debt));
        }
    }

    fn never_up(&mut self, runner: RunnerId) {
        self.host.process = Process::Gone { runner };
    }

    /// A prompt may have been worked on or not, and nothing says which: the person decides what happens next, and is given what is
    /// certain.
    fn outcome_unknown(&mut self, runner: RunnerId, certain: &str) {
        self.host.process = Process::Gone { runner };
        let opened_there = |name: &str| {
            let record = self.host.sessions.get(name).and_then(|named| named.record.as_ref());
            record.is_some_and(|record| record.runner_id == Some(runner) && record.prompted_at.is_some())
        };
        if self.open_calls().iter().any(|(_, _, name)| opened_there(name)) {
            let reason = format!("it cannot be known whether the agent finished this: its process and its journal are gone. {certain}");
            self.tell_turn(TurnInput::Abort { state: TurnState::Unknown, code: "outcome_unknown".to_owned(), reason });
        }
    }

    /// The sessions that were open in that process are open still.
    fn reenter_sessions(&mut self, runner: RunnerId, allows_all: &BTreeSet<String>) {
        for (name, named) in &mut self.host.sessions {
            if named.record.as_ref().is_some_and(|record| record.runner_id == Some(runner)) {
                named.state = NamedState::open(allows_all.contains(name));
            }
        }
    }

    /// The calls whose prompts the process has are running. Where the journal is closed, only a prompt that it holds can have been
    /// worked on. Where the runner lives, the prompt is simply sent again, and the runner lets it through only once.
    fn take_up_prompts(&mut self, runner: RunnerId, written: Option<&BTreeSet<String>>) {
        for (turn_id, call_id, name) in self.open_calls() {
            let round = self.turn.call(&call_id).map_or(0, |call| call.round);
            let record = self.host.sessions.get(&name).and_then(|named| named.record.as_ref());
            let there = record.is_some_and(|record| record.runner_id == Some(runner));
            if there && written.is_none_or(|written| written.contains(&call_id)) && !self.host.has_call(&call_id) {
                self.tell_turn(TurnInput::AgentHas { call_id: call_id.clone() });
                self.host.prompts.push(Prompt::new(turn_id, call_id, round, name, String::new(), PromptState::Running));
            }
        }
    }

    /// The first open call of each name: the ones behind it have not begun.
    fn open_calls(&self) -> Vec<(TurnId, String, String)> {
        let Some(turn) = &self.turn.turn else { return Vec::new() };
        let mut calls: Vec<(TurnId, String, String)> = Vec::new();
        for call in turn.calls().iter().filter(|call| call.state != CallState::Done) {
            if let Some(name) = call.session_name()
                && !calls.iter().any(|(_, _, other)| other == name)
            {
                calls.push((turn.id, call.call.id.clone(), name.to_owned()));
            }
        }
        calls
    }

    fn say_recovered(&mut self) {
        let names: Vec<_> = self.host.prompts.iter().map(|prompt| prompt.name.clone()).collect();
        for name in names {
            let short = self.context.agent_short_title(&self.host.agent);
            let text = format!("Recovered ongoing {short} tool execution, replaying output...");
            self.notice("recovered", "info", "Recovered", text, Some(&name));
        }
    }
}
