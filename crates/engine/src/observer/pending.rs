//! A span that has begun. One that is not ended says nothing.

use domain::ids::TurnId;
use jiff::Timestamp;
use telemetry::{Span, Spans, Value};
use uuid::Uuid;

use super::last_half;

/// Where a span stands.
#[derive(Clone, Copy)]
pub(super) struct Trace {
    id: [u8; 16],
    parent: Option<[u8; 8]>,
}

impl Trace {
    /// Beneath a turn.
    pub(super) fn of(turn: TurnId) -> Trace {
        Trace { id: *turn.0.as_bytes(), parent: Some(last_half(turn.0)) }
    }

    /// The first of its trace.
    pub(super) fn alone(id: Uuid) -> Trace {
        Trace { id: *id.as_bytes(), parent: None }
    }

    pub(super) fn beneath(self, parent: [u8; 8]) -> Trace {
        Trace { parent: Some(parent), ..self }
    }
}

/// Nothing where nobody wants spans: then it costs nothing either.
pub(crate) struct Pending(Option<(Spans, Span)>);

impl Pending {
    pub(super) fn begin(spans: &Spans, name: &'static str, trace: Trace, span_id: [u8; 8]) -> Pending {
        Pending(spans.are_wanted().then(|| {
            let begun_ns = nanoseconds(Timestamp::now());
            let Trace { id: trace_id, parent: parent_id } = trace;
            let span = Span { trace_id, span_id, parent_id, name, begun_ns, ended_ns: 0, attributes: Vec::new(), failed: false };
            (spans.clone(), span)
        }))
    }

    pub(super) fn since(mut self, begun_at: Timestamp) -> Pending {
        if let Some((_, span)) = &mut self.0 {
            span.begun_ns = nanoseconds(begun_at);
        }
        self
    }

    /// `value` is an id, a name that somebody configured, a word of ours or a number; never what was said.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Pending {
        if let Some((_, span)) = &mut self.0 {
            span.attributes.push((key, value.into()));
        }
        self
    }

    pub(crate) fn end(self, failed: bool) {
        self.end_at(Timestamp::now(), failed);
    }

    pub(super) fn end_at(self, ended_at: Timestamp, failed: bool) {
        if let Some((spans, mut span)) = self.0 {
            (span.ended_ns, span.failed) = (nanoseconds(ended_at), failed);
            spans.tell(span);
        }
    }
}

fn nanoseconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_nanosecond()).unwrap_or(0)
}
