//! What agents ask before they go on: each question is answered once, and none outlives the call that it belongs to.

use crate::agent::{PermissionAsk, Update};
use crate::decision::Decision;
use crate::event::{Event, PermissionHeld, PermissionRequest, PermissionResolved};
use crate::ids::PermissionId;
use crate::rule::{Decider, RuleUse};

use super::super::Effect;
use super::Step;

/// Who decides, in the words of [`PermissionResolved::by`].
const PERSON: &str = "person";
const AGENT: &str = "agent";

impl Step<'_> {
    pub(super) fn permission(&mut self, call_id: String, agent: String, request_id: PermissionId, ask: PermissionAsk) {
        if self.is_asked(request_id) {
            return;
        }
        let stopping = self.session.turn.as_ref().is_none_or(|turn| turn.cancelling);
        let running = self.running_delegate(&call_id).filter(|call| !stopping && !call.stopping);
        match running.and_then(|call| call.session_name()).map(str::to_owned) {
            Some(session_name) => {
                self.append(Event::PermissionRequest(PermissionRequest {
                    request_id,
                    tool_call_id: call_id,
                    session_name,
                    agent,
                    asked_at: self.now.0,
                    scopes: Vec::new(),
                    warnings: Vec::new(),
                    hunks: Vec::new(),
                    ask,
                }));
            }
            None => self.effects.push(Effect::AnswerPermission { request_id, decision: Decision::cancelled() }),
        }
    }

    pub(super) fn permission_answer(
        &mut self,
        request_id: PermissionId,
        decision: Decision,
        by: String,
        reason: Option<String>,
        rule: RuleUse,
    ) {
        // Only the agent itself can end it sooner.
        let is_held = self.held(request_id).is_some();
        if is_held && by != AGENT {
            return;
        }
        let undoable = by == PERSON && !decision.allows() && rule == RuleUse::None && self.settings.denial_hold_ms > 0;
        if undoable && self.is_asked(request_id) {
            self.hold(request_id, &decision, by, reason)
        } else {
            self.resolve(request_id, decision, by, reason, rule)
        }
    }

    /// The agent hears of it when nobody can take it back any more.
    fn hold(&mut self, request_id: PermissionId, decision: &Decision, by: String, reason: Option<String>) {
        self.append(Event::PermissionHeld(PermissionHeld {
            request_id,
            option_id: decision.option_id().map(str::to_owned),
            verdict: decision.verdict(),
            reach: decision.reach(),
            by,
            reason,
            until: self.now.0.as_millisecond().saturating_add(self.settings.denial_hold_ms),
        }));
    }

    pub(super) fn hold_over(&mut self, request_id: PermissionId) {
        if let Some(held) = self.held(request_id).cloned() {
            let decision = held.decision();
            self.resolve(request_id, decision, held.by, held.reason, RuleUse::None);
        }
    }

    pub(super) fn take_back(&mut self, request_id: PermissionId) {
        if self.held(request_id).is_some() {
            self.append(Event::PermissionPending { request_id });
        }
    }

    fn held(&self, request_id: PermissionId) -> Option<&PermissionHeld> {
        self.session.turn.as_ref()?.held(request_id)
    }

    fn resolve(&mut self, request_id: PermissionId, decision: Decision, by: String, reason: Option<String>, rule: RuleUse) {
        let turn = self.session.turn.as_ref();
        let Some(open) = turn.and_then(|turn| turn.permissions.iter().find(|open| open.request_id == request_id)) else { return };
        let (call_id, agent_call) = (open.tool_call_id.clone(), open.ask.agent_call.clone());
        let (rule_id, update) = match rule {
            RuleUse::None => (None, None),
            RuleUse::Saved(rule) => (None, Some(Update::Rule(rule))),
            RuleUse::Applied(id) => (Some(id), Some(open.ask.outcome(decision.allows(), Decider::Rule(id)))),
        };
        self.effects.push(Effect::AnswerPermission { request_id, decision: decision.clone() });
        let resolved = PermissionResolved { rule_id, ..PermissionResolved::new(request_id, &decision, by, reason) };
        self.append(Event::PermissionResolved(resolved));
        if let Some(update) = update {
            self.append_update(&call_id, update);
        }
        self.decline(&call_id, agent_call.as_deref());
    }

    fn is_asked(&self, request_id: PermissionId) -> bool {
        self.session.turn.as_ref().is_some_and(|turn| turn.permissions.iter().any(|open| open.request_id == request_id))
    }

    pub(super) fn resolve_permissions(&mut self, call_id: &str, by: &str, answer: bool) {
        let Some(turn) = &self.session.turn else { return };
        let of_call = turn.permissions.iter().filter(|open| open.tool_call_id == call_id);
        let open: Vec<_> = of_call.map(|open| (open.request_id, open.ask.agent_call.clone())).collect();
        for (request_id, agent_call) in open {
            if answer {
                self.effects.push(Effect::AnswerPermission { request_id, decision: Decision::cancelled() });
            }
            self.append(Event::PermissionResolved(PermissionResolved::new(request_id, &Decision::cancelled(), by, None)));
            self.decline(call_id, agent_call.as_deref());
        }
    }
}
