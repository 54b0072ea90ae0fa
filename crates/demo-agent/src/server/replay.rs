//! What `session/load` sends again: a session's records as the updates a client would have seen. Pure.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::archive::Record;

/// One update for each prompt, message and tool call, in order. Thoughts, plans and progress are not kept.
pub(super) fn updates(records: &[Record]) -> impl Iterator<Item = Value> {
    let mut updates = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let ended: HashSet<&str> = records
        .iter()
        .filter_map(|record| match record {
            Record::ToolUpdate { update } => update["toolCallId"].as_str(),
            _ => None,
        })
        .collect();
    let mut said = String::new();
    for record in records {
        if let Record::Text { text } = record {
            said.push_str(text);
            continue;
        }
        if !said.is_empty() {
            updates.push(chunk("agent_message_chunk", &std::mem::take(&mut said)));
        }
        match record {
            Record::Prompt { text, .. } => updates.push(chunk("user_message_chunk", text)),
            Record::ToolCall { call } => {
                updates.push(call.clone());
                let id = call["toolCallId"].as_str().unwrap_or_default();
                if !ended.contains(id) {
                    open.push(id.to_owned());
                }
            }
            Record::ToolUpdate { update } => updates.push(update.clone()),
            _ => {}
        }
    }
    if !said.is_empty() {
        updates.push(chunk("agent_message_chunk", &said));
    }
    // A process that was killed in mid-call could not say how the call ended; nobody else will.
    updates.extend(open.into_iter().map(|id| {
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed",
            "rawOutput": { "message": "no result was recorded", "code": "interrupted" },
        })
    }));
    updates.into_iter()
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_texts_become_one_message_and_an_open_call_is_closed() {
        let text = |text: &str| Record::Text { text: text.into() };
        let records = [
            Record::Prompt { text: "hi".into(), at: jiff::Timestamp::UNIX_EPOCH },
            text("a "),
            text("b"),
            Record::ToolCall { call: json!({ "sessionUpdate": "tool_call", "toolCallId": "c" }) },
            text("never said to the end"),
        ];
        let kinds: Vec<(String, Value)> = updates(&records)
            .map(|update| {
                let kind = update["sessionUpdate"].as_str().unwrap_or_default().to_owned();
                (kind, update["content"]["text"].clone())
            })
            .collect();
        assert_eq!(
            kinds,
            [
                ("user_message_chunk".to_owned(), json!("hi")),
                ("agent_message_chunk".to_owned(), json!("a b")),
                ("tool_call".to_owned(), Value::Null),
                ("agent_message_chunk".to_owned(), json!("never said to the end")),
                ("tool_call_update".to_owned(), Value::Null),
            ]
        );
    }
}
