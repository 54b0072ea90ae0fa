//! The built server with the real Codex CLI behind it, offline: one scripted model server is the main AI (as `main`) and Codex's own
//! model (as `codex`, in the Responses API), so every word that anybody says is known and every moment can be chosen.
#![allow(clippy::unwrap_used)]

mod agent_killed;
mod model_faults;
mod names;
mod own_threads;
mod permissions;
mod policies;
mod replies;
mod server_killed;
mod setup;
mod stopping;
mod trace;
mod turn;
mod two_agents;
