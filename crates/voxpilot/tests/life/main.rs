//! The life of the built server, seen from outside: start, stop, signals, login, idle agents, full disks.

#![allow(clippy::unwrap_used)]

mod agent_records;
mod attachments;
mod attribution;
mod catalogue;
mod client_requests;
mod devices;
mod disk;
mod hostile_input;
mod hostile_project;
mod login;
mod main_ai;
mod memory;
mod policy;
mod restoring;
mod reused_ids;
mod sandbox;
mod settings;
mod start;
mod stop;
mod trace;
mod unknown;
mod work_dirs;

use std::time::Duration;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);
