//! What a former server left: runners to attach to, and agents whose runner was killed, which must be gone before anyone
//! takes over their work.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use thiserror::Error;
use tokio::time::{Instant, sleep};

use crate::identity::Identity;
use crate::processes::{self, Process};
use crate::spec::{MARK, Spec, lock};

const LOOK: Duration = Duration::from_millis(20);
const KILL: Duration = Duration::from_secs(10);
/// For a directory whose spec cannot be read.
const GRACE_MS: u64 = 2000;

/// A runner's directory and who of it is still there.
#[derive(Clone, Debug)]
pub struct Found {
    pub dir: PathBuf,
    /// Without its environment once the runner has read it.
    pub spec: Option<Spec>,
    pub identity: Option<Identity>,
    pub runner_alive: bool,
    pub agent_alive: bool,
}

#[derive(Debug, Error)]
pub enum LeftoverError {
    /// A live runner ends its own agent: attach and stop it.
    #[error("the runner is alive")]
    RunnerAlive,
    #[error("{0} processes of the old agent cannot be killed")]
    Unkillable(usize),
}

/// Looks through the directory that holds the runners' directories.
pub fn find(runners: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(runners) else { return Vec::new() };
    let dirs = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let mut found: Vec<Found> = dirs.map(look_at).collect();
    found.sort_by(|a, b| a.dir.cmp(&b.dir));
    found
}

fn look_at(dir: PathBuf) -> Found {
    let identity = Identity::load(&dir).ok();
    Found {
        spec: Spec::load(&dir).ok(),
        runner_alive: identity.as_ref().is_some_and(Identity::runner_alive),
        agent_alive: identity.as_ref().is_some_and(Identity::agent_alive),
        identity,
        dir,
    }
}

/// While it is held, no runner comes up in its directory: one that is on its way leaves again.
#[derive(Debug)]
pub struct Bar {
    _lock: File,
}

/// Keeps runners out of `dir`. `None` where one is there, perhaps so new that it has not said yet who it is.
pub fn bar(dir: &Path) -> io::Result<Option<Bar>> {
    Ok(lock(dir)?.map(|lock| Bar { _lock: lock }))
}

/// Ends every process that a dead runner's agent has left, asked first and then killed, and returns when all are gone.
pub async fn end_leftovers(found: &Found) -> Result<(), LeftoverError> {
    let mut now = look_at(found.dir.clone());
    // The directory may be gone by now, its processes not.
    now.identity = now.identity.or_else(|| found.identity.clone());
    now.spec = now.spec.or_else(|| found.spec.clone());
    if now.identity.as_ref().is_some_and(Identity::runner_alive) {
        return Err(LeftoverError::RunnerAlive);
    }
    let grace = Duration::from_millis(now.spec.as_ref().map_or(GRACE_MS, |spec| spec.term_grace_ms));
    let mut left = leftovers(&now).await;
    for (signal, limit, again) in [(Signal::TERM, grace, false), (Signal::KILL, KILL, true)] {
        let deadline = Instant::now() + limit;
        left.iter().for_each(|process| processes::signal(process, signal));
        while !left.is_empty() && Instant::now() < deadline {
            sleep(LOOK).await;
            left = leftovers(&now).await;
            if again {
                left.iter().for_each(|process| processes::signal(process, signal));
            }
        }
    }
    if left.is_empty() { Ok(()) } else { Err(LeftoverError::Unkillable(left.len())) }
}

/// The processes that a dead runner's agent has left; none of one that is alive, which are its own affair.
pub async fn left_behind(found: &Found) -> Vec<i32> {
    if found.runner_alive {
        return Vec::new();
    }
    leftovers(found).await.into_iter().map(|process| process.pid).collect()
}

async fn leftovers(found: &Found) -> Vec<Process> {
    let (id, identity) = (found.spec.as_ref().map(|spec| spec.id), found.identity.clone());
    let look = move || {
        let all = processes::all();
        let marked = |process: &Process| id.is_some_and(|id| processes::has_variable(process.pid, MARK, &id.to_string()));
        let ours = |process: &&Process| belongs(process, identity.as_ref(), &all) || marked(process);
        let mut left: Vec<Process> = all.iter().filter(ours).copied().collect();
        let roots: HashSet<i32> = left.iter().map(|process| process.pid).collect();
        left.extend(processes::descendants(&all, &roots));
        left.retain(|process| !process.ended);
        left
    };
    // Reading all of /proc takes a few milliseconds; if the runtime is shutting down, nothing more will be done anyway.
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// The agent itself, its process group, and whatever is in the runner's process session. A group or session number is
/// trusted only while no newer process has taken it.
fn belongs(process: &Process, identity: Option<&Identity>, all: &[Process]) -> bool {
    let Some(identity) = identity.filter(|identity| identity.this_boot()) else { return false };
    let untaken = |pid: i32, start: u64| all.iter().all(|other| other.pid != pid || other.start == start);
    let runner = identity.runner;
    if process.session == runner.pid && process.start >= runner.start && untaken(runner.pid, runner.start) {
        return true;
    }
    identity.agent.is_some_and(|agent| process.group == agent.pid && process.start >= agent.start && untaken(agent.pid, agent.start))
}
