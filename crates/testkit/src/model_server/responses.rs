//! A reply in the form of the Responses API: a list of output items, each opened, filled piece by piece, and closed.
//! Builds the payloads; `stream` puts them on the wire.

use serde_json::{Value, json};

use super::reply::{Beat, Reply, ToolCall};
use super::request::Request;
use super::stream::slice;

/// The payloads of one answer.
pub(super) struct Response {
    /// What belongs together, so that one pass of the gate lets one piece of the script through.
    pub steps: Vec<Vec<String>>,
    /// What closes the stream where nothing goes wrong.
    pub end: Vec<String>,
    last: Value,
}

impl Response {
    pub(super) fn new(request: &Request, reply: &Reply, call_ids: &[Option<String>], next_id: impl Fn() -> String) -> Response {
        let mut writer = Writer::new(request, next_id);
        let mut steps = Vec::new();
        let mut failure = None;
        for beat in &reply.beats {
            match beat {
                Beat::Text(text) => writer.piece(Kind::Message, text),
                Beat::Thought(thought) => writer.piece(Kind::Reasoning, thought),
                Beat::Error(message) => failure = Some(writer.failed(message)),
                Beat::Raw(payload) => writer.payloads.push(payload.clone()),
            }
            steps.push(std::mem::take(&mut writer.payloads));
        }
        for (call, id) in reply.calls.iter().zip(call_ids) {
            writer.close();
            writer.call(call, id.as_deref().unwrap_or_default(), request.takes_text(&call.name), reply.argument_pieces);
            steps.push(std::mem::take(&mut writer.payloads));
        }
        let last = match failure {
            Some(failure) => failure,
            None => writer.completed(reply),
        };
        Response { steps, end: writer.payloads, last }
    }

    /// The answer for a client that did not ask for a stream.
    pub(super) fn whole(&self) -> &Value {
        &self.last
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
}

/// The item that is being written.
struct Open {
    kind: Kind,
    id: String,
    text: String,
}

struct Writer<Ids> {
    next_id: Ids,
    response: Value,
    open: Option<Open>,
    done: Vec<Value>,
    payloads: Vec<String>,
}

impl<Ids: Fn() -> String> Writer<Ids> {
    fn new(request: &Request, next_id: Ids) -> Writer<Ids> {
        let id = next_id().replace("call_", "resp_");
        let response = json!({"id": id, "object": "response", "created_at": 0, "model": request.model(), "status": "in_progress"});
        let created = json!({"type": "response.created", "response": response}).to_string();
        Writer { next_id, response, open: None, done: Vec::new(), payloads: vec![created] }
    }

    fn send(&mut self, kind: &str, mut fields: Value) {
        fields["type"] = json!(kind);
        self.payloads.push(fields.to_string());
    }

    /// One piece of a message or of the reasoning; pieces of one kind in a row are one item.
    fn piece(&mut self, kind: Kind, text: &str) {
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.close();
            let id = (self.next_id)().replace("call_", if kind == Kind::Message { "msg_" } else { "rs_" });
            let open = Open { kind, id, text: String::new() };
            let index = self.done.len();
            self.send("response.output_item.added", json!({"output_index": index, "item": open.item()}));
            if kind == Kind::Reasoning {
                let part = json!({"type": "summary_text", "text": ""});
                self.send("response.reasoning_summary_part.added", json!({"item_id": open.id, "summary_index": 0, "part": part}));
            }
            self.open = Some(open);
        }
        let index = self.done.len();
        let Some(open) = &mut self.open else { return };
        open.text.push_str(text);
        let mut delta = json!({"item_id": open.id, "output_index": index, "delta": text});
        let name = match kind {
            Kind::Message => {
                delta["content_index"] = json!(0);
                "response.output_text.delta"
            }
            Kind::Reasoning => {
                delta["summary_index"] = json!(0);
                "response.reasoning_summary_text.delta"
            }
        };
        self.send(name, delta);
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.add(open.item());
        }
    }

    fn add(&mut self, item: Value) {
        self.send("response.output_item.done", json!({"output_index": self.done.len(), "item": item}));
        self.done.push(item);
    }

    fn call(&mut self, call: &ToolCall, call_id: &str, takes_text: bool, pieces: usize) {
        let (kind, field, event) = if takes_text {
            ("custom_tool_call", "input", "response.custom_tool_call_input.delta")
        } else {
            ("function_call", "arguments", "response.function_call_arguments.delta")
        };
        let id = (self.next_id)().replace("call_", "fc_");
        let index = self.done.len();
        let item = |text: &str| json!({"type": kind, "id": id, "call_id": call_id, "name": call.name, field: text});
        self.send("response.output_item.added", json!({"output_index": index, "item": item("")}));
        for piece in 0..pieces {
            let delta = slice(&call.arguments, piece, pieces);
            self.send(event, json!({"item_id": id, "call_id": call_id, "output_index": index, "delta": delta}));
        }
        self.add(item(&call.arguments));
    }

    fn failed(&mut self, message: &str) -> Value {
        self.response["status"] = json!("failed");
        self.response["error"] = json!({"code": "server_error", "message": message});
        let response = self.response.clone();
        self.send("response.failed", json!({"response": response}));
        response
    }

    /// How a stream ends well, or for the reason that the script gives.
    fn completed(&mut self, reply: &Reply) -> Value {
        self.close();
        let (input, output) = reply.usage.unwrap_or((10, 5));
        let reason = match reply.finish.as_deref() {
            Some("length") => Some("max_output_tokens"),
            Some("content_filter") => Some("content_filter"),
            _ => None,
        };
        let (name, status) = match reason {
            Some(_) => ("response.incomplete", "incomplete"),
            None => ("response.completed", "completed"),
        };
        self.response["status"] = json!(status);
        self.response["incomplete_details"] = reason.map_or(Value::Null, |reason| json!({"reason": reason}));
        self.response["output"] = json!(self.done);
        self.response["usage"] = json!({
            "input_tokens": input,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": input + output,
        });
        let response = self.response.clone();
        self.send(name, json!({"response": response}));
        response
    }
}

impl Open {
    fn item(&self) -> Value {
        let part = |kind: &str| if self.text.is_empty() { json!([]) } else { json!([{"type": kind, "text": self.text}]) };
        match self.kind {
            Kind::Message => json!({"type": "message", "id": self.id, "role": "assistant", "content": part("output_text")}),
            Kind::Reasoning => json!({"type": "reasoning", "id": self.id, "summary": part("summary_text"), "encrypted_content": null}),
        }
    }
}
