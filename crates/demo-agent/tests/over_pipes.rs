//! The agent driven over pipes, as a client would.
#![allow(clippy::unwrap_used)]

#[path = "over_pipes/cancelling.rs"]
mod cancelling;
#[path = "over_pipes/client.rs"]
mod client;
#[path = "over_pipes/instructions.rs"]
mod instructions;
#[path = "over_pipes/permissions.rs"]
mod permissions;
#[path = "over_pipes/protocol.rs"]
mod protocol;
#[path = "over_pipes/sessions.rs"]
mod sessions;
