//! The calls of the contract, one file a resource.

pub mod agents;
pub mod artifacts;
pub mod attachments;
pub mod files;
pub mod health;
pub mod login;
pub mod messages;
pub mod queue;
pub mod rules;
pub mod sessions;
pub mod stream;
pub mod trace;
pub mod turn;
