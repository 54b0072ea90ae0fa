//! The options of named agent sessions: mode, model and whatever else an agent offers.
//!
//! What a person sets is stored as wanted first. An open session is told at once; one that is not in the process is told when it is next
//! brought back. From then on the agent's own word counts, and what it last said is what a restored session is put back to.

use std::collections::BTreeMap;

use agents::acp::options;
use agents::{Connection, Opened, RpcError};
use serde_json::{Map, Value};
use store::{AgentSessionRow, Row};

use super::AgentTask;
use crate::actor::{Actor, TaskEnd};
use crate::command::{AgentSessionView, Refusal, Reply};
use crate::host::NamedState;
use crate::open::ALLOW_ALL;

/// Option ids and the values that are to be sent for them.
pub(crate) type Wanted = BTreeMap<String, Value>;

/// What became of each option that was sent.
pub(crate) type Outcomes = Vec<(String, Value, Result<(), RpcError>)>;

impl Actor {
    /// Answers at once where what is wanted can only be stored, else when the agent has answered. It is durable by now.
    pub(crate) fn answer_wanted(&mut self, name: &str, stored: Result<(), Refusal>, reply: Reply<AgentSessionView>) {
        match (stored, self.host.names.get_mut(name).filter(|named| named.setting)) {
            (Err(refusal), _) => _ = reply.send(Err(refusal)),
            (Ok(()), Some(named)) => named.option_replies.push(reply),
            (Ok(()), None) => self.answer_options(name, reply, None),
        }
    }

    /// Takes what a person wants.
    pub(crate) fn want_options(&mut self, name: &str, set: Wanted) -> Result<(), Refusal> {
        let named = self.host.names.get_mut(name).filter(|named| named.row.is_some());
        let Some(row) = named.and_then(|named| named.row.as_mut()) else { return Err(Refusal::NotFound("agent session")) };
        if set.is_empty() {
            return Err(Refusal::Invalid("nothing to set: name a mode, a model or an option".to_owned()));
        }
        let mut wanted = row.wanted.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
        let mut told = Vec::new();
        for (key, value) in set {
            let (id, value) = options::choose(row.options.as_ref(), &key, &value).map_err(Refusal::Invalid)?;
            if id == ALLOW_ALL {
                return Err(Refusal::Invalid("`allow_all` follows the session's permission policy: change that instead".to_owned()));
            }
            told.push(options::names(row.options.as_ref(), &id, &value));
            wanted.insert(id, value);
        }
        row.wanted = Some(Value::Object(wanted));
        self.rows.push(Row::AgentSession(row.clone()));
        let told: Vec<_> = told.into_iter().map(|(option, value)| format!("{option}: {value}")).collect();
        self.notice("agent_option", "info", "Changed", told.join(", "), Some(name.to_owned()));
        Ok(())
    }

    /// Tells the agent what is wanted of its open sessions. Called when what is wanted is durable.
    pub(super) fn apply_wanted(&mut self) {
        let Some(connection) = self.host.connection().cloned() else { return };
        for (name, named) in &mut self.host.names {
            let Some(row) = named.row.as_ref().filter(|_| named.state == NamedState::Open && !named.setting) else { continue };
            let wanted = wanted_of(row.wanted.as_ref());
            if wanted.is_empty() {
                continue;
            }
            named.setting = true;
            let (connection, name, agent_session) = (connection.clone(), name.clone(), row.acp_session_id.clone());
            let described = row.options.clone();
            self.tasks.spawn(async move {
                let outcomes = send(&connection, &agent_session, described.as_ref(), wanted).await;
                TaskEnd::Agent(AgentTask::OptionsSet { name, outcomes })
            });
        }
    }

    /// The agent has answered: what it took is so, what it refused is wanted no longer. What a process that is gone did not answer waits
    /// for the next.
    pub(super) fn options_set(&mut self, name: &str, outcomes: Outcomes) {
        let title = self.agent_title();
        let Some(named) = self.host.names.get_mut(name) else { return };
        named.setting = false;
        let replies = std::mem::take(&mut named.option_replies);
        let Some(row) = named.row.as_mut() else { return };
        let mut refused = None;
        for (id, value, outcome) in outcomes {
            match outcome {
                Err(RpcError::Gone(_)) => continue,
                Ok(()) => note(row.options.as_mut(), &mut row.mode, &id, &value),
                Err(error) => {
                    let (option, choice) = options::names(row.options.as_ref(), &id, &value);
                    refused = Some(format!("{title} refused to set `{option}` to `{choice}`: {error}"));
                }
            }
            settle(&mut row.wanted, &id, &value);
        }
        self.rows.push(Row::AgentSession(row.clone()));
        let told = self.host.told.entry(row.acp_session_id.clone()).or_default();
        (told.mode, told.options) = (row.mode.clone(), row.options.clone());
        if let Some(text) = &refused {
            self.notice("agent_option", "warning", "Not changed", text.clone(), Some(name.to_owned()));
        }
        for reply in replies {
            self.answer_options(name, reply, refused.clone());
        }
    }

    fn answer_options(&self, name: &str, reply: Reply<AgentSessionView>, refused: Option<String>) {
        let view = self.host.names.get(name).and_then(|named| self.view(name, named));
        let _ = reply.send(match (refused, view) {
            (Some(text), _) => Err(Refusal::Invalid(text)),
            (None, Some(view)) => Ok(view),
            (None, None) => Err(Refusal::NotFound("agent session")),
        });
    }
}

/// What an agent session that has just been opened is set to.
pub(super) struct Settings {
    pub mode: Option<String>,
    pub options: Option<Value>,
    pub wanted: Option<Value>,
}

impl Settings {
    /// What the agent says of it, what it has taken of what was put back, and what is still wanted.
    pub fn of_opened(opened: &Opened, known: Option<&AgentSessionRow>, put_back: &[(String, Value, bool)]) -> Settings {
        let mode = opened.modes.as_ref().and_then(|modes| modes.get("currentModeId")?.as_str().map(str::to_owned));
        // An agent that brings a session back may say nothing of it; then it is as it was.
        let described = opened.options.clone().or_else(|| known.and_then(|row| row.options.clone()));
        let mode = mode.or_else(|| described.as_ref().and_then(options::mode));
        let mut settings = Settings { mode, options: described, wanted: known.and_then(|row| row.wanted.clone()) };
        for (id, value, taken) in put_back {
            settle(&mut settings.wanted, id, value);
            if *taken {
                note(settings.options.as_mut(), &mut settings.mode, id, value);
            }
        }
        settings
    }
}

/// Sets one option after the other, each by the method that it is set by.
pub(crate) async fn send(connection: &Connection, agent_session: &str, described: Option<&Value>, wanted: Wanted) -> Outcomes {
    let mut outcomes = Vec::new();
    for (id, value) in wanted {
        let Some(sent) = options::sendable(&value) else { continue };
        let outcome = connection.set_described(agent_session, described, &id, &sent).await;
        outcomes.push((id, value, outcome));
    }
    outcomes
}

pub(crate) fn wanted_of(value: Option<&Value>) -> Wanted {
    value.and_then(Value::as_object).map(|wanted| wanted.clone().into_iter().collect()).unwrap_or_default()
}

/// What is wanted no longer, unless something else was asked for meanwhile.
pub(crate) fn settle(wanted: &mut Option<Value>, id: &str, value: &Value) {
    let Some(Value::Object(left)) = wanted else { return };
    if left.get(id) == Some(value) {
        left.remove(id);
    }
    if *left == Map::new() {
        *wanted = None;
    }
}

/// Notes a value that the agent has taken. Its own report may still name the old one.
pub(crate) fn note(described: Option<&mut Value>, mode: &mut Option<String>, id: &str, value: &Value) {
    let Some(described) = described else { return };
    if options::mode_id(described).as_deref() == Some(id) {
        *mode = value.as_str().map(str::to_owned);
    }
    options::put(described, id, value);
}
