//! What the built server keeps and what it lets go of: deleted sessions, backups, the log, the disk.

#![allow(clippy::unwrap_used)]

mod backup;
mod crafted;
mod deleting;
mod log;
mod quota;

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use testkit::faulty_agent::voxpilot_path;
use testkit::server::Rig;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(60);

async fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition() {
        assert!(Instant::now() < deadline, "it did not happen in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs a command of ours on the rig's data directory.
async fn run(rig: &Rig, args: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(voxpilot_path());
    command.args(args).env_clear().env("HOME", rig.home().join("home")).env("VOXPILOT_DATA_DIR", rig.data_dir());
    let output = command.current_dir(rig.home().join("home")).kill_on_drop(true).output();
    tokio::time::timeout(SOON, output).await.expect("the command ends in time").unwrap()
}

#[track_caller]
fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn refuses(output: &Output, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(words), "{words}: {output:?}");
}

/// All files below a directory.
fn files(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else { return all };
    for entry in entries.filter_map(Result::ok) {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.extend(files(&entry.path())),
            _ => all.push(entry.path()),
        }
    }
    all
}
