//! How the built server is reached: by many at once, encrypted, through a reverse proxy, and by its own commands.

#![allow(clippy::unwrap_used)]

mod announced;
mod certificate;
mod flood;
mod http2;
mod limits_table;
mod proxy;
mod push;
mod redirects;
mod tls;

use std::time::Duration;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);
