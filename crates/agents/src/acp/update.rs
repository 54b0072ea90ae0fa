//! One `session/update`: text, a report of a tool call, or another update.

use std::borrow::Cow;

use domain::agent::{Command, PlanEntry, Update};
use serde::Deserialize;
use serde_json::Value;

use super::tool_call::{self, Report};
use crate::{bounds, jsonrpc};

pub(super) enum Piece {
    Text(String),
    ToolCall(Report),
    Update(Update),
    /// The agent's model has failed, or works again: codex-acp says so before it says the rest as text.
    Failing(bool),
    /// For other clients.
    Nothing,
}

/// Never fails: what cannot be understood comes back whole.
pub(super) fn read(json: &str) -> Piece {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow, rename = "sessionUpdate")]
        kind: Cow<'a, str>,
    }
    let Ok(Kind { kind }) = serde_json::from_str(json) else {
        return Piece::Update(Update::Unknown { kind: String::new(), raw: value(json).into() });
    };
    typed(&kind, json)
        .or_else(|| typed(&kind, &jsonrpc::repair_surrogates(json)?))
        .unwrap_or_else(|| Piece::Update(Update::Unknown { kind: kind.into_owned(), raw: value(json).into() }))
}

/// Any JSON as a value; what no value can hold (too deep, too large a number) is kept as its text.
pub(crate) fn value(json: &str) -> Value {
    serde_json::from_str(json)
        .ok()
        .or_else(|| serde_json::from_str(&jsonrpc::repair_surrogates(json)?).ok())
        .unwrap_or_else(|| Value::String(json.to_owned()))
}

/// `None` where the kind is unknown or its payload is not of the known shape.
fn typed(kind: &str, json: &str) -> Option<Piece> {
    let update = match kind {
        "agent_message_chunk" => return chunk(json, Piece::Text),
        "agent_thought_chunk" => return chunk(json, |text| Piece::Update(Update::Thought { text })),
        "user_message_chunk" => return chunk(json, |text| Piece::Update(Update::UserMessage { text })),
        "tool_call" | "tool_call_update" => {
            let mut report = tool_call::read(json).ok()?;
            report.is_whole = kind == "tool_call";
            return Some(Piece::ToolCall(report));
        }
        "plan" => plan(json)?,
        "usage_update" => usage(json)?,
        "session_info_update" => return info(json),
        "available_commands_update" => commands(json)?,
        "current_mode_update" => mode(json)?,
        "config_option_update" => Update::Options { options: field(json, "configOptions")? },
        "notice" => notice(json)?,
        "compaction_update" => compaction(json)?,
        "compaction_summary_chunk" => compaction_chunk(json)?,
        _ => return None,
    };
    Some(Piece::Update(update))
}

fn chunk(json: &str, of_text: impl Fn(String) -> Piece) -> Option<Piece> {
    let content = field(json, "content")?;
    match content {
        Value::Object(mut block) if block.get("type").is_some_and(|kind| kind == "text") => match block.get_mut("text").map(Value::take) {
            Some(Value::String(text)) => Some(of_text(text)),
            _ => None,
        },
        content => Some(Piece::Update(Update::Content { content: content.into() })),
    }
}

fn plan(json: &str) -> Option<Update> {
    #[derive(Deserialize)]
    struct Plan {
        #[serde(alias = "steps")]
        entries: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        #[serde(alias = "description")]
        content: String,
        #[serde(default)]
        priority: Option<String>,
        #[serde(default)]
        status: Option<String>,
    }
    let plan: Plan = serde_json::from_str(json).ok()?;
    let entries = plan.entries.into_iter().map(|entry| PlanEntry {
        content: entry.content,
        priority: entry.priority.unwrap_or_else(|| "medium".to_owned()),
        status: entry.status.unwrap_or_else(|| "pending".to_owned()),
    });
    Some(Update::Plan { entries: entries.collect() })
}

fn usage(json: &str) -> Option<Update> {
    #[derive(Deserialize)]
    struct Usage {
        used: Option<u64>,
        size: Option<u64>,
        cost: Option<Value>,
    }
    let Usage { used, size, cost } = serde_json::from_str(json).ok()?;
    Some(Update::usage(used, size, bounds::cost(cost)))
}

/// An update that does not mention the title says nothing about it, so it is not one of the title, and nothing for people.
fn info(json: &str) -> Option<Piece> {
    let status = |meta: Value| meta.pointer("/codex/threadStatus/type")?.as_str().map(|status| status == "systemError");
    match field(json, "title") {
        Some(Value::String(title)) => Some(Piece::Update(Update::Title { title: Some(title) })),
        Some(Value::Null) => Some(Piece::Update(Update::Title { title: None })),
        Some(_) => None,
        None => Some(field(json, "_meta").and_then(status).map_or(Piece::Nothing, Piece::Failing)),
    }
}

fn commands(json: &str) -> Option<Update> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Commands {
        available_commands: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        name: String,
        #[serde(default)]
        description: Option<String>,
    }
    let commands: Commands = serde_json::from_str(json).ok()?;
    let commands = commands
        .available_commands
        .into_iter()
        .map(|Entry { name, description }| Command { name, description: description.unwrap_or_default() });
    Some(Update::Commands { commands: commands.collect() })
}

fn mode(json: &str) -> Option<Update> {
    match field(json, "currentModeId").or_else(|| field(json, "modeId"))? {
        Value::String(mode_id) => Some(Update::Mode { mode_id }),
        _ => None,
    }
}

fn notice(json: &str) -> Option<Update> {
    #[derive(Deserialize)]
    struct Notice {
        severity: Option<String>,
        title: String,
        description: Option<String>,
    }
    let Notice { severity, title, description } = serde_json::from_str(json).ok()?;
    let text = match description {
        Some(description) => format!("{title}\n{description}"),
        None => title,
    };
    Some(Update::notice(severity.unwrap_or_else(|| "info".to_owned()), text))
}

fn compaction(json: &str) -> Option<Update> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Compaction {
        compaction_id: String,
        status: Option<String>,
        summary: Option<Vec<Value>>,
        error: Option<Value>,
    }
    let Compaction { compaction_id: id, status, summary, error } = serde_json::from_str(json).ok()?;
    let summary = summary.map(|blocks| blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n\n"));
    let error = error.filter(|error| !error.is_null()).map(|error| match error {
        Value::String(text) => text,
        other => other["message"].as_str().map_or_else(|| other.to_string(), str::to_owned),
    });
    Some(Update::Compaction { id, status, summary, appends: false, error })
}

fn compaction_chunk(json: &str) -> Option<Update> {
    let (Value::String(id), content) = (field(json, "compactionId")?, field(json, "content")?) else { return None };
    let text = content["text"].as_str()?.to_owned();
    Some(Update::Compaction { id, status: None, summary: Some(text), appends: true, error: None })
}

fn field(json: &str, key: &str) -> Option<Value> {
    match serde_json::from_str(json).ok()? {
        Value::Object(mut fields) => fields.get_mut(key).map(Value::take),
        _ => None,
    }
}
