//! What the model wants to say, as each interface has it said. Pure.

use serde_json::{Value, json};

const CALL: &str = "call_probe";

/// One event of a stream; the name is for those interfaces that have one.
pub(super) struct Event {
    pub name: Option<&'static str>,
    pub data: String,
}

pub(super) enum Answer {
    Whole(Value),
    Stream(Vec<Event>),
    /// The opening, and then the piece again and again.
    Slowly {
        opening: Vec<Event>,
        piece: Event,
    },
}

/// What the model does next.
pub(super) enum Wanted {
    Say(String),
    Slow,
    Act(String, Value),
}

fn piece(delta: &Value, finish: Option<&str>) -> Event {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let usage = finish.map(|_| json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 }));
    let chunk =
        json!({ "id": "probe", "object": "chat.completion.chunk", "created": 1, "model": "probe", "choices": [choice], "usage": usage });
    Event { name: None, data: chunk.to_string() }
}

pub(super) fn chat(wanted: Wanted) -> Answer {
    let done = Event { name: None, data: "[DONE]".to_owned() };
    let first = piece(&json!({ "role": "assistant", "content": "" }), None);
    match wanted {
        Wanted::Slow => Answer::Slowly { opening: vec![first], piece: piece(&json!({ "content": "tick " }), None) },
        Wanted::Say(text) => Answer::Stream(vec![first, piece(&json!({ "content": text }), None), piece(&json!({}), Some("stop")), done]),
        Wanted::Act(name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call = json!({ "tool_calls": [{ "index": 0, "id": CALL, "type": "function", "function": function }] });
            Answer::Stream(vec![first, piece(&call, None), piece(&json!({}), Some("tool_calls")), done])
        }
    }
}

/// For those who do not have it streamed; they are not asked to be slow.
pub(super) fn whole(wanted: Wanted) -> Value {
    let (message, finish) = match wanted {
        Wanted::Act(name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call = json!([{ "id": CALL, "type": "function", "function": function }]);
            (json!({ "role": "assistant", "content": null, "tool_calls": call }), "tool_calls")
        }
        Wanted::Say(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Wanted::Slow => (json!({ "role": "assistant", "content": "tick" }), "stop"),
    };
    json!({ "id": "probe", "object": "chat.completion", "created": 1, "model": "probe",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 } })
}

pub(super) fn responses(wanted: Wanted) -> Answer {
    let event = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        Event { name: Some(name), data: data.to_string() }
    };
    let created = event("response.created", json!({ "response": { "id": "probe" } }));
    let usage =
        json!({ "input_tokens": 10, "input_tokens_details": null, "output_tokens": 5, "output_tokens_details": null, "total_tokens": 15 });
    let completed = event("response.completed", json!({ "response": { "id": "probe", "usage": usage } }));
    let message = |text: &str| json!({ "type": "message", "id": "message_probe", "role": "assistant", "content": [{ "type": "output_text", "text": text }] });
    let added = || event("response.output_item.added", json!({ "output_index": 0, "item": message("") }));
    let delta = |text: &str| event("response.output_text.delta", json!({ "item_id": "message_probe", "output_index": 0, "delta": text }));
    match wanted {
        Wanted::Slow => Answer::Slowly { opening: vec![created, added()], piece: delta("tick ") },
        Wanted::Say(text) => {
            let done = event("response.output_item.done", json!({ "output_index": 0, "item": message(&text) }));
            Answer::Stream(vec![created, added(), delta(&text), done, completed])
        }
        Wanted::Act(name, arguments) => {
            let call = json!({ "type": "function_call", "call_id": CALL, "name": name, "arguments": arguments.to_string() });
            Answer::Stream(vec![created, event("response.output_item.done", json!({ "output_index": 0, "item": call })), completed])
        }
    }
}

pub(super) fn gemini(wanted: Wanted, streamed: bool) -> Answer {
    let piece = |part: Value, finish: Option<&str>| {
        let candidate = json!({ "index": 0, "content": { "role": "model", "parts": [part] }, "finishReason": finish });
        json!({ "candidates": [candidate], "modelVersion": "probe",
            "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 } })
    };
    let event = |body: Value| Event { name: None, data: body.to_string() };
    let whole = match wanted {
        Wanted::Slow if streamed => return Answer::Slowly { opening: Vec::new(), piece: event(piece(json!({ "text": "tick " }), None)) },
        Wanted::Slow => piece(json!({ "text": "tick" }), Some("STOP")),
        Wanted::Say(text) => piece(json!({ "text": text }), Some("STOP")),
        Wanted::Act(name, arguments) => piece(json!({ "functionCall": { "name": name, "args": arguments } }), Some("STOP")),
    };
    if streamed { Answer::Stream(vec![event(whole)]) } else { Answer::Whole(whole) }
}

pub(super) fn anthropic(wanted: Wanted, streamed: bool) -> Answer {
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let (block, delta, stop) = match &wanted {
        Wanted::Slow => (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": "tick " }), "end_turn"),
        Wanted::Say(text) => (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text }), "end_turn"),
        Wanted::Act(name, arguments) => {
            let delta = json!({ "type": "input_json_delta", "partial_json": arguments.to_string() });
            (json!({ "type": "tool_use", "id": CALL, "name": name, "input": {} }), delta, "tool_use")
        }
    };
    let mut message = json!({ "id": "probe", "type": "message", "role": "assistant", "model": "probe", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage });
    if !streamed {
        let content = match wanted {
            Wanted::Act(name, arguments) => json!({ "type": "tool_use", "id": CALL, "name": name, "input": arguments }),
            Wanted::Say(text) => json!({ "type": "text", "text": text }),
            Wanted::Slow => json!({ "type": "text", "text": "tick" }),
        };
        (message["content"], message["stop_reason"]) = (json!([content]), json!(stop));
        return Answer::Whole(message);
    }
    let event = |name: &'static str, mut data: Value| {
        data["type"] = json!(name);
        Event { name: Some(name), data: data.to_string() }
    };
    let opening = vec![
        event("message_start", json!({ "message": message })),
        event("content_block_start", json!({ "index": 0, "content_block": block })),
    ];
    let piece = event("content_block_delta", json!({ "index": 0, "delta": delta }));
    if matches!(wanted, Wanted::Slow) {
        return Answer::Slowly { opening, piece };
    }
    let ending = [
        piece,
        event("content_block_stop", json!({ "index": 0 })),
        event("message_delta", json!({ "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": { "output_tokens": 5 } })),
        event("message_stop", json!({})),
    ];
    Answer::Stream(opening.into_iter().chain(ending).collect())
}
