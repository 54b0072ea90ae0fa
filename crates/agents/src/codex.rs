//! The dialect of `codex app-server`: what we write and what we make of what we read. Pure: no process, no clock.
//!
//! Threads are its sessions, turns its prompts, items what happens in a turn. What we write is checked against the schema that the
//! program generates itself. Reading is our own and lenient, as for ACP: newer versions add items and notifications, and what cannot
//! be understood stays whole in [`domain::agent::Update::Unknown`].

pub mod decoder;
pub mod request;

mod approval;
mod failure;
mod item;
pub(crate) mod reply;
pub(crate) mod response;
pub(crate) mod settings;
mod shell;
