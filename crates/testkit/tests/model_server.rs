//! The scripted model server from outside: its script file, its program, and what it says to clients
//! that do not stream.
#![allow(clippy::unwrap_used)]

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply, Rules, Script};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const DEADLINE: Duration = Duration::from_secs(60);

/// One request on a connection of its own; gives back the status line and the rest.
async fn call(port: u16, method: &str, path: &str, body: &Value) -> (String, String) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let exchange = async {
        let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let length = body.len();
        let request = format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}");
        socket.write_all(request.as_bytes()).await.unwrap();
        socket.shutdown().await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let answer = tokio::time::timeout(DEADLINE, exchange).await.unwrap();
    let (status, rest) = answer.split_once("\r\n").unwrap();
    (status.to_owned(), rest.to_owned())
}

async fn complete(port: u16, model: &str, messages: Value) -> (String, String) {
    let body = json!({"model": model, "messages": messages});
    call(port, "POST", "/v1/chat/completions", &body).await
}

const RULES: &str = r#"[
    {"when": {"has_tool_result": true, "tool_result_contains": "42"}, "reply": {"text": "it is 42"}},
    {"when": {"last_user_contains": "flaky"}, "times": 1, "reply": {"status": 429, "headers": {"retry-after": "7"}}},
    {"when": {"model": "main", "tool_results": 0}, "reply": {"tool_calls": [{"name": "ask", "arguments": {"a": 1}}]}},
    {"when": {"model": "coder"}, "reply": {"chunks": ["a", "b"]}}
]"#;

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

#[tokio::test]
async fn the_first_rule_that_fits_answers() {
    let server = ModelServer::start(Rules::from_json(RULES).unwrap());
    let port = server.port();
    let (_, first) = complete(port, "main", json!([user("hi")])).await;
    assert!(first.contains(r#""arguments":"{\"a\":1}""#), "{first}");
    let (_, coder) = complete(port, "coder", json!([user("hi")])).await;
    assert!(coder.contains(r#""content":"ab""#), "{coder}");
    let results = json!([user("hi"), {"role": "tool", "tool_call_id": "c", "content": "42"}]);
    let (_, last) = complete(port, "main", results).await;
    assert!(last.contains("it is 42"), "{last}");
    assert_eq!(server.requests_for("main").len(), 2);
}

#[tokio::test]
async fn a_spent_rule_gives_way() {
    let server = ModelServer::start(Rules::from_json(RULES).unwrap());
    let (status, head) = complete(server.port(), "coder", json!([user("so flaky")])).await;
    assert!(status.contains("429") && head.contains("retry-after: 7"), "{status} {head}");
    let (status, _) = complete(server.port(), "coder", json!([user("so flaky")])).await;
    assert!(status.contains("200"), "{status}");
}

#[tokio::test]
async fn what_nobody_scripted_is_a_client_error_that_says_so() {
    let server = ModelServer::start(Script::new().route("main", [Reply::text("only once")]));
    let (status, _) = complete(server.port(), "main", json!([user("hi")])).await;
    assert!(status.contains("200"), "{status}");
    let (status, body) = complete(server.port(), "main", json!([user("again")])).await;
    assert!(status.contains("400") && body.contains("after `again`"), "{status} {body}");
}

#[tokio::test]
async fn agents_may_look_around() {
    let server = ModelServer::start(Script::new());
    let (status, body) = call(server.port(), "GET", "/v1/models", &Value::Null).await;
    assert!(status.contains("200") && body.contains(r#""object":"list""#), "{status} {body}");
    let (_, body) = call(server.port(), "GET", "/v1/models/gpt-x", &Value::Null).await;
    assert!(body.contains(r#""id":"gpt-x""#), "{body}");
    let (status, _) = call(server.port(), "POST", "/v1/embeddings", &json!({})).await;
    assert!(status.contains("404"), "{status}");
    assert_eq!(server.other_requests().len(), 3);
}

#[test]
fn a_mistake_in_a_script_is_named() {
    let error = Rules::from_json(r#"[{"reply": {"txt": "typo"}}]"#).unwrap_err();
    assert!(format!("{error:#}").contains("txt"), "{error:#}");
}

#[tokio::test]
async fn a_dropped_server_no_longer_listens() {
    let server = ModelServer::start(Script::new());
    let port = server.port();
    drop(server);
    let gone = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, gone).await.unwrap();
}

#[tokio::test]
async fn the_program_prints_its_address_and_follows_its_script() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.json");
    std::fs::write(&file, RULES).unwrap();
    let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_model-server"))
        .args(["--port", "0", "--script"])
        .arg(&file)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let line = tokio::time::timeout(DEADLINE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let address = line.strip_prefix("listening on http://127.0.0.1:").unwrap();
    let port = address.strip_suffix("/v1").unwrap().parse().unwrap();
    let (_, body) = complete(port, "coder", json!([user("hi")])).await;
    assert!(body.contains(r#""content":"ab""#), "{body}");
    program.kill().await.unwrap();
}

async fn respond(port: u16, body: Value) -> Vec<Value> {
    let (status, rest) = call(port, "POST", "/v1/responses", &body).await;
    assert_eq!(status, "HTTP/1.1 200 OK", "{rest}");
    rest.lines().filter_map(|line| line.strip_prefix("data: ")).map(|payload| serde_json::from_str(payload).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let kinds = events.iter().map(|event| event["type"].as_str().unwrap());
    kinds.map(|kind| kind.strip_prefix("response.").unwrap_or(kind)).collect()
}

/// The same rules answer in the Responses API: the items and their pieces in its order, a tool's answer is seen as one.
#[tokio::test]
async fn the_responses_api_is_answered_by_the_same_rules() {
    let rules = r#"[
        {"when": {"tool_result_contains": "42"}, "reply": {"thought": "so it is", "chunks": ["it ", "is 42"]}},
        {"reply": {"text": "I ask. ", "tool_calls": [{"name": "ask", "arguments": {"a": 1}}, {"name": "patch", "arguments": "*** all"}]}}
    ]"#;
    let server = ModelServer::start(Rules::from_json(rules).unwrap());
    let tools = json!([{"type": "function", "name": "ask"}, {"type": "custom", "name": "patch"}]);
    let asked = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let events = respond(server.port(), json!({"model": "m", "stream": true, "tools": tools, "input": [asked]})).await;
    let text = ["output_item.added", "output_text.delta", "output_item.done"];
    let call = ["output_item.added", "function_call_arguments.delta", "output_item.done"];
    let patch = ["output_item.added", "custom_tool_call_input.delta", "output_item.done"];
    let expected = [&["created"][..], &text, &call, &patch, &["completed"]].concat();
    assert_eq!(kinds(&events), expected);
    let output = events.last().unwrap()["response"]["output"].clone();
    assert_eq!((&output[1]["name"], &output[1]["arguments"]), (&json!("ask"), &json!("{\"a\":1}")));
    assert_eq!((&output[2]["type"], &output[2]["input"]), (&json!("custom_tool_call"), &json!("*** all")));
    assert_eq!(events.last().unwrap()["response"]["usage"]["total_tokens"], 15);

    let answered = json!({"type": "function_call_output", "call_id": output[1]["call_id"], "output": "it is 42"});
    let events = respond(server.port(), json!({"model": "m", "stream": true, "tools": tools, "input": [asked, output[1], answered]})).await;
    let said: String =
        events.iter().filter(|event| event["type"] == "response.output_text.delta").filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(said, "it is 42");
    assert!(kinds(&events).contains(&"reasoning_summary_text.delta"), "{events:?}");
    assert_eq!(server.requests_for("m").len(), 2);
    assert_eq!(server.requests()[0].last_user(), "hi");
    assert_eq!(server.requests()[0].tool_names(), ["ask", "patch"]);
}

/// A stream that breaks off has no end; one that fails says so and ends with that.
#[tokio::test]
async fn the_responses_api_fails_as_it_is_told() {
    let server = ModelServer::start([
        Reply::text("half").cut(),
        Reply::text("half").end_early(),
        Reply::text("half").and_error("too much"),
        Reply::text("half").finish("length"),
        Reply::status(429),
    ]);
    let ask = json!({"model": "m", "stream": true, "input": []});
    let begun = ["created", "output_item.added", "output_text.delta"];
    for end in [&[][..], &[], &["failed"], &["output_item.done", "incomplete"]] {
        assert_eq!(kinds(&respond(server.port(), ask.clone()).await), [&begun, end].concat());
    }
    let (status, _) = call(server.port(), "POST", "/v1/responses", &ask).await;
    assert_eq!(status, "HTTP/1.1 429 Too Many Requests");
}

/// What a client of another provider is sent: the events with their names, or without where the dialect has none.
async fn events(port: u16, path: &str, body: Value) -> Vec<(Option<String>, Value)> {
    let (status, rest) = call(port, "POST", path, &body).await;
    assert_eq!(status, "HTTP/1.1 200 OK", "{rest}");
    let mut name = None;
    let mut events = Vec::new();
    for line in rest.lines() {
        if let Some(event) = line.strip_prefix("event: ") {
            name = Some(event.to_owned());
        } else if let Some(data) = line.strip_prefix("data: ") {
            events.push((name.take(), serde_json::from_str(data).unwrap()));
        }
    }
    events
}

const ONE_TOOL: &str = r#"[
    {"when": {"model": "m", "tool_result_contains": "42"}, "reply": {"thought": "so it is", "chunks": ["it ", "is 42"]}},
    {"when": {"model": "m", "last_user_contains": "hi"}, "reply": {"text": "I ask.", "tool_calls": [{"name": "ask", "arguments": {"a": 1}}]}}
]"#;

#[tokio::test]
async fn anthropic_is_answered_by_the_same_rules() {
    let server = ModelServer::start(Rules::from_json(ONE_TOOL).unwrap());
    let tools = json!([{"name": "ask", "input_schema": {}}]);
    let asked = json!({"role": "user", "content": [{"type": "text", "text": "hi"}]});
    let path = "/v1/messages?beta=true";
    let body = json!({"model": "m", "stream": true, "tools": tools, "messages": [asked]});
    let sent = events(server.port(), path, body).await;
    assert!(sent.iter().all(|(name, event)| event["type"] == **name.as_ref().unwrap()), "{sent:?}");
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let names: Vec<_> = sent.iter().map(|(name, _)| name.as_deref().unwrap()).collect();
    assert_eq!(names, [&["message_start"][..], &block, &block, &["message_delta", "message_stop"]].concat());
    assert_eq!(sent[4].1["content_block"]["name"], "ask");
    assert_eq!(sent[5].1["delta"]["partial_json"], "{\"a\":1}");
    assert_eq!(sent[7].1["delta"]["stop_reason"], "tool_use");

    // A word of the client's beside the answer of a tool is not the user's.
    let answered = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "it is 42"}, {"type": "text", "text": "by the way"}]});
    let body = json!({"model": "m", "stream": false, "tools": tools, "messages": [asked, answered]});
    let (_, rest) = call(server.port(), "POST", path, &body).await;
    assert!(rest.contains(r#"{"type":"text","text":"it is 42"}"#) && rest.contains("end_turn"), "{rest}");
    assert_eq!((server.requests()[1].last_user(), server.requests()[1].tool_names()), ("hi".to_owned(), vec!["ask"]));
    let (_, counted) = call(server.port(), "POST", "/v1/messages/count_tokens?beta=true", &json!({})).await;
    assert!(counted.contains("input_tokens"), "{counted}");
}

#[tokio::test]
async fn gemini_is_answered_by_the_same_rules() {
    let server = ModelServer::start(Rules::from_json(ONE_TOOL).unwrap());
    let tools = json!([{"functionDeclarations": [{"name": "ask"}]}]);
    let asked = json!({"role": "user", "parts": [{"text": "hi"}]});
    let stream = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let sent = events(server.port(), stream, json!({"contents": [asked], "tools": tools})).await;
    let parts: Vec<_> = sent.iter().map(|(_, event)| event["candidates"][0]["content"]["parts"][0].clone()).collect();
    assert_eq!((&parts[0]["text"], &parts[1]["functionCall"]["args"]), (&json!("I ask."), &json!({"a": 1})));
    assert_eq!(sent[2].1["candidates"][0]["finishReason"], "STOP");

    let answered = json!({"role": "user", "parts": [{"functionResponse": {"name": "ask", "response": {"output": "42"}}}]});
    let body = json!({"contents": [asked, answered], "tools": tools});
    let (_, whole) = call(server.port(), "POST", "/v1beta/models/m:generateContent", &body).await;
    assert!(whole.contains("is 42"), "{whole}");
    assert_eq!((server.requests()[1].last_user(), server.requests()[0].tool_names()), ("hi".to_owned(), vec!["ask"]));
}

#[tokio::test]
async fn a_stamped_reply_numbers_its_chunks_and_ends_well() {
    let server = ModelServer::start([Reply::stamped(10, 40, None)]);
    let body = json!({"model": "main", "stream": true, "messages": [user("hi")]});
    let (_, answer) = call(server.port(), "POST", "/v1/chat/completions", &body).await;
    let texts: Vec<&str> = answer.split(r#""content":""#).skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let numbers: Vec<u64> = texts.iter().map(|text| text[..10].parse().unwrap()).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    assert!(texts.iter().all(|text| text.len() == 40), "{texts:?}");
    assert!(answer.contains("[DONE]"), "{answer}");
}
