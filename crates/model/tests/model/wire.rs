//! What the endpoint gets to see: roles, tools, results, keys, and a history that it can accept.

use model::{Image, Message, Request, Settings, ToolCall, ToolSpec};
use serde_json::{Value, json};
use testkit::model_server::{self, ModelServer, Reply};

use crate::asking::{KEY, ask, ask_model, model, says, settings};

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "read_file".to_owned(), arguments: arguments.to_owned() }
}

fn assistant(text: &str, tool_calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text: text.to_owned(), tool_calls }
}

fn result(call_id: &str, content: &str) -> Message {
    Message::Tool { call_id: call_id.to_owned(), content: content.to_owned() }
}

fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

/// The messages as the server received them.
async fn sent(messages: Vec<Message>) -> Vec<Value> {
    let server = ModelServer::start([Reply::text("ok")]);
    let request = Request { messages, tools: Vec::new() };
    ask(&server, request).await;
    server.requests()[0].messages().to_vec()
}

#[tokio::test]
async fn images_go_along_as_data_urls() {
    let image = Image { name: "dot.png".to_owned(), mime_type: "image/png".to_owned(), data: b"\x89PNG"[..].into() };
    let messages = sent(vec![Message::UserWithImages { text: "what is this?".to_owned(), images: vec![image] }]).await;
    let parts = messages[0]["content"].as_array().unwrap();
    assert_eq!(parts[0], json!({ "type": "text", "text": "what is this?" }));
    assert_eq!((&parts[1]["type"], &parts[1]["image_url"]["url"]), (&json!("image_url"), &json!("data:image/png;base64,iVBORw==")));
}

#[tokio::test]
async fn a_whole_conversation_is_sent_as_it_happened() {
    let server = ModelServer::start([Reply::text("ok")]);
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let request = Request {
        messages: vec![
            Message::System("be brief".to_owned()),
            user("read a and b"),
            assistant("on it", vec![call("c1", r#"{"path":"a"}"#), call("c2", r#"{"path":"b"}"#)]),
            result("c1", "content of a"),
            result("c2", "content of b"),
            assistant("done", Vec::new()),
            user("thanks"),
        ],
        tools: vec![ToolSpec { name: "read_file".to_owned(), description: "reads a file".to_owned(), parameters: parameters.clone() }],
    };
    ask(&server, request).await;

    let requests = server.requests();
    let asked = &requests[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(asked.model(), "main");
    assert!(asked.is_streaming());
    assert_eq!(asked.body["stream_options"]["include_usage"], true);
    assert_eq!(asked.roles(), ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
    let messages = asked.messages();
    assert_eq!(messages[0]["content"], "be brief");
    assert_eq!(messages[1]["content"], "read a and b");
    assert_eq!(messages[2]["content"], "on it");
    assert_eq!(messages[2]["tool_calls"][1]["id"], "c2");
    assert_eq!(messages[2]["tool_calls"][1]["type"], "function");
    assert_eq!(messages[2]["tool_calls"][1]["function"]["name"], "read_file");
    assert_eq!(messages[2]["tool_calls"][1]["function"]["arguments"], r#"{"path":"b"}"#);
    assert_eq!(messages[3]["tool_call_id"], "c1");
    assert_eq!(messages[3]["content"], "content of a");
    assert_eq!(messages[4]["tool_call_id"], "c2");
    assert_eq!(messages[6]["content"], "thanks");
    assert_eq!(asked.body["tools"][0]["type"], "function");
    assert_eq!(asked.body["tools"][0]["function"]["name"], "read_file");
    assert_eq!(asked.body["tools"][0]["function"]["description"], "reads a file");
    assert_eq!(asked.body["tools"][0]["function"]["parameters"], parameters);
}

#[tokio::test]
async fn without_tools_the_field_is_absent() {
    let server = ModelServer::start([Reply::text("ok")]);
    ask(&server, says("hi")).await;
    assert_eq!(server.requests()[0].body.get("tools"), None);
}

#[tokio::test]
async fn a_call_without_a_result_is_given_one() {
    let messages = sent(vec![user("go"), assistant("", vec![call("c1", "{}"), call("c2", "{}")]), result("c2", "two"), user("and?")]).await;
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    assert_eq!(messages[2]["tool_call_id"], "c1");
    assert_eq!(messages[2]["content"], "no result was recorded for this call");
    assert_eq!(messages[3]["content"], "two");
}

#[tokio::test]
async fn a_result_without_a_call_is_left_out() {
    let messages = sent(vec![
        result("c0", "lost"),
        user("go"),
        assistant("", vec![call("c1", "{}")]),
        result("c1", "one"),
        result("c1", "one again"),
        assistant("", Vec::new()),
        user("and?"),
    ])
    .await;
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
    assert_eq!(messages[2]["content"], "one");
}

#[tokio::test]
async fn malformed_arguments_go_back_as_valid_json() {
    for arguments in ["{\"path\": ", "[1]", ""] {
        let messages = sent(vec![user("go"), assistant("", vec![call("c1", arguments)]), result("c1", "bad arguments")]).await;
        let shown = messages[1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        let shown: Value = serde_json::from_str(shown).unwrap();
        assert!(shown.is_object(), "{shown}");
        if !arguments.is_empty() {
            assert_eq!(shown["malformed_arguments"], arguments);
        }
    }
}

#[tokio::test]
async fn missing_and_repeated_call_ids_become_unique_and_stay_the_same() {
    let twice = || {
        let calls = [(); 2].map(|()| model_server::ToolCall::new("read_file", "{}").without_id());
        Reply::tool_calls(calls)
    };
    let server = ModelServer::start([twice(), twice(), twice()]);
    let first = ask(&server, says("hi")).await.completion().tool_calls.clone();
    let again = ask(&server, says("hi")).await.completion().tool_calls.clone();
    assert_eq!(first, again, "the same history gives the same ids");
    assert_ne!(first[0].id, first[1].id);

    let mut request = says("hi");
    request.messages.push(assistant("", first.clone()));
    let results = first.iter().map(|call| result(&call.id, "content"));
    request.messages.extend(results);
    let next = ask(&server, request).await.completion().tool_calls.clone();
    let ids: std::collections::HashSet<_> = first.iter().chain(&next).map(|call| &call.id).collect();
    assert_eq!(ids.len(), 4, "{first:?} {next:?}");
}

#[tokio::test]
async fn an_id_that_the_endpoint_gives_twice_is_replaced() {
    let same = model_server::ToolCall::new("read_file", "{}").with_id("call_0");
    let server = ModelServer::start([Reply::tool_calls([same])]);
    let request =
        Request { messages: vec![user("go"), assistant("", vec![call("call_0", "{}")]), result("call_0", "x")], tools: Vec::new() };
    let heard = ask(&server, request).await;
    assert_ne!(heard.completion().tool_calls[0].id, "call_0");
}

#[tokio::test]
async fn a_model_name_is_sent_as_it_was_configured() {
    for name in ["mistral-medium", "qwen-max", "vendor/model-high", "o-none", "gpt-5-mini", "claude-x"] {
        let server = ModelServer::start([Reply::text("ok")]);
        let Settings::Endpoint { base_url, api_key, .. } = settings(&server.base_url()) else {
            unreachable!("the settings name an endpoint");
        };
        let named = Settings::Endpoint { model: name.to_owned(), base_url, api_key, provider: None };
        let model = model(named);
        assert_eq!(model.name(), name);
        ask_model(&model, says("hi")).await;
        assert_eq!(server.requests()[0].model(), name);
        assert_eq!(server.requests()[0].body.get("reasoning_effort"), None);
    }
}

#[tokio::test]
async fn without_a_key_no_key_is_sent() {
    let server = ModelServer::start([Reply::text("ok")]);
    let keyless = Settings::Endpoint { model: "main".to_owned(), base_url: Some(server.base_url()), api_key: None, provider: None };
    let heard = ask_model(&model(keyless), says("hi")).await;
    assert_eq!(heard.completion().text, "ok");
    assert_eq!(server.requests()[0].header("authorization"), None);
}
