//! Peers and rigs for tests: a scripted model server, agents that misbehave, the real Copilot and Codex CLIs, and the built server itself.
//! Development only: nothing that ships depends on this crate.

pub mod browser;
pub mod client;
pub mod codex;
pub mod collector;
pub mod copilot;
pub mod counts;
pub mod crash;
pub mod database;
pub mod faulty_agent;
mod loopback;
pub mod model_server;
pub mod processes;
pub mod push_service;
pub mod server;
pub mod setup;
pub mod stamped;
pub mod summary;
