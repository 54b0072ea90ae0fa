//! What is asked of an agent about its sessions, one request each. What the agent has not said that it can do is not asked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::agent::Failure;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Connection;
use crate::acp::id;
use crate::acp::request::{self, OptionValue};
use crate::acp::response::{self, Listed, Next, Session};
use crate::catalogue::Dialect;
use crate::codex;
use crate::fault::RpcError;
use crate::options;

/// No agent stores so many pages, or sessions; one that says so is going in circles.
pub(super) const MAX_PAGES: usize = 200;
const MAX_LISTED: usize = 10_000;

/// What an agent has stored.
pub(super) struct List {
    pub sessions: Vec<Listed>,
    /// It was read to its end, so what is not in it is not there.
    pub is_whole: bool,
}

impl Connection {
    pub(super) async fn new_session(&self, name: &str, cwd: &Path) -> Result<Session, RpcError> {
        if self.inner.dialect == Dialect::Codex {
            return self.start_thread(name, &absolute(cwd)).await;
        }
        let params = request::new(&absolute(cwd), self.servers());
        let result = self.peer().request(&id::new(name), "session/new", &params, self.inner.deadlines.new).await?;
        response::opened(&result, None).ok_or_else(|| malformed("session/new"))
    }

    pub(super) async fn load(&self, name: &str, agent_session: &str, cwd: &Path) -> Result<Session, RpcError> {
        self.needs(self.capabilities().load, "it cannot load earlier sessions")?;
        let params = request::load(agent_session, &absolute(cwd), self.servers());
        let result = self.peer().request(&id::load(name), "session/load", &params, self.inner.deadlines.load).await?;
        response::opened(&result, Some(agent_session)).ok_or_else(|| malformed("session/load"))
    }

    pub(super) async fn resume(&self, name: &str, agent_session: &str, cwd: &Path) -> Result<Session, RpcError> {
        self.needs(self.capabilities().resume, "it cannot resume earlier sessions")?;
        if self.inner.dialect == Dialect::Codex {
            return self.resume_thread(name, agent_session, &absolute(cwd)).await;
        }
        let params = request::resume(agent_session, &absolute(cwd), self.servers());
        let result = self.peer().request(&id::resume(name), "session/resume", &params, self.inner.deadlines.load).await?;
        response::opened(&result, Some(agent_session)).ok_or_else(|| malformed("session/resume"))
    }

    pub(super) async fn list(&self, cwd: Option<&Path>) -> Result<List, RpcError> {
        // One of the other dialect says nothing of what it can do.
        let odd = self.inner.dialect == Dialect::Acp && self.peer().pending.name("session/new").0 != "session/new";
        self.needs(self.capabilities().list || odd, "it cannot list its sessions")?;
        let mut sessions = Vec::new();
        let mut next: Option<Next> = None;
        for _ in 0..MAX_PAGES {
            let page = match self.inner.dialect {
                Dialect::Acp => {
                    let params = request::list(cwd, next.as_ref());
                    response::page(&self.counted("session/list", &params, self.inner.deadlines.list).await?)
                }
                Dialect::Codex => {
                    let cursor = if let Some(Next::Cursor(cursor)) = &next { Some(cursor.as_str()) } else { None };
                    let params = codex::request::list(cwd, cursor);
                    codex::response::page(&self.counted(codex::request::LIST, &params, self.inner.deadlines.list).await?)
                }
            };
            let page = page.ok_or_else(|| malformed("session/list"))?;
            sessions.extend(page.sessions);
            match page.next {
                Some(other) if next.as_ref() != Some(&other) && sessions.len() < MAX_LISTED => next = Some(other),
                Some(other) if next.as_ref() != Some(&other) => break,
                _ => return Ok(List { sessions, is_whole: true }),
            }
        }
        sessions.truncate(MAX_LISTED);
        Ok(List { sessions, is_whole: false })
    }

    pub(super) async fn close(&self, agent_session: &str) -> Result<(), RpcError> {
        self.needs(self.capabilities().close, "it cannot close sessions")?;
        let (method, params) = match self.inner.dialect {
            Dialect::Acp => ("session/close", request::close(agent_session)),
            Dialect::Codex => (codex::request::CLOSE, codex::request::thread(agent_session)),
        };
        self.counted(method, &params, self.inner.deadlines.other).await.map(drop)
    }

    /// Has the agent restore a session from its own storage. What it repeats comes as [`crate::Signal::Replay`].
    pub async fn load_session(&self, name: &str, agent_session: &str, cwd: &Path) -> Result<(), Failure> {
        match self.inner.dialect {
            Dialect::Acp => Ok(self.load(name, agent_session, cwd).await.map(drop)?),
            Dialect::Codex => Ok(self.read_thread(name, agent_session).await?),
        }
    }

    /// All pages, up to a bound.
    pub async fn list_sessions(&self, cwd: Option<&Path>) -> Result<Vec<Listed>, Failure> {
        Ok(self.list(cwd).await?.sessions)
    }

    /// Frees what the agent holds of a session; its storage keeps it.
    pub async fn close_session(&self, agent_session: &str) -> Result<(), Failure> {
        Ok(self.close(agent_session).await?)
    }

    /// Removes a session from the agent's storage.
    pub async fn delete_session(&self, agent_session: &str) -> Result<(), Failure> {
        self.needs(self.capabilities().delete, "it cannot delete sessions")?;
        let (method, params) = match self.inner.dialect {
            Dialect::Acp => ("session/delete", request::delete(agent_session)),
            Dialect::Codex => (codex::request::DELETE, codex::request::thread(agent_session)),
        };
        Ok(self.counted(method, &params, self.inner.deadlines.other).await.map(drop)?)
    }

    pub async fn logout(&self) -> Result<(), Failure> {
        self.needs(self.capabilities().logout, "it cannot log out")?;
        let (method, params) = match self.inner.dialect {
            Dialect::Acp => ("logout", Value::Object(serde_json::Map::new())),
            Dialect::Codex => (codex::request::LOGOUT, Value::Null),
        };
        Ok(self.counted(method, &params, self.inner.deadlines.other).await.map(drop)?)
    }

    /// Sets an option by the method that its description says, see [`options`]. The newest description comes as an update.
    pub async fn set_option(&self, agent_session: &str, described: Option<&Value>, id: &str, value: &Value) -> Result<(), Failure> {
        Ok(self.set(agent_session, described, id, value).await?)
    }

    pub(super) async fn set(&self, agent_session: &str, described: Option<&Value>, id: &str, value: &Value) -> Result<(), RpcError> {
        if self.inner.dialect == Dialect::Codex {
            return self.set_of_thread(agent_session, id, value).await;
        }
        let sendable = options::sendable(value);
        let value =
            sendable.ok_or_else(|| RpcError::Unsupported(format!("`{id}` cannot be set to {value}: neither a text nor a switch")))?;
        match (options::method(described, id), &value) {
            (Some(options::SET_MODE), OptionValue::Choice(mode)) => self.set_mode(agent_session, mode).await,
            (Some(options::SET_MODEL), OptionValue::Choice(model)) => self.set_model(agent_session, model).await,
            _ => self.set_config_option(agent_session, id, &value).await,
        }
    }

    /// Agents without options take the two that everybody has by their older methods.
    async fn set_config_option(&self, agent_session: &str, id: &str, value: &OptionValue) -> Result<(), RpcError> {
        let params = request::set_option(agent_session, id, value);
        match self.counted("session/set_config_option", &params, self.inner.deadlines.other).await {
            Err(error) if error.is_method_missing() => match (id, value) {
                ("mode", OptionValue::Choice(mode)) => self.set_mode(agent_session, mode).await,
                ("model", OptionValue::Choice(model)) => self.set_model(agent_session, model).await,
                _ => Err(error),
            },
            answered => answered.map(drop),
        }
    }

    async fn set_mode(&self, agent_session: &str, mode_id: &str) -> Result<(), RpcError> {
        let params = request::set_mode(agent_session, mode_id);
        self.counted(options::SET_MODE, &params, self.inner.deadlines.other).await.map(drop)
    }

    async fn set_model(&self, agent_session: &str, model: &str) -> Result<(), RpcError> {
        let params = request::set_model(agent_session, model);
        self.counted(options::SET_MODEL, &params, self.inner.deadlines.other).await.map(drop)
    }

    pub(super) fn needs(&self, capability: bool, otherwise: &str) -> Result<(), RpcError> {
        if capability { Ok(()) } else { Err(RpcError::Unsupported(otherwise.to_owned())) }
    }

    pub(super) async fn counted(&self, method: &'static str, params: &Value, deadline: Duration) -> Result<Box<RawValue>, RpcError> {
        let what = method.rsplit('/').next().unwrap_or(method);
        let id = id::counted(what, self.peer().next_count());
        self.peer().request(&id, method, params, deadline).await
    }
}

/// The protocol wants absolute paths, whether or not an agent insists.
fn absolute(cwd: &Path) -> PathBuf {
    std::path::absolute(cwd).unwrap_or_else(|_| cwd.to_owned())
}

pub(super) fn malformed(method: &str) -> RpcError {
    RpcError::Malformed { method: method.to_owned() }
}
