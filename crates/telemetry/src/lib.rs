//! What the server tells about itself: numbers for whoever watches it, and spans of what a turn does.
//!
//! It knows nothing of sessions, agents or HTTP: those count here and end spans here. Nothing of a conversation may get in: a label is a
//! word of ours or an agent's id, and an attribute an id, a name or a number.

mod counter;
mod histogram;
mod labelled;
mod metrics;
mod otlp;
mod page;
mod process;
mod span;

pub use counter::{Counter, Gauge, Held};
pub use histogram::{Histogram, Reading};
pub use labelled::{Codes, Labelled};
pub use metrics::{AgentCounts, Metrics, Moment, StoreCounts};
pub use otlp::{Exporter, ExporterError};
pub use span::{Span, SpanCounts, Spans, Value};
