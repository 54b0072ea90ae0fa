//! A model behind an address: one streamed request, tried again while nothing has been heard yet.
//!
//! Owns the connection and the retries. It must not repeat a request once part of an answer was passed
//! on: whoever shows that part has to take it back first.

mod backoff;
mod classify;
mod history;
mod proxy;
pub(crate) mod resolve;

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::{StreamExt, TryFutureExt};
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, ReasoningEffort, StopReason, StreamEnd};
use genai::resolver::{AuthData, Endpoint as Address};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use tokio::sync::mpsc::Sender;

use crate::Tuning;
use crate::fault::Fault;
use crate::message::{Completion, Event, Message, Request, ToolCall, Usage};
use crate::settings::{SettingsError, Target};
use proxy::Proxy;

/// An unreachable host must not eat the whole time that a stall may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Of the models that an endpoint lists, and of the name of one, in bytes.
const NAMES_MAX: usize = 500;
const NAME_MAX: usize = 200;
/// The text of one answer, and its reasoning.
const TEXT_MIB: usize = 4;

pub(crate) struct Endpoint {
    target: Arc<Target>,
    tuning: Tuning,
    /// Reaches the endpoint itself.
    http: reqwest::Client,
}

impl Endpoint {
    pub(crate) fn new(target: Target, tuning: Tuning) -> Result<Endpoint, SettingsError> {
        let mut builder = tls::client().connect_timeout(CONNECT_TIMEOUT).tcp_nodelay(true).dns_resolver(resolve::CheckedResolver);
        if target.loopback {
            // A proxy for the outside world cannot reach this machine's own loopback.
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| SettingsError::Client { reason: error.to_string() })?;
        Ok(Endpoint { target: Arc::new(target), tuning, http })
    }

    pub(crate) fn model(&self) -> &str {
        &self.target.model
    }

    pub(crate) async fn names(&self, patience: Duration) -> Result<Vec<String>, Fault> {
        let ServiceTarget { endpoint, auth, .. } = self.service();
        let proxy = self.proxy()?;
        let listing = proxy.client.all_model_names(self.target.adapter, (endpoint, auth));
        let asking = proxy.run(listing.map_err(|error| self.classify(&error)));
        let silent = || Fault::Stalled { host: self.target.host.clone(), silent_s: patience.as_secs() };
        let mut names = tokio::time::timeout(patience, asking).await.map_err(|_| silent())??;
        names.retain(|name| !name.is_empty() && name.len() <= NAME_MAX);
        names.truncate(NAMES_MAX);
        Ok(names)
    }

    pub(crate) async fn complete(&self, request: &Request, events: &Sender<Event>) -> Result<Completion, Fault> {
        let chat = history::to_chat(request);
        let mut attempt = 1;
        loop {
            let mut heard = Heard::default();
            let fault = match self.attempt(chat.clone(), events, &mut heard).await {
                Ok(end) => return self.completion(request, heard.text, end),
                Err(fault) if heard.anything => return Err(fault.after_output()),
                Err(fault) => fault,
            };
            let pause = backoff::pause(&fault, attempt, self.tuning.first_backoff_ms);
            let Some(pause) = pause.filter(|_| attempt < self.tuning.tries) else {
                return Err(fault);
            };
            tracing::info!(host = %self.target.host, attempt, %fault, "model request is tried again");
            let retrying = Event::Retrying { after_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX), reason: fault.to_string() };
            let _ = events.send(retrying).await;
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    fn proxy(&self) -> Result<Proxy, Fault> {
        Proxy::open(self.http.clone(), self.target.clone())
    }

    async fn attempt(&self, chat: ChatRequest, events: &Sender<Event>, heard: &mut Heard) -> Result<StreamEnd, Fault> {
        let proxy = self.proxy()?;
        proxy.run(self.stream(&proxy.client, chat, events, heard)).await
    }

    /// One request over the wire, up to the end that the endpoint declares.
    async fn stream(&self, client: &Client, chat: ChatRequest, events: &Sender<Event>, heard: &mut Heard) -> Result<StreamEnd, Fault> {
        let frames = Frames::default();
        let options = self.options(&frames);
        let opened = client.exec_chat_stream(self.service(), chat, Some(&options)).await;
        let mut stream = opened.map_err(|error| self.classify(&error))?.stream;
        while let Some(event) = stream.next().await {
            match event.map_err(|error| self.classify(&error))? {
                ChatStreamEvent::Chunk(chunk) => {
                    heard.anything = true;
                    heard.text.push_str(&chunk.content);
                    let _ = events.send(Event::Text(chunk.content)).await;
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    heard.anything = true;
                    heard.thought_bytes += chunk.content.len();
                    let _ = events.send(Event::Thought(chunk.content)).await;
                }
                ChatStreamEvent::End(end) => return self.check_end(end),
                // Tool-call chunks repeat what came before them; the end carries the whole calls.
                ChatStreamEvent::Start
                | ChatStreamEvent::ToolCallChunk(_)
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::Heartbeat => {}
            }
            if heard.text.len().max(heard.thought_bytes) > TEXT_MIB << 20 {
                // A model that never ends must not fill the log, nor the memory.
                return Err(Fault::TooLong { host: self.target.host.clone(), most_mib: TEXT_MIB });
            }
        }
        Err(self.ended_without_end(&frames))
    }

    /// Gemini's stream is given an end even where the connection broke; only its reason tells.
    fn check_end(&self, end: StreamEnd) -> Result<StreamEnd, Fault> {
        let gemini = self.target.adapter == AdapterKind::Gemini;
        if gemini && end.captured_stop_reason.is_none() {
            return Err(Fault::Cut { host: self.target.host.clone() });
        }
        Ok(end)
    }

    /// The library ends a stream silently when the body is over, whatever the body was.
    fn ended_without_end(&self, frames: &Frames) -> Fault {
        let host = self.target.host.clone();
        let (blank, full) = frames.counts();
        if full == 0 && blank > 0 {
            return Fault::Malformed { host, detail: "the body is not an event stream".to_owned() };
        }
        Fault::Cut { host }
    }

    fn completion(&self, request: &Request, text: String, end: StreamEnd) -> Result<Completion, Fault> {
        let usage = end
            .captured_usage
            .as_ref()
            .map(|usage| Usage { input_tokens: count(usage.prompt_tokens), output_tokens: count(usage.completion_tokens) });
        let truncated = matches!(end.captured_stop_reason, Some(StopReason::MaxTokens(_)));
        let calls = end.captured_into_tool_calls().unwrap_or_default();
        let tool_calls = tool_calls(request, calls);
        if text.is_empty() && tool_calls.is_empty() {
            return Err(Fault::Empty { host: self.target.host.clone() });
        }
        Ok(Completion { text, tool_calls, usage, model: self.target.model.clone(), truncated })
    }

    fn service(&self) -> ServiceTarget {
        let base_url = Proxy::address(&self.target.base_url);
        let auth = match &self.target.key {
            Some(key) => AuthData::from_single(key.expose()),
            // The OpenAI dialect of the library insists on a key; a local server has none to check.
            None if self.target.adapter == AdapterKind::OpenAI => {
                AuthData::RequestOverride { url: format!("{base_url}chat/completions"), headers: Headers::default() }
            }
            None => AuthData::None,
        };
        ServiceTarget {
            endpoint: Address::from_owned(base_url),
            auth,
            model: ModelIden::new(self.target.adapter, self.target.model.as_str()),
        }
    }

    fn options(&self, frames: &Frames) -> ChatOptions {
        let silence = Duration::from_millis(self.tuning.stall_ms);
        let frames = frames.clone();
        let options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_tool_calls(true)
            .with_stream_header_timeout(silence)
            .with_stream_read_timeout(silence)
            .with_raw_frame_fn(move |_, frame| frames.note(frame.data));
        if self.target.adapter == AdapterKind::OpenAI {
            // Without an explicit effort the library reads one from the model's name and cuts it off
            // (`mistral-medium` would be sent as `mistral`); a budget is not sent in this dialect.
            return options.with_reasoning_effort(ReasoningEffort::Budget(0));
        }
        options
    }

    fn classify(&self, error: &genai::Error) -> Fault {
        classify::fault(error, &self.target, self.tuning.stall_ms)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", self.target.model, self.target.host)
    }
}

/// What one attempt has passed on so far.
#[derive(Default)]
struct Heard {
    anything: bool,
    text: String,
    thought_bytes: usize,
}

/// Counts the events of a body, those without data and those with.
#[derive(Clone, Default)]
struct Frames(Arc<Counts>);

#[derive(Default)]
struct Counts {
    blank: AtomicU32,
    full: AtomicU32,
}

impl Frames {
    fn note(&self, data: &str) {
        let counter = if data.is_empty() { &self.0.blank } else { &self.0.full };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    fn counts(&self) -> (u32, u32) {
        (self.0.blank.load(Ordering::Relaxed), self.0.full.load(Ordering::Relaxed))
    }
}

fn count(tokens: Option<i32>) -> u64 {
    tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0)
}

/// The calls with ids that are unique in the conversation: some endpoints give none, and some start
/// again at `call_0` with every answer.
fn tool_calls(request: &Request, calls: Vec<genai::chat::ToolCall>) -> Vec<ToolCall> {
    let mut taken: HashSet<String> = request.messages.iter().flat_map(call_ids).collect();
    let mut unique = Vec::new();
    for (index, call) in calls.into_iter().enumerate() {
        let mut id = call.call_id;
        if id.is_empty() || taken.contains(&id) {
            id = history::made_id(&request.messages, index);
        }
        taken.insert(id.clone());
        unique.push(ToolCall { id, name: call.fn_name, arguments: history::arguments_text(call.fn_arguments) });
    }
    unique
}

fn call_ids(message: &Message) -> Vec<String> {
    match message {
        Message::Assistant { tool_calls, .. } => tool_calls.iter().map(|call| call.id.clone()).collect(),
        Message::System(_) | Message::User(_) | Message::UserWithImages { .. } | Message::Tool { .. } => Vec::new(),
    }
}
