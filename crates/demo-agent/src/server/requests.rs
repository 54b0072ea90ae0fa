//! The requests about sessions, one method each, and what they need of their parameters.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use uuid::Uuid;

use super::{CwdPolicy, Server, replay};
use crate::archive::{Record, Summary};
use crate::session::{Mode, Pace, Session};
use crate::wire::RpcError;

const PAGE: usize = 20;

pub(super) fn capabilities() -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": true, "audio": false, "embeddedContext": true },
            "sessionCapabilities": { "list": {}, "resume": {}, "close": {}, "delete": {} },
        },
        "agentInfo": { "name": "demo-agent", "title": "Demo agent", "version": env!("CARGO_PKG_VERSION") },
        "authMethods": [],
    })
}

pub(super) fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, RpcError> {
    params[name].as_str().ok_or_else(|| RpcError::invalid_params(format!("{name} is required and is a string")))
}

impl Server {
    /// Answers by itself: what follows from a new session is sent after the answer.
    pub(super) fn new_session(&self, id: &Value, params: &Value) {
        match self.make_session(params) {
            Ok(session) => {
                let mut result = json!({ "sessionId": session.id });
                merge(&mut result, session.settings());
                self.peer.respond(id, Ok(result));
                self.peer.update(&session.id, &available_commands());
            }
            Err(error) => self.peer.respond(id, Err(error)),
        }
    }

    fn make_session(&self, params: &Value) -> Result<Arc<Session>, RpcError> {
        let cwd = self.directory(text(params, "cwd")?)?;
        let id = Uuid::new_v4().to_string();
        let log = self.archive.create(&id).map_err(disk)?;
        let session = Arc::new(Session::new(id.clone(), cwd.clone(), self.options.pace, log));
        session.record(&Record::Session { id: id.clone(), cwd, at: jiff::Timestamp::now() });
        self.sessions().insert(id, Arc::clone(&session));
        Ok(session)
    }

    pub(super) fn load_session(&self, params: &Value, with_replay: bool) -> Result<Value, RpcError> {
        let id = text(params, "sessionId")?;
        if self.loaded(id).is_some() {
            return Err(RpcError::invalid_params(format!("session {id} is already loaded")));
        }
        let (records, log) = self.archive.restore(id).map_err(disk)?.ok_or_else(|| RpcError::unknown_session(id))?;
        let stored = records.iter().rev().find_map(|record| match record {
            Record::Session { cwd, .. } | Record::Cwd { cwd } => Some(cwd.clone()),
            _ => None,
        });
        let cwd = match (params["cwd"].as_str(), &stored) {
            (Some(given), _) => self.directory(given)?,
            (None, Some(stored)) => self.directory(&stored.display().to_string())?,
            (None, None) => return Err(RpcError::invalid_params("cwd is required")),
        };
        let session = Arc::new(Session::new(id.to_owned(), cwd.clone(), self.options.pace, log));
        if stored.as_ref() != Some(&cwd) {
            session.record(&Record::Cwd { cwd });
        }
        session.remember(&records);
        if with_replay {
            replay::updates(&records).for_each(|update| self.peer.update(id, &update));
        }
        self.sessions().insert(id.to_owned(), Arc::clone(&session));
        self.peer.update(id, &available_commands());
        Ok(session.settings())
    }

    pub(super) fn list_sessions(&self, params: &Value) -> Result<Value, RpcError> {
        let mut all = self.archive.list().map_err(disk)?;
        if let Some(cwd) = params["cwd"].as_str() {
            let cwd = PathBuf::from(cwd);
            let resolved = cwd.canonicalize().unwrap_or(cwd);
            all.retain(|summary| summary.cwd == resolved);
        }
        let start = match params["cursor"].as_str() {
            Some(cursor) => after(&all, cursor)?,
            None => 0,
        };
        let page = &all[start..all.len().min(start + PAGE)];
        let mut result = json!({ "sessions": page.iter().map(listed).collect::<Vec<_>>() });
        if let (true, Some(last)) = (start + PAGE < all.len(), page.last()) {
            let (age, id) = last.sort_key();
            result["nextCursor"] = json!(format!("{}.{id}", age.0));
        }
        Ok(result)
    }

    pub(super) fn close_session(&self, params: &Value) -> Result<Value, RpcError> {
        let id = text(params, "sessionId")?;
        let session = self.sessions().remove(id).ok_or_else(|| RpcError::unknown_session(id))?;
        session.cancel();
        Ok(json!({}))
    }

    pub(super) fn delete_session(&self, params: &Value) -> Result<Value, RpcError> {
        let id = text(params, "sessionId")?;
        let loaded = self.sessions().remove(id);
        if let Some(session) = &loaded {
            session.cancel();
        }
        let stored = self.archive.delete(id).map_err(disk)?;
        if loaded.is_none() && !stored {
            return Err(RpcError::unknown_session(id));
        }
        Ok(json!({}))
    }

    pub(super) fn set_mode(&self, params: &Value) -> Result<Value, RpcError> {
        let session = self.session(params)?;
        self.change(&session, "mode", text(params, "modeId")?)?;
        Ok(json!({}))
    }

    pub(super) fn set_config_option(&self, params: &Value) -> Result<Value, RpcError> {
        let session = self.session(params)?;
        self.change(&session, text(params, "configId")?, text(params, "value")?)?;
        Ok(json!({ "configOptions": session.config_options() }))
    }

    fn change(&self, session: &Session, option: &str, value: &str) -> Result<(), RpcError> {
        let unknown = || RpcError::invalid_params(format!("{value:?} is no value of {option}"));
        match option {
            "mode" => {
                session.set_mode(Mode::from_id(value).ok_or_else(unknown)?);
                let update = json!({ "sessionUpdate": "current_mode_update", "currentModeId": value });
                self.peer.update(&session.id, &update);
            }
            "pace" => session.set_pace(Pace::from_id(value).ok_or_else(unknown)?),
            _ => return Err(RpcError::invalid_params(format!("there is no option {option:?}"))),
        }
        let options = session.config_options();
        let update = json!({ "sessionUpdate": "config_option_update", "configOptions": options });
        self.peer.update(&session.id, &update);
        Ok(())
    }

    fn directory(&self, given: &str) -> Result<PathBuf, RpcError> {
        let path = PathBuf::from(given);
        if !path.is_absolute() {
            return Err(RpcError::invalid_params(format!("cwd {given:?} is not absolute")));
        }
        let path = path
            .canonicalize()
            .ok()
            .filter(|path| path.is_dir())
            .ok_or_else(|| RpcError::invalid_params(format!("cwd {given:?} is no directory")))?;
        let inside = match &self.options.cwd_policy {
            CwdPolicy::AnyDirectory => true,
            CwdPolicy::Within(root) => root.canonicalize().is_ok_and(|root| path.starts_with(root)),
        };
        match inside {
            true => Ok(path),
            false => Err(RpcError::invalid_params(format!("cwd {given:?} is not allowed here"))),
        }
    }
}

/// Where the page that follows `cursor` starts. A cursor names the last session that was shown, so sessions
/// made meanwhile do not shift the pages.
fn after(all: &[Summary], cursor: &str) -> Result<usize, RpcError> {
    let (age, id) = cursor
        .split_once('.')
        .and_then(|(age, id)| Some((age.parse::<i128>().ok()?, id)))
        .ok_or_else(|| RpcError::invalid_params(format!("unknown cursor {cursor:?}")))?;
    let last = (std::cmp::Reverse(age), id);
    Ok(all.partition_point(|summary| summary.sort_key() <= last))
}

fn listed(summary: &Summary) -> Value {
    let mut entry = json!({ "sessionId": summary.id, "cwd": summary.cwd, "updatedAt": summary.updated.to_string() });
    if let Some(title) = &summary.title {
        entry["title"] = json!(title);
    }
    entry
}

fn available_commands() -> Value {
    json!({
        "sessionUpdate": "available_commands_update",
        "availableCommands": [
            { "name": "help", "description": "Say what this agent can do" },
            { "name": "list", "description": "List the files", "input": { "hint": "directory" } },
            { "name": "read", "description": "Show a file", "input": { "hint": "file" } },
            { "name": "run", "description": "Run a shell command", "input": { "hint": "command" } },
            { "name": "count", "description": "Count, one word at a time", "input": { "hint": "to N" } },
        ],
    })
}

fn merge(target: &mut Value, more: Value) {
    if let (Some(target), Value::Object(more)) = (target.as_object_mut(), more) {
        target.extend(more);
    }
}

fn disk(error: std::io::Error) -> RpcError {
    RpcError::internal(format!("the session store failed: {error}"))
}
