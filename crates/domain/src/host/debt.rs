//! What we owe an agent an answer to: permissions, files, terminals, forms. Each demand gets exactly one reply, whichever server gives it.
//!
//! A demand is stored with the journal cursor that moves past it, and leaves the store when the runner has its reply. What changes
//! something is stored as begun before it is done; a server that finds it begun and without a reply cannot know how far it came, says
//! so, and does not repeat it. How what changes something is asked for and begun is in `guarded`.

use serde_json::Value;
use uuid::Uuid;

use super::{Act, DebtRecord, Keep, Prompt, Step};
use crate::agent::{Demand, FormAction, PermissionAsk, Place, Problem, Reply, Shown, Update};
use crate::decision::{Decision, Verdict};
use crate::event::PermissionRequest;
use crate::form;
use crate::ids::{PermissionId, RunnerId};
use crate::policy::PolicyOutcome;
use crate::rule::{Decider, RuleUse};
use crate::turn::{CallState, Input as TurnInput};

/// So many unanswered demands are worked on; the ones beyond are refused at once.
const MOST_DEBTS: usize = 512;
/// And so much of what they hold; one alone may be larger.
const MOST_DEBT_BYTES: usize = 16 * 1024 * 1024;
/// An agent that does not even take so many refusals is ended.
const MOST_REFUSALS: usize = 16 * 1024;
/// How many replies that may be large are made or on their way at a time.
const ROOM: usize = 4;
const UNKNOWN: &str = "the server was restarted while this was being done; it may or may not have happened, so look before trying again";

#[derive(Clone, Debug)]
pub struct Debt {
    pub id: PermissionId,
    pub rpc_id: String,
    /// The delegated call it was made in; none where no prompt ran.
    pub call_id: Option<String>,
    pub demand: Demand,
    /// About how much memory the demand takes.
    bytes: usize,
    /// What was shown of what it changes, once that is known.
    pub shown: Option<Box<Shown>>,
    pub stage: Stage,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stage {
    /// It waits for room.
    Waiting,
    /// What a person would be asked is being found out.
    Preparing,
    /// A person is asked.
    Asked,
    /// It is being done.
    Doing,
    /// The reply is decided, and waits for the stop that the agent is to hear first.
    Held(Reply),
    /// The reply is decided and on its way.
    Replying(Reply),
}

impl Stage {
    pub fn is_decided(&self) -> bool {
        matches!(self, Stage::Held(_) | Stage::Replying(_))
    }
}

impl Debt {
    /// Its reply may be as large as a file.
    fn is_large(&self) -> bool {
        matches!(self.demand, Demand::ReadFile { .. } | Demand::TerminalOutput { .. })
    }

    fn takes_room(&self) -> bool {
        self.is_large() && (self.stage == Stage::Doing || self.stage.is_decided())
    }

    pub(super) fn doing(&self, runner: RunnerId) -> Act {
        Act::Do { runner, id: self.id, call_id: self.call_id.clone(), demand: self.demand.clone(), shown: self.shown.clone() }
    }

    /// It changes something, or tells something, that must not happen twice.
    fn is_final(&self) -> bool {
        matches!(self.demand, Demand::WriteFile { .. } | Demand::StartTerminal(_) | Demand::Form { .. })
    }
}

/// A demand is named by its place in the journal: the same however often its line is read, and another for another line.
pub(super) fn demand_id(runner: RunnerId, place: Place) -> PermissionId {
    PermissionId(Uuid::new_v5(&runner.0, format!("demand/{}/{}", place.seq, place.index).as_bytes()))
}

impl Step<'_> {
    pub(super) fn demanded(&mut self, runner: RunnerId, agent_session: &str, place: Place, rpc_id: String, demand: Demand) {
        let id = demand_id(runner, place);
        let open = self.host.debts.len();
        if open >= MOST_REFUSALS {
            return self.too_many_demands();
        }
        let held: usize = self.host.debts.iter().map(|debt| debt.bytes).sum();
        let is_too_much = open >= MOST_DEBTS || (held > 0 && held + demand.bytes() > MOST_DEBT_BYTES);
        let too_many =
            || Demand::Unknown { problem: Problem::NotAllowed, message: "too many requests are open already: wait for some".to_owned() };
        let demand = if is_too_much { too_many() } else { demand };
        let call_id = self.running_in(agent_session).map(|prompt| prompt.call_id.clone());
        self.host.debts.push(Debt { id, rpc_id, call_id, bytes: demand.bytes(), demand, shown: None, stage: Stage::Waiting });
        if !matches!(self.host.debts.last(), Some(Debt { demand: Demand::Permission(_), .. })) {
            let debt = self.record(self.host.debts.len() - 1);
            self.keep(Keep::DebtOpened { runner, debt });
        }
        self.begin_debt(id);
    }

    fn record(&self, at: usize) -> DebtRecord {
        let Debt { id, rpc_id, call_id, demand, .. } = self.host.debts[at].clone();
        DebtRecord { id, rpc_id, call_id, demand, begun: false, decision: None, reply: None }
    }

    fn too_many_demands(&mut self) {
        if matches!(self.host.process, super::Process::Up { leaving: false, .. }) {
            let text = format!("{} has {MOST_REFUSALS} unanswered requests and is ended: it asks faster than it reads.", self.title());
            self.notice("too_many_requests", "error", "Too many requests", text, None);
            self.overwhelmed();
        }
    }

    /// Where a demand starts: decided at once, prepared for a person, or done when there is room.
    fn begin_debt(&mut self, id: PermissionId) {
        let Some(debt) = self.host.debts.iter().find(|debt| debt.id == id) else { return };
        let call = debt.call_id.clone();
        match (&debt.demand, call) {
            (Demand::Unknown { problem, message }, _) => {
                let reply = Reply::refused(*problem, message.clone());
                self.reply(id, reply);
            }
            (Demand::Permission(ask), Some(call_id)) => {
                let ask = ask.clone();
                self.ask_permission(id, call_id, ask);
            }
            (Demand::Permission(_), None) => self.cancel_permission(id),
            (Demand::Form { .. }, None) => self.reply(id, Reply::Form { action: FormAction::Cancel, content: None }),
            (Demand::Form { message, schema }, Some(call_id)) => {
                let ask = form::ask(message.clone(), schema.clone());
                self.ask_person(id, call_id, ask);
            }
            (Demand::WriteFile { .. } | Demand::StartTerminal(_), None) => {
                let message = "no prompt is running in this session, so nothing is changed for it";
                self.reply(id, Reply::refused(Problem::NotAllowed, message));
            }
            (Demand::WriteFile { .. } | Demand::StartTerminal(_), Some(_)) => {
                let demand = debt.demand.clone();
                self.set_stage(id, Stage::Preparing);
                self.act(Act::Prepare { id, demand });
            }
            // `advance_debts` does it when there is room.
            _ => {}
        }
    }

    pub(super) fn advance_debts(&mut self) {
        let Some(runner) = self.host.process.live() else { return };
        while let Some(at) = self.next_debt() {
            let debt = &mut self.host.debts[at];
            debt.stage = Stage::Doing;
            let act = debt.doing(runner);
            self.act(act);
        }
    }

    fn next_debt(&self) -> Option<usize> {
        let taken = self.host.debts.iter().filter(|debt| debt.takes_room()).count();
        let fits = |debt: &Debt| debt.stage == Stage::Waiting && (!debt.is_large() || taken < ROOM);
        self.host.debts.iter().position(fits)
    }

    /// A permission that an agent asks for: the rules and the policy decide, or a person.
    fn ask_permission(&mut self, id: PermissionId, call_id: String, ask: PermissionAsk) {
        if self.is_stopping(&call_id) {
            return self.cancel_permission(id);
        }
        self.note_asked(&call_id, &ask);
        let (PolicyOutcome::Decided(decision), by) = self.context.decide(&self.host.agent, &ask) else {
            return self.ask_person(id, call_id, ask);
        };
        if matches!(by, Decider::Rule(_)) && !decision.allows() {
            return self.ask_and_answer(id, call_id, ask, decision, by);
        }
        self.tell_decided(&call_id, &ask, &decision, by);
        // What is malformed decides nothing about what follows.
        if ask.flaw().is_none() {
            self.note_answer(&call_id, &ask, &decision);
        }
        self.keep_decided(id, call_id, ask.clone(), decision.clone());
        self.send_choice(id, &ask, &decision);
    }

    /// The answer is stored with the cursor that moves past the question.
    fn keep_decided(&mut self, id: PermissionId, call_id: String, ask: PermissionAsk, decision: Decision) {
        let Some(runner) = self.host.process.runner() else { return };
        let session_name = self.name_of_call(&call_id).unwrap_or_default();
        let request = PermissionRequest {
            request_id: id,
            tool_call_id: call_id,
            session_name,
            agent: self.host.agent.clone(),
            asked_at: self.context.now,
            scopes: Vec::new(),
            warnings: Vec::new(),
            hunks: Vec::new(),
            ask: PermissionAsk { changes: Vec::new(), ..ask },
        };
        let rpc_id = self.rpc_of(id).unwrap_or_default();
        self.keep(Keep::PolicyDecided { runner, rpc_id, request, decision });
    }

    /// What was decided without a person is told in the record of the turn.
    pub(super) fn tell_decided(&mut self, call_id: &str, ask: &PermissionAsk, decision: &Decision, by: Decider) {
        let update = ask.outcome(decision.allows(), by);
        self.tell_turn(TurnInput::AgentUpdate { call_id: call_id.to_owned(), update });
    }

    /// Nobody is asked: it belongs to no call, or to one that is being stopped. It is owed an answer all the same.
    fn cancel_permission(&mut self, id: PermissionId) {
        let Some(at) = self.host.debts.iter().position(|debt| debt.id == id) else { return };
        let reply = Reply::Chosen { option_id: None };
        let debt = DebtRecord { reply: Some(reply.clone()), ..self.record(at) };
        if let Some(runner) = self.host.process.runner() {
            self.keep(Keep::DebtOpened { runner, debt });
        }
        self.send_reply(id, reply);
    }

    /// People are told what was asked, and rejected by what they said earlier.
    pub(super) fn ask_and_answer(&mut self, id: PermissionId, call_id: String, ask: PermissionAsk, decision: Decision, by: Decider) {
        self.ask_person(id, call_id, ask);
        self.tell_turn(TurnInput::PermissionAnswer {
            request_id: id,
            decision: decision.clone(),
            by: by.as_str().to_owned(),
            reason: None,
            rule: by.rule_use(),
        });
        // At once: the prompt's end may be the next line, and would answer otherwise.
        self.decided(id, decision, None);
    }

    pub(super) fn ask_person(&mut self, id: PermissionId, call_id: String, ask: PermissionAsk) {
        self.set_stage(id, Stage::Asked);
        // What is compared with a later write stays with the demand; the log has what is shown.
        let ask = PermissionAsk { changes: Vec::new(), ..ask };
        self.tell_turn(TurnInput::Permission { call_id, agent: self.host.agent.clone(), request_id: id, ask });
    }

    pub(super) fn is_stopping(&self, call_id: &str) -> bool {
        let Some(turn) = &self.turn.turn else { return true };
        turn.cancelling || turn.call(call_id).is_none_or(|call| call.stopping || call.state == CallState::Done)
    }

    /// The turn has an answer to what was asked.
    pub(super) fn decided(&mut self, id: PermissionId, decision: Decision, content: Option<Value>) {
        let Some(debt) = self.host.debt(id).filter(|debt| debt.stage != Stage::Doing && !debt.stage.is_decided()) else { return };
        match &debt.demand {
            Demand::Permission(ask) => {
                let (ask, call_id) = (ask.clone(), debt.call_id.clone().unwrap_or_default());
                let decision = decision.offered_by(&ask);
                self.note_answer(&call_id, &ask, &decision);
                self.send_choice(id, &ask, &decision);
            }
            Demand::Form { .. } => {
                let (action, content) = match decision.verdict() {
                    Verdict::Allow => (FormAction::Accept, Some(content.unwrap_or_default())),
                    Verdict::Reject => (FormAction::Decline, None),
                    Verdict::Cancel => (FormAction::Cancel, None),
                };
                self.reply(id, Reply::Form { action, content });
            }
            _ => self.decide_guarded(id, decision.verdict()),
        }
    }

    fn send_choice(&mut self, id: PermissionId, ask: &PermissionAsk, decision: &Decision) {
        self.send_reply(id, Reply::Chosen { option_id: decision.told(ask) });
    }

    pub(super) fn terminal_changed(&mut self, call_id: String, terminal_id: String, update: Update, running: bool) {
        self.tell_turn(TurnInput::AgentUpdate { call_id, update });
        if let Some(runner) = self.host.process.live().filter(|_| running) {
            self.act(Act::WatchTerminal { runner, terminal_id });
        }
    }

    /// Decides the reply. One that could not be given twice is stored before it is sent.
    pub(super) fn reply(&mut self, id: PermissionId, reply: Reply) {
        let Some(debt) = self.host.debt(id) else { return };
        if debt.is_final() || matches!(debt.demand, Demand::Unknown { .. }) {
            self.keep(Keep::DebtReply { id, reply: reply.clone() });
        }
        self.send_reply(id, reply);
    }

    fn send_reply(&mut self, id: PermissionId, reply: Reply) {
        let Some(runner) = self.host.process.live() else { return };
        let Some(debt) = self.host.debts.iter_mut().find(|debt| debt.id == id) else { return };
        // An agent that is told "cancelled" before it hears of the stop takes it for a rejection, and ends or goes on by itself.
        if self.host.prompts.iter().any(|prompt| prompt.has_stop_to_come() && debt.call_id.as_ref() == Some(&prompt.call_id)) {
            debt.stage = Stage::Held(reply);
            return;
        }
        // The reply goes with the act; here it only matters that there is one.
        let kept = if debt.is_large() { Reply::Done } else { reply.clone() };
        debt.stage = Stage::Replying(kept);
        let act = Act::Reply { runner, id, rpc_id: debt.rpc_id.clone(), reply };
        self.act(act);
    }

    /// The stop is on its way, or the prompt is over without one.
    pub(super) fn send_held_replies(&mut self, call_id: &str) {
        let held = |debt: &Debt| match &debt.stage {
            Stage::Held(reply) if debt.call_id.as_deref() == Some(call_id) => Some((debt.id, reply.clone())),
            _ => None,
        };
        let held: Vec<_> = self.host.debts.iter().filter_map(held).collect();
        for (id, reply) in held {
            self.send_reply(id, reply);
        }
    }

    pub(super) fn reply_sent(&mut self, id: PermissionId) {
        self.host.debts.retain(|debt| debt.id != id);
        self.keep(Keep::DebtClosed { id });
    }

    /// The agent no longer wants an answer, and is owed one all the same. What is being written cannot be taken back.
    pub(super) fn withdrawn(&mut self, rpc_id: &str) {
        let Some(debt) = self.host.debts.iter().rev().find(|debt| debt.rpc_id == rpc_id) else { return };
        let id = debt.id;
        match (&debt.stage, &debt.demand) {
            (Stage::Asked, _) => {
                let (decision, by) = (Decision::cancelled(), "agent".to_owned());
                self.tell_turn(TurnInput::PermissionAnswer { request_id: id, decision, by, reason: None, rule: RuleUse::None });
            }
            (Stage::Preparing, _) => self.decide_guarded(id, Verdict::Cancel),
            (Stage::Doing, Demand::ReadFile { .. } | Demand::WaitForTerminal { .. }) => {
                self.act(Act::GiveUp { id });
                self.reply(id, Reply::refused(Problem::Cancelled, "cancelled"));
            }
            (Stage::Waiting, _) => self.reply(id, Reply::refused(Problem::Cancelled, "cancelled")),
            _ => {}
        }
    }

    /// The prompt is over: nobody is asked any more for what it wanted.
    pub(super) fn close_debts_of(&mut self, call_id: &str) {
        let asked = |debt: &&Debt| debt.call_id.as_deref() == Some(call_id) && debt.stage == Stage::Asked;
        let open: Vec<_> = self.host.debts.iter().filter(asked).map(|debt| debt.id).collect();
        for id in open {
            self.decided(id, Decision::cancelled(), None);
        }
        self.send_held_replies(call_id);
    }

    /// Takes up what an earlier server owed.
    pub(super) fn restore_debt(&mut self, record: DebtRecord) {
        let DebtRecord { id, rpc_id, call_id, demand, begun, decision, reply } = record;
        let open = self.turn.turn.as_ref().and_then(|turn| turn.permissions.iter().find(|open| open.request_id == id));
        let shown = open.and_then(|open| open.ask.shown.clone());
        let (asked, stage) = (open.is_some(), if open.is_some() { Stage::Asked } else { Stage::Waiting });
        let ask = if let Demand::Permission(ask) = &demand { Some(ask.clone()) } else { None };
        self.host.debts.push(Debt { id, rpc_id, call_id, bytes: demand.bytes(), demand, shown, stage });
        match (reply, decision, ask) {
            (_, Some(decision), Some(ask)) => self.send_choice(id, &ask, &decision.offered_by(&ask)),
            (Some(reply), ..) => self.send_reply(id, reply),
            (None, Some(decision), None) => self.decided(id, decision, None),
            _ if begun => self.reply(id, Reply::refused(Problem::Internal, UNKNOWN)),
            _ if asked => {}
            _ => self.begin_debt(id),
        }
    }

    pub(super) fn note_asked(&mut self, call_id: &str, ask: &PermissionAsk) {
        if let Some(prompt) = self.host.prompts.iter_mut().find(|prompt| prompt.call_id == call_id) {
            prompt.note_asked(ask);
        }
    }

    fn set_stage(&mut self, id: PermissionId, stage: Stage) {
        if let Some(debt) = self.host.debts.iter_mut().find(|debt| debt.id == id) {
            debt.stage = stage;
        }
    }

    fn rpc_of(&self, id: PermissionId) -> Option<String> {
        self.host.debt(id).map(|debt| debt.rpc_id.clone())
    }

    fn name_of_call(&self, call_id: &str) -> Option<String> {
        self.host.prompts.iter().find(|prompt| prompt.call_id == call_id).map(|prompt| prompt.name.clone())
    }

    /// The prompt that runs in an agent session.
    pub(super) fn running_in(&self, agent_session: &str) -> Option<&Prompt> {
        let name = self.name_of_session(agent_session)?;
        self.host.prompts.iter().find(|prompt| prompt.is_out() && prompt.name == name)
    }
}
