//! A page of what a thread has stored, as a replay.

use std::sync::Arc;

use domain::agent::Update;
use serde_json::Value;

use crate::acp::update;
use crate::codex::item;
use crate::signal::Signals;

pub(super) fn replay(thread: &Arc<str>, page: &str, signals: &mut Signals) {
    let page = update::value(page);
    let turns = page["data"].as_array().into_iter().flatten();
    for item in turns.filter_map(|turn| turn["items"].as_array()).flatten() {
        replay_item(thread, item, signals);
    }
}

fn replay_item(thread: &Arc<str>, item: &Value, signals: &mut Signals) {
    let update = match item["type"].as_str() {
        Some("agentMessage" | "plan") => return signals.replayed_text(thread, item["text"].as_str().unwrap_or_default()),
        Some("userMessage") => Update::UserMessage { text: said(&item["content"]) },
        Some("reasoning") => Update::Thought { text: thought(item) },
        _ => match item::call(item) {
            Some(mut call) => {
                call.content = call.content.or_else(|| Some(vec![item::printed(item)?]));
                Update::ToolCall(call)
            }
            None => return,
        },
    };
    if !matches!(&update, Update::UserMessage { text } | Update::Thought { text } if text.is_empty()) {
        signals.replayed(thread, update);
    }
}

/// What a person has said, without what went along.
fn said(content: &Value) -> String {
    content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The summaries of a thought, or the thought itself where there are none.
pub(super) fn thought(item: &Value) -> String {
    let parts = |key: &str| item[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join("\n\n");
    Some(parts("summary")).filter(|summary| !summary.is_empty()).unwrap_or_else(|| parts("content"))
}
