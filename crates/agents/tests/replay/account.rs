//! Accounts for one `session/update`: reads it a second time, in the plainest way, and compares with what the decoder made of it.

use agents::{Part, Signal};
use domain::agent::{PlanEntry, ToolCall, Update};
use serde_json::Value;

/// What was lost or misread, in words.
pub(crate) fn check(params: &Value, signals: &[Signal]) -> Result<(), String> {
    let update = &params["update"];
    let text = update["content"]["text"].as_str();
    let seen = match signals {
        // Some agents send empty chunks.
        [] if text == Some("") => return Ok(()),
        // What says nothing of the title is for other clients.
        [] if update["sessionUpdate"] == "session_info_update" && update.get("title").is_none() => return Ok(()),
        [signal] => Seen::of(signal, params["sessionId"].as_str().unwrap())?,
        // A report that comes with more output, or only with that.
        [call, output] if output_of(output) == streamed(update) && streamed(update).is_some() => {
            Seen::of(call, params["sessionId"].as_str().unwrap())?
        }
        other => return Err(format!("{} signals", other.len())),
    };
    let fits = match (update["sessionUpdate"].as_str().unwrap(), &seen) {
        ("agent_message_chunk", Seen::Text(read)) => Some(*read) == text,
        ("agent_message_chunk", Seen::Update(Update::Notice { level, text: read, in_text: true, .. })) => {
            let marked = |text: &str| text.to_lowercase().starts_with(&format!("{level}: ")) && text.ends_with(read.as_str());
            // An answer of the model's server that was passed on: its words are what is read.
            // A fault in fixed words is kept as it was said.
            text.is_some_and(|text| marked(text) || text == read || (text.starts_with(r#"{"error""#) && text.contains(read.as_str())))
        }
        ("agent_thought_chunk", Seen::Update(Update::Thought { text: read })) => Some(read.as_str()) == text,
        ("user_message_chunk", Seen::Update(Update::UserMessage { text: read })) => Some(read.as_str()) == text,
        ("agent_message_chunk" | "user_message_chunk", Seen::Update(Update::Content { content })) => content.parse() == update["content"],
        ("tool_call" | "tool_call_update", Seen::Update(Update::ToolCall(call))) => return same_call(update, call),
        ("plan", Seen::Update(Update::Plan { entries })) => {
            let told = update["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
            let same = |(entry, told): (&PlanEntry, &Value)| {
                told["content"] == entry.content.as_str()
                    && told["priority"].as_str().is_none_or(|priority| priority == entry.priority)
                    && told["status"].as_str().is_none_or(|status| status == entry.status)
            };
            entries.len() == told.len() && entries.iter().zip(told).all(same)
        }
        ("usage_update", Seen::Update(Update::Usage { used, size, .. })) => {
            (*used, *size) == (update["used"].as_u64(), update["size"].as_u64())
        }
        ("session_info_update", Seen::Update(Update::Title { title })) => title.as_deref() == update["title"].as_str(),
        ("available_commands_update", Seen::Update(Update::Commands { commands })) => {
            let names = commands.iter().map(|command| Some(command.name.as_str()));
            names.eq(update["availableCommands"].as_array().unwrap().iter().map(|command| command["name"].as_str()))
        }
        ("current_mode_update", Seen::Update(Update::Mode { mode_id })) => Some(mode_id.as_str()) == update["currentModeId"].as_str(),
        ("config_option_update", Seen::Update(Update::Options { options })) => *options == update["configOptions"],
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("misread as {signals:?}")) }
}

enum Seen<'a> {
    Text(&'a str),
    Update(&'a Update),
}

impl<'a> Seen<'a> {
    fn of(signal: &'a Signal, session: &str) -> Result<Seen<'a>, String> {
        let (agent_session, seen) = match signal {
            Signal::Text { agent_session, text } => (agent_session, Seen::Text(text)),
            Signal::Update { agent_session, update } => (agent_session, Seen::Update(update)),
            Signal::Replay { agent_session, part: Part::Text(text) } => (agent_session, Seen::Text(text)),
            Signal::Replay { agent_session, part: Part::Update(update) } => (agent_session, Seen::Update(update)),
            other => return Err(format!("became {other:?}")),
        };
        if **agent_session == *session { Ok(seen) } else { Err(format!("counted for {agent_session}")) }
    }
}

fn streamed(update: &Value) -> Option<&str> {
    update["_meta"]["terminal_output_delta"]["data"].as_str()
}

fn output_of(signal: &Signal) -> Option<&str> {
    match signal {
        Signal::Update { update: Update::ToolOutput { content, .. }, .. } => Some(content),
        Signal::Replay { part: Part::Update(update), .. } => match &**update {
            Update::ToolOutput { content, .. } => Some(content),
            _ => None,
        },
        _ => None,
    }
}

/// What the report mentions is what the call says now.
fn same_call(update: &Value, call: &ToolCall) -> Result<(), String> {
    let words = [("title", &call.title), ("kind", &call.kind), ("status", &call.status)];
    let words = words.iter().all(|(field, now)| update[*field].as_str().is_none_or(|told| now.as_deref() == Some(told)));
    let raw = [("rawInput", &call.input), ("rawOutput", &call.output)];
    let raw = raw.iter().all(|(field, now)| update[*field].is_null() || now.as_ref().is_some_and(|now| now.parse() == update[*field]));
    let exit = update["rawOutput"]["contents"].as_array().and_then(|parts| parts.iter().rev().find_map(|part| part["exitCode"].as_i64()));
    let content = update["content"].is_null() || call.content.as_ref().map_or(0, Vec::len) == length(&update["content"]);
    let locations = update["locations"].is_null() || call.locations.as_ref().map_or(0, Vec::len) == length(&update["locations"]);
    let parent = update["_meta"]["github.com/copilot"]["agentId"].as_str().is_none_or(|told| call.parent.as_deref() == Some(told));
    let same = update["toolCallId"] == call.id.as_str() && words && raw && content && locations && parent;
    if same && (exit.is_none() || call.exit_code == exit) { Ok(()) } else { Err(format!("misread as {call:?}")) }
}

fn length(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}
