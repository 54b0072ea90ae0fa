//! The built server with the real Copilot CLI behind it, offline: one scripted model server is the main AI (as `main`) and Copilot's own
//! model (as `coder`), so every word that anybody says is known and every moment can be chosen.
#![allow(clippy::unwrap_used)]

mod agent_killed;
mod always;
mod attachments;
mod continued;
mod delegation;
mod environment;
mod login;
mod lost;
mod mcp;
mod model_faults;
mod names;
mod options;
mod permissions;
mod policies;
mod reload;
mod repair;
mod replies;
mod runner_killed;
mod sandbox;
mod server_killed;
mod setup;
mod stopping;
mod tcp;
mod trace;
mod two_agents;
mod wire;
