//! Reaps the agent and, because the runner is a subreaper, every orphan of its tree.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group, wait, waitid};

use super::life::Event;
use super::{Hub, log, spawn_thread};

/// The agent's process group, for as long as its number is surely ours.
#[derive(Clone)]
pub(super) struct Group(Arc<Mutex<Option<Pid>>>);

impl Group {
    /// Signals the whole group; not once its leader is reaped, for then the number may belong to somebody else.
    pub(super) fn signal(&self, signal: Signal) {
        let leader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pid) = *leader {
            let _ = kill_process_group(pid, signal);
        }
    }
}

pub(super) fn begin(hub: &Arc<Hub>, agent: Pid) -> io::Result<Group> {
    let group = Group(Arc::new(Mutex::new(Some(agent))));
    let shared = group.clone();
    spawn_thread(hub, "reaper", move |hub| {
        // Look first, reap under the lock: between the two the number cannot be reused.
        while wait_for_any() {
            let mut leader = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut agent_status = None;
            while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
                if *leader == Some(pid) {
                    *leader = None;
                    agent_status = Some(status);
                }
            }
            drop(leader);
            if let Some(status) = agent_status {
                let _ = hub.events.send(Event::AgentExit(status));
            }
        }
        let _ = hub.events.send(Event::TreeGone);
    })?;
    Ok(group)
}

/// Blocks until a child can be reaped; false when there is no child left.
fn wait_for_any() -> bool {
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(Errno::CHILD) => return false,
            Err(error) => {
                log::line(format_args!("waiting for children: {error}"));
                return false;
            }
        }
    }
}

pub(super) fn code_and_signal(status: WaitStatus) -> (Option<i32>, Option<i32>) {
    (status.exit_status(), status.terminating_signal())
}
