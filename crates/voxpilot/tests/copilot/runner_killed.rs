//! `kill -9` of the runner: its agent is really gone before another one is started, and its journal is not lost.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use testkit::model_server::{Gate, Reply};
use testkit::processes;

use crate::script::delegate;
use crate::stage::{NATIVE, Stage, said};

/// Counts Copilots all the time, on a thread of its own.
struct Census {
    over: Arc<AtomicBool>,
    most: Arc<AtomicUsize>,
    thread: JoinHandle<usize>,
}

impl Census {
    fn begin(home: PathBuf) -> Census {
        let (over, most) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (until, peak) = (over.clone(), most.clone());
        let thread = std::thread::spawn(move || {
            let mut counts = 0;
            while !until.load(Ordering::Relaxed) {
                let natives = processes::of_dir(&home).iter().filter(|process| process.command.contains(NATIVE)).count();
                peak.fetch_max(natives, Ordering::Relaxed);
                counts += 1;
            }
            counts
        });
        Census { over, most, thread }
    }

    /// The most there ever were at the same time.
    fn end(self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        let counts = self.thread.join().unwrap();
        println!("counted {counts} times");
        self.most.load(Ordering::Relaxed)
    }
}

async fn half_written() -> (Stage, Gate) {
    let mut stage = Stage::set().await;
    let gate = Gate::new();
    stage.main([delegate("task", "the first request"), Reply::text("It broke off.")]);
    stage.coder([Reply::chunks(["half of ", "the answer"]).gate(&gate)]);
    stage.send("go").await;
    gate.release(1);
    stage.until_written("task", "half of ").await;
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
    assert_eq!(census.end(), 1, "there were never two Copilots");
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
