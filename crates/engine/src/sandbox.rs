//! What a confined agent may do, and the command line that holds it to that.

use std::path::{Path, PathBuf};

use agents::catalogue::{Agent, scratch};
use agents::{Confinement, Mechanism};

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

    /// The command line of a program that runs for the agent: confined where the agent is. `shown` is what it is given in the data directory.
    pub(crate) fn confine(
        &self,
        agent: &Agent,
        run: Run<'_>,
        command: PathBuf,
        args: Vec<String>,
    ) -> Result<(PathBuf, Vec<String>), Refusal> {
        if let Some(problem) = self.sandbox_problem(agent) {
            return Err(Refusal::Invalid(problem));
        }
        let Some(mechanism) = self.sandbox.as_ref().filter(|_| agent.confined) else { return Ok((command, args)) };
        let mut own = agent.state(run.env);
        own.extend(scratch(run.env));
        let mut hidden = self.private.clone();
        hidden.push(self.data_dir.clone());
        let confinement = Confinement { writable: vec![run.work_dir.to_owned()], own, hidden, shown: run.shown };
        Ok(confinement.wrap(mechanism, &self.exe, &command, &args))
    }

    /// What holds the agent, as people are told: nothing where it is not confined.
    pub(crate) fn held_by(&self, agent: &Agent) -> Option<&'static str> {
        agent.confined.then(|| self.sandbox.as_ref().map_or("unavailable", Mechanism::name))
    }
}

/// Where a program runs for an agent.
pub(crate) struct Run<'a> {
    pub work_dir: &'a Path,
    pub env: &'a [(String, String)],
    pub shown: Vec<PathBuf>,
}
