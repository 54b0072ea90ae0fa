//! The Agent Client Protocol, version 1: what we write and what we make of what we read. Pure: no process, no clock.
//!
//! Requests are built from the schema's types, so they are right by construction. Reading is our own and lenient, because
//! the schema's closed enums and skipped list items would lose what an agent says: whatever cannot be understood stays
//! whole in [`domain::agent::Update::Unknown`].

pub mod alias;
pub mod client_request;
pub mod content;
pub mod decoder;
pub mod id;
pub mod mcp;
pub mod options;
pub mod request;
pub mod response;

pub mod diff;
mod permission;
mod spoken;
mod tool_call;
mod update;

pub const PROTOCOL_VERSION: u64 = 1;
