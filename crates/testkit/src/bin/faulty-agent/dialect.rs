//! An agent that never read the protocol: other methods, other notifications, no greeting. A prompt is answered with thoughts, a tool
//! that prints, and text; one that says `fail` ends in an error.

use serde_json::{Value, json};

use crate::wire::Wire;

pub(crate) fn receive(wire: &Wire, spoken: &str, message: &Value) {
    let (id, params) = (&message["id"], &message["params"]);
    match message["method"].as_str() {
        _ if spoken == "nonsense" => wire.fail(id, -32601, "what?"),
        Some("startSession") => wire.respond(id, &json!({ "sessionId": "odd-1", "status": "active" })),
        Some("chat/send") => {
            wire.respond(id, &json!({ "requestId": 7, "status": "processing" }));
            work(wire, params["message"].as_str().unwrap_or_default());
        }
        Some(_) if message.get("id").is_some() => wire.fail(id, -32601, "no such method"),
        _ => {}
    }
}

fn work(wire: &Wire, prompt: &str) {
    let say = |method: &str, params: Value| {
        let mut params = params;
        params["sessionId"] = json!("odd-1");
        params["requestId"] = json!(7);
        wire.notify(method, &params);
    };
    say("completion/status", json!({ "status": "processing" }));
    say("thinking/delta", json!({ "delta": "let me see", "mode": "raw" }));
    say("function/call", json!({ "toolId": "t1", "name": "list", "input": { "path": "." } }));
    say("stream/chunk", json!({ "type": "tool", "delta": "one file" }));
    say("function/result", json!({ "toolId": "t1", "output": "one file" }));
    if prompt.contains("fail") {
        return say("error", json!({ "error": { "code": -32000, "message": "Rate limit exceeded" } }));
    }
    // Of another turn, so not of this one.
    wire.notify("turn/status", &json!({ "sessionId": "odd-1", "requestId": 6, "status": "error", "detail": "stale" }));
    say("stream/chunk", json!({ "type": "text", "delta": "there is " }));
    say("stream/chunk", json!({ "type": "text", "delta": "one file" }));
    say("completion/status", json!({ "status": "completed" }));
}
