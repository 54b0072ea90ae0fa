//! A directory for one command, gone when the command is done.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use uuid::Uuid;

use crate::config::Sources;

/// Where agents are tried out: nothing of it is the person's.
pub(crate) struct Scratch {
    dir: PathBuf,
}

impl Scratch {
    /// For its owner only, below `TMPDIR`.
    pub(crate) fn make(sources: &Sources) -> Result<Scratch> {
        let base = sources.env.get("TMPDIR").map_or(Path::new("/tmp"), Path::new);
        let dir = base.join(format!("voxpilot-{}", Uuid::now_v7().simple()));
        fs::DirBuilder::new().mode(0o700).create(&dir).with_context(|| format!("making the directory {}", dir.display()))?;
        let scratch = Scratch { dir };
        for name in ["data", "work", "home"] {
            fs::create_dir(scratch.dir.join(name)).with_context(|| format!("making a directory in {}", scratch.dir.display()))?;
        }
        Ok(scratch)
    }

    /// For runners.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// For what the agent keeps.
    pub(crate) fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    /// For the agent to work in.
    pub(crate) fn work(&self) -> PathBuf {
        self.dir.join("work")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.dir) {
            crate::say::warn(format_args!("warning: {} could not be removed: {error}", self.dir.display()));
        }
    }
}
