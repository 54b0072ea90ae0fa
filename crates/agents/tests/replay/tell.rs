//! Signals in words, one line each, for a snapshot that a person can read.

use std::collections::HashMap;

use agents::{Part, Signal};
use domain::agent::{Demand, PermissionAsk, ToolCall, ToolContent, Update};
use serde_json::Value;

/// Ids by order of appearance.
#[derive(Default)]
pub(crate) struct Names(HashMap<String, usize>);

impl Names {
    fn name(&mut self, id: &str) -> String {
        let next = self.0.len() + 1;
        format!("#{}", self.0.entry(id.to_owned()).or_insert(next))
    }

    pub(crate) fn tell(&mut self, signal: &Signal) -> String {
        match signal {
            Signal::Text { agent_session, text } => format!("{} text {}", self.name(agent_session), short(text)),
            Signal::Update { agent_session, update } => format!("{} {}", self.name(agent_session), self.update(update)),
            Signal::Replay { agent_session, part } => {
                let part = match part {
                    Part::Text(text) => format!("text {}", short(text)),
                    Part::Update(update) => self.update(update),
                };
                format!("{} replay {part}", self.name(agent_session))
            }
            Signal::Demand { agent_session, rpc_id, demand: Demand::Permission(ask), .. } => {
                format!("{} permission {rpc_id} {}", self.name(agent_session), self.ask(ask))
            }
            Signal::PromptEnded { call_id, result: Ok(end) } => format!("end {call_id} {}", end.stop_reason),
            Signal::PromptEnded { call_id, result: Err(failure) } => {
                format!("end {call_id} {:?} {}", failure.fault, short(&failure.message))
            }
            other => short(&format!("{other:?}")),
        }
    }

    fn update(&mut self, update: &Update) -> String {
        match update {
            Update::Thought { text } => format!("thought {}", short(text)),
            Update::UserMessage { text } => format!("user {}", short(text)),
            Update::ToolCall(call) => format!("call {}", self.call(call)),
            Update::Commands { commands } => format!("commands {}", commands.len()),
            Update::Options { options } => {
                let value = |option: &Value| format!("{}={}", option["id"], option["currentValue"]);
                let values: Vec<String> = options.as_array().unwrap().iter().map(value).collect();
                format!("options {}", values.join(" "))
            }
            other => short(&serde_json::to_string(other).unwrap()),
        }
    }

    fn call(&mut self, call: &ToolCall) -> String {
        let content: Vec<String> = call.content.iter().flatten().map(content).collect();
        format!(
            "{} {} {} {} input={} content={content:?} at={:?} exit={:?} by={:?}",
            self.name(&call.id),
            call.kind.as_deref().unwrap_or("-"),
            call.status.as_deref().unwrap_or("-"),
            short(call.title.as_deref().unwrap_or("-")),
            call.input.as_ref().map_or(0, |input| input.text().len()),
            call.locations.iter().flatten().map(|location| location.path.as_str()).collect::<Vec<_>>(),
            call.exit_code,
            call.parent.as_ref().map(|parent| self.name(parent)),
        )
    }

    fn ask(&mut self, ask: &PermissionAsk) -> String {
        assert_eq!(ask.flaw(), None, "what a real agent asks is put to people");
        let options: Vec<String> = ask.options.iter().map(|option| format!("{}:{}", option.option_id, option.kind.as_str())).collect();
        format!(
            "{} {} {} command={:?} diff={:?} {options:?}",
            ask.agent_call.as_ref().map_or("-".to_owned(), |call| self.name(call)),
            ask.kind.as_deref().unwrap_or("-"),
            short(&ask.title),
            ask.command,
            ask.diff.as_ref().map(|diff| short(diff)),
        )
    }
}

fn content(content: &ToolContent) -> String {
    match content {
        ToolContent::Text { text } => short(text),
        ToolContent::Diff { path, old_text, new_text, .. } => {
            format!("diff {path} {} {}", old_text.as_ref().map_or("-".to_owned(), |old| short(old)), short(new_text))
        }
        ToolContent::Terminal { .. } => "terminal".to_owned(),
        ToolContent::Other { raw } => short(raw.text()),
    }
}

/// One line, not too long, saying how much there is.
fn short(text: &str) -> String {
    let line = text.replace('\n', "\\n");
    match line.char_indices().nth(100) {
        Some((at, _)) => format!("{}… ({} bytes)", &line[..at], text.len()),
        None => line,
    }
}
