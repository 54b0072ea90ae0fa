//! What changes something for an agent: a write or a command. It is prepared, so that a person can be shown what would be done, and done
//! only as it was shown.

use super::{Keep, Prepared, Stage, Step};
use crate::agent::{Problem, Reply, Update};
use crate::decision::Verdict;
use crate::ids::PermissionId;
use crate::policy::PolicyOutcome;
use crate::rule::Decider;
use crate::turn::Input as TurnInput;

/// Of a question that an earlier version asked: what it showed cannot be compared with what would be done.
const UNBOUND: &str = "refused: the server was updated since this was asked, so ask again";

impl Step<'_> {
    /// What a person would be asked before something is changed for the agent is known; or the reply, where there is nothing to ask.
    pub(super) fn prepared(&mut self, id: PermissionId, outcome: Result<Prepared, Reply>) {
        let Some(debt) = self.host.debts.iter_mut().find(|debt| debt.id == id && debt.stage == Stage::Preparing) else { return };
        let call_id = debt.call_id.clone().unwrap_or_default();
        let Prepared { ask, before } = match outcome {
            Err(reply) => return self.reply(id, reply),
            Ok(prepared) => prepared,
        };
        debt.shown = ask.shown.clone();
        if self.is_stopping(&call_id) {
            return self.decide_guarded(id, Verdict::Cancel);
        }
        self.note_asked(&call_id, &ask);
        if let Some(verdict) = self.answered_before(&call_id, id, &ask, before.as_deref()) {
            return self.decide_guarded(id, verdict);
        }
        let (PolicyOutcome::Decided(decision), by) = self.context.decide(&self.host.agent, &ask) else {
            return self.ask_person(id, call_id, ask);
        };
        if matches!(by, Decider::Rule(_)) && !decision.allows() {
            return self.ask_and_answer(id, call_id, ask, decision, by);
        }
        self.tell_decided(&call_id, &ask, &decision, by);
        self.decide_guarded(id, if decision.allows() { Verdict::Allow } else { Verdict::Reject });
    }

    /// What we do for the agent is allowed, or not. That it is begun is stored before it is done, and it is done as it was shown.
    pub(super) fn decide_guarded(&mut self, id: PermissionId, verdict: Verdict) {
        match verdict {
            Verdict::Allow => {
                let (Some(runner), Some(debt)) = (self.host.process.live(), self.host.debts.iter_mut().find(|debt| debt.id == id)) else {
                    return;
                };
                if debt.shown.is_none() {
                    return self.reply(id, Reply::refused(Problem::NotAllowed, UNBOUND));
                }
                debt.stage = Stage::Doing;
                let act = debt.doing(runner);
                self.keep(Keep::DebtBegun { id });
                self.act(act);
            }
            Verdict::Reject => self.reply(id, Reply::refused(Problem::NotAllowed, "refused: this was not allowed")),
            Verdict::Cancel => self.reply(id, Reply::refused(Problem::Cancelled, "cancelled before anybody allowed it")),
        }
    }

    pub(super) fn done(&mut self, id: PermissionId, reply: Reply, update: Option<Update>) {
        let Some(debt) = self.host.debt(id).filter(|debt| debt.stage == Stage::Doing) else { return };
        if let (Some(call_id), Some(update)) = (debt.call_id.clone(), update) {
            self.tell_turn(TurnInput::AgentUpdate { call_id, update });
        }
        self.reply(id, reply);
    }
}
