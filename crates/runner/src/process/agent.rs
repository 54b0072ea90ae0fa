//! Starts the agent in its own process group with three pipes, and the threads that tend them.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process_group};

use super::drain::{self, StderrTail};
use super::reaper::{self, Group};
use super::{Hub, stdin};
use crate::confine::{Broker, BrokerGuard, Family};

pub(super) struct Agent {
    pub pid: Pid,
    pub group: Group,
    pub stderr: StderrTail,
    /// Makes the connections of one that is confined.
    _broker: Option<BrokerGuard>,
}

pub(super) fn spawn(hub: &Arc<Hub>) -> io::Result<Agent> {
    let spec = &hub.spec;
    // Without this a missing directory would be reported as if the command were missing.
    if !spec.cwd.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the working directory does not exist"));
    }
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
    let (mut command, broker) = spec.agent().prepare(theirs)?;
    let mut child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // It holds the agent's end of the pipe, which must close with the agent.
    drop(command);
    let pid = Pid::from_child(&child);
    tend(hub, &mut child, ChildStdin::from(ours), broker, pid).inspect_err(|_| {
        // Without its threads it would be stuck for ever, and nobody else knows of it yet.
        let _ = kill_process_group(pid, Signal::KILL);
    })
}

fn tend(hub: &Arc<Hub>, child: &mut Child, input: ChildStdin, broker: Option<Broker>, pid: Pid) -> io::Result<Agent> {
    let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::other("the agent's pipes are missing"));
    };
    let family = Family::below_this_process(Some(hub.spec.id));
    let broker = broker.map(|broker| broker.start(family)).transpose()?;
    let group = reaper::begin(hub, pid)?;
    stdin::begin(hub, input)?;
    let stderr = drain::stderr(hub, errors)?;
    drain::stdout(hub, output)?;
    Ok(Agent { pid, group, stderr, _broker: broker })
}
