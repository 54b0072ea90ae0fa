//! The parameters of what we send, built from the schema's types.

use std::path::Path;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{
    AuthCapabilities, CancelNotification, ClientCapabilities, ClientSessionCapabilities, CloseSessionRequest, CompactionCapabilities,
    ContentBlock, ElicitationCapabilities, ElicitationFormCapabilities, FileSystemCapabilities, Implementation, InitializeRequest,
    ListSessionsRequest, LoadSessionRequest, NewSessionRequest, NoticeCapabilities, PromptRequest, RequestPermissionOutcome,
    RequestPermissionResponse, ResumeSessionRequest, SelectedPermissionOutcome, SetSessionConfigOptionRequest, SetSessionModeRequest,
    TextContent,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::response::Next;
use crate::catalogue::Offers;

/// How many sessions of a list are asked for at a time, where that is to be said.
const LIST_LIMIT: u64 = 100;

/// Only what is implemented is advertised, and of that what is good for the agent.
pub fn initialize(offers: Offers) -> Value {
    let capabilities = ClientCapabilities::new()
        .fs(FileSystemCapabilities::new().read_text_file(offers.read).write_text_file(offers.write))
        .terminal(offers.terminal)
        .elicitation(ElicitationCapabilities::new().form(ElicitationFormCapabilities::new()))
        .auth(AuthCapabilities::new().terminal(true))
        .session(ClientSessionCapabilities::new().notices(NoticeCapabilities::new()).compaction(CompactionCapabilities::new()));
    let client = Implementation::new("voxpilot", env!("CARGO_PKG_VERSION")).title("VoxPilot".to_owned());
    value(&InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities).client_info(client))
}

/// `servers` are the MCP servers that the agent is given, here and below: the list is part of the request even when it is empty.
pub fn new(cwd: &Path, servers: Value) -> Value {
    with_servers(value(&NewSessionRequest::new(cwd)), servers)
}

pub fn load(agent_session: &str, cwd: &Path, servers: Value) -> Value {
    with_servers(value(&LoadSessionRequest::new(agent_session.to_owned(), cwd)), servers)
}

pub fn resume(agent_session: &str, cwd: &Path, servers: Value) -> Value {
    with_servers(value(&ResumeSessionRequest::new(agent_session.to_owned(), cwd)), servers)
}

pub(crate) fn list(cwd: Option<&Path>, next: Option<&Next>) -> Value {
    let request = ListSessionsRequest::new().cwd(cwd.map(Path::to_owned));
    match next {
        None => value(&request),
        Some(Next::Cursor(cursor)) => value(&request.cursor(cursor.clone())),
        Some(Next::Offset(offset)) => {
            let mut params = value(&request);
            params["offset"] = json!(offset);
            params
        }
    }
}

/// The parameters of a method for an agent that knows it by another name: what that dialect has besides.
pub(crate) fn under_alias(method: &str, mut params: Value) -> Value {
    match method {
        "session/new" => params["context"] = params["cwd"].clone(),
        "session/list" => params["limit"] = json!(LIST_LIMIT),
        _ => {}
    }
    params
}

pub fn close(agent_session: &str) -> Value {
    value(&CloseSessionRequest::new(agent_session.to_owned()))
}

pub fn delete(agent_session: &str) -> Value {
    json!({ "sessionId": agent_session })
}

/// The words come first, then what was sent along.
pub fn prompt(agent_session: &str, text: &str, along: &[ContentBlock]) -> Value {
    let mut blocks = vec![ContentBlock::Text(TextContent::new(text))];
    blocks.extend_from_slice(along);
    value(&PromptRequest::new(agent_session.to_owned(), blocks))
}

/// The same prompt for an agent that knows the method only under another name: those want the bare text, and what goes along with it
/// in a list of its own.
pub fn prompt_under_alias(agent_session: &str, text: &str, along: &[ContentBlock]) -> Value {
    let mut params = prompt(agent_session, text, along);
    params["message"] = json!(text);
    params["stream"] = json!(true);
    let attachments: Vec<Value> = along.iter().map(|block| attachment(&value(block))).collect();
    if !attachments.is_empty() {
        params["attachments"] = json!(attachments);
    }
    params
}

fn attachment(block: &Value) -> Value {
    let data = ["/data", "/uri", "/resource/text", "/resource/blob", "/text"].iter().find_map(|place| block.pointer(place));
    let mut attachment = json!({ "type": block["type"], "data": data });
    for (key, places) in [("mimeType", ["/mimeType", "/resource/mimeType"]), ("name", ["/name", "/resource/uri"])] {
        if let Some(known) = places.iter().find_map(|place| block.pointer(place)).filter(|known| !known.is_null()) {
            attachment[key] = known.clone();
        }
    }
    attachment
}

pub fn cancel(agent_session: &str) -> Value {
    value(&CancelNotification::new(agent_session.to_owned()))
}

pub fn set_mode(agent_session: &str, mode_id: &str) -> Value {
    value(&SetSessionModeRequest::new(agent_session.to_owned(), mode_id.to_owned()))
}

/// Gone from the protocol and still understood by agents that have no options.
pub fn set_model(agent_session: &str, model_id: &str) -> Value {
    json!({ "sessionId": agent_session, "modelId": model_id })
}

/// `value` is a string for a choice and a boolean for a switch; nothing else exists in the protocol.
pub(crate) fn set_option(agent_session: &str, config_id: &str, value: &OptionValue) -> Value {
    let (session, config) = (agent_session.to_owned(), config_id.to_owned());
    match value {
        OptionValue::Choice(choice) => self::value(&SetSessionConfigOptionRequest::new(session, config, choice.as_str())),
        OptionValue::Switch(on) => self::value(&SetSessionConfigOptionRequest::new(session, config, *on)),
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum OptionValue {
    Choice(String),
    Switch(bool),
}

/// The one valid form of an answer; any other counts as a denial.
pub fn permission_outcome(option_id: Option<&str>) -> Value {
    let outcome = match option_id {
        Some(id) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.to_owned())),
        None => RequestPermissionOutcome::Cancelled,
    };
    value(&RequestPermissionResponse::new(outcome))
}

fn with_servers(mut params: Value, servers: Value) -> Value {
    params["mcpServers"] = servers;
    params
}

fn value(params: &impl Serialize) -> Value {
    serde_json::to_value(params).expect("the schema's types always become JSON")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// S2-12, S2-16, S2-17, S2-19, S2-42, S2-43: what we send, as the protocol has it: an option is named by `configId`, a mode by an id that the
    /// agent gave.
    #[test]
    fn requests_have_the_protocols_shape() {
        let cwd = Path::new("/w");
        assert_eq!(
            initialize(Offers::ALL),
            json!({
                "protocolVersion": 1,
                "clientCapabilities": {
                    "fs": { "readTextFile": true, "writeTextFile": true },
                    "terminal": true,
                    "elicitation": { "form": {} },
                    "session": { "notices": {}, "compaction": {} },
                    "auth": { "terminal": true },
                },
                "clientInfo": { "name": "voxpilot", "title": "VoxPilot", "version": env!("CARGO_PKG_VERSION") },
            })
        );
        let bare = initialize(Offers { read: true, ..Offers::NONE });
        assert_eq!(bare["clientCapabilities"]["fs"], json!({ "readTextFile": true, "writeTextFile": false }));
        assert_eq!(bare["clientCapabilities"]["terminal"], json!(false));
        assert_eq!(new(cwd, json!([1])), json!({ "cwd": "/w", "mcpServers": [1] }));
        assert_eq!(load("s", cwd, json!([])), json!({ "sessionId": "s", "cwd": "/w", "mcpServers": [] }));
        assert_eq!(resume("s", cwd, json!([])), json!({ "sessionId": "s", "cwd": "/w", "mcpServers": [] }));
        assert_eq!(list(None, Some(&Next::Cursor("NTA=".into()))), json!({ "cursor": "NTA=" }));
        assert_eq!(prompt("s", "hi", &[]), json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "hi" }] }));
        assert_eq!(set_mode("s", "m"), json!({ "sessionId": "s", "modeId": "m" }));
        assert_eq!(
            set_option("s", "allow_all", &OptionValue::Choice("off".into())),
            json!({ "sessionId": "s", "configId": "allow_all", "value": "off" })
        );
        assert_eq!(
            set_option("s", "x", &OptionValue::Switch(true)),
            json!({ "sessionId": "s", "configId": "x", "type": "boolean", "value": true })
        );
    }

    /// S2-38, S2-39: the forms that the document gives count as a denial with real agents.
    #[test]
    fn a_permission_answer_has_the_one_valid_form() {
        let selected = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } });
        assert_eq!(permission_outcome(Some("allow_once")), selected);
        assert_eq!(permission_outcome(None), json!({ "outcome": { "outcome": "cancelled" } }));
    }

    /// S4-4, S4-5, S4-6, S4-21, S4-22: what the other dialect wants besides.
    #[test]
    fn under_another_name_a_request_has_both_shapes() {
        assert_eq!(list(None, Some(&Next::Offset(7))), json!({ "offset": 7 }));
        assert_eq!(under_alias("session/list", list(None, None)), json!({ "limit": 100 }));
        assert_eq!(under_alias("session/new", json!({ "cwd": "/w" })), json!({ "cwd": "/w", "context": "/w" }));
        let image: ContentBlock = serde_json::from_value(json!({ "type": "image", "data": "QQ==", "mimeType": "image/png" })).unwrap();
        let link: ContentBlock = serde_json::from_value(json!({ "type": "resource_link", "name": "a", "uri": "file:///w/a" })).unwrap();
        let params = prompt_under_alias("s", "hi", &[image, link]);
        assert_eq!((&params["sessionId"], &params["message"], &params["stream"]), (&json!("s"), &json!("hi"), &json!(true)));
        let expected = json!([
            { "type": "image", "data": "QQ==", "mimeType": "image/png" },
            { "type": "resource_link", "data": "file:///w/a", "name": "a" },
        ]);
        assert_eq!(params["attachments"], expected);
        assert_eq!(prompt_under_alias("s", "hi", &[]).get("attachments"), None);
    }
}
