//! Opening a named agent session on a running agent: new, or brought back from what is stored.

use std::path::Path;

use agents::acp::options;
use agents::{Connection, Opened, RpcError};
use serde_json::Value;
use store::AgentSessionRow;

use crate::delegate::options::{Wanted, send, wanted_of};

pub(crate) const ALLOW_ALL: &str = "allow_all";

pub(crate) struct Open {
    pub opened: Opened,
    pub how: How,
    /// The options that were set again, and whether the agent has taken them.
    pub put_back: Vec<(String, Value, bool)>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum How {
    New,
    Resumed,
    Loaded,
    /// It existed and could not be brought back; a new one stands in its place.
    Lost {
        code: Option<i64>,
        message: String,
    },
}

/// As it is stored how a session came to be open.
pub(crate) const NEW: &str = "new";
pub(crate) const LOST: &str = "lost";

impl How {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            How::New => NEW,
            How::Resumed => "resumed",
            How::Loaded => "loaded",
            How::Lost { .. } => LOST,
        }
    }
}

/// Opens `name`. A login that is missing and an agent that is gone are the caller's to handle; everything else ends in a session that
/// can be prompted, and says how it came to be.
pub(crate) async fn open(connection: &Connection, name: &str, cwd: &Path, known: Option<&AgentSessionRow>) -> Result<Open, RpcError> {
    let mut open = find_or_make(connection, name, cwd, known).await?;
    if let Err(error) = connection.align_allow_all(&open.opened, false).await {
        tracing::warn!(agent_session = open.opened.agent_session, %error, "the agent still allows itself everything");
    }
    if let Some(known) = known {
        open.put_back = put_back(connection, &open.opened, known).await;
    }
    Ok(open)
}

/// Opens anew a session that the running process holds but no longer serves.
pub(crate) async fn reopen(connection: &Connection, name: &str, cwd: &Path, known: &AgentSessionRow) -> Result<Open, RpcError> {
    if let Err(error) = connection.close_session(&known.acp_session_id).await {
        tracing::warn!(agent_session = known.acp_session_id, %error, "the session could not be closed before it is loaded again");
    }
    open(connection, name, cwd, Some(known)).await
}

/// Sets the options to what they last were, and to what was wanted meanwhile. Our policy decides about permissions, so the agent's own
/// "allow all" is not among them.
async fn put_back(connection: &Connection, opened: &Opened, known: &AgentSessionRow) -> Vec<(String, Value, bool)> {
    // One that says nothing of its options is as it was.
    let Some(current) = opened.options.as_ref().or(known.options.as_ref()) else { return Vec::new() };
    let last = known.options.iter().flat_map(options::values).map(|(id, value)| (id.to_owned(), value.clone()));
    let mut wanted: Wanted = last.filter(|(id, _)| id != ALLOW_ALL).collect();
    wanted.extend(wanted_of(known.wanted.as_ref()));
    let is_set = |id: &String, value: &Value| options::values(current).any(|(other, now)| other == id && now == value);
    let is_there = |id: &String| options::values(current).any(|(other, _)| other == id);
    let set: Vec<_> = wanted.iter().filter(|(id, value)| is_set(id, value)).map(|(id, value)| (id.clone(), value.clone(), true)).collect();
    wanted.retain(|id, value| is_there(id) && !is_set(id, value));
    let outcomes = send(connection, &opened.agent_session, Some(current), wanted).await;
    let told = outcomes.into_iter().map(|(id, value, outcome)| {
        if let Err(error) = &outcome {
            tracing::warn!(agent_session = opened.agent_session, option = id, %error, "an option could not be put back");
        }
        (id, value, outcome.is_ok())
    });
    set.into_iter().chain(told).collect()
}

async fn find_or_make(connection: &Connection, name: &str, cwd: &Path, known: Option<&AgentSessionRow>) -> Result<Open, RpcError> {
    // Until its first prompt an agent keeps nothing of a session, so nothing is lost by making it anew.
    let Some(known) = known.filter(|row| row.prompted_at.is_some()) else {
        return Ok(Open { opened: connection.new_session(name, cwd).await?, how: How::New, put_back: Vec::new() });
    };
    let mut restored = restore(connection, name, cwd, &known.acp_session_id).await;
    if restored.as_ref().is_err_and(RpcError::is_already_loaded) {
        // An earlier server had it loaded and died before it could write that down.
        restored = match connection.close_session(&known.acp_session_id).await {
            Ok(()) => restore(connection, name, cwd, &known.acp_session_id).await,
            Err(_) => {
                let opened = Opened { agent_session: known.acp_session_id.clone(), modes: None, options: known.options.clone() };
                Ok(Open { opened, how: How::Loaded, put_back: Vec::new() })
            }
        };
    }
    match restored {
        Ok(open) => Ok(open),
        Err(error) if error.is_auth_required() || matches!(error, RpcError::Gone(_) | RpcError::NotSent(_)) => Err(error),
        Err(error) => {
            let code = if let RpcError::Rejected { code, .. } = &error { Some(*code) } else { None };
            tracing::warn!(agent_session = known.acp_session_id, code, %error, "the agent session could not be restored");
            let opened = connection.new_session(name, cwd).await?;
            Ok(Open { opened, how: How::Lost { code, message: error.to_string() }, put_back: Vec::new() })
        }
    }
}

async fn restore(connection: &Connection, name: &str, cwd: &Path, agent_session: &str) -> Result<Open, RpcError> {
    let capabilities = connection.capabilities();
    // A list that fails says nothing; one that works and does not name the session spares the attempt to load it.
    if capabilities.list
        && let Ok(listed) = connection.list_sessions(None).await
        && !listed.iter().any(|session| session.agent_session == agent_session)
    {
        return Err(RpcError::Rejected {
            code: -32002,
            message: format!("session {agent_session} is not listed by the agent"),
            data: None,
        });
    }
    if capabilities.resume {
        match connection.resume_session(name, agent_session, cwd).await {
            Ok(opened) => return Ok(Open { opened, how: How::Resumed, put_back: Vec::new() }),
            Err(error) if error.is_method_missing() => {}
            Err(error) => return Err(error),
        }
    }
    if !capabilities.load {
        return Err(RpcError::Rejected { code: -32601, message: "the agent cannot load earlier sessions".to_owned(), data: None });
    }
    let opened = connection.load_session(name, agent_session, cwd).await?;
    Ok(Open { opened, how: How::Loaded, put_back: Vec::new() })
}
