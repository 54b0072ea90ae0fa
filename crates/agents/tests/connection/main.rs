//! Connections over real runners to an agent that misbehaves on demand.
#![allow(clippy::unwrap_used)]

mod faults;
mod odd;
mod recovery;
mod talk;
