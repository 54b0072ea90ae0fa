//! The Anthropic Messages API: its requests read as chat completions, so that a script is written once, and a reply in its own form.
//! Builds the frames; `stream` puts them on the wire.

use serde_json::{Value, json};

use super::reply::{Beat, Reply};
use super::request::Request;
use super::stream::{Frames, event, slice};

/// What a request asks, in the form of chat completions.
pub(super) fn as_chat(body: &Value) -> Value {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let messages: Vec<Value> = messages.iter().flat_map(message).collect();
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let tools: Vec<Value> = tools.iter().map(|tool| json!({"type": "function", "function": {"name": tool["name"]}})).collect();
    json!({"model": body["model"], "stream": body["stream"], "system": body["system"], "messages": messages, "tools": tools})
}

/// What tools have answered stands in a message of the user's, perhaps with words of the client's own beside it.
fn message(message: &Value) -> Vec<Value> {
    let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    let results: Vec<Value> = results.map(|block| json!({"role": "tool", "content": block["content"]})).collect();
    if results.is_empty() { vec![message.clone()] } else { results }
}

pub(super) fn frames(request: &Request, reply: &Reply, ids: &[Option<String>]) -> Frames {
    let mut writer = Writer { content: Vec::new(), open: false, frames: Vec::new() };
    let opening = json!({"type": "message_start", "message": envelope(request, reply, &[])});
    let mut steps = vec![vec![event(Some("message_start"), &opening)]];
    for beat in &reply.beats {
        match beat {
            Beat::Text(text) => writer.piece("text", "text", text),
            Beat::Thought(thought) => writer.piece("thinking", "thinking", thought),
            Beat::Error(message) => writer.send("error", json!({"error": {"type": "api_error", "message": message}})),
            Beat::Raw(payload) => writer.frames.push(format!("data: {payload}\n\n")),
        }
        steps.push(std::mem::take(&mut writer.frames));
    }
    for (call, id) in reply.calls.iter().zip(ids) {
        writer.close();
        let id = id.as_deref().unwrap_or_default().replace("call_", "toolu_");
        writer.call(&id, &call.name, &call.arguments, reply.argument_pieces);
        steps.push(std::mem::take(&mut writer.frames));
    }
    writer.close();
    let usage = usage(reply);
    writer.send("message_delta", json!({"delta": {"stop_reason": stop_reason(reply), "stop_sequence": null}, "usage": usage}));
    writer.send("message_stop", json!({}));
    let mut whole = envelope(request, reply, &writer.content);
    whole["stop_reason"] = json!(stop_reason(reply));
    // The opening is no piece of the script: it goes with the first one, so that no gate is passed for it.
    let opening = steps.remove(0);
    match steps.first_mut() {
        Some(first) => first.splice(0..0, opening).for_each(drop),
        None => steps.push(opening),
    }
    Frames { steps, end: writer.frames, whole }
}

struct Writer {
    /// The blocks so far; the last one may still be open.
    content: Vec<Value>,
    open: bool,
    frames: Vec<String>,
}

impl Writer {
    fn send(&mut self, kind: &str, mut fields: Value) {
        fields["type"] = json!(kind);
        self.frames.push(event(Some(kind), &fields));
    }

    /// One piece of text or thought; pieces of one kind in a row are one block.
    fn piece(&mut self, kind: &str, field: &str, text: &str) {
        if !self.open || self.content.last().is_some_and(|block| block["type"] != kind) {
            self.close();
            self.begin(json!({"type": kind, field: ""}));
        }
        let (index, delta) = (self.content.len() - 1, json!({"type": format!("{kind}_delta"), field: text}));
        if let Some(Value::String(whole)) = self.content.last_mut().map(|block| &mut block[field]) {
            whole.push_str(text);
        }
        self.send("content_block_delta", json!({"index": index, "delta": delta}));
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str, pieces: usize) {
        self.begin(json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
        let index = self.content.len() - 1;
        for piece in 0..pieces {
            let delta = json!({"type": "input_json_delta", "partial_json": slice(arguments, piece, pieces)});
            self.send("content_block_delta", json!({"index": index, "delta": delta}));
        }
        self.content[index]["input"] = serde_json::from_str(arguments).unwrap_or_default();
        self.close();
    }

    fn begin(&mut self, block: Value) {
        self.send("content_block_start", json!({"index": self.content.len(), "content_block": block}));
        self.content.push(block);
        self.open = true;
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            self.send("content_block_stop", json!({"index": self.content.len() - 1}));
        }
    }
}

fn envelope(request: &Request, reply: &Reply, content: &[Value]) -> Value {
    json!({
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": request.model(),
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(reply),
    })
}

fn usage(reply: &Reply) -> Value {
    let (input, output) = reply.usage.unwrap_or((10, 5));
    json!({"input_tokens": input, "output_tokens": output})
}

fn stop_reason(reply: &Reply) -> &str {
    match reply.finish.as_deref() {
        Some("length") => "max_tokens",
        Some("content_filter") => "refusal",
        _ if reply.calls.is_empty() => "end_turn",
        _ => "tool_use",
    }
}
