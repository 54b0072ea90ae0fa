//! What the server tells about itself: spans of turns as a collector gets them, and numbers as they are documented.

#![allow(clippy::unwrap_used)]

mod documents;
mod exporter;
mod outage;
mod turns;

use std::time::Duration;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);
