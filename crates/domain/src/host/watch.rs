//! What agents report of their sessions beside their work, and whether they keep to the session's policy: a tool that ran without
//! being asked about is told to people.

use std::collections::VecDeque;

use super::prompt::AskedTool;
use super::{AgentSession, Described, NamedState, Step};
use crate::agent::{ToolCall, Update};
use crate::policy::Policy;
use crate::rule::Subject;

/// So many sessions that we cannot name yet are remembered; an agent that speaks of more has made them up.
const MOST_REPORTS: usize = 32;

/// What an agent asks about before it does it. Reads and searches are not among them (in the work directory no agent asks), nor are
/// tools of no particular kind, which may be as harmless as a list of things to do.
const ASKED_FOR: [&str; 5] = ["execute", "edit", "delete", "move", "fetch"];

/// The latest of what was said of sessions before we knew whose they are, by the agent's own id.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports(VecDeque<(String, Report)>);

#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    described: Option<Described>,
    usage: Option<Update>,
    title: Option<Update>,
    commands: Option<Update>,
}

impl Reports {
    pub(super) fn note(&mut self, agent_session: &str, update: &Update, described: Option<Described>) {
        let slot = |update: &Update| matches!(update, Update::Usage { .. } | Update::Title { .. } | Update::Commands { .. });
        if described.is_none() && !slot(update) {
            return;
        }
        if !self.0.iter().any(|(id, _)| id == agent_session) {
            if self.0.len() == MOST_REPORTS {
                self.0.pop_front();
            }
            self.0.push_back((agent_session.to_owned(), Report::default()));
        }
        let Some((_, report)) = self.0.iter_mut().find(|(id, _)| id == agent_session) else { return };
        report.described = described.or_else(|| report.described.take());
        match update {
            Update::Usage { .. } => report.usage = Some(update.clone()),
            Update::Title { .. } => report.title = Some(update.clone()),
            Update::Commands { .. } => report.commands = Some(update.clone()),
            _ => {}
        }
    }

    pub(super) fn take(&mut self, agent_session: &str) -> Option<Report> {
        let at = self.0.iter().position(|(id, _)| id == agent_session)?;
        self.0.remove(at).map(|(_, report)| report)
    }
}

impl Report {
    /// What the answer that opened the session says of its options is newer.
    pub(super) fn beside_options(self, record: &mut AgentSession) {
        for update in [self.usage, self.title, self.commands].into_iter().flatten() {
            report(record, &update, None);
        }
    }
}

/// Notes in what is stored of a session what was said of it; whether that changed anything.
pub(super) fn report(record: &mut AgentSession, update: &Update, described: Option<Described>) -> bool {
    fn put<T: PartialEq>(field: &mut Option<T>, new: Option<T>) -> bool {
        let changed = new.is_some() && *field != new;
        if changed {
            *field = new;
        }
        changed
    }
    let mut changed = false;
    if let Some(Described { mode, options, .. }) = described {
        changed |= put(&mut record.mode, mode);
        changed |= put(&mut record.options, options);
    }
    changed
        | match update {
            Update::Title { title } => put(&mut record.title, title.clone()),
            Update::Commands { commands } => put(&mut record.commands, serde_json::to_value(commands).ok()),
            Update::Usage { .. } => put(&mut record.usage, serde_json::to_value(update).ok()),
            _ => false,
        }
}

impl Step<'_> {
    /// Says so where a tool has run that a person should have been asked about. Some agents never ask.
    pub(super) fn notice_unasked(&mut self, name: &str, call_id: &str, tool_call: &ToolCall) {
        let asks = tool_call.kind.as_deref().is_some_and(|kind| ASKED_FOR.contains(&kind));
        if !asks || self.context.policy.is_automatic() || !self.ended_now(call_id, tool_call) {
            return;
        }
        let command = tool_call.input.as_ref().and_then(|input| input.text_field("command"));
        // Some ask under an id of their own, so the command counts too; what asks under none may have been this one.
        let fits = |asked: &AskedTool| {
            asked.agent_call.as_ref().is_none_or(|asked| *asked == tool_call.id) || (command.is_some() && asked.command == command)
        };
        let asked = self.host.prompts.iter().find(|prompt| prompt.call_id == call_id).is_some_and(|prompt| prompt.asked.iter().any(fits));
        if asked || self.is_set_to_allow_all(name) || self.is_allowed_for_always(tool_call, command.as_ref()) {
            return;
        }
        let what = command.or_else(|| tool_call.title.clone()).unwrap_or_else(|| tool_call.id.clone());
        let policy = self.context.policy.as_str();
        let text = format!("{} ran this without asking, although the policy is \"{policy}\": {what}", self.title());
        self.notice_at_will("unasked_tool", "warning", "Not asked for", text, Some(name));
    }

    fn is_allowed_for_always(&self, tool_call: &ToolCall, command: Option<&String>) -> bool {
        if self.context.policy == Policy::Deny {
            return false;
        }
        // The agent's own memory may reach further than ours, where it was told.
        let alike = |known: &Subject| match known {
            Subject::Command { command: known, .. } => command == Some(known),
            Subject::Commands { agent } => command.is_some() && *agent == self.host.agent,
            Subject::Files { .. } | Subject::Edits => tool_call.kind.as_deref() == Some("edit"),
            Subject::Request { kind, .. } => *kind == tool_call.kind,
        };
        self.context.rules().iter().any(|rule| rule.allow && alike(&rule.subject))
    }

    fn is_set_to_allow_all(&self, name: &str) -> bool {
        self.host.sessions.get(name).is_some_and(|named| matches!(named.state, NamedState::Open { allows_all: true, .. }))
    }

    /// It is reported as completed for the first time: that is when it certainly ran.
    fn ended_now(&self, call_id: &str, tool_call: &ToolCall) -> bool {
        let known = self.turn.call(call_id).map_or(&[][..], |call| &call.updates);
        let ended = |call: &ToolCall| call.status.as_deref() == Some("completed");
        let before =
            known.iter().any(|placed| matches!(&placed.update, Update::ToolCall(known) if known.id == tool_call.id && ended(known)));
        ended(tool_call) && !before
    }
}
