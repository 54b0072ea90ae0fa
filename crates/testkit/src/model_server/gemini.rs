//! The Gemini API: its requests read as chat completions, so that a script is written once, and a reply in its own form.
//! Builds the frames; `stream` puts them on the wire.

use serde_json::{Value, json};

use super::reply::{Beat, Reply};
use super::request::Request;
use super::stream::{Frames, event};

/// What a request asks, in the form of chat completions. Model and verb stand in the path: `…/models/NAME:streamGenerateContent`.
pub(super) fn as_chat(path: &str, body: &Value) -> Value {
    let (model, verb) = path.rsplit('/').next().and_then(|name| name.split_once(':')).unwrap_or_default();
    let contents = body["contents"].as_array().map_or(&[][..], Vec::as_slice);
    let messages: Vec<Value> = contents.iter().flat_map(message).collect();
    let declared = body["tools"].as_array().map_or(&[][..], Vec::as_slice).iter();
    let declared = declared.flat_map(|tool| tool["functionDeclarations"].as_array().map_or(&[][..], Vec::as_slice));
    let tools: Vec<Value> = declared.map(|tool| json!({"type": "function", "function": {"name": tool["name"]}})).collect();
    let streams = verb.starts_with("streamGenerateContent");
    json!({"model": model, "stream": streams, "system": body["systemInstruction"], "messages": messages, "tools": tools})
}

fn message(content: &Value) -> Vec<Value> {
    let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let responses = parts.iter().map(|part| &part["functionResponse"]).filter(|response| response.is_object());
    let results: Vec<Value> = responses.map(|response| json!({"role": "tool", "content": response["response"].to_string()})).collect();
    let role = if content["role"] == "model" { "assistant" } else { "user" };
    if results.is_empty() { vec![json!({"role": role, "content": parts})] } else { results }
}

pub(super) fn frames(request: &Request, reply: &Reply, ids: &[Option<String>]) -> Frames {
    let mut steps = Vec::new();
    let mut parts = Vec::new();
    for beat in &reply.beats {
        let part = match beat {
            Beat::Text(text) => json!({"text": text}),
            Beat::Thought(thought) => json!({"text": thought, "thought": true}),
            Beat::Error(message) => {
                let error = json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}});
                steps.push(vec![event(None, &error)]);
                continue;
            }
            Beat::Raw(payload) => {
                steps.push(vec![format!("data: {payload}\n\n")]);
                continue;
            }
        };
        steps.push(vec![event(None, &answer(request, reply, std::slice::from_ref(&part), None))]);
        parts.push(part);
    }
    for (call, id) in reply.calls.iter().zip(ids) {
        // Arguments come whole here, never in pieces.
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let part = json!({"functionCall": {"id": id, "name": call.name, "args": arguments}});
        steps.push(vec![event(None, &answer(request, reply, std::slice::from_ref(&part), None))]);
        parts.push(part);
    }
    let reason = match reply.finish.as_deref() {
        Some("length") => "MAX_TOKENS",
        Some("content_filter") => "SAFETY",
        _ => "STOP",
    };
    let end = vec![event(None, &answer(request, reply, &[], Some(reason)))];
    Frames { steps, end, whole: answer(request, reply, &parts, Some(reason)) }
}

fn answer(request: &Request, reply: &Reply, parts: &[Value], finish: Option<&str>) -> Value {
    let (prompt, said) = reply.usage.unwrap_or((10, 5));
    json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": finish}],
        "usageMetadata": {"promptTokenCount": prompt, "candidatesTokenCount": said, "totalTokenCount": prompt + said},
        "modelVersion": request.model(),
    })
}
