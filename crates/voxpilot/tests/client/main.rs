//! The commands that talk to a running server, as processes: what they print, how they end, and what they survive.
#![allow(clippy::unwrap_used)]

mod approve;
mod attach;
mod errors;
mod export;
mod hidden;
mod link;
mod program;
mod send;
mod sessions;

use std::time::Duration;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);
