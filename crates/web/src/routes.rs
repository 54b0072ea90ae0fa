//! The calls of the contract, one file a resource.

pub(crate) mod agents;
pub(crate) mod artifacts;
pub(crate) mod attachments;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod login;
pub(crate) mod messages;
pub(crate) mod queue;
pub(crate) mod rules;
pub(crate) mod server;
pub(crate) mod sessions;
pub(crate) mod stream;
pub(crate) mod trace;
pub(crate) mod turn;
