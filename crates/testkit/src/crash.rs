//! The crash matrix: whoever is killed, at whichever moment, nothing is lost and nothing is shown twice.
//!
//! A case is a moment, a victim and an agent. Its conversation is scripted, so that the moment is exact and the outcome known:
//! it equals that of a run in which nobody died, or it is the documented one where the agent's own work was cut short.
//! Everything is looked at from outside: HTTP, the event stream, files and processes.

mod calls;
mod case;
mod case_run;
mod conversation;
mod findings;
mod input_gate;
mod matrix;
mod outcome;
mod random;
mod reader;
mod rig_processes;
mod setup;
mod table;

pub use case::{Agent, Case, Moment, Release, Victim};
pub use findings::{Fault, Findings};
pub use matrix::{Matrix, Outcomes, run};
pub use random::{Kills, RandomRun, Who};
pub use table::Report;
