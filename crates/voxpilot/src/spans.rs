//! The spans' way out: the one task that sends them, from the start of the server to its end.

use std::time::Duration;

use anyhow::{Context, Result};
use telemetry::{Exporter, Spans};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long what is still to be sent may hold up the end of the server.
const LAST: Duration = Duration::from_secs(2);

/// Without an address nothing is collected and nothing runs.
#[derive(Default)]
pub(crate) struct Sending {
    pub(crate) spans: Spans,
    task: JoinSet<()>,
    stop: CancellationToken,
}

impl Sending {
    pub(crate) fn start(endpoint: Option<&str>) -> Result<Sending> {
        let Some(endpoint) = endpoint else { return Ok(Sending::default()) };
        let (spans, exporter) = Exporter::new(endpoint, env!("CARGO_PKG_VERSION")).context("preparing to send spans")?;
        let (mut task, stop) = (JoinSet::new(), CancellationToken::new());
        task.spawn(exporter.run(stop.clone()));
        Ok(Sending { spans, task, stop })
    }

    /// Sends what is left, as far as that can be done at once; a collector that hangs holds up nothing.
    pub(crate) async fn flush(&mut self) {
        self.stop.cancel();
        if tokio::time::timeout(LAST, self.task.join_next()).await.is_err() {
            tracing::warn!("the last spans could not be sent in time and are left out");
        }
    }
}
