//! Who a runner and its agent are, written where a later server can find it: a pid alone may be somebody else's by then.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::processes;
use crate::spec::write_whole;

/// `identity.json` in the runner's directory.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub boot_id: String,
    pub runner: ProcessIdentity,
    /// Missing until the agent has been started, and for good if it could not be.
    pub agent: Option<ProcessIdentity>,
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    pub pid: i32,
    /// Field 22 of `/proc/<pid>/stat`.
    pub start: u64,
}

impl Identity {
    pub(crate) fn load(dir: &Path) -> io::Result<Self> {
        serde_json::from_slice(&fs::read(dir.join("identity.json"))?).map_err(io::Error::other)
    }

    pub(crate) fn store(&self, dir: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec(self).map_err(io::Error::other)?;
        write_whole(&dir.join("identity.json"), &bytes)
    }

    pub fn runner_alive(&self) -> bool {
        self.this_boot() && self.runner.alive()
    }

    pub fn agent_alive(&self) -> bool {
        self.this_boot() && self.agent.is_some_and(|agent| agent.alive())
    }

    pub(crate) fn this_boot(&self) -> bool {
        self.boot_id == processes::boot_id()
    }
}

impl ProcessIdentity {
    pub(crate) fn of(pid: i32) -> Option<Self> {
        processes::read(pid).map(|process| Self { pid, start: process.start })
    }

    fn alive(self) -> bool {
        processes::read(self.pid).is_some_and(|process| process.start == self.start && !process.ended)
    }
}
