//! VoxPilot as an MCP server, asked by the SDK's own client and by the real Copilot CLI: over HTTP, and through `voxpilot mcp` on stdio.
#![allow(clippy::unwrap_used)]

mod access;
mod bounds;
mod copilot;
mod delegating;
mod durable;
mod program;
mod stdio;
mod waiting;

use std::time::Duration;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);
