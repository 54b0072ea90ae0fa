//! What a script answers: text in pieces, tool calls, and every way in which an endpoint misbehaves.
//! Data only; `stream` puts it on the wire.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::stamped_stream::StampedChunks;

/// Holds a reply back until the test says go, so that no test has to sleep.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn new() -> Gate {
        Gate(Arc::new(Semaphore::new(0)))
    }

    /// Lets the next `steps` steps through.
    pub fn release(&self, steps: usize) {
        self.0.add_permits(steps);
    }

    /// Lets everything through from now on.
    pub fn open(&self) {
        self.0.close();
    }

    pub(super) async fn pass(&self) {
        if let Ok(permit) = self.0.acquire().await {
            permit.forget();
        }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Gate::new()
    }
}

/// A tool call that the model asks for.
#[derive(Clone, Debug)]
pub struct ToolCall {
    pub(super) id: CallId,
    pub(super) name: String,
    pub(super) arguments: String,
}

#[derive(Clone, Debug)]
pub(super) enum CallId {
    Made,
    Given(String),
    Missing,
}

impl ToolCall {
    /// A string is sent as it is (so it may be malformed); any other value is sent as JSON.
    pub fn new(name: &str, arguments: impl Into<Value>) -> ToolCall {
        let arguments = match arguments.into() {
            Value::String(text) => text,
            value => value.to_string(),
        };
        ToolCall { id: CallId::Made, name: name.to_owned(), arguments }
    }

    pub fn with_id(mut self, id: &str) -> ToolCall {
        self.id = CallId::Given(id.to_owned());
        self
    }

    pub fn without_id(mut self) -> ToolCall {
        self.id = CallId::Missing;
        self
    }
}

/// One answer to one request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// A body in one piece instead of a stream, with its content type.
    pub(super) whole: Option<(String, String)>,
    /// Chunks for whoever measures, sent before everything else.
    pub(super) stamped: Option<StampedChunks>,
    pub(super) beats: Vec<Beat>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) argument_pieces: usize,
    pub(super) finish: Option<String>,
    pub(super) usage: Option<(u64, u64)>,
    pub(super) delay: Option<Duration>,
    pub(super) gate: Option<Gate>,
    pub(super) byte_slices: Option<usize>,
    pub(super) ending: Ending,
}

#[derive(Clone, Debug)]
pub(super) enum Beat {
    Text(String),
    Thought(String),
    /// The model says in the middle of its stream that it failed.
    Error(String),
    /// The payload of one event, sent as it is.
    Raw(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Finish reason, usage, `[DONE]`.
    Done,
    /// Only `[DONE]`.
    Bare,
    /// A clean end of the body with neither finish reason nor `[DONE]`.
    Early,
    /// The socket is closed in mid-body.
    Cut,
    /// Silence until the gate opens or the client leaves.
    Stall,
    /// The socket is closed before any answer.
    HangUp,
}

impl Reply {
    /// A stream that says nothing and ends well.
    pub fn new() -> Reply {
        Reply {
            status: 200,
            headers: Vec::new(),
            whole: None,
            stamped: None,
            beats: Vec::new(),
            calls: Vec::new(),
            argument_pieces: 1,
            finish: None,
            usage: None,
            delay: None,
            gate: None,
            byte_slices: None,
            ending: Ending::Done,
        }
    }

    pub fn text(text: &str) -> Reply {
        Reply::chunks([text])
    }

    pub fn chunks<'a>(chunks: impl IntoIterator<Item = &'a str>) -> Reply {
        let mut reply = Reply::new();
        let texts = chunks.into_iter().map(|chunk| Beat::Text(chunk.to_owned()));
        reply.beats.extend(texts);
        reply
    }

    /// So many chunks of so many bytes, as [`crate::stamped`] writes them: one `every` so often, or as fast as they are taken.
    /// Only as a stream of chat completions.
    pub fn stamped(count: u64, bytes: usize, every: Option<Duration>) -> Reply {
        let mut reply = Reply::new();
        reply.stamped = Some(StampedChunks { count, bytes, every });
        reply
    }

    pub fn tool_call(name: &str, arguments: impl Into<Value>) -> Reply {
        Reply::new().and_call(ToolCall::new(name, arguments))
    }

    pub fn tool_calls(calls: impl IntoIterator<Item = ToolCall>) -> Reply {
        let mut reply = Reply::new();
        reply.calls.extend(calls);
        reply
    }

    pub fn and_call(mut self, call: ToolCall) -> Reply {
        self.calls.push(call);
        self
    }

    /// Reasoning, sent after what was said so far.
    pub fn and_thought(mut self, thought: &str) -> Reply {
        self.beats.push(Beat::Thought(thought.to_owned()));
        self
    }

    pub fn and_text(mut self, text: &str) -> Reply {
        self.beats.push(Beat::Text(text.to_owned()));
        self
    }

    /// Cuts the arguments of every call into so many pieces; the pieces of several calls alternate.
    pub fn argument_pieces(mut self, pieces: usize) -> Reply {
        self.argument_pieces = pieces.max(1);
        self
    }

    pub fn finish(mut self, reason: &str) -> Reply {
        self.finish = Some(reason.to_owned());
        self
    }

    pub fn usage(mut self, prompt_tokens: u64, completion_tokens: u64) -> Reply {
        self.usage = Some((prompt_tokens, completion_tokens));
        self
    }

    /// A pause before every chunk, for people who watch; tests use a gate.
    pub fn chunk_delay(mut self, delay: Duration) -> Reply {
        self.delay = Some(delay);
        self
    }

    /// The gate is passed before every chunk and once more before the end.
    pub fn gate(mut self, gate: &Gate) -> Reply {
        self.gate = Some(gate.clone());
        self
    }

    /// Writes the stream in slices of so many bytes, through characters and events alike.
    pub fn byte_slices(mut self, bytes: usize) -> Reply {
        self.byte_slices = Some(bytes.max(1));
        self
    }

    /// Closes the socket in mid-body after what was said.
    pub fn cut(mut self) -> Reply {
        self.ending = Ending::Cut;
        self
    }

    /// Ends the body cleanly after what was said, with neither finish reason nor `[DONE]`.
    pub fn end_early(mut self) -> Reply {
        self.ending = Ending::Early;
        self
    }

    /// Falls silent after what was said until the gate opens, if there is one, or the client leaves.
    pub fn stall(mut self) -> Reply {
        self.ending = Ending::Stall;
        self
    }

    /// Closes the socket without any answer.
    pub fn hang_up() -> Reply {
        let mut reply = Reply::new();
        reply.ending = Ending::HangUp;
        reply
    }

    /// A plain HTTP answer, with an error object as its body.
    pub fn status(status: u16) -> Reply {
        let error = json!({"error": {"message": format!("scripted {status}"), "type": "scripted"}});
        let mut reply = Reply::new();
        reply.status = status;
        reply.body("application/json", &error.to_string())
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Answers with this body instead of a stream.
    pub fn body(mut self, content_type: &str, body: &str) -> Reply {
        self.whole = Some((content_type.to_owned(), body.to_owned()));
        self
    }

    /// A well-formed stream whose only completion chunk has no choices.
    pub fn empty_choices() -> Reply {
        let chunk = json!({"id": "chatcmpl-empty", "object": "chat.completion.chunk", "choices": []});
        let mut reply = Reply::new().and_raw(&chunk.to_string());
        reply.ending = Ending::Bare;
        reply
    }

    /// An error object in the middle of the stream, after what was said so far.
    pub fn and_error(mut self, message: &str) -> Reply {
        self.beats.push(Beat::Error(message.to_owned()));
        self
    }

    /// One event with this payload, JSON or not.
    pub fn and_raw(mut self, payload: &str) -> Reply {
        self.beats.push(Beat::Raw(payload.to_owned()));
        self
    }
}

impl Default for Reply {
    fn default() -> Self {
        Reply::new()
    }
}
