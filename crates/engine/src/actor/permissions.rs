//! Who answers an agent: a person, what they told us to remember, the policy, or, where nobody does, the clock.

use domain::agent::{FilePlace, OptionKind};
use domain::decision::{Decision, Reach, Verdict};
use domain::event::{PermissionRequest, SessionChange};
use domain::ids::{PermissionId, RuleId};
use domain::machine::Input;
use domain::rule::{self, Effect, Rule, Scope, Subject};
use domain::turn;
use jiff::Timestamp;
use store::{Row, RuleRow};
use tokio::time::{Duration, Instant};
use uuid::Uuid;

use super::Actor;
use crate::command::{Answer, Refusal};

const REASON_MAX: usize = 2000;

impl Actor {
    /// A person answers. What they want remembered is stored with the answer, and given back to be applied once it is.
    pub(super) fn answer(&mut self, request_id: PermissionId, answer: Answer) -> Result<Option<RuleRow>, Refusal> {
        let Some(open) = self.open_permissions().find(|open| open.request_id == request_id) else {
            return Err(Refusal::Conflict("this request was already answered or withdrawn".to_owned()));
        };
        if self.is_held(request_id) {
            return Err(Refusal::Conflict("this permission is denied already: undo that to answer otherwise".to_owned()));
        }
        // Made here, of the stored request's option, and never again.
        let Some(decision) = open.ask.choose(&answer.option_id) else {
            return Err(Refusal::Invalid(format!("`{}` is not one of the options that the agent offers", answer.option_id)));
        };
        let rule = match &answer.scope {
            Some(scope) if answer.remember.is_none() => Some(self.chosen_rule(open, &decision, scope)?),
            Some(_) => return Err(Refusal::Invalid("`scope` says what is remembered: leave `remember` out".to_owned())),
            None => self.rule_of(open, &decision, answer.remember)?,
        };
        let reason = reason(open, &decision, answer.reason)?;
        let content = match (&open.ask.form, answer.content) {
            (Some(form), content) if decision.allows() => {
                let content = content.unwrap_or_default();
                domain::form::check(form, &content).map_err(Refusal::Invalid)?;
                Some(content)
            }
            (_, None) => None,
            (_, Some(_)) => return Err(Refusal::Invalid("only a form that is sent has content".to_owned())),
        };
        let saved = rule.as_ref().map(|row| row.rule.saved());
        self.rows.extend(rule.clone().map(Row::Rule));
        let by = answer.by.as_str().to_owned();
        self.step(Input::Answer { request_id, decision, by, content, reason, saved });
        Ok(rule)
    }

    /// What is remembered where the option itself says for always.
    fn rule_of(&self, open: &PermissionRequest, decision: &Decision, remember: Option<Scope>) -> Result<Option<RuleRow>, Refusal> {
        match (decision.verdict(), decision.reach()) {
            (_, Reach::Always) if open.ask.is_mode() => match remember {
                Some(_) => Err(Refusal::Invalid("a mode is chosen each time, so it is not remembered: leave `remember` out".to_owned())),
                None => Ok(None),
            },
            (Verdict::Allow, Reach::Always) if open.ask.is_protected() => {
                let once = open.ask.options.iter().any(|option| option.kind == OptionKind::AllowOnce);
                if remember.is_some() || once {
                    let files = open.ask.files.iter().filter(|file| file.place == FilePlace::Protected);
                    let files: Vec<_> = files.map(|file| file.path.as_str()).collect();
                    let message = format!("{} is asked for each time, so it cannot be allowed for always: allow it once", files.join(", "));
                    return Err(Refusal::Invalid(message));
                }
                Ok(None)
            }
            (Verdict::Allow | Verdict::Reject, Reach::Always) => {
                let subject = Subject::of(&open.ask);
                Ok(Some(self.rule(subject, decision.allows(), remember.unwrap_or(Scope::Session))))
            }
            _ if remember.is_some() => {
                let option_id = decision.option_id().unwrap_or_default();
                Err(Refusal::Invalid(format!("`{option_id}` answers this once: only an answer for always is remembered")))
            }
            _ => Ok(None),
        }
    }

    /// What a person chose of what they were offered; whether they allow it or not is in their decision.
    fn chosen_rule(&self, open: &PermissionRequest, decision: &Decision, scope: &str) -> Result<RuleRow, Refusal> {
        let choice = rule::choices(&open.agent, &open.ask).into_iter().find(|choice| choice.id == scope);
        let effect = match decision.verdict() {
            Verdict::Allow => Some(Effect::Allow),
            Verdict::Reject => Some(Effect::Deny),
            Verdict::Cancel => None,
        };
        match (choice, effect) {
            (Some(choice), Some(effect)) if choice.effects.contains(&effect) => {
                Ok(self.rule(choice.subject, effect == Effect::Allow, choice.scope))
            }
            (Some(_), Some(_)) => Err(Refusal::Invalid("protected files always ask: they can only be denied permanently".to_owned())),
            (Some(_), None) => Err(Refusal::Invalid("this answer neither allows nor rejects, so it cannot be remembered".to_owned())),
            (None, _) => Err(Refusal::Invalid(format!("`{scope}` is not one of the scopes that this request can be remembered for"))),
        }
    }

    fn rule(&self, subject: Subject, allow: bool, scope: Scope) -> RuleRow {
        let rule = Rule { id: RuleId(Uuid::now_v7()), scope, allow, subject, created_at: Timestamp::now() };
        RuleRow { session: (scope == Scope::Session).then_some(self.id), work_dir: self.project.clone(), rule }
    }

    /// Takes a remembered answer back.
    pub(super) async fn revoke(&mut self, id: RuleId) -> Result<Scope, Refusal> {
        let found = self.rules().into_iter().find(|rule| rule.id == id).ok_or(Refusal::NotFound("remembered answer"))?;
        self.rows.push(Row::RemoveRule { id });
        self.flush().await;
        self.shared.rules.remove(id);
        self.count_rules();
        self.tell_hosts(|| domain::host::Input::ForgetAlways);
        Ok(found.scope)
    }

    /// People who look at the session see how many remembered answers hold here.
    pub(super) fn count_rules(&mut self) {
        let rules = u32::try_from(self.rules().len()).unwrap_or(u32::MAX);
        if self.rule_count != rules {
            self.rule_count = rules;
            self.announce(SessionChange { rules: Some(rules), ..SessionChange::default() });
        }
    }

    pub(crate) fn rules(&self) -> Vec<Rule> {
        self.shared.rules.of(self.id, &self.project)
    }

    fn open_permissions(&self) -> impl Iterator<Item = &PermissionRequest> {
        self.machine.turn().turn.iter().flat_map(|turn| &turn.permissions)
    }

    fn unanswered(&self) -> impl Iterator<Item = &PermissionRequest> {
        self.open_permissions().filter(|open| !self.is_held(open.request_id))
    }

    fn is_held(&self, request_id: PermissionId) -> bool {
        self.machine.turn().turn.as_ref().is_some_and(|turn| turn.held(request_id).is_some())
    }

    /// A denial that its agent was not told yet is taken back: the question waits again.
    pub(super) fn take_back(&mut self, request_id: PermissionId) -> Result<(), Refusal> {
        if !self.is_held(request_id) {
            return Err(Refusal::Conflict("it's too late to undo this denial: the agent has the answer, or no longer asks".to_owned()));
        }
        self.step(Input::TakeBack { request_id });
        Ok(())
    }

    /// When the first denial that is held goes to its agent. The clock of the wall says how much of its time is left after a restart; a
    /// clock that is set back meanwhile holds nothing up.
    pub(super) fn hold_deadline(&mut self) -> Option<Instant> {
        let (now, clock, most) = (Instant::now(), Timestamp::now().as_millisecond(), self.shared.settings.denial_hold);
        let holds = self.machine.turn().turn.as_ref().map_or(&[][..], |turn| &turn.holds);
        self.hold_ends.retain(|id, _| holds.iter().any(|held| held.request_id == *id));
        for held in holds {
            let left = Duration::from_millis(u64::try_from(held.until.saturating_sub(clock)).unwrap_or(0));
            self.hold_ends.entry(held.request_id).or_insert_with(|| now + left.min(most));
        }
        self.hold_ends.values().min().copied()
    }

    pub(super) fn holds_over(&mut self) {
        let now = Instant::now();
        let over: Vec<_> = self.hold_ends.iter().filter(|(_, end)| **end <= now).map(|(id, _)| *id).collect();
        for request_id in over {
            self.hold_ends.remove(&request_id);
            self.turn_input(turn::Input::HoldOver { request_id });
        }
    }

    /// When the first of what waits has waited for too long. The clock of the wall counts: a restart does not begin it anew.
    pub(super) fn permission_deadline(&self) -> Option<Instant> {
        let timeout = self.shared.choices().permission_timeout?;
        let first = self.unanswered().map(|open| open.asked_at).min()?;
        Some(Instant::now() + left(first, timeout))
    }

    pub(super) fn permissions_overdue(&mut self) {
        let Some(timeout) = self.shared.choices().permission_timeout else { return };
        let overdue: Vec<_> = self.unanswered().filter(|open| left(open.asked_at, timeout).is_zero()).cloned().collect();
        for PermissionRequest { request_id, session_name, ask, .. } in overdue {
            let (decision, by) = (ask.refuse(), "timeout".to_owned());
            self.step(Input::Answer { request_id, decision, by, content: None, reason: None, saved: None });
            let text = format!("Nobody answered \"{}\" within {} seconds, so it was denied.", ask.title, timeout.as_secs());
            self.notice("permission_timeout", "warning", "Denied without an answer", text, Some(session_name));
        }
    }
}

/// What is said to the agent goes with a refusal alone.
fn reason(open: &PermissionRequest, decision: &Decision, reason: Option<String>) -> Result<Option<String>, Refusal> {
    let Some(reason) = reason.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty()) else { return Ok(None) };
    if decision.allows() || open.ask.form.is_some() {
        return Err(Refusal::Invalid("a reason goes with a refusal: send what you want to add as a message".to_owned()));
    }
    if reason.chars().count() > REASON_MAX {
        return Err(Refusal::Invalid(format!("the reason is too long: it may have {REASON_MAX} characters")));
    }
    Ok(Some(reason))
}

fn left(asked_at: Timestamp, timeout: Duration) -> Duration {
    let waited = Duration::try_from(Timestamp::now().duration_since(asked_at)).unwrap_or_default();
    timeout.saturating_sub(waited)
}
