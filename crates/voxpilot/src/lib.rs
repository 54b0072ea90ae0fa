//! The binary's parts: command line, configuration, lifecycle, wiring. Kept as a library so that tests can reach them.

// One module writes to the terminal, and makes what comes from outside harmless: `say`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod backup;
pub mod bridge;
pub mod catalogue;
mod choices;
pub mod client;
pub mod config;
pub mod doctor;
pub mod housekeeping;
pub mod logging;
mod main_ai;
pub mod memory;
pub mod probe;
mod reach;
pub mod repair;
mod reserve;
pub mod say;
mod scratch;
pub mod serve;
mod spans;
pub mod stop;
pub mod token;
pub mod trust;
