//! What an agent in a sandbox may do, and what holds it to that.

use std::path::{Path, PathBuf};

use agents::catalogue::{Agent, scratch};
use agents::{Confinement, Feature, Mechanism, Sandbox};

use crate::{Refusal, Settings};

/// What people are told where an agent shall be confined and cannot be.
const NO_MECHANISM: &str = "this kernel has no Landlock and bubblewrap (`bwrap`) is not installed or not allowed here; install bubblewrap, or \
                            remove `sandbox` from the agent's section";

impl Settings {
    /// Why this agent cannot be started as it is configured, if it cannot.
    pub(crate) fn sandbox_problem(&self, agent: &Agent) -> Option<String> {
        let held = !agent.confined || self.sandbox.is_some();
        (!held).then(|| format!("{} cannot be sandboxed, so it is not started: {NO_MECHANISM}", agent.title))
    }

    /// The sandbox of whatever runs for the agent; none where the agent is not to be in one.
    pub fn confine(&self, agent: &Agent, run: Run<'_>) -> Result<Option<Sandbox>, Refusal> {
        if let Some(problem) = self.sandbox_problem(agent) {
            return Err(Refusal::Invalid(problem));
        }
        let Some(mechanism) = self.sandbox.as_ref().filter(|_| agent.confined) else { return Ok(None) };
        let mut own = agent.state(run.env);
        own.extend(scratch(run.env));
        let mut hidden = self.private.clone();
        hidden.push(self.data_dir.clone());
        let untrusted = std::iter::once(&self.work_dir).chain(&self.work_dirs).cloned().collect();
        let writable = run.work_dir.into_iter().map(Path::to_owned).collect();
        let confinement = Confinement { writable, own, hidden, shown: run.shown, untrusted };
        Ok(Some(Sandbox { exe: self.exe.clone(), mechanism: mechanism.clone(), confinement }))
    }

    /// What holds the agent, as people are told: nothing where it is not confined.
    pub(crate) fn held_by(&self, agent: &Agent) -> Option<&'static str> {
        agent.confined.then(|| self.sandbox.as_ref().map_or("unavailable", Mechanism::name))
    }

    /// What its sandbox does not keep it from on this machine.
    pub(crate) fn left_open(&self, agent: &Agent) -> Vec<&'static str> {
        let open = self.sandbox.iter().filter(|_| agent.confined).flat_map(|mechanism| &mechanism.open);
        open.map(|feature| Feature::as_str(*feature)).collect()
    }

    /// The same, with its data elsewhere. What is in the real data directory stays hidden from agents in a sandbox.
    pub fn with_data_dir(mut self, data_dir: PathBuf) -> Self {
        self.private.push(std::mem::replace(&mut self.data_dir, data_dir));
        self
    }
}

/// Where a program runs for an agent.
#[derive(Default)]
pub struct Run<'a> {
    /// Where it may write; nowhere but in its own directories, without one.
    pub work_dir: Option<&'a Path>,
    pub env: &'a [(String, String)],
    /// What it is given in the data directory.
    pub shown: Vec<PathBuf>,
}
