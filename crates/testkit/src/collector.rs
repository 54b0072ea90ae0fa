//! A collector of traces on loopback: it takes what it is sent, answers as it was told to, and lets a test look at the spans.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use crate::loopback::Answer;
use crate::loopback::{Loopback, Request};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct Posted {
    /// Method and path.
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Dropping it closes the socket and every connection.
pub struct Collector {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    posted: Vec<Posted>,
    answers: VecDeque<Answer>,
    /// Of every request for which there is no other.
    otherwise: Option<Answer>,
}

impl Collector {
    /// Must be called inside a tokio runtime. Takes everything, unless it is told otherwise.
    pub async fn start() -> Collector {
        let loopback = Loopback::bind().await;
        let address = loopback.address();
        let shared = Arc::new(Shared { state: Mutex::default(), changes: watch::channel(0).0 });
        let taking = Arc::clone(&shared);
        Collector { address, shared, _serving: loopback.serve(move |request| taking.take(request)) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next request gets this answer.
    pub fn answer(&self, answer: Answer) {
        self.shared.state().answers.push_back(answer);
    }

    /// Every request gets this answer.
    pub fn always(&self, answer: Answer) {
        self.shared.state().otherwise = Some(answer);
    }

    pub fn posted(&self) -> Vec<Posted> {
        self.shared.state().posted.clone()
    }

    /// Every span that was posted, also with requests that were refused.
    pub fn spans(&self) -> Vec<Value> {
        let documents = self.posted().into_iter().map(|posted| serde_json::from_str::<Value>(&posted.body).expect("a body is JSON"));
        documents.flat_map(|document| spans_of(&document)).collect()
    }

    /// Waits until what was posted is enough.
    pub async fn wait(&self, what: &str, enough: impl Fn(&Collector) -> bool) {
        let mut changes = self.shared.changes.subscribe();
        let waiting = async {
            while !enough(self) {
                changes.changed().await.expect("the sender lives as long as the collector");
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "{what} was not posted; only {:#?}", self.spans());
    }
}

fn spans_of(document: &Value) -> Vec<Value> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let scopes = list(document, "resourceSpans").into_iter().flat_map(|resource| list(&resource, "scopeSpans"));
    scopes.flat_map(|scope| list(&scope, "spans")).collect()
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, Request { line, headers, body }: Request) -> Answer {
        let posted = Posted { line, headers, body: String::from_utf8(body).expect("a body is text") };
        let answer = {
            let mut state = self.state();
            state.posted.push(posted);
            state.answers.pop_front().or_else(|| state.otherwise.clone()).unwrap_or_else(|| Answer::status(200))
        };
        self.changes.send_modify(|count| *count += 1);
        answer
    }
}
