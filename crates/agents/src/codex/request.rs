//! The parameters of what we send.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::settings::Mode;
use crate::acp::content::{Attached, TEXT_ONLY, not_sent};
use crate::acp::mcp::{McpServer, Transport};
use crate::fault::RpcError;

pub const INITIALIZE: &str = "initialize";
pub const START: &str = "thread/start";
pub const RESUME: &str = "thread/resume";
pub const LIST: &str = "thread/list";
pub const HISTORY: &str = "thread/turns/list";
pub const CLOSE: &str = "thread/unsubscribe";
pub const DELETE: &str = "thread/delete";
pub const SET: &str = "thread/settings/update";
pub const PROMPT: &str = "turn/start";
pub const INTERRUPT: &str = "turn/interrupt";
/// Ends the commands of a thread that still run. A stop leaves them.
pub const END_COMMANDS: &str = "thread/backgroundTerminals/clean";
pub const MODELS: &str = "model/list";
pub const ACCOUNT: &str = "account/read";
pub const LOGOUT: &str = "account/logout";

/// Conversations asked for at a time, and turns of one: those come with all that was printed in them, on one line.
const PAGE: u64 = 100;
const TURNS: u64 = 20;

/// What people started, in whatever program: what Codex starts for itself belongs to one of these.
const SOURCES: [&str; 4] = ["cli", "vscode", "exec", "appServer"];

/// `experimentalApi` is what lets a thread's settings be changed between turns.
pub fn initialize() -> Value {
    json!({
        "clientInfo": { "name": "voxpilot", "title": "VoxPilot", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": { "experimentalApi": true },
    })
}

/// The line that ends the greeting.
pub fn initialized() -> Vec<u8> {
    br#"{"jsonrpc":"2.0","method":"initialized"}"#.to_vec()
}

/// A thread starts in the mode that asks, whatever the program's own configuration says.
pub fn start(cwd: &Path, servers: &[McpServer]) -> Value {
    asking(json!({ "cwd": cwd }), servers)
}

/// Without its history, which we have.
pub fn resume(thread: &str, cwd: &Path, servers: &[McpServer]) -> Value {
    asking(json!({ "threadId": thread, "cwd": cwd, "excludeTurns": true }), servers)
}

fn asking(mut params: Value, servers: &[McpServer]) -> Value {
    let mode = Mode::ReadOnly;
    params["approvalPolicy"] = json!(mode.approval_policy());
    params["approvalsReviewer"] = json!("user");
    params["sandbox"] = json!(mode.as_str());
    if let Some(config) = mcp_config(servers) {
        params["config"] = config;
    }
    params
}

/// As they stand in the program's own configuration, where there are no servers of the kind `sse`.
fn mcp_config(servers: &[McpServer]) -> Option<Value> {
    let pairs =
        |pairs: &[(String, String)]| -> Map<String, Value> { pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect() };
    let mut entries = Map::new();
    for server in servers {
        let entry = match &server.transport {
            Transport::Stdio { command, args, env } => json!({ "command": command, "args": args, "env": pairs(env) }),
            Transport::Http { url, headers } => json!({ "url": url, "http_headers": pairs(headers) }),
            Transport::Sse { .. } => {
                tracing::warn!(server = server.name, "the agent does not take MCP servers of this kind");
                continue;
            }
        };
        entries.insert(server.name.clone(), entry);
    }
    (!entries.is_empty()).then(|| json!({ "mcp_servers": entries }))
}

/// Of all model providers, which it would otherwise leave out but for the configured one.
pub fn list(cwd: Option<&Path>, cursor: Option<&str>) -> Value {
    let mut params = json!({ "limit": PAGE, "modelProviders": [], "sourceKinds": SOURCES });
    if let Some(cwd) = cwd {
        params["cwd"] = json!(cwd);
    }
    if let Some(cursor) = cursor {
        params["cursor"] = json!(cursor);
    }
    params
}

/// A page of what was said in a thread, the oldest first.
pub fn history(thread: &str, cursor: Option<&str>) -> Value {
    let mut params = json!({ "threadId": thread, "limit": TURNS, "sortDirection": "asc", "itemsView": "full" });
    if let Some(cursor) = cursor {
        params["cursor"] = json!(cursor);
    }
    params
}

pub fn thread(thread: &str) -> Value {
    json!({ "threadId": thread })
}

/// The words come first, then what was sent along.
pub(crate) fn prompt(thread: &str, text: &str, attached: &[Attached]) -> Result<Value, RpcError> {
    let mut input = vec![text_input(text)];
    for attached in attached {
        input.push(attached_input(attached)?);
    }
    Ok(json!({ "threadId": thread, "input": input }))
}

fn text_input(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Why it does not take this, if it does not.
pub(crate) fn refusal(attached: &Attached) -> Option<&'static str> {
    match attached {
        Attached::File { data, .. } if std::str::from_utf8(data).is_err() => Some(TEXT_ONLY),
        _ => None,
    }
}

fn attached_input(attached: &Attached) -> Result<Value, RpcError> {
    match attached {
        Attached::Image { mime_type, data, .. } => {
            Ok(json!({ "type": "image", "url": format!("data:{mime_type};base64,{}", STANDARD.encode(data)) }))
        }
        Attached::File { name, data, .. } => match std::str::from_utf8(data) {
            Ok(text) => Ok(text_input(&format!("Attached file `{name}`:\n\n{text}"))),
            Err(_) => Err(RpcError::Unsupported(not_sent(TEXT_ONLY, &[name.as_str()]))),
        },
        Attached::Link { name, path, .. } => Ok(text_input(&format!("`{name}` is at {}", path.display()))),
    }
}

pub fn interrupt(thread: &str, turn: &str) -> Value {
    json!({ "threadId": thread, "turnId": turn })
}

pub fn models() -> Value {
    json!({ "limit": PAGE })
}

pub fn account() -> Value {
    json!({ "refreshToken": false })
}
