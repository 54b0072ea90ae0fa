//! Whether somebody allowed what is done, judged again by the policy and the rules that hold at that moment, and by what was shown.

use domain::agent::{Demand, FilePlace, OptionKind, PermissionAsk, Run};
use domain::decision::Verdict;
use domain::event::{Event, PermissionHeld, PermissionResolved};
use domain::host::{Act, Keep};
use domain::ids::PermissionId;
use domain::machine::Effect;
use domain::policy::Policy;
use domain::rule::Subject;

use crate::disk;
use crate::invariants::{Checked, Invariant, Violation, hold};
use crate::world::World;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Judgement {
    Allow,
    Reject,
    Ask,
}

impl World {
    /// What a step has decided, before it is committed.
    pub fn check_step(&mut self, effects: &[Effect]) -> Checked {
        for effect in effects {
            match effect {
                Effect::Append(Event::PermissionRequest(request)) => {
                    let offered = self.offered(request.request_id).unwrap_or_else(|| request.ask.clone());
                    hold(!is_malformed(&offered), Invariant::AsShown, || {
                        format!("a person is asked what is malformed: {:?}", offered.options)
                    })?;
                    let asked = super::Asked { call: request.tool_call_id.clone(), ask: request.ask.clone(), resolved: false };
                    self.oracle.permissions.entry(request.request_id).or_insert(asked);
                }
                Effect::Append(Event::PermissionResolved(resolved)) => self.check_resolved(resolved)?,
                Effect::Append(Event::PermissionHeld(held)) => self.check_held(held)?,
                Effect::Append(Event::PermissionPending { request_id }) => {
                    let undone = self.oracle.undone == Some(*request_id);
                    hold(undone, Invariant::DenialHeld, || "a denial is taken back, and nobody wanted that".to_owned())?;
                }
                Effect::Keep(Keep::PolicyDecided { request, decision, .. }) => {
                    let offered = self.offered(request.request_id).unwrap_or_else(|| request.ask.clone());
                    let asked = PermissionAsk { options: offered.options, ..request.ask.clone() };
                    let (judged, fits) = (self.judge(&asked), if decision.allows() { Judgement::Allow } else { Judgement::Reject });
                    hold(judged == fits, Invariant::Approved, || format!("\"{}\" is decided: {judged:?}", asked.title))?;
                    if decision.allows() {
                        self.oracle.allowed.insert(request.request_id);
                        self.oracle.grant(request.request_id, &request.tool_call_id, &request.ask);
                    }
                }
                Effect::Host { act: Act::Prompt { call_id, .. }, .. } => {
                    let stopped = self.oracle.is_stopped(call_id);
                    hold(!stopped, Invariant::StopStops, || format!("the prompt of {call_id} is sent after it was stopped"))?;
                }
                _ => {}
            }
        }
        for effect in effects {
            if let Effect::Keep(Keep::DebtBegun { id }) = effect {
                self.check_begun(*id)?;
            }
        }
        Ok(())
    }

    /// A permission as its agent asked for it.
    fn offered(&self, id: PermissionId) -> Option<PermissionAsk> {
        let processes = self.runners.values().filter_map(|runner| runner.process.as_ref());
        processes.flat_map(|process| &process.asked).find(|asked| asked.id == id).and_then(|asked| match &asked.demand {
            Demand::Permission(ask) => Some(ask.clone()),
            _ => None,
        })
    }

    fn check_resolved(&mut self, resolved: &PermissionResolved) -> Checked {
        let PermissionResolved { request_id, option_id, by, .. } = resolved;
        let Some(asked) = self.oracle.permissions.get(request_id) else {
            return hold(false, Invariant::Approved, || "an answer to a question that was never asked".to_owned());
        };
        let title = &asked.ask.title;
        let option = option_id.as_ref().and_then(|id| asked.ask.options.iter().find(|option| option.option_id == *id));
        let means = option.map_or(Verdict::Cancel, |option| option.kind.verdict());
        hold(resolved.verdict == Some(means), Invariant::AsShown, || {
            format!("\"{title}\" is {:?} by an option for {means:?}", resolved.verdict)
        })?;
        let allows = means == Verdict::Allow;
        let judged = self.judge(&asked.ask);
        match by.as_str() {
            "person" | "mcp" | "timeout" => {
                let given =
                    if by == "person" && !allows && !self.oracle.saved { self.was_held(resolved)? } else { self.is_given(resolved) };
                hold(given, Invariant::Approved, || format!("\"{title}\" was not answered so by anybody"))?;
                let said = self.oracle.said.take().filter(|(id, _)| id == request_id);
                hold(said.is_none_or(|(_, said)| said == means), Invariant::AsShown, || {
                    format!("\"{title}\": the person says {said:?}, and it is {means:?}")
                })?;
            }
            "policy" | "rule" => {
                self.check_free(*request_id)?;
                let fits = if allows { Judgement::Allow } else { Judgement::Reject };
                hold(judged == fits, Invariant::Approved, || format!("\"{title}\" is decided by {by}: {option_id:?}, not {judged:?}"))?;
            }
            _ => hold(!allows, Invariant::Approved, || format!("\"{title}\" is allowed by {by}"))?,
        }
        if allows {
            self.oracle.allowed.insert(*request_id);
            let (call, ask) = (asked.call.clone(), asked.ask.clone());
            self.oracle.grant(*request_id, &call, &ask);
        } else {
            self.oracle.grants.remove(request_id);
            // A server that died before its commit may have decided otherwise.
            self.oracle.allowed.remove(request_id);
        }
        Ok(())
    }

    /// A person has just answered so.
    fn is_given(&self, resolved: &PermissionResolved) -> bool {
        let PermissionResolved { request_id, option_id, by, .. } = resolved;
        let answer = self.oracle.answer.as_ref();
        let given = answer.is_some_and(|(id, decision, who)| id == request_id && decision.option_id() == option_id.as_deref() && who == by);
        given && !self.oracle.held.contains_key(request_id)
    }

    /// The log has had it long enough for somebody to take it back.
    fn was_held(&self, resolved: &PermissionResolved) -> Result<bool, Box<Violation>> {
        let held = self.oracle.held.get(&resolved.request_id);
        hold(held.is_some(), Invariant::DenialHeld, || "a denial is sent that nobody could take back".to_owned())?;
        Ok(held.is_some_and(|held| held.option_id == resolved.option_id && held.reason == resolved.reason))
    }

    /// What is taken back in this very step waits for its answer again, and a policy that has changed meanwhile may give it.
    fn check_free(&self, id: PermissionId) -> Checked {
        let held = self.oracle.held.contains_key(&id) && self.oracle.undone != Some(id);
        hold(!held, Invariant::DenialHeld, || "what a person has denied is decided otherwise".to_owned())
    }

    fn check_held(&self, held: &PermissionHeld) -> Checked {
        let answer = self.oracle.answer.as_ref();
        let given = answer.is_some_and(|(id, decision, by)| *id == held.request_id && *decision == held.decision() && *by == held.by);
        hold(given && held.verdict != Verdict::Allow, Invariant::DenialHeld, || format!("nobody denied what is held: {held:?}"))
    }

    /// Something is begun for an agent: a person or a rule allowed it, or the policy does.
    fn check_begun(&mut self, id: PermissionId) -> Checked {
        if self.oracle.allowed.contains(&id) {
            // A person was asked for this itself.
            self.oracle.grants.remove(&id);
            return Ok(());
        }
        let Some(ask) = self.oracle.prepared.get(&id).cloned() else {
            return hold(false, Invariant::AsShown, || "something is begun for an agent, and nobody has looked at it".to_owned());
        };
        let row = self.store.debts.iter().find(|(_, debt)| debt.id == id);
        let call = row.and_then(|(_, debt)| debt.call_id.clone()).unwrap_or_default();
        if covering(&ask).into_iter().any(|shown| self.oracle.carry_out(&(call.clone(), shown))) {
            self.coverage.count("grant: carried out");
            self.oracle.allowed.insert(id);
            return Ok(());
        }
        let judged = self.judge(&ask);
        hold(judged == Judgement::Allow, Invariant::Approved, || format!("something is begun for an agent: {judged:?}"))?;
        self.oracle.allowed.insert(id);
        Ok(())
    }

    fn judge(&self, ask: &PermissionAsk) -> Judgement {
        if ask.form.is_some() {
            return Judgement::Ask;
        }
        let all_in = |place: FilePlace| !ask.files.is_empty() && ask.files.iter().all(|file| file.place == place);
        let harmless = ask.kind.as_deref() == Some("read") && ask.command.is_none() && ask.diff.is_none() && all_in(FilePlace::Inside);
        let can = ask.options.iter().any(|option| option.kind.verdict() == Verdict::Allow);
        let remembered = |allow: bool| self.rules.iter().any(|rule| rule.allow == allow && covers(&rule.subject, ask));
        match self.policy {
            _ if is_malformed(ask) => Judgement::Reject,
            Policy::Deny => Judgement::Reject,
            _ if remembered(false) => Judgement::Reject,
            Policy::AutoAll if can => Judgement::Allow,
            _ if all_in(FilePlace::Protected) || !can => Judgement::Ask,
            _ if remembered(true) => Judgement::Allow,
            Policy::Auto | Policy::AutoAll => Judgement::Allow,
            Policy::ReadOnly if harmless => Judgement::Allow,
            Policy::ReadOnly | Policy::Ask => Judgement::Ask,
        }
    }
}

impl super::Oracle {
    fn grant(&mut self, id: PermissionId, call: &str, ask: &PermissionAsk) {
        if let Some(shown) = shown(ask).filter(|_| matches!(ask.kind.as_deref(), Some("execute" | "edit"))) {
            self.grants.insert(id, (call.to_owned(), shown));
        }
    }

    /// Whether a permission covers it; then it is used up.
    fn carry_out(&mut self, carried: &(String, String)) -> bool {
        let found = self.grants.iter().find(|(_, grant)| *grant == carried).map(|(id, _)| *id);
        found.is_some_and(|id| self.grants.remove(&id).is_some())
    }

    /// Another server asks again.
    pub(crate) fn forget_grants(&mut self) {
        self.grants.clear();
    }
}

/// All that a person sees of a change or a command.
pub(super) fn shown(ask: &PermissionAsk) -> Option<String> {
    ask.diff.clone().or_else(|| ask.command.clone())
}

/// What a person may have been shown instead: a shell of the system with a script is the script.
fn covering(ask: &PermissionAsk) -> Vec<String> {
    let script = match ask.run.as_deref() {
        Some(Run::Words { words, env }) => match &words[..] {
            [shell, flag, script] if shell == "/bin/sh" && flag == "-c" => Some(Run::Script { script: script.clone(), env: env.clone() }),
            _ => None,
        },
        _ => None,
    };
    shown(ask).into_iter().chain(script.map(|script| disk::run(&script))).collect()
}

/// Nobody can answer it and know what they answer.
pub(super) fn is_malformed(ask: &PermissionAsk) -> bool {
    let ids: std::collections::BTreeSet<&str> = ask.options.iter().map(|option| option.option_id.as_str()).collect();
    let known = |kind: OptionKind| OptionKind::ALLOW.contains(&kind) || OptionKind::REJECT.contains(&kind);
    let readable = ask.options.iter().all(|option| known(option.kind) && !option.option_id.is_empty() && !option.name.is_empty());
    ask.form.is_none() && (ask.options.is_empty() || ids.len() < ask.options.len() || !readable)
}

fn covers(subject: &Subject, ask: &PermissionAsk) -> bool {
    match subject {
        Subject::Command { command, .. } => ask.kind.as_deref() == Some("execute") && ask.command.as_ref() == Some(command),
        // No person of this world chooses them.
        Subject::Commands { .. } | Subject::Files { .. } => false,
        Subject::Edits => ask.kind.as_deref() == Some("edit"),
        Subject::Request { title, kind, .. } => ask.command.is_none() && ask.title == *title && ask.kind == *kind,
    }
}
