//! What the answers to our requests say. Every field is optional on the wire; what is missing is `false` or nothing.

use domain::text::clip;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::decoder::{TurnIds, failed};
use super::usage::Tokens;
use crate::bounds::{OPTIONS_BYTES, is_longer};
use crate::fault::RpcError;
use crate::login::LoginCommand;
use crate::options;
use crate::signal::PromptEnd;

pub(crate) const END_TURN: &str = "end_turn";
const STOP_REASON_BYTES: usize = 200;
/// The id of a session goes into every request about it.
pub(crate) const SESSION_ID_BYTES: usize = 1024;
/// What an agent says of itself, each, and the ways to log in, all of them.
const NAME_BYTES: usize = 200;
const LOGIN_BYTES: usize = 64 * 1024;
/// What is kept of a session in an agent's list.
const LISTED_TITLE_BYTES: usize = 500;
const LISTED_PATH_BYTES: usize = 4096;

/// What an agent said about itself when it was initialised; stored, for a server that adopts the process later.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    pub load: bool,
    pub resume: bool,
    pub list: bool,
    pub close: bool,
    pub delete: bool,
    pub image: bool,
    pub audio: bool,
    pub embedded_context: bool,
    pub mcp_http: bool,
    pub mcp_sse: bool,
    pub logout: bool,
    pub agent_name: Option<String>,
    pub agent_title: Option<String>,
    pub agent_version: Option<String>,
    /// The ways to log in, as the agent describes them.
    pub auth_methods: Vec<Value>,
    /// The command that logs in, where the agent names one.
    pub login: Option<LoginCommand>,
}

/// A session that the agent has opened, as it describes it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Session {
    pub agent_session: String,
    pub modes: Option<Value>,
    /// What can be set, in the shape of [`options::unified`].
    pub options: Option<Value>,
}

/// A session that the agent has stored.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    #[serde(rename = "sessionId", alias = "id")]
    pub agent_session: String,
    pub cwd: Option<String>,
    pub title: Option<String>,
    #[serde(alias = "updated_at")]
    pub updated_at: Option<String>,
}

pub(crate) struct Page {
    pub sessions: Vec<Listed>,
    pub next: Option<Next>,
}

/// Where a list goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Cursor(String),
    /// In the other dialect: behind so many.
    Offset(u64),
}

/// The version the agent answered, as text, and what it can do.
pub(crate) fn initialized(result: &RawValue) -> Option<(String, Capabilities)> {
    let result: Value = serde_json::from_str(result.get()).ok()?;
    let version = match &result["protocolVersion"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let agent = &result["agentCapabilities"];
    let flag = |pointer: &str| agent.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
    // A capability of this kind is an object, and an empty one means yes.
    let offered = |pointer: &str| agent.pointer(pointer).is_some_and(|value| !value.is_null() && *value != false);
    let info = |key: &str| result["agentInfo"][key].as_str().map(|text| clip(text, NAME_BYTES).to_owned());
    let methods = &result["authMethods"];
    let methods = methods.as_array().filter(|_| !is_longer(methods, LOGIN_BYTES)).map(Vec::as_slice).unwrap_or_default();
    let capabilities = Capabilities {
        load: flag("/loadSession"),
        resume: offered("/sessionCapabilities/resume"),
        list: offered("/sessionCapabilities/list"),
        close: offered("/sessionCapabilities/close"),
        delete: offered("/sessionCapabilities/delete"),
        image: flag("/promptCapabilities/image"),
        audio: flag("/promptCapabilities/audio"),
        embedded_context: flag("/promptCapabilities/embeddedContext"),
        mcp_http: flag("/mcpCapabilities/http"),
        mcp_sse: flag("/mcpCapabilities/sse"),
        logout: offered("/auth/logout"),
        agent_name: info("name"),
        agent_title: info("title"),
        agent_version: info("version"),
        login: LoginCommand::advertised(methods),
        auth_methods: methods.to_vec(),
    };
    Some((version, capabilities))
}

/// `asked_for` names the session where the answer need not (`session/load` may answer `null`).
pub(crate) fn opened(result: &RawValue, asked_for: Option<&str>) -> Option<Session> {
    let mut result: Value = serde_json::from_str(result.get()).ok()?;
    let answered = ["sessionId", "id"].into_iter().find_map(|key| result.get(key)?.as_str());
    let agent_session = asked_for.or(answered).filter(|id| id.len() <= SESSION_ID_BYTES)?.to_owned();
    let mut take = |key: &str| result.get_mut(key).map(Value::take).filter(|value| !value.is_null());
    let (modes, models) = (take("modes"), take("models"));
    let options = options::unified(take("configOptions"), modes.as_ref(), models.as_ref());
    Some(Session { agent_session, modes: modes.filter(is_kept), options: options.filter(is_kept) })
}

/// Whether what can be set is short enough to be kept. Without it a session works as well, with what the agent itself has chosen.
pub(crate) fn is_kept(described: &Value) -> bool {
    let is_kept = !is_longer(described, OPTIONS_BYTES);
    if !is_kept {
        tracing::warn!("the agent's list of options is too long to keep");
    }
    is_kept
}

pub(crate) fn page(result: &RawValue) -> Option<Page> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Shape {
        sessions: Vec<Value>,
        next_cursor: Option<String>,
        next_offset: Option<u64>,
    }
    let shape: Shape = serde_json::from_str(result.get()).ok()?;
    let sessions = shape.sessions.into_iter().filter_map(listed).collect();
    let cursor = shape.next_cursor.filter(|cursor| !cursor.is_empty()).map(Next::Cursor);
    Some(Page { sessions, next: cursor.or(shape.next_offset.map(Next::Offset)) })
}

/// One that tells only when it was made was last used then, as far as we know.
fn listed(mut entry: Value) -> Option<Listed> {
    let made = entry.get("created_at").or_else(|| entry.get("createdAt")).cloned();
    if let (Some(made), true) = (made, ["updatedAt", "updated_at"].iter().all(|key| entry.get(key).is_none())) {
        entry["updatedAt"] = made;
    }
    serde_json::from_value(entry).ok().and_then(Listed::bounded)
}

impl Listed {
    /// One whose id or path is too long could not be opened.
    pub(crate) fn bounded(self) -> Option<Listed> {
        let opens = self.agent_session.len() <= SESSION_ID_BYTES && self.cwd.as_ref().is_none_or(|cwd| cwd.len() <= LISTED_PATH_BYTES);
        let short = |words: Option<String>| words.map(|words| clip(&words, LISTED_TITLE_BYTES).to_owned());
        opens.then(|| Listed { title: short(self.title), updated_at: short(self.updated_at), ..self })
    }
}

pub(crate) enum PromptAnswer {
    Ended(PromptEnd, Option<Tokens>),
    /// Some non-standard agents answer at once and tell the end in a notification.
    Accepted(TurnIds),
    Failed(RpcError),
    Unreadable,
}

pub(crate) fn prompt(result: &RawValue) -> PromptAnswer {
    let Ok(result) = serde_json::from_str::<Value>(result.get()) else { return PromptAnswer::Unreadable };
    if let Some(stop_reason) = result["stopReason"].as_str() {
        let end = PromptEnd { stop_reason: clip(stop_reason, STOP_REASON_BYTES).to_owned() };
        return PromptAnswer::Ended(end, result.get("usage").and_then(Tokens::read));
    }
    let turn = TurnIds::of(["turnId", "requestId", "messageId"].into_iter().filter_map(|key| Some((key, result.get(key)?))));
    match result["status"].as_str() {
        Some("completed") => PromptAnswer::Ended(PromptEnd { stop_reason: END_TURN.to_owned() }, None),
        Some("error") => PromptAnswer::Failed(failed(result.get("detail").or(result.get("error")).cloned())),
        None if turn == TurnIds::default() => PromptAnswer::Unreadable,
        _ => PromptAnswer::Accepted(turn),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn capabilities_are_read_by_presence_or_by_flag() {
        let (version, capabilities) = initialized(&raw(
            r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"close":{},"list":null},
               "promptCapabilities":{"image":true,"text":true}},"agentInfo":{"name":"A","version":"2"},"authMethods":[{"id":"x"}]}"#,
        ))
        .unwrap();
        assert_eq!(version, "1");
        assert!(capabilities.load && capabilities.close && capabilities.image);
        assert!(!capabilities.list && !capabilities.resume && !capabilities.mcp_http);
        assert_eq!(capabilities.agent_version.as_deref(), Some("2"));
        assert_eq!(capabilities.auth_methods.len(), 1);
        let (version, bare) = initialized(&raw("{}")).unwrap();
        assert_eq!((version.as_str(), bare), ("null", Capabilities::default()));
    }

    #[test]
    fn a_load_may_answer_null() {
        let opened = opened(&raw("null"), Some("s")).unwrap();
        assert_eq!(opened, Session { agent_session: "s".into(), modes: None, options: None });
        assert!(super::opened(&raw("{}"), None).is_none());
    }

    #[test]
    fn an_unknown_stop_reason_is_passed_on() {
        assert!(matches!(prompt(&raw(r#"{"stopReason":"nap"}"#)), PromptAnswer::Ended(end, None) if end.stop_reason == "nap"));
        assert!(matches!(prompt(&raw(r#"{"turnId":"1","status":"processing"}"#)), PromptAnswer::Accepted(turn) if turn.0.len() == 1));
        assert!(matches!(prompt(&raw(r#"{"status":"completed"}"#)), PromptAnswer::Ended(end, None) if end.stop_reason == END_TURN));
        assert!(matches!(prompt(&raw(r#"{"status":"error","detail":"why"}"#)), PromptAnswer::Failed(error) if error.to_string() == "why"));
        assert!(matches!(prompt(&raw("null")), PromptAnswer::Unreadable));
    }

    /// S4-4, S4-23, S4-24: sessions and pages as the other dialect has them.
    #[test]
    fn a_list_is_read_in_either_shape() {
        let page = page(&raw(
            r#"{"sessions":[{"id":"a","title":"A","created_at":"1","updated_at":"2","status":"active"},{"id":"b","created_at":"1"},
               {"sessionId":"c","updatedAt":"3"},{"title":"no id"}],"nextOffset":2}"#,
        ))
        .unwrap();
        let read: Vec<_> = page.sessions.iter().map(|listed| (listed.agent_session.as_str(), listed.updated_at.as_deref())).collect();
        assert_eq!(read, [("a", Some("2")), ("b", Some("1")), ("c", Some("3"))]);
        assert_eq!(page.next, Some(Next::Offset(2)));
        assert_eq!(super::page(&raw(r#"{"sessions":[],"nextCursor":"x"}"#)).unwrap().next, Some(Next::Cursor("x".into())));
        assert_eq!(super::page(&raw(r#"{"sessions":[],"nextCursor":"","nextOffset":null}"#)).unwrap().next, None);
    }
}
