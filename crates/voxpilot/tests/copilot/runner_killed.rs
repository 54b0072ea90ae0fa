//! `kill -9` of the runner: its agent is really gone before another one is started, and its journal is not lost.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use testkit::model_server::{Gate, Reply};
use testkit::processes;

use crate::replies::delegate;
use crate::setup::{NATIVE, Setup, eventually, journal_of, said, start};

/// Looks for Copilots all the time, on a thread of its own.
struct Census {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl Census {
    fn begin(home: PathBuf) -> Census {
        let over = Arc::new(AtomicBool::new(false));
        let until = over.clone();
        let thread = std::thread::spawn(move || {
            let mut more_than_one = Vec::new();
            while !until.load(Ordering::Relaxed) {
                let found = copilots(&home);
                if found.len() > 1 {
                    more_than_one.push(format!("{found:?}"));
                }
            }
            more_than_one
        });
        Census { over, thread }
    }

    /// # Panics
    /// If there ever were two at the same time.
    fn end(self) {
        self.over.store(true, Ordering::Relaxed);
        let more_than_one = self.thread.join().unwrap();
        assert!(
            more_than_one.is_empty(),
            "two Copilots at once, seen {} times, first {}, last {}",
            more_than_one.len(),
            more_than_one[0],
            more_than_one[more_than_one.len() - 1]
        );
    }
}

/// A process that Copilot has just forked looks like Copilot itself until it becomes what it is for; only those of other parents count.
/// One that only says its version works on nothing.
fn copilots(home: &Path) -> Vec<i32> {
    let works = |process: &&processes::Process| process.command.contains(NATIVE) && process.command.contains(" --acp ");
    let natives: Vec<i32> = processes::of_dir(home).iter().filter(works).map(|process| process.pid).collect();
    natives.iter().copied().filter(|pid| parent(*pid).is_some_and(|parent| !natives.contains(&parent))).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

async fn half_written() -> (Setup, Gate) {
    let mut setup = start().await;
    let gate = Gate::new();
    setup.main([delegate("task", "the first request"), Reply::text("It broke off.")]);
    setup.coder([Reply::chunks(["half of ", "the answer"]).gate(&gate)]);
    setup.send("go").await;
    gate.release(1);
    setup.until_written("task", "half of ").await;
    eventually("Copilot has noted the request", || journal_of(&setup, "the first request").is_some()).await;
    (setup, gate)
}

async fn goes_on(mut setup: Setup, census: Census) {
    assert_eq!(setup.turn_end().await, "completed");
    let result = setup.results().await.pop().unwrap();
    assert_eq!((result["display"].as_str(), result["delegation"]["stop_reason"].as_str()), (Some("half of "), Some("interrupted")));
    assert_eq!(setup.notices("agent_gone").len(), 1);

    setup.exchange("task", "the second request", "Here again.").await;
    assert_eq!(setup.notices("session_restored").len(), 1, "{}", setup.client.seen.tail());
    assert!(said(setup.coder_requests().last().unwrap()).contains("the first request"));
    assert_eq!(setup.coder_requests().len(), 2);
    assert_eq!(setup.processes().runners.len(), 1);
    census.end();
    setup.end().await;
}

#[tokio::test]
async fn the_runner_killed_in_mid_answer_takes_nothing_along_that_was_written() {
    let (setup, _gate) = half_written().await;
    let census = Census::begin(setup.server.rig().home().to_owned());
    processes::signal(setup.processes().runner(), "KILL");
    goes_on(setup, census).await;
}

#[tokio::test]
async fn server_and_runner_killed_together_are_cleared_up_by_the_next_server() {
    let (mut setup, _gate) = half_written().await;
    let census = Census::begin(setup.server.rig().home().to_owned());
    let runner = setup.processes().runner();
    setup.kill_server().await;
    processes::signal(runner, "KILL");
    setup.restart_server().await;
    goes_on(setup, census).await;
}
