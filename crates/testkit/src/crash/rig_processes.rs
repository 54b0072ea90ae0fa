//! Who is who among the processes of a rig.

use std::path::Path;
use std::time::{Duration, Instant};

use super::case::Agent;
use crate::processes::{self, Process};

/// The runners of a rig.
pub(super) fn runners(home: &Path) -> Vec<i32> {
    processes::of_dir(home).into_iter().filter(is_runner).map(|process| process.pid).collect()
}

fn is_runner(process: &Process) -> bool {
    process.command.contains("voxpilot runner ")
}

/// The agents of a rig. A process that an agent has just forked still looks like it, and does not count.
pub(super) fn agents(home: &Path, agent: Agent) -> Vec<i32> {
    // By the program itself: a shell that holds its input back, and the npm wrapper, name it as an argument.
    let fits = |process: &Process| {
        let mut words = process.command.split(' ');
        let program = words.next().unwrap_or_default();
        match agent {
            Agent::Demo => program.ends_with("/voxpilot") && words.next() == Some("demo-agent"),
            // One that only says its version works on nothing.
            Agent::Copilot => program.ends_with("/copilot") && process.command.contains(" --acp "),
            Agent::Codex => program.ends_with("/codex") && words.next() == Some("app-server"),
        }
    };
    let found: Vec<i32> = processes::of_dir(home).into_iter().filter(fits).map(|process| process.pid).collect();
    // One that is gone by now was such a process, or is about to be replaced.
    found.iter().copied().filter(|pid| parent(*pid).is_some_and(|parent| !found.contains(&parent))).collect()
}

/// The npm wrapper that starts the agent and waits for it.
pub(super) fn wrappers(home: &Path, agent: Agent) -> Vec<i32> {
    let arguments = match agent {
        Agent::Demo => return Vec::new(),
        Agent::Copilot => "/copilot --acp",
        Agent::Codex => "/codex app-server",
    };
    let is_wrapper = |process: &Process| process.command.starts_with("node ") && process.command.contains(arguments);
    let found: Vec<i32> = processes::of_dir(home).into_iter().filter(is_wrapper).map(|process| process.pid).collect();
    // Where Node can, the wrapper of Codex lets the program take its own place.
    if found.is_empty() { agents(home, agent) } else { found }
}

fn parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// `kill -9` for all of them, as near to each other as it goes.
pub(super) fn kill(pids: &[i32]) {
    let pids = pids.iter().map(i32::to_string);
    // One that has just ended by itself is as dead as was wanted.
    let _ = std::process::Command::new("kill").arg("-KILL").args(pids).stderr(std::process::Stdio::null()).status();
}

/// Waits until `reached`, looking every few milliseconds: nothing tells when a process or a file comes or goes.
pub(super) async fn until(what: &str, within: Duration, mut reached: impl FnMut() -> bool) -> Result<(), String> {
    let deadline = Instant::now() + within;
    while !reached() {
        if Instant::now() > deadline {
            return Err(format!("{what}: not within {} s", within.as_secs()));
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// How many of a process's descriptors are sockets.
pub(super) fn sockets(pid: i32) -> usize {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return 0 };
    let links = entries.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.filter(|link| link.to_string_lossy().starts_with("socket:")).count()
}
