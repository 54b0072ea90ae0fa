//! Opening a named session on a running agent: new, or brought back from what the agent has stored, with its options as they were.

use std::collections::BTreeMap;
use std::path::Path;

use domain::agent::{Failure, Fault};
use serde_json::{Map, Value};

use super::Connection;
use crate::acp::response::Session;
use crate::catalogue::Dialect;
use crate::fault::{NOT_FOUND, RpcError};
use crate::options::{self, Asking};

/// What is stored of a session that was open before.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownSession {
    pub agent_session: String,
    /// Whether it was ever prompted; until then agents keep nothing of it.
    pub prompted: bool,
    /// Its options as they last were.
    pub options: Option<Value>,
    /// The options that were asked for meanwhile, by id.
    pub wanted: Option<Value>,
    /// A person chose that the agent allows itself everything.
    pub allow_all: bool,
}

/// A session that can be prompted.
#[derive(Clone, PartialEq, Debug)]
pub struct Opened {
    pub agent_session: String,
    pub how: How,
    pub mode: Option<String>,
    pub options: Option<Value>,
    /// What is still wanted: what this agent has no option for.
    pub wanted: Option<Value>,
    /// It was to ask before it acts, and could not be brought to.
    pub unguarded: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    New,
    Resumed,
    Loaded,
    /// It existed and could not be brought back; a new one stands in its place.
    Lost {
        message: String,
    },
}

impl How {
    /// As it is stored.
    pub fn as_str(&self) -> &'static str {
        match self {
            How::New => "new",
            How::Resumed => "resumed",
            How::Loaded => "loaded",
            How::Lost { .. } => "lost",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reopen {
    No,
    /// The running process holds the session but no longer serves it as it should: it is closed first.
    Closing,
}

impl Connection {
    /// Opens `name`. A login that is missing and an agent that is gone are the caller's to handle; nearly everything else ends in a
    /// session that can be prompted, and says how it came to be. `must_ask`: the agent is set to ask before it acts, unless a person
    /// chose otherwise.
    pub async fn open(&self, name: &str, cwd: &Path, known: Option<&KnownSession>, how: Reopen, must_ask: bool) -> Result<Opened, Failure> {
        if let (Reopen::Closing, Some(known)) = (how, known)
            && let Err(error) = self.close(&known.agent_session).await
        {
            tracing::warn!(agent_session = known.agent_session, %error, "the session could not be closed before it is opened again");
        }
        let (session, how) = self.find_or_make(name, cwd, known).await?;
        let mut opened = describe(session, how, known);
        self.align_allow_all(&mut opened, known).await;
        if let Some(known) = known {
            self.put_back(&mut opened, known).await;
        }
        if must_ask && !known.is_some_and(|known| known.allow_all) {
            self.set_to_ask(&mut opened).await;
        }
        Ok(opened)
    }

    /// Before its first prompt: what an agent does by itself then nobody could take back.
    async fn set_to_ask(&self, opened: &mut Opened) {
        let asks = self.inner.quirks.asks;
        if let Asking::After(id, value) = options::asking(opened.options.as_ref(), asks) {
            match self.set(&opened.agent_session, opened.options.as_ref(), &id, &value).await {
                Ok(()) => taken(opened, &id, &value),
                Err(error) => tracing::warn!(agent_session = opened.agent_session, %error, "the agent could not be set to ask"),
            }
        }
        opened.unguarded = options::asking(opened.options.as_ref(), asks) != Asking::Asks;
    }

    async fn find_or_make(&self, name: &str, cwd: &Path, known: Option<&KnownSession>) -> Result<(Session, How), RpcError> {
        // Until its first prompt an agent keeps nothing of a session, so nothing is lost by making it anew.
        let Some(known) = known.filter(|known| known.prompted) else {
            return Ok((self.new_session(name, cwd).await?, How::New));
        };
        let agent_session = known.agent_session.as_str();
        let mut restored = self.restore(name, cwd, agent_session).await;
        if restored.as_ref().is_err_and(RpcError::is_already_loaded) {
            // An earlier server had it loaded and died before it could write that down.
            restored = match self.close(agent_session).await {
                Ok(()) => self.restore(name, cwd, agent_session).await,
                Err(_) => Ok((Session { agent_session: agent_session.to_owned(), modes: None, options: None }, How::Loaded)),
            };
        }
        match restored {
            Err(error) if !is_final(&error) => {
                tracing::warn!(agent_session, code = error.code(), %error, "the agent session could not be restored");
                let session = self.new_session(name, cwd).await?;
                Ok((session, How::Lost { message: error.to_string() }))
            }
            other => other,
        }
    }

    async fn restore(&self, name: &str, cwd: &Path, agent_session: &str) -> Result<(Session, How), RpcError> {
        // It has one way, and its own words for a session that it does not have.
        if self.inner.dialect == Dialect::Codex {
            return Ok((self.resume(name, agent_session, cwd).await?, How::Resumed));
        }
        // A list that fails says nothing; one that works and does not name the session spares the attempt to load it.
        let directory = self.inner.quirks.lists_by_directory.then_some(cwd);
        if let Ok(listed) = self.list(directory).await
            && listed.is_whole
            && !listed.sessions.iter().any(|session| session.agent_session == agent_session)
        {
            return Err(RpcError::Rejected { code: NOT_FOUND, reason: format!("session {agent_session} is not listed by the agent") });
        }
        let resumed = match self.resume(name, agent_session, cwd).await {
            Ok(session) => return Ok((session, How::Resumed)),
            Err(error) if is_final(&error) || error.is_already_loaded() => return Err(error),
            Err(error) => error,
        };
        match self.load(name, agent_session, cwd).await {
            Ok(session) => Ok((session, How::Loaded)),
            // Where there is nothing but resuming, its own error says more.
            Err(RpcError::Unsupported(_)) if self.capabilities().resume => Err(resumed),
            Err(error) => Err(error),
        }
    }

    /// Copilot keeps "allow all" over restarts, so it is put to what was chosen here. Agents without that option are left alone.
    async fn align_allow_all(&self, opened: &mut Opened, known: Option<&KnownSession>) {
        let asked = known.and_then(|known| known.wanted.as_ref()?.as_object()?.iter().find(|(id, _)| options::is_allow_all(id)));
        let want = asked.map_or_else(|| known.is_some_and(|known| known.allow_all), |(_, value)| options::is_on(value));
        let change = opened.options.as_ref().and_then(|described| options::allow_all_to(described, want));
        let Some((id, value)) = change.map(|(id, value)| (id.to_owned(), value)) else {
            return asked.into_iter().for_each(|(id, value)| no_longer_wanted(&mut opened.wanted, id, value));
        };
        match self.set(&opened.agent_session, opened.options.as_ref(), &id, &value).await {
            Ok(()) => taken(opened, &id, &value),
            Err(error) => tracing::warn!(agent_session = opened.agent_session, %error, "the agent's \"allow all\" could not be changed"),
        }
        asked.into_iter().for_each(|(id, value)| no_longer_wanted(&mut opened.wanted, id, value));
    }

    /// Sets the options to what they last were, and to what was wanted meanwhile. One that was tried is wanted no longer.
    async fn put_back(&self, opened: &mut Opened, known: &KnownSession) {
        let Some(current) = opened.options.clone() else { return };
        let last = known.options.iter().flat_map(options::values).map(|(id, value)| (id.to_owned(), value.clone()));
        let mut wanted: BTreeMap<String, Value> = last.collect();
        let asked = known.wanted.as_ref().and_then(Value::as_object).into_iter().flatten();
        wanted.extend(asked.map(|(id, value)| (id.clone(), value.clone())));
        wanted.retain(|id, _| !options::is_allow_all(id));
        for (id, value) in wanted {
            let Some((_, now)) = options::values(&current).find(|(other, _)| **other == id) else { continue };
            if *now == value {
                taken(opened, &id, &value);
            } else {
                match self.set(&opened.agent_session, Some(&current), &id, &value).await {
                    Ok(()) => taken(opened, &id, &value),
                    // It is still wanted of the next process.
                    Err(RpcError::Gone(_)) => return,
                    Err(error) => {
                        tracing::warn!(agent_session = opened.agent_session, option = id, %error, "an option could not be put back");
                    }
                }
            }
            no_longer_wanted(&mut opened.wanted, &id, &value);
        }
    }
}

/// Trying in another way would not help, or would hide what has to be done first.
fn is_final(error: &RpcError) -> bool {
    matches!(error.fault(), Fault::NeedsLogin | Fault::OwnedElsewhere | Fault::Gone | Fault::NotSent)
}

/// As the agent describes it. One that says nothing of a session that it brought back leaves it as it was.
fn describe(session: Session, how: How, known: Option<&KnownSession>) -> Opened {
    let mode = session.modes.as_ref().and_then(|modes| modes.get("currentModeId")?.as_str().map(str::to_owned));
    let options = session.options.or_else(|| known.and_then(|known| known.options.clone()));
    let mode = mode.or_else(|| options.as_ref().and_then(options::mode));
    Opened {
        agent_session: session.agent_session,
        how,
        mode,
        options,
        wanted: known.and_then(|known| known.wanted.clone()),
        unguarded: false,
    }
}

/// Notes a value that the agent has taken. Its own report may still name the old one.
fn taken(opened: &mut Opened, id: &str, value: &Value) {
    let Some(described) = &mut opened.options else { return };
    if options::mode_id(described).as_deref() == Some(id) {
        opened.mode = value.as_str().map(str::to_owned);
    }
    options::put(described, id, value);
}

fn no_longer_wanted(wanted: &mut Option<Value>, id: &str, value: &Value) {
    let Some(Value::Object(left)) = wanted else { return };
    if left.get(id) == Some(value) {
        left.remove(id);
    }
    if *left == Map::new() {
        *wanted = None;
    }
}
