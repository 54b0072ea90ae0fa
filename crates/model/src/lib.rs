//! The main AI: one streaming completion at a time, from an endpoint or from the built-in relay.
//!
//! Owns the wire to the model, its retries and its faults, and is the only crate that names the model
//! library. It must not know the turn, the log or the tools: it gets a neutral history and tool
//! specifications, and gives back text and tool calls.

mod endpoint;
mod fault;
mod message;
mod relay;
mod settings;

pub use fault::Fault;
pub use message::{Completion, Event, Image, Message, Request, ToolCall, ToolSpec, Usage};
pub use relay::relay_answer;
pub use settings::{Provider, Reach, Secret, Settings, SettingsError, UnknownProvider};

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::Sender;

use endpoint::Endpoint;

/// How patient a model is. Not a setting: it exists so that tests need not wait.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The pause before the second try; it doubles with every further one.
    pub first_backoff_ms: u64,
    /// Silence on the wire for this long is a stall.
    pub stall_ms: u64,
    /// How often a request is tried in all.
    pub tries: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { first_backoff_ms: 500, stall_ms: 120_000, tries: 4 }
    }
}

/// A main AI, ready to be asked. Cloning is cheap and shares the connections.
#[derive(Clone, Debug)]
pub struct Model(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Relay,
    Endpoint(Arc<Endpoint>),
}

impl Model {
    pub fn new(settings: Settings) -> Result<Model, SettingsError> {
        Model::with_tuning(settings, Tuning::default())
    }

    pub fn with_tuning(settings: Settings, tuning: Tuning) -> Result<Model, SettingsError> {
        Ok(Model(match settings.resolve()? {
            None => Kind::Relay,
            Some(target) => Kind::Endpoint(Arc::new(Endpoint::new(target, tuning)?)),
        }))
    }

    /// The model's name as it was configured; `relay` for the relay.
    pub fn name(&self) -> &str {
        match &self.0 {
            Kind::Relay => relay::NAME,
            Kind::Endpoint(endpoint) => endpoint.model(),
        }
    }

    /// The models that the endpoint offers; the relay is one by itself. An endpoint that does not answer in time has failed.
    pub async fn names(&self, patience: Duration) -> Result<Vec<String>, Fault> {
        match &self.0 {
            Kind::Relay => Ok(Vec::new()),
            Kind::Endpoint(endpoint) => endpoint.names(patience).await,
        }
    }

    /// Asks for one completion and tells `events` about it as it comes; `Event::End` is the last of them
    /// if it succeeds. Dropping the future cancels the request. A receiver that is gone is no reason to
    /// stop: the answer is still returned.
    pub async fn complete(&self, request: Request, events: Sender<Event>) -> Result<Completion, Fault> {
        let completion = match &self.0 {
            Kind::Relay => relay::complete(&request, &events).await?,
            Kind::Endpoint(endpoint) => endpoint.complete(&request, &events).await?,
        };
        let _ = events.send(Event::End(completion.clone())).await;
        Ok(completion)
    }
}
