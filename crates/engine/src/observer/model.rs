//! What is told of one call of the model. The relay is none: it answers by itself.

use std::sync::Arc;
use std::time::Instant;

use model::{Completion, Event, Fault};
use telemetry::Metrics;

use super::{Observer, Pending};
use crate::settings::RELAY;

const COMPLETED: &str = "completed";
/// Nobody waits for it any more: the turn was stopped, or the server stops.
const STOPPED: &str = "stopped";
/// It could not even be asked.
pub(crate) const NOT_ASKED: &str = "model_not_available";
/// How a call can end.
pub(crate) fn outcomes() -> Vec<&'static str> {
    [&[COMPLETED, STOPPED, NOT_ASKED][..], &Fault::CODES].concat()
}

/// One that is dropped before it has ended was stopped.
pub(crate) struct Asked(Option<Call>);

struct Call {
    metrics: Arc<Metrics>,
    span: Option<Pending>,
    begun: Instant,
    heard: bool,
    retries: u64,
    outcome: &'static str,
}

impl Observer {
    pub(crate) fn model_asked(&self, model: &str) -> Asked {
        Asked((model != RELAY).then(|| Call {
            metrics: self.metrics.clone(),
            span: Some(self.begin("model call").with("model", model)),
            begun: Instant::now(),
            heard: false,
            retries: 0,
            outcome: STOPPED,
        }))
    }
}

impl Asked {
    pub(crate) fn heard(&mut self, event: &Event) {
        let Some(call) = &mut self.0 else { return };
        match event {
            Event::Text(text) => {
                call.metrics.model_chunks.increment();
                call.metrics.model_bytes.add(text.len());
            }
            Event::Thought(_) => {}
            Event::Retrying { .. } => {
                call.metrics.model_retries.increment();
                call.retries += 1;
                return;
            }
            Event::End(_) => return,
        }
        if !call.heard {
            call.heard = true;
            call.metrics.first_token_seconds.observe(call.begun.elapsed());
        }
    }

    /// `None` where it could not be asked.
    pub(crate) fn ended(mut self, outcome: Result<&Completion, Option<&Fault>>) {
        let Some(call) = &mut self.0 else { return };
        call.outcome = match outcome {
            Ok(_) => COMPLETED,
            Err(Some(fault)) => fault.code(),
            Err(None) => NOT_ASKED,
        };
        if let Some(usage) = outcome.ok().and_then(|completion| completion.usage.as_ref()) {
            call.metrics.input_tokens.add(usize::try_from(usage.input_tokens).unwrap_or(0));
            call.metrics.output_tokens.add(usize::try_from(usage.output_tokens).unwrap_or(0));
            call.span = call.span.take().map(|span| span.with("tokens.in", usage.input_tokens).with("tokens.out", usage.output_tokens));
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.metrics.model_calls.of(self.outcome).increment();
        self.metrics.model_call_seconds.observe(self.begun.elapsed());
        if let Some(span) = self.span.take() {
            let failed = !matches!(self.outcome, COMPLETED | STOPPED);
            span.with("outcome", self.outcome).with("retries", self.retries).end(failed);
        }
    }
}
