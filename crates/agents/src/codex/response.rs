//! What the answers to our requests say.

use domain::text::clip;
use jiff::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::settings;
use crate::acp::response::{Capabilities, Listed, Next, Page, SESSION_ID_BYTES, Session, is_kept};
use crate::bounds::is_longer;

/// So many models are kept, and so much of what is said of one.
const MODELS: usize = 500;
const MODEL_BYTES: usize = 8 * 1024;

/// What every app-server of the tested version can do; it says nothing of it itself.
pub(crate) fn initialized(result: &RawValue) -> Option<Capabilities> {
    let result: Value = serde_json::from_str(result.get()).ok()?;
    Some(Capabilities {
        load: true,
        resume: true,
        list: true,
        close: true,
        delete: true,
        image: true,
        mcp_http: true,
        logout: true,
        agent_name: Some("codex".to_owned()),
        agent_title: Some("Codex".to_owned()),
        agent_version: result["userAgent"].as_str().and_then(version).map(|version| clip(version, 200).to_owned()),
        ..Capabilities::default()
    })
}

/// The user agent is `client/version (system) …`, with our name and the program's version.
fn version(user_agent: &str) -> Option<&str> {
    user_agent.split_once('/')?.1.split_whitespace().next()
}

/// Whether the configured model provider wants a login that is not there.
pub(crate) fn needs_login(result: &RawValue) -> bool {
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    result["requiresOpenaiAuth"] == true && result["account"].is_null()
}

pub(crate) fn opened(result: &RawValue, models: &[Value]) -> Option<Session> {
    let result: Value = serde_json::from_str(result.get()).ok()?;
    let agent_session = result["thread"]["id"].as_str().filter(|id| id.len() <= SESSION_ID_BYTES)?.to_owned();
    Some(Session { agent_session, modes: None, options: Some(settings::options(&result, models)).filter(is_kept) })
}

pub(crate) fn models(result: &RawValue) -> Vec<Value> {
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let models = result["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    models.iter().filter(|model| !is_longer(model, MODEL_BYTES)).take(MODELS).cloned().collect()
}

pub(crate) fn page(result: &RawValue) -> Option<Page> {
    let result: Value = serde_json::from_str(result.get()).ok()?;
    let sessions = result["data"].as_array()?.iter().filter_map(listed).collect();
    Some(Page { sessions, next: next(&result).map(Next::Cursor) })
}

fn listed(thread: &Value) -> Option<Listed> {
    let text = |key: &str| thread[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let updated_at = thread["updatedAt"].as_i64().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let listed = Listed {
        agent_session: text("id")?,
        cwd: text("cwd"),
        title: text("name").or_else(|| text("preview")),
        updated_at: updated_at.map(|time| time.to_string()),
    };
    listed.bounded()
}

/// Where the page after a page begins.
pub(crate) fn next_page(result: &RawValue) -> Option<String> {
    next(&serde_json::from_str(result.get()).ok()?)
}

fn next(result: &Value) -> Option<String> {
    result["nextCursor"].as_str().map(str::to_owned)
}
