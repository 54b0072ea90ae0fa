//! Keeping an agent to the session's policy: its own "allow all" is off where we decide, what it was told for always can be taken
//! back, and a tool that it ran without asking is told to people.

use std::path::Path;

use agents::Opened;
use domain::agent::{PermissionAsk, ToolCall, Update};
use domain::policy::Policy;
use domain::rule::Subject;
use serde_json::Value;
use store::Row;

use super::AgentTask;
use crate::actor::{Actor, TaskEnd};
use crate::host::{AskedTool, Named, NamedState};
use crate::open::ALLOW_ALL;

/// What an agent asks about before it does it. Reads and searches are not among them (in the work directory no agent asks), nor are
/// tools of no particular kind, which may be as harmless as a list of things to do.
const ASKED_FOR: [&str; 5] = ["execute", "edit", "delete", "move", "fetch"];

impl Actor {
    /// The policy has changed, and with it who decides.
    pub(crate) fn policy_changed(&mut self) {
        self.reconsider();
        self.align_allow_all();
        // What the agent was told for always it would not ask about any more.
        if self.policy() == Policy::Deny {
            self.forget_always();
        }
    }

    /// Turns "allow all" off in every open session that has it on, unless everything is allowed anyway.
    pub(crate) fn align_allow_all(&mut self) {
        if self.policy() == Policy::Auto {
            return;
        }
        let Some(connection) = self.host.connection().cloned() else { return };
        for named in self.host.names.values().filter(|named| named.state == NamedState::Open) {
            let Some(options) = self.options(named).filter(|options| allows_all(options)).cloned() else { continue };
            let Some(row) = &named.row else { continue };
            let opened = Opened { agent_session: row.acp_session_id.clone(), modes: None, options: Some(options) };
            let connection = connection.clone();
            self.tasks.spawn(async move {
                if let Err(error) = connection.align_allow_all(&opened, false).await {
                    tracing::warn!(agent_session = opened.agent_session, %error, "\"allow all\" could not be turned off");
                }
                TaskEnd::Agent(AgentTask::Written)
            });
        }
    }

    /// Somebody, or the agent itself, has turned "allow all" on: then nobody would be asked, whatever the policy says.
    pub(super) fn options_changed(&mut self, name: &str, before: Option<&Value>, now: &Value) {
        if self.policy() != Policy::Auto && allows_all(now) && !before.is_some_and(allows_all) {
            let text = "The agent was set to allow everything by itself. It is turned off again: this session's policy decides.".to_owned();
            self.notice("allow_all_off", "warning", "\"Allow all\" turned off", text, Some(name.to_owned()));
            self.align_allow_all();
        }
    }

    /// An answer for always was taken back. The agent remembers it too, for as long as it has the session open: where it can close a
    /// session and bring it back, that is done before the next prompt.
    pub(crate) fn forget_always(&mut self) {
        let able = self.host.connection().is_some_and(|connection| {
            let can = connection.capabilities();
            can.close && (can.load || can.resume)
        });
        for named in self.host.names.values_mut().filter(|named| able && named.state == NamedState::Open) {
            named.state = NamedState::Cut;
            // After a restart it does not count as open any more; while a prompt runs in it, it must.
            if let Some(row) = named.row.as_mut().filter(|_| named.running.is_none()) {
                row.runner_id = None;
                self.rows.push(Row::AgentSession(row.clone()));
            }
        }
    }

    pub(crate) fn note_asked(&mut self, call_id: &str, ask: &PermissionAsk) {
        let asked = AskedTool { agent_call: ask.agent_call.clone(), command: ask.command.clone() };
        self.host.asked.entry(call_id.to_owned()).or_default().push(asked);
    }

    /// Says so where a tool has run that a person should have been asked about. Some builds of Copilot never ask.
    pub(super) fn notice_unasked(&mut self, name: &str, call_id: &str, tool_call: &ToolCall) {
        let asks = tool_call.kind.as_deref().is_some_and(|kind| ASKED_FOR.contains(&kind));
        if !asks || self.policy() == Policy::Auto || !ended_now(self, call_id, tool_call) {
            return;
        }
        let command = tool_call.input.as_ref().and_then(|input| input.get("command")?.as_str()).map(str::to_owned);
        // Older builds ask under an id of their own, so the command counts too; what asks under none may have been this one.
        let fits = |asked: &AskedTool| {
            asked.agent_call.as_ref().is_none_or(|asked| *asked == tool_call.id) || (command.is_some() && asked.command == command)
        };
        let was_asked = self.host.asked.get(call_id).is_some_and(|asked| asked.iter().any(fits));
        if was_asked || self.is_allowed_for_always(tool_call, command.clone()) || self.is_set_to_allow_all(name) {
            return;
        }
        let what = command.or_else(|| tool_call.title.clone()).unwrap_or_else(|| tool_call.id.clone());
        let policy = self.policy().as_str();
        let text = format!("{} ran this without asking, although the policy is \"{policy}\": {what}", self.agent_title());
        self.notice("unasked_tool", "warning", "Not asked for", text, Some(name.to_owned()));
    }

    fn is_allowed_for_always(&self, tool_call: &ToolCall, command: Option<String>) -> bool {
        if self.policy() == Policy::Deny {
            return false;
        }
        let ask = PermissionAsk {
            title: tool_call.title.clone().unwrap_or_default(),
            kind: tool_call.kind.clone(),
            command,
            diff: Some(String::new()),
            locations: tool_call.locations.clone().unwrap_or_default(),
            options: Vec::new(),
            agent_call: None,
            input: tool_call.input.clone(),
            form: None,
        };
        let subject = Subject::of(&ask, Path::new(&self.row.work_dir));
        // Of other kinds the agent's own memory may reach further than ours.
        let alike = |known: &Subject| *known == subject || matches!(known, Subject::Request { kind, .. } if *kind == tool_call.kind);
        self.rules().iter().any(|rule| rule.allow && alike(&rule.subject))
    }

    fn is_set_to_allow_all(&self, name: &str) -> bool {
        self.host.names.get(name).and_then(|named| self.options(named)).is_some_and(allows_all)
    }

    /// The latest of what the agent said, which may be newer than what is stored.
    fn options<'a>(&'a self, named: &'a Named) -> Option<&'a Value> {
        let row = named.row.as_ref()?;
        self.host.told.get(&row.acp_session_id).and_then(|told| told.options.as_ref()).or(row.options.as_ref())
    }
}

/// It is reported as completed for the first time: that is when it certainly ran.
fn ended_now(actor: &Actor, call_id: &str, tool_call: &ToolCall) -> bool {
    let known = actor.state.turn.as_ref().and_then(|turn| turn.call(call_id)).map_or(&[][..], |call| &call.updates);
    let ended = |call: &ToolCall| call.status.as_deref() == Some("completed");
    let before = known.iter().any(|placed| matches!(&placed.update, Update::ToolCall(known) if known.id == tool_call.id && ended(known)));
    ended(tool_call) && !before
}

fn allows_all(options: &Value) -> bool {
    let entries = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let current = entries.iter().find(|option| option["id"] == ALLOW_ALL).map(|option| &option["currentValue"]);
    current.is_some_and(|value| *value == "on" || *value == true)
}
