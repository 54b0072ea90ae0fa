//! The providers' own dialects, each at a scripted address: path, key, and one answer with a tool call.

use model::{Fault, Message, Model, Provider, Request, Settings, ToolCall};
use serde_json::{Value, json};
use testkit::model_server::{self, ModelServer, Reply, Script};

use crate::asking::{KEY, ask_model, model, provider, says};

fn event_stream(events: &[(&str, Value)]) -> Reply {
    let events = events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
    Reply::new().body("text/event-stream", &events.collect::<String>())
}

fn after_two_tools() -> Request {
    let call = |id: &str| ToolCall { id: id.to_owned(), name: "read_file".to_owned(), arguments: r#"{"path":"a"}"#.to_owned() };
    let result = |id: &str| Message::Tool { call_id: id.to_owned(), content: format!("content of {id}") };
    let mut request = says("go");
    request.messages.insert(0, Message::System("be brief".to_owned()));
    request.messages.push(Message::Assistant { text: "on it".to_owned(), tool_calls: vec![call("c1"), call("c2")] });
    request.messages.extend([result("c1"), result("c2")]);
    request
}

fn anthropic_events(last: &[(&str, Value)]) -> Reply {
    let mut events = vec![
        ("message_start", json!({"type": "message_start", "message": {"usage": {"input_tokens": 7}}})),
        ("content_block_start", json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
        ("content_block_delta", json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look"}})),
        ("content_block_stop", json!({"type": "content_block_stop", "index": 0})),
        (
            "content_block_start",
            json!({"type": "content_block_start", "index": 1,
                "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}}),
        ),
        (
            "content_block_delta",
            json!({"type": "content_block_delta", "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": "{\"path\":"}}),
        ),
        (
            "content_block_delta",
            json!({"type": "content_block_delta", "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": "\"a\"}"}}),
        ),
        ("content_block_stop", json!({"type": "content_block_stop", "index": 1})),
    ];
    events.extend_from_slice(last);
    event_stream(&events)
}

#[tokio::test]
async fn anthropic_is_spoken_to_in_its_own_dialect() {
    let end = [
        ("message_delta", json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}})),
        ("message_stop", json!({"type": "message_stop"})),
    ];
    let server = ModelServer::start(Script::new().route("/v1/messages", [anthropic_events(&end)]));
    let model = model(provider(Provider::Anthropic, &server.base_url()));
    let heard = ask_model(&model, after_two_tools()).await;
    assert_eq!(heard.completion().text, "look");
    assert_eq!(heard.completion().tool_calls[0].id, "toolu_1");
    assert_eq!(heard.completion().tool_calls[0].arguments, r#"{"path":"a"}"#);

    let requests = server.other_requests();
    assert_eq!(requests[0].header("x-api-key"), Some(KEY));
    let results = &requests[0].messages()[2];
    assert_eq!(results["role"], "user");
    assert_eq!(results["content"][0]["tool_use_id"], "c1", "{results}");
    assert_eq!(results["content"][1]["tool_use_id"], "c2", "{results}");
}

#[tokio::test]
async fn an_anthropic_stream_without_its_end_is_cut() {
    let server = ModelServer::start(Script::new().route("/v1/messages", [anthropic_events(&[])]));
    let model = model(provider(Provider::Anthropic, &server.base_url()));
    let heard = ask_model(&model, says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Cut { .. }), "{:?}", heard.fault());
}

const GEMINI_PATH: &str = "/v1/models/main:streamGenerateContent?alt=sse";

fn gemini_event(finish: Option<&str>) -> Reply {
    let parts = json!([{"text": "look"}, {"functionCall": {"name": "read_file", "args": {"path": "a"}}}]);
    let mut candidate = json!({"content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let event = json!({"candidates": [candidate]});
    Reply::new().body("text/event-stream", &format!("data: {event}\n\n"))
}

#[tokio::test]
async fn gemini_is_spoken_to_in_its_own_dialect() {
    let server = ModelServer::start(Script::new().route(GEMINI_PATH, [gemini_event(Some("STOP"))]));
    let model = model(provider(Provider::Gemini, &server.base_url()));
    let heard = ask_model(&model, after_two_tools()).await;
    assert_eq!(heard.completion().text, "look");
    assert_eq!(heard.completion().tool_calls[0].name, "read_file");
    assert!(!heard.completion().tool_calls[0].id.is_empty());
    assert_eq!(server.other_requests()[0].header("x-goog-api-key"), Some(KEY));
}

#[tokio::test]
async fn a_gemini_stream_without_its_end_is_cut() {
    let server = ModelServer::start(Script::new().route(GEMINI_PATH, [gemini_event(None)]));
    let model = model(provider(Provider::Gemini, &server.base_url()));
    let heard = ask_model(&model, says("hi")).await;
    assert!(matches!(heard.fault(), Fault::Cut { .. }), "{:?}", heard.fault());
}

#[tokio::test]
async fn ollama_needs_no_key() {
    let lines = [
        json!({"message": {"role": "assistant", "content": "look"}, "done": false}),
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}),
    ];
    let lines = lines.map(|line| format!("{line}\n")).concat();
    let reply = Reply::new().body("application/x-ndjson", &lines);
    let server = ModelServer::start(Script::new().route("/v1/api/chat", [reply]));
    let keyless =
        Settings::Endpoint { model: "main".to_owned(), base_url: Some(server.base_url()), api_key: None, provider: Some(Provider::Ollama) };
    let heard = ask_model(&model(keyless), says("hi")).await;
    assert_eq!(heard.completion().text, "look");
    assert_eq!(server.other_requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn the_gateways_speak_chat_completions() {
    for gateway in [Provider::GitHub, Provider::OpenAi, Provider::OpenRouter] {
        let call = model_server::ToolCall::new("read_file", json!({"path": "a"})).with_id("c9");
        let server = ModelServer::start([Reply::tool_calls([call])]);
        let model = model(provider(gateway, &server.base_url()));
        let heard = ask_model(&model, says("hi")).await;
        assert_eq!(heard.completion().tool_calls[0].id, "c9");
        let authorization = format!("Bearer {KEY}");
        assert_eq!(server.requests()[0].header("authorization"), Some(authorization.as_str()));
    }
}

#[test]
fn a_model_without_an_address_is_an_error_that_says_what_to_set() {
    let nowhere = Settings::Endpoint { model: "main".to_owned(), base_url: None, api_key: None, provider: None };
    let message = Model::new(nowhere).unwrap_err().to_string();
    assert!(message.contains("VOXPILOT_MODEL_PROVIDER"), "{message}");
}
