//! The relay: a main AI without a model, which passes each message to the agent as it is.
//! It uses no network and knows of the tool only its name and its two arguments.

use serde_json::json;
use tokio::sync::mpsc::Sender;
use uuid::Uuid;

use crate::fault::Fault;
use crate::message::{Completion, Event, Message, Request, ToolCall};

pub(crate) const NAME: &str = "relay";

const TOOL: &str = "copilot_agent";
const DEFAULT_SESSION: &str = "main";

pub(crate) async fn complete(request: &Request, events: &Sender<Event>) -> Result<Completion, Fault> {
    let mut completion = Completion { model: NAME.to_owned(), ..Completion::default() };
    match request.messages.last() {
        Some(Message::User(content)) => completion.tool_calls.push(delegate(content)),
        Some(Message::Tool { .. }) => {
            completion.text = answer(&request.messages);
            let _ = events.send(Event::Text(completion.text.clone())).await;
        }
        _ => {
            return Err(Fault::BadRequest {
                host: NAME.to_owned(),
                status: None,
                detail: "the last message is neither a person's nor an agent's".to_owned(),
            });
        }
    }
    Ok(completion)
}

fn delegate(content: &str) -> ToolCall {
    let (session_name, prompt) = address(content);
    ToolCall {
        // Random, because the same words may be sent twice and a call's id must not come twice.
        id: format!("relay_{}", Uuid::new_v4().simple()),
        name: TOOL.to_owned(),
        arguments: json!({"prompt": prompt, "session_name": session_name}).to_string(),
    }
}

/// Splits `@name text`; everything else goes to the default session as it is.
fn address(content: &str) -> (&str, &str) {
    let plain = (DEFAULT_SESSION, content);
    let Some(rest) = content.strip_prefix('@') else {
        return plain;
    };
    let Some((name, text)) = rest.split_once(char::is_whitespace) else {
        return plain;
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let text = text.trim_start();
    if name.is_empty() || !name.chars().all(allowed) || text.is_empty() {
        return plain;
    }
    (name, text)
}

/// The contents of the tool results that end the history.
fn answer(messages: &[Message]) -> String {
    let mut results: Vec<String> = Vec::new();
    for message in messages.iter().rev() {
        let Message::Tool { content, .. } = message else {
            break;
        };
        results.push(relay_answer(content));
    }
    results.reverse();
    results.join("\n\n")
}

/// What the person is told when the agent has answered with this tool result: the result itself.
pub fn relay_answer(tool_content: &str) -> String {
    tool_content.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_picks_the_session_and_anything_else_goes_to_main() {
        let table = [
            ("fix the bug", ("main", "fix the bug")),
            ("@docs write it", ("docs", "write it")),
            ("@a.b_c-9 go", ("a.b_c-9", "go")),
            ("@docs\nwrite\nit", ("docs", "write\nit")),
            ("@docs   two  spaces ", ("docs", "two  spaces ")),
            ("@docs\u{3000}wide space", ("docs", "wide space")),
            ("@docs", ("main", "@docs")),
            ("@docs  ", ("main", "@docs  ")),
            ("@ docs hello", ("main", "@ docs hello")),
            ("@src/lib.rs explain", ("main", "@src/lib.rs explain")),
            ("@docs, please", ("main", "@docs, please")),
            ("@dócs hello", ("main", "@dócs hello")),
            (" @docs hello", ("main", " @docs hello")),
            ("ask @docs hello", ("main", "ask @docs hello")),
            ("@@docs hello", ("main", "@@docs hello")),
            ("", ("main", "")),
        ];
        for (content, expected) in table {
            assert_eq!(address(content), expected, "{content:?}");
        }
    }

    #[test]
    fn arguments_survive_quotes_and_newlines() {
        let call = delegate("@x say \"hi\"\nand \\ more");
        let arguments: serde_json::Value = serde_json::from_str(&call.arguments).expect("the relay writes valid json");
        assert_eq!(arguments, json!({"prompt": "say \"hi\"\nand \\ more", "session_name": "x"}));
        assert_ne!(call.id, delegate("@x say \"hi\"\nand \\ more").id);
    }
}
