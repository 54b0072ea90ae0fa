//! Connections over real runners to an agent that misbehaves on demand.
#![allow(clippy::unwrap_used)]

mod faults;
mod names;
mod odd;
mod open;
mod recovery;
mod talk;
