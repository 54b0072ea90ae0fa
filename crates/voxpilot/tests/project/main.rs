//! A project's own `voxpilot.toml` on the built binary: hostile ones get nothing, consent makes one count, and only as it was seen.

#![allow(clippy::unwrap_used)]

mod consent;
mod data_dir;
mod hostile;
mod page;
mod person;
mod terminal;
mod untrusted;

use std::time::Duration;

/// Generous: a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);
