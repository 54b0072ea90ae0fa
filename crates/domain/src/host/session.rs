//! The named sessions of an agent: stored, opening, open in the process, or cut, and the options they are set to.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Act, AgentSession, Described, How, Keep, Opened, OptionOutcome, Process, Step, Told};
use crate::agent::{Failure, Fault};
use crate::ids::RunnerId;
use crate::policy::Policy;

#[derive(Clone, Debug, Default)]
pub struct Named {
    /// None until it was first opened.
    pub record: Option<AgentSession>,
    pub state: NamedState,
    /// In this process it acts without asking, whatever it is told.
    pub unguarded: bool,
    /// People were told so.
    pub warned: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NamedState {
    /// Not in the process.
    #[default]
    Stored,
    Opening,
    /// `introduced`: it was told what a restored session does not know by itself. `setting`: the agent is being told of options.
    /// `allows_all`: its own "allow all" is on.
    Open {
        introduced: bool,
        setting: bool,
        allows_all: bool,
    },
    /// In the process, but no longer served by it, or to be closed and brought back: it is opened anew before the next prompt.
    Cut,
}

impl Named {
    /// It is in the process, served or not.
    fn is_inside(&self) -> bool {
        matches!(self.state, NamedState::Open { .. } | NamedState::Cut)
    }

    pub fn is_setting(&self) -> bool {
        matches!(self.state, NamedState::Open { setting: true, .. })
    }
}

impl NamedState {
    pub(super) fn open(allows_all: bool) -> NamedState {
        NamedState::Open { introduced: false, setting: false, allows_all }
    }
}

impl Step<'_> {
    pub(super) fn open_session(&mut self, name: &str, closing: bool) {
        let Process::Up { runner, .. } = self.host.process else { return };
        let Some(named) = self.host.sessions.get_mut(name) else { return };
        named.state = NamedState::Opening;
        // What another agent knows by this name is not this one's to restore.
        let known = named.record.clone().filter(|record| record.agent == self.host.agent).map(Box::new);
        self.act(Act::Open { runner, name: name.to_owned(), known, closing });
    }

    pub(super) fn session_opened(&mut self, runner: RunnerId, name: &str, outcome: Result<Opened, Failure>) {
        let opening = self.host.sessions.get(name).is_some_and(|named| named.state == NamedState::Opening);
        if !self.is_current(runner) || !opening {
            return;
        }
        match outcome {
            Ok(opened) => self.enter_session(runner, name, opened),
            // Its end is about to be heard, and decides what becomes of the prompt.
            Err(failure) if failure.fault == Fault::Gone => {}
            Err(failure) => {
                if let Some(named) = self.host.sessions.get_mut(name) {
                    named.state = NamedState::Stored;
                }
                match failure.fault {
                    Fault::NeedsLogin => self.login_needed(name),
                    _ => self.fail_session(name, &failure),
                }
            }
        }
    }

    fn enter_session(&mut self, runner: RunnerId, name: &str, opened: Opened) {
        let Opened { agent_session, how, described, wanted, unguarded, cut_off, damaged } = opened;
        let reported = self.host.reports.take(&agent_session);
        let Some(named) = self.host.sessions.get_mut(name) else { return };
        let known = named.record.take().filter(|record| record.agent == self.host.agent);
        // One that was lost and never prompted since has still to be told what was lost.
        let still_lost = how == How::New && known.as_ref().is_some_and(|record| record.restored.as_deref() == Some(How::Lost.as_str()));
        let restored = if still_lost { How::Lost } else { how };
        let old = known.filter(|_| matches!(how, How::Resumed | How::Loaded));
        let mut record = AgentSession {
            id: old.as_ref().map_or_else(|| self.context.new_id(), |old| old.id),
            name: name.to_owned(),
            agent_session,
            agent: self.host.agent.clone(),
            cwd: self.context.work_dir.to_string_lossy().into_owned(),
            created_at: old.as_ref().map_or(self.context.now, |old| old.created_at),
            prompted_at: old.as_ref().and_then(|old| old.prompted_at),
            mode: described.mode,
            options: described.options,
            usage: old.as_ref().and_then(|old| old.usage.clone()),
            commands: old.as_ref().and_then(|old| old.commands.clone()),
            title: old.as_ref().and_then(|old| old.title.clone()),
            wanted,
            allow_all: old.as_ref().is_some_and(|old| old.allow_all),
            restored: Some(restored.as_str().to_owned()),
            runner_id: Some(runner),
        };
        // An agent tells its commands as soon as it has the session, often before its answer is taken up here.
        if let Some(report) = reported {
            report.beside_options(&mut record);
        }
        named.state = NamedState::open(described.allows_all);
        (named.unguarded, named.warned) = (unguarded, false);
        named.record = Some(record.clone());
        self.keep(Keep::Session(record));
        self.restore_notice(name, how, cut_off);
        if let Some(damaged) = damaged {
            self.damage_notice(name, &damaged);
        }
        self.align_allow_all();
    }

    fn restore_notice(&mut self, name: &str, how: How, cut_off: bool) {
        let warning = if cut_off { " Its last answer was cut off and may be incomplete." } else { "" };
        match how {
            How::New => {}
            How::Resumed | How::Loaded => {
                let text = format!("The agent session \"{name}\" goes on where it was.{warning}");
                self.notice("session_restored", "info", "Session restored", text, Some(name));
            }
            How::Lost => {
                let text = format!(
                    "The previous {} session could not be restored. A new session has been started. Your conversation history in \
                     VoxPilot is intact.",
                    self.context.agent_short_title(&self.host.agent)
                );
                self.notice("session_lost", "warning", "Session history lost", text, Some(name));
            }
        }
    }

    /// What was lost to us is perhaps not lost for good.
    fn damage_notice(&mut self, name: &str, agent_session: &str) {
        let text = format!(
            "{}'s own record of the lost session is damaged. Run `voxpilot repair {agent_session}` to repair it; afterwards it can be \
             continued from the list of the agent's own sessions.",
            self.context.agent_short_title(&self.host.agent)
        );
        self.notice("session_damaged", "info", "The agent's record is damaged", text, Some(name));
    }

    /// The process is gone, and nothing is in it any more. The names that were being opened.
    pub(super) fn leave_sessions(&mut self) -> Vec<String> {
        self.host.telling.clear();
        let mut opening = Vec::new();
        for (name, named) in &mut self.host.sessions {
            if std::mem::take(&mut named.state) == NamedState::Opening {
                opening.push(name.clone());
            }
        }
        opening
    }

    /// The agent no longer serves the session of this prompt, and whatever it is asked next would not be answered.
    pub(super) fn cut_session(&mut self, at: usize) {
        if let Some(named) = self.host.sessions.get_mut(&self.host.prompts[at].name) {
            named.state = NamedState::Cut;
        }
    }

    /// Stored at once: a restarted server would take the prompt that another agent is about to get for one of this agent's.
    pub(super) fn forget_session(&mut self, name: String) {
        if self.host.sessions.remove(&name).is_some_and(|named| named.record.is_some()) {
            self.keep(Keep::SessionRemoved { name });
        }
    }

    /// With its last prompt a cut session does not count as open any more, after a restart either: whatever it were asked would not be
    /// answered.
    pub(super) fn forget_cut_session(&mut self, name: &str) {
        let Some(named) = self.host.sessions.get_mut(name).filter(|named| named.state == NamedState::Cut) else { return };
        if let Some(record) = named.record.as_mut().filter(|record| record.runner_id.is_some()) {
            record.runner_id = None;
            let record = record.clone();
            self.keep(Keep::Session(record));
        }
    }

    /// An answer for always was taken back. The agent remembers it too, for as long as it has the session open: where it can close a
    /// session and bring it back, that is done before the next prompt.
    pub(super) fn forget_always(&mut self) {
        if !self.host.can_reopen || self.host.process.live().is_none() {
            return;
        }
        let mut changed = Vec::new();
        for (name, named) in &mut self.host.sessions {
            if !matches!(named.state, NamedState::Open { .. }) {
                continue;
            }
            named.state = NamedState::Cut;
            let busy = self.host.prompts.iter().any(|prompt| prompt.is_out() && prompt.name == *name);
            // After a restart it does not count as open any more; while a prompt runs in it, it must.
            if let Some(record) = named.record.as_mut().filter(|_| !busy) {
                record.runner_id = None;
                changed.push(record.clone());
            }
        }
        for record in changed {
            self.keep(Keep::Session(record));
        }
    }

    pub(super) fn policy_changed(&mut self, by_person: bool) {
        if by_person && !self.context.policy.is_automatic() {
            // Whoever chooses who is asked takes back that nobody is.
            let chosen: Vec<_> =
                self.host.sessions.values_mut().filter_map(|named| named.record.as_mut()).filter(|r| r.allow_all).collect();
            let mut changed = Vec::new();
            for record in chosen {
                record.allow_all = false;
                changed.push(record.clone());
            }
            for record in changed {
                self.keep(Keep::Session(record));
            }
        }
        self.align_allow_all();
        // What the agent was told for always it would not ask about any more.
        if self.context.policy == Policy::Deny {
            self.forget_always();
        }
    }

    /// Turns the agent's "allow all" off in every open session that has it on, unless everything is allowed anyway or a person chose it.
    pub(super) fn align_allow_all(&mut self) {
        let Process::Up { runner, .. } = self.host.process else { return };
        if self.context.policy.is_automatic() {
            return;
        }
        let mut acts = Vec::new();
        for named in self.host.sessions.values_mut() {
            if let (NamedState::Open { allows_all, .. }, Some(record)) = (&mut named.state, &named.record)
                && *allows_all
                && !record.allow_all
            {
                *allows_all = false;
                self.host.telling.push(record.agent_session.clone());
                acts.push(Act::ForbidAll { runner, session: Box::new(record.clone()) });
            }
        }
        self.effects.extend(acts.into_iter().map(super::Effect::Act));
    }

    pub(super) fn set_options(&mut self, name: &str, set: BTreeMap<String, Value>, allow_all: Option<bool>, shown: String) {
        let Some(record) = self.host.sessions.get_mut(name).and_then(|named| named.record.as_mut()) else { return };
        let mut wanted = record.wanted.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        wanted.extend(set);
        record.wanted = Some(Value::Object(wanted));
        record.allow_all = allow_all.unwrap_or(record.allow_all);
        let record = record.clone();
        self.keep(Keep::Session(record));
        self.notice("agent_option", "info", "Changed", shown, Some(name));
    }

    /// Tells the agent what is wanted of its open sessions.
    pub(super) fn advance_options(&mut self) {
        let Process::Up { runner, .. } = self.host.process else { return };
        let mut acts = Vec::new();
        for named in self.host.sessions.values_mut() {
            if let (NamedState::Open { setting, .. }, Some(record)) = (&mut named.state, &named.record)
                && !*setting
                && record.wanted.as_ref().and_then(Value::as_object).is_some_and(|wanted| !wanted.is_empty())
            {
                *setting = true;
                self.host.telling.push(record.agent_session.clone());
                acts.push(Act::SetOptions { runner, session: Box::new(record.clone()) });
            }
        }
        self.effects.extend(acts.into_iter().map(super::Effect::Act));
    }

    /// The agent has answered to what one of its sessions was set to.
    pub(super) fn told(&mut self, told: &Told) {
        if self.is_current(told.runner)
            && let Some(at) = self.host.telling.iter().position(|telling| *telling == told.agent_session)
        {
            self.host.telling.remove(at);
        }
    }

    /// The agent has answered: what it took is so, what it refused is wanted no longer. What a process that is gone did not answer waits
    /// for the next.
    pub(super) fn options_set(&mut self, told: &Told, outcomes: Vec<OptionOutcome>, described: Described) {
        self.told(told);
        let (title, name) = (self.title(), told.name.as_str());
        let is_meant = |named: &&mut Named| named.record.as_ref().is_some_and(|record| record.agent_session == told.agent_session);
        let Some(named) = self.host.sessions.get_mut(name).filter(is_meant) else { return };
        if let NamedState::Open { setting, allows_all, .. } = &mut named.state {
            *setting = false;
            *allows_all = described.allows_all;
            named.unguarded &= described.allows_all;
        }
        let Some(record) = named.record.as_mut() else { return };
        let mut refused = None;
        for outcome in outcomes {
            if outcome.outcome.as_ref().is_err_and(|failure| failure.fault == Fault::Gone) {
                continue;
            }
            refused = outcome.refusal(&title).or(refused);
            no_longer_wanted(&mut record.wanted, &outcome.id, &outcome.value);
        }
        (record.mode, record.options) = (described.mode, described.options);
        let record = record.clone();
        self.keep(Keep::Session(record));
        if let Some(text) = refused {
            self.notice("agent_option", "warning", "Not changed", text, Some(name));
        }
    }

    pub(super) fn name_of_session(&self, agent_session: &str) -> Option<&str> {
        let found = self
            .host
            .sessions
            .iter()
            .find(|(_, named)| named.is_inside() && named.record.as_ref().is_some_and(|record| record.agent_session == agent_session));
        found.map(|(name, _)| name.as_str())
    }
}

/// Unless something else was asked for meanwhile.
fn no_longer_wanted(wanted: &mut Option<Value>, id: &str, value: &Value) {
    let Some(Value::Object(left)) = wanted else { return };
    if left.get(id) == Some(value) {
        left.remove(id);
    }
    if *left == Map::new() {
        *wanted = None;
    }
}
