//! What is too much, and what is garbage: refused without harm.

use serde_json::{Value, json};
use testkit::model_server::{ModelServer, Reply, Script};
use testkit::server::{Rig, Server};

use crate::program::{Program, server};

async fn post(server: &Server, body: impl Into<reqwest::Body>) -> (u16, String) {
    let http = tls::client().no_proxy().build().unwrap();
    let request = http.post(format!("{}/mcp", server.base)).bearer_auth(server.token()).header("content-type", "application/json");
    let answer = request.header("accept", "application/json, text/event-stream").body(body).send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test]
async fn garbage_and_too_much_are_refused_and_the_server_goes_on() {
    let server = server().await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "delegate", "arguments": { "prompt": "x".repeat(3 * 1024 * 1024) } } });
    for (body, expected) in [
        (String::new(), 400..=422),
        ("not json".to_owned(), 400..=422),
        ("[]".to_owned(), 400..=422),
        ("{\"jsonrpc\":\"2.0\"}".to_owned(), 400..=422),
        (deep, 400..=422),
        (large.to_string(), 413..=413),
    ] {
        let start: String = body.chars().take(40).collect();
        let (status, text) = post(&server, body).await;
        assert!(expected.contains(&status), "{start}: {status} {text}");
    }
    let (status, text) = post(&server, json!({ "jsonrpc": "2.0", "id": 7, "method": "no/such" }).to_string()).await;
    assert!(serde_json::from_str::<Value>(&text).unwrap()["error"]["code"] == -32601, "{status} {text}");
    // There is nothing to listen to, and no session to end.
    assert_eq!(server.call("GET", "/mcp", None).await.0, 405);
    assert_eq!(server.call("DELETE", "/mcp", None).await.0, 405);
    let program = Program::http(&server).await;
    let job = program.call("delegate", json!({ "prompt": "count to 2", "wait_seconds": 4_000_000 })).await;
    assert_eq!(job["state"], "completed");
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn a_long_result_comes_in_parts() {
    let server = server().await;
    let program = Program::http(&server).await;
    let job = program.call("delegate", json!({ "prompt": "count to 9000", "wait_seconds": 50 })).await;
    let job = program.end_of(&job).await;
    let (mut whole, mut next) = (job["result"].as_str().unwrap().to_owned(), job["next_offset"].as_u64());
    assert!(whole.len() <= 20_000 && next.is_some(), "{} {next:?}", whole.len());
    while let Some(offset) = next {
        let part = program.call("job", json!({ "job_id": job["job_id"], "offset": offset })).await;
        whole.push_str(part["result"].as_str().unwrap());
        next = part["next_offset"].as_u64();
    }
    assert_eq!(Some(whole.chars().count() as u64), job["result_length"].as_u64());
    assert!(whole.contains("1\n2\n3") || whole.contains("1 2 3") || whole.contains("1, 2, 3"), "{}", &whole[..200]);
    assert!(whole.contains("9000"));
    let read = program.call("read_session", json!({ "session_id": job["session_id"] })).await;
    for message in read["messages"].as_array().unwrap() {
        assert!(message["text"].as_str().unwrap().chars().count() < 4_100, "{}", message["role"]);
    }
    program.close().await;
    server.end().await;
}

#[tokio::test]
async fn when_much_is_at_work_no_more_is_handed_out() {
    let model = ModelServer::start(Script::new().otherwise(|_| Reply::text("never").stall()));
    let server = Rig::default().model(&model.base_url()).demo_agent().start().await;
    let program = Program::http(&server).await;
    let first = program.call("delegate", json!({ "prompt": "count to 2", "client_id": "early", "wait_seconds": 50 })).await;
    let mut sessions = Vec::new();
    for _ in 0..32 {
        let session = server.new_session(json!({ "model": "main" })).await;
        server.send(&session, "hello").await;
        sessions.push(session);
    }
    let why = program.refused("delegate", json!({ "prompt": "count to 2" })).await;
    assert!(why.contains("32 turns are at work already"), "{why}");
    let again = program.call("delegate", json!({ "prompt": "count to 2", "client_id": "early" })).await;
    assert_eq!(again["job_id"], first["job_id"], "what was handed out before is still found");
    program.call("stop", json!({ "session_id": sessions[0] })).await;
    let latest = program.call("list_sessions", json!({ "limit": 50 })).await;
    let stopped = latest["sessions"].as_array().unwrap().iter().find(|session| session["session_id"] == sessions[0]).unwrap();
    assert_eq!(program.end_of(stopped).await["state"], "cancelled");
    let more = program.call("delegate", json!({ "prompt": "count to 2", "wait_seconds": 50 })).await;
    assert_eq!(more["state"], "completed");
    program.close().await;
    server.end().await;
}
