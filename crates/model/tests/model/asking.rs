//! Asks a model once and keeps everything that was heard.

use std::time::Duration;

use model::{Completion, Event, Fault, Message, Model, Provider, Request, Secret, Settings, Tuning};
use testkit::model_server::ModelServer;
use tokio::sync::mpsc;

/// The key of every test: no fault and no event may ever contain it.
pub(crate) const KEY: &str = "sk-test-0123456789";

const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct Heard {
    pub outcome: Result<Completion, Fault>,
    pub events: Vec<Event>,
}

impl Heard {
    pub(crate) fn text(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(crate) fn pauses_ms(&self) -> Vec<u64> {
        let pauses = self.events.iter().filter_map(|event| match event {
            Event::Retrying { after_ms, .. } => Some(*after_ms),
            _ => None,
        });
        pauses.collect()
    }

    pub(crate) fn completion(&self) -> &Completion {
        self.outcome.as_ref().unwrap()
    }

    pub(crate) fn fault(&self) -> &Fault {
        self.outcome.as_ref().unwrap_err()
    }
}

pub(crate) fn settings(base_url: &str) -> Settings {
    Settings::Endpoint { model: "main".to_owned(), base_url: Some(base_url.to_owned()), api_key: Some(Secret::from(KEY)), provider: None }
}

pub(crate) fn provider(provider: Provider, base_url: &str) -> Settings {
    let Settings::Endpoint { model, base_url, api_key, .. } = settings(base_url) else {
        unreachable!("the settings name an endpoint");
    };
    Settings::Endpoint { model, base_url, api_key, provider: Some(provider) }
}

/// Short pauses, and more patience than a healthy answer needs on a busy machine.
pub(crate) fn model(settings: Settings) -> Model {
    tuned(settings, 15_000)
}

/// For answers that are known to fall silent.
pub(crate) fn impatient_model(settings: Settings) -> Model {
    tuned(settings, 300)
}

fn tuned(settings: Settings, stall_ms: u64) -> Model {
    let tuning = Tuning { first_backoff_ms: 2, stall_ms, tries: 4 };
    Model::with_tuning(settings, tuning).unwrap()
}

pub(crate) fn says(text: &str) -> Request {
    Request { messages: vec![Message::User(text.to_owned())], tools: Vec::new() }
}

pub(crate) async fn ask(server: &ModelServer, request: Request) -> Heard {
    ask_model(&model(settings(&server.base_url())), request).await
}

pub(crate) async fn ask_model(model: &Model, request: Request) -> Heard {
    let (sender, mut receiver) = mpsc::channel(4);
    let listening = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        events
    };
    let both = async { tokio::join!(model.complete(request, sender), listening) };
    let (outcome, events) = tokio::time::timeout(DEADLINE, both).await.unwrap();
    let everything = match &outcome {
        Ok(_) => format!("{events:?}"),
        Err(fault) => format!("{fault} {fault:?} {events:?}"),
    };
    assert!(!everything.contains(KEY), "the key leaked: {everything}");
    let ends = events.iter().filter(|event| matches!(event, Event::End(_))).count();
    assert_eq!(ends, usize::from(outcome.is_ok()), "one end for a success, none for a fault");
    Heard { outcome, events }
}
