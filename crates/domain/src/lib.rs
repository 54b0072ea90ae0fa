//! The pure heart of VoxPilot: ids, events, the turn machine and the host machine, permission policy and normalised agent events.
//!
//! Nothing here does I/O, reads a clock or makes a random id. Every other crate may depend on this one; it depends on none.

pub mod agent;
pub mod attachment;
pub mod decision;
pub mod device;
pub mod event;
pub mod fields;
pub mod form;
pub mod host;
pub mod ids;
pub mod json;
pub mod machine;
pub mod patch;
pub mod policy;
pub mod protected;
mod reads;
pub mod review;
pub mod rule;
pub mod runs_later;
pub mod text;
pub mod trace;
pub mod turn;
