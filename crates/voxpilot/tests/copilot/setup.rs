//! The setup with Copilot in it, and what is known of Copilot alone.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::model_server::Script;
use testkit::processes;
use testkit::server::Rig;
pub(crate) use testkit::setup::{AgentProcesses, COPILOT as NATIVE, Real, SOON, Setup, eventually, said};

/// Everything in place, nothing scripted yet.
pub(crate) async fn start() -> Setup {
    start_with(Script::new(), json!({}), |rig| rig).await
}

pub(crate) async fn start_with(script: Script, session: Value, change: impl FnOnce(Rig) -> Rig) -> Setup {
    Setup::start(Real::Copilot, script, session, change).await
}

/// Copilot's own journal of the session that was given this prompt. It is written a moment after the prompt has come.
pub(crate) fn journal_of(setup: &Setup, prompt: &str) -> Option<PathBuf> {
    let states = std::fs::read_dir(setup.server.rig().copilot_home().join("session-state")).ok()?;
    let mut journals = states.flatten().map(|entry| entry.path().join("events.jsonl"));
    journals.find(|journal| std::fs::read_to_string(journal).is_ok_and(|text| text.contains(prompt)))
}

/// Kills the idle agent and waits until the server knows.
pub(crate) async fn kill_idle_agent(setup: &Setup) {
    processes::signal(setup.processes().native(), "KILL");
    let deadline = Instant::now() + SOON;
    loop {
        let sessions = setup.get("agents").await;
        let views = sessions["agents"].as_array().unwrap();
        if views.iter().all(|view| view["state"] == "stored") {
            return;
        }
        assert!(Instant::now() < deadline, "the server did not notice: {sessions}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
