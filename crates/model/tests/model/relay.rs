//! The relay: no network, one delegation, and the agent's words as the answer.

use model::{Event, Fault, Message, Request, Settings, ToolCall, relay_answer};
use serde_json::{Value, json};

use crate::asking::{ask_model, model, says};

#[tokio::test]
async fn a_message_becomes_a_delegation() {
    let table = [
        ("fix it", json!({"prompt": "fix it", "session_name": "main"})),
        ("@docs write\nit", json!({"prompt": "write\nit", "session_name": "docs"})),
        ("@docs", json!({"prompt": "@docs", "session_name": "main"})),
    ];
    let relay = model(Settings::Relay);
    assert_eq!(relay.name(), "relay");
    for (text, expected) in table {
        let heard = ask_model(&relay, says(text)).await;
        let completion = heard.completion();
        assert_eq!(completion.text, "");
        assert_eq!(completion.model, "relay");
        assert_eq!(completion.tool_calls.len(), 1);
        assert_eq!(completion.tool_calls[0].name, "copilot_agent");
        let arguments: Value = serde_json::from_str(&completion.tool_calls[0].arguments).unwrap();
        assert_eq!(arguments, expected);
        assert_eq!(heard.events, [Event::End(completion.clone())]);
    }
}

#[tokio::test]
async fn the_agents_words_are_the_answer() {
    let relay = model(Settings::Relay);
    let mut request = says("fix it");
    let calls: Vec<ToolCall> = ask_model(&relay, request.clone()).await.completion().tool_calls.clone();
    let content = "Fixed.\n\n```rust\nfn main() {}\n```\n";
    request.messages.push(Message::Tool { call_id: calls[0].id.clone(), content: content.to_owned() });
    let heard = ask_model(&relay, request).await;
    assert_eq!(heard.completion().text, relay_answer(content));
    assert_eq!(heard.text(), content);
    assert!(heard.completion().tool_calls.is_empty());
}

#[tokio::test]
async fn a_history_that_ends_otherwise_is_a_mistake() {
    let relay = model(Settings::Relay);
    let endings = [None, Some(Message::System("be brief".to_owned()))];
    for ending in endings {
        let request = Request { messages: ending.into_iter().collect(), tools: Vec::new() };
        let heard = ask_model(&relay, request).await;
        assert!(matches!(heard.fault(), Fault::BadRequest { .. }));
    }
}
