//! The app as its clients see it: everything real but the two peers, the model and the agent. One file a route.

#![allow(clippy::unwrap_used)]

mod access;
mod agent_faults;
mod agent_words;
mod agents;
mod agents_own;
mod artifacts;
mod asking;
mod attachments;
mod browser;
mod cancel;
mod client_requests;
mod confirm;
mod denials;
mod devices;
mod excess;
mod files;
mod health;
mod hostile;
mod limits;
mod messages;
mod model_faults;
mod openapi;
mod permission_rules;
mod permissions;
mod protocol;
mod proxies;
mod queue;
mod retention;
mod reused_ids;
mod rig;
mod routes;
mod server;
mod sessions;
mod sizes;
mod stream;
mod tools;
mod trace;
mod trust;
