//! Spans: what was done from when to when, on behalf of which turn. Nothing is collected while nobody wants them.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::Counter;

/// How many may wait to be sent; what comes then is left out, and counted.
const QUEUE: usize = 4096;

/// Something that is over.
#[derive(Clone, PartialEq, Debug)]
pub struct Span {
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    pub parent_id: Option<[u8; 8]>,
    pub name: &'static str,
    /// Nanoseconds since 1970.
    pub begun_ns: u64,
    pub ended_ns: u64,
    pub attributes: Vec<(&'static str, Value)>,
    pub failed: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

/// Where spans are handed in. Cloning shares; without an exporter it takes none.
#[derive(Clone, Default, Debug)]
pub struct Spans(Option<Arc<Queue>>);

#[derive(Debug)]
struct Queue {
    sender: mpsc::Sender<Span>,
    counts: SpanCounts,
}

/// What became of the spans.
#[derive(Clone, Default, Debug)]
pub struct SpanCounts {
    pub sent: Arc<Counter>,
    /// Left out: there was no room for them, or the collector did not take them.
    pub dropped: Arc<Counter>,
}

impl Spans {
    pub(crate) fn queue() -> (Spans, mpsc::Receiver<Span>, SpanCounts) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let counts = SpanCounts::default();
        (Spans(Some(Arc::new(Queue { sender, counts: counts.clone() }))), receiver, counts)
    }

    /// Whether anybody wants them.
    pub fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Never waits.
    pub fn tell(&self, span: Span) {
        let Some(queue) = &self.0 else { return };
        if queue.sender.try_send(span).is_err() {
            queue.counts.dropped.increment();
        }
    }

    pub fn counts(&self) -> Option<&SpanCounts> {
        self.0.as_ref().map(|queue| &queue.counts)
    }
}
