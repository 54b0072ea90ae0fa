//! The Agent Client Protocol, version 1: what we write and what we make of what we read. Pure: no process, no clock.
//!
//! Requests are built from the schema's types, so they are right by construction. Reading is our own and lenient, because
//! the schema's closed enums and skipped list items would lose what an agent says: whatever cannot be understood stays
//! whole in [`domain::agent::Update::Unknown`].

pub mod alias;
pub mod content;
pub mod decoder;
pub mod diff;
pub mod id;
pub mod mcp;
pub mod request;
pub mod response;

mod chunk;
mod demand;
mod notice;
mod permission;
pub(crate) mod reply;
pub(crate) mod shape;
pub(crate) mod tool_call;
pub(crate) mod update;
pub(crate) mod usage;

pub const PROTOCOL_VERSION: u64 = 1;
