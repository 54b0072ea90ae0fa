//! `kill -9` of the runner: its agent is really gone before another one is started, and its journal is not lost.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use testkit::model_server::{Gate, Reply};
use testkit::processes;

use crate::script::delegate;
use crate::stage::{NATIVE, Stage, eventually, said};

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
            let mut crowds = Vec::new();
            while !until.load(Ordering::Relaxed) {
                let found = copilots(&home);
                if found.len() > 1 {
                    crowds.push(format!("{found:?}"));
                }
            }
            crowds
        });
        Census { over, thread }
    }

    /// # Panics
    /// If there ever were two at the same time.
    fn end(self) {
        self.over.store(true, Ordering::Relaxed);
        let crowds = self.thread.join().unwrap();
        assert!(
            crowds.is_empty(),
            "two Copilots at once, seen {} times, first {}, last {}",
            crowds.len(),
            crowds[0],
            crowds[crowds.len() - 1]
        );
    }
}

/// A process that Copilot has just forked looks like Copilot itself until it becomes what it is for; only those of other parents count.
fn copilots(home: &Path) -> Vec<i32> {
    let natives: Vec<i32> =
        processes::of_dir(home).iter().filter(|process| process.command.contains(NATIVE)).map(|process| process.pid).collect();
    natives.iter().copied().filter(|pid| parent(*pid).is_some_and(|parent| !natives.contains(&parent))).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

async fn half_written() -> (Stage, Gate) {
    let mut stage = Stage::set().await;
    let gate = Gate::new();
    stage.main([delegate("task", "the first request"), Reply::text("It broke off.")]);
    stage.coder([Reply::chunks(["half of ", "the answer"]).gate(&gate)]);
    stage.send("go").await;
    gate.release(1);
    stage.until_written("task", "half of ").await;
    eventually("Copilot has noted the request", || stage.journal_of("the first request").is_some()).await;
    (stage, gate)
}

async fn goes_on(mut stage: Stage, census: Census) {
    assert_eq!(stage.turn_end().await, "completed");
    let result = stage.results().await.pop().unwrap();
    assert_eq!((result["display"].as_str(), result["delegation"]["stop_reason"].as_str()), (Some("half of "), Some("interrupted")));
    assert_eq!(stage.notices("agent_gone").len(), 1);

    stage.exchange("task", "the second request", "Here again.").await;
    assert_eq!(stage.notices("session_restored").len(), 1, "{}", stage.client.seen.tail());
    assert!(said(stage.coder_requests().last().unwrap()).contains("the first request"));
    assert_eq!(stage.coder_requests().len(), 2);
    assert_eq!(stage.cast().runners.len(), 1);
    census.end();
    stage.end().await;
}

#[tokio::test]
async fn the_runner_killed_in_mid_answer_takes_nothing_along_that_was_written() {
    let (stage, _gate) = half_written().await;
    let census = Census::begin(stage.server.rig().home().to_owned());
    processes::signal(stage.cast().runner(), "KILL");
    goes_on(stage, census).await;
}

#[tokio::test]
async fn server_and_runner_killed_together_are_cleared_up_by_the_next_server() {
    let (mut stage, _gate) = half_written().await;
    let census = Census::begin(stage.server.rig().home().to_owned());
    let runner = stage.cast().runner();
    stage.kill_server().await;
    processes::signal(runner, "KILL");
    stage.restart_server().await;
    goes_on(stage, census).await;
}
