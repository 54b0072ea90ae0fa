//! Starts the agent in its own process group with three pipes, and the threads that tend them.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process_group};

use super::drain::{self, StderrTail};
use super::reaper::{self, Group};
use super::{Hub, stdin};
use crate::spec::MARK;

pub(super) struct Agent {
    pub pid: Pid,
    pub group: Group,
    pub stderr: StderrTail,
}

pub(super) fn spawn(hub: &Arc<Hub>) -> io::Result<Agent> {
    let spec = &hub.spec;
    // Without this a missing directory would be reported as if the command were missing.
    if !spec.cwd.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the working directory does not exist"));
    }
    let mut child = Command::new(&spec.command)
        .args(&spec.args)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .env(MARK, spec.id.to_string())
        .current_dir(&spec.cwd)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let pid = Pid::from_child(&child);
    tend(hub, &mut child, pid).inspect_err(|_| {
        // Without its threads it would be stuck for ever, and nobody else knows of it yet.
        let _ = kill_process_group(pid, Signal::KILL);
    })
}

fn tend(hub: &Arc<Hub>, child: &mut Child, pid: Pid) -> io::Result<Agent> {
    let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::other("the agent's pipes are missing"));
    };
    let group = reaper::begin(hub, pid)?;
    stdin::begin(hub, input)?;
    let stderr = drain::stderr(hub, errors)?;
    drain::stdout(hub, output)?;
    Ok(Agent { pid, group, stderr })
}
