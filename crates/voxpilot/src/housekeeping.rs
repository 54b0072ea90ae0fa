//! What a server does now and then: drops what is not needed any more, gives memory back, and looks how full the disk is.

use std::time::Duration;

use engine::Engine;
use jiff::{SignedDuration, Timestamp};

use crate::memory;

/// Events of turns that were over for this long are dropped, and the raw traffic of agents that ended before; messages stay.
const EVENTS_KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);
/// So long a copy from before a migration is kept.
const COPIES_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
const TIDY_EVERY: Duration = Duration::from_secs(3600);
const MEASURE_EVERY: Duration = Duration::from_secs(60);
const REST: Duration = Duration::from_secs(1);

/// Never ends by itself.
pub async fn run(engine: &Engine) {
    tokio::join!(tidy(engine), watch_disk(engine), stay_small(engine));
}

async fn tidy(engine: &Engine) {
    let mut tick = tokio::time::interval(TIDY_EVERY);
    loop {
        tick.tick().await;
        engine.drop_old_traces(EVENTS_KEPT.unsigned_abs()).await;
        match engine.store().compact(Timestamp::now() - EVENTS_KEPT).await {
            Ok(0) => {}
            Ok(sessions) => tracing::info!(sessions, "dropped events that nobody needs any more"),
            Err(error) => tracing::warn!(%error, "old events could not be dropped"),
        }
        engine.store().tidy(COPIES_KEPT).await;
    }
}

/// Warns when it becomes worth a warning, and not again before it was better.
async fn watch_disk(engine: &Engine) {
    let mut tick = tokio::time::interval(MEASURE_EVERY);
    let mut warned = false;
    loop {
        tick.tick().await;
        let Ok(disk) = engine.disk().await else { continue };
        if let Some(warning) = disk.warning.as_ref().filter(|_| !warned) {
            tracing::warn!("{warning}");
        }
        warned = disk.warning.is_some();
    }
}

/// Gives memory back after the start, and after work: when no turn runs and something was done since the last time.
async fn stay_small(engine: &Engine) {
    let mut tick = tokio::time::interval(REST);
    let mut done_before = None;
    loop {
        tick.tick().await;
        let counts = engine.store().counts();
        let done = Some(counts.commits + counts.reads);
        if engine.metrics().turns_running.get() == 0 && done != done_before {
            done_before = done;
            memory::trim();
        }
    }
}
