//! Ending what runs on a data directory: the server, and the agents that outlive it.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::say::say;

/// The database's name in the data directory.
pub const DATABASE: &str = "voxpilot.db";
/// A server ends its idle agents before it leaves, each of which has its own grace.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// Written by a running server, for `voxpilot stop`.
pub fn pid_file(data_dir: &Path) -> std::path::PathBuf {
    data_dir.join("server.pid")
}

#[tokio::main(flavor = "current_thread")]
pub async fn run(data_dir: &Path, all: bool) -> Result<ExitCode> {
    match running_server(data_dir)? {
        Some(pid) => {
            end(data_dir, pid).await?;
            say(format_args!("the server is stopped"));
        }
        None => say(format_args!("no server runs on {}", data_dir.display())),
    }
    let runners = agents::find_runners(&data_dir.join("runners"));
    let alive = runners.iter().filter(|found| found.runner_alive).count();
    if !all {
        if alive > 0 {
            say(format_args!("{alive} agent(s) keep running in the background; `voxpilot stop --all` stops them too"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut ended = 0;
    for found in &runners {
        ended += usize::from(found.runner_alive || !agents::left_behind(found).await.is_empty());
        if let Err(error) = agents::end_runner(found).await {
            bail!("the agent in {} could not be ended: {error}", found.dir.display());
        }
    }
    say(format_args!("{ended} agent(s) ended"));
    Ok(ExitCode::SUCCESS)
}

/// The server that holds the data directory. Its lock is the proof: a pid alone could be anybody's by now.
fn running_server(data_dir: &Path) -> Result<Option<Pid>> {
    if !store::in_use(&data_dir.join(DATABASE)) {
        return Ok(None);
    }
    let text =
        fs::read_to_string(pid_file(data_dir)).context("a server holds the data directory, but its pid is not known: end it yourself")?;
    let pid = text.trim().parse().ok().and_then(Pid::from_raw);
    pid.map(Some).with_context(|| format!("{} does not hold a pid", pid_file(data_dir).display()))
}

/// It has ended when it has let go of the data directory.
async fn end(data_dir: &Path, pid: Pid) -> Result<()> {
    kill_process(pid, Signal::TERM).context("telling the server to stop")?;
    let deadline = Instant::now() + PATIENCE;
    while store::in_use(&data_dir.join(DATABASE)) {
        if Instant::now() > deadline {
            bail!("the server (pid {}) does not stop; run kill -9 {0}, nothing is lost", pid.as_raw_nonzero());
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}
