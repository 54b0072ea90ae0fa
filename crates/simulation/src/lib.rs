//! A simulation of a whole session: the real machine, and a model of everything around it, in one thread, from a seed.
//!
//! It owns schedules, the models, and the invariants. It knows `domain` and nothing else of the system.

mod agent;
mod asking;
mod browser;
pub mod choices;
pub mod coverage;
pub mod defects;
mod disk;
mod driver;
pub mod invariants;
pub mod names;
mod oracle;
mod person;
mod recover;
mod runner;
mod schedule;
pub mod shrink;
mod spoil;
mod store;
pub mod story;
mod swarm;
mod tasks;
#[cfg(test)]
mod tests;
mod world;

use choices::{Choices, Record};
use coverage::Coverage;
use defects::Defect;
use invariants::Violation;
use world::World;

/// How many steps a schedule has before the faults stop.
pub const STEPS: usize = 220;

/// What became of one schedule.
pub struct Outcome {
    pub violation: Option<Box<Violation>>,
    pub story: Vec<String>,
    pub record: Record,
    pub coverage: Coverage,
}

pub fn run(choices: Choices, steps: usize, defect: Option<Defect>, tell: bool) -> Outcome {
    let mut world = World::new(choices, defect, tell);
    let violation = world.run(steps).err();
    let World { choices, story, coverage, .. } = world;
    Outcome { violation, story: story.lines().to_vec(), record: choices.into_record(), coverage }
}

pub fn run_seed(seed: u64, steps: usize, defect: Option<Defect>) -> Outcome {
    run(Choices::from_seed(seed), steps, defect, false)
}
