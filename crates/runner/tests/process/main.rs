//! The runner as a real process with real agents: small shell scripts that behave well or badly.

#![allow(clippy::unwrap_used)]

mod confine;
mod directory;
mod disk;
mod ending;
mod faults;
mod flood;
mod leftovers;
mod pty;
mod rig;
mod stream;
mod terminal;
