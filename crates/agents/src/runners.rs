//! The runners that lie in a data directory: what is left of them, and how it is ended.

use std::collections::HashSet;
use std::path::Path;

use runner::{AttachError, Body, find};
use uuid::Uuid;

pub use runner::{Durability, Found, Spec};

/// Every runner's directory below `runners`, and who of it is still there.
pub fn find_runners(runners: &Path) -> Vec<Found> {
    find(runners)
}

pub fn find_runner(dir: &Path) -> Option<Found> {
    find(dir.parent()?).into_iter().find(|found| found.dir == dir)
}

/// Ends a runner with its agent, or what a dead one left; returns when all are gone.
pub async fn end_runner(found: &Found) -> Result<(), String> {
    match runner::attach(&found.dir, u64::MAX).await {
        Ok((handle, _records)) => {
            // Nobody is going to read it any more; otherwise one whose agent has ended would offer its last records for a while.
            if let Err(error) = handle.ack(u64::MAX).await {
                tracing::debug!(dir = %found.dir.display(), %error, "the runner was not told that it is done with");
            }
            handle.stop().await.map_err(|error| error.to_string())
        }
        Err(AttachError::Gone(_)) => runner::end_leftovers(found).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// The ids of everything that was ever written to the agent: what is not among them has not reached it. `None` where there is no
/// journal to tell.
pub fn written(dir: &Path) -> Option<HashSet<Uuid>> {
    let mut records = runner::read_journal(dir, 0).ok()?.peekable();
    records.peek()?;
    let writes = records.filter_map(|record| match record.body {
        Body::ToAgent { write_id, .. } => Some(write_id),
        _ => None,
    });
    Some(writes.collect())
}
