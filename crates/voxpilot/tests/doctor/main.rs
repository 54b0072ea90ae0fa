//! `voxpilot doctor` on the built binary: what is wrong is named with the command that mends it, and what that command mends is mended.

#![allow(clippy::unwrap_used)]

mod damaged;
mod disk;
mod login;
mod missing;
mod orphans;
mod ports;

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::faulty_agent::voxpilot_path;
use testkit::server::Rig;

/// Generous: these machines are slow at times, and a deadline only ends a test that has failed anyway.
const SOON: Duration = Duration::from_secs(120);

/// Runs a command of ours with this environment beside the rig's directories.
async fn run(rig: &Rig, args: &[&str], env: &[(String, String)]) -> Output {
    let mut command = tokio::process::Command::new(voxpilot_path());
    command.args(args).env_clear().env("HOME", rig.home().join("home")).env("VOXPILOT_DATA_DIR", rig.data_dir());
    command.env("VOXPILOT_WORK_DIR", rig.work_dir()).env("VOXPILOT_BIND", "127.0.0.1:0").env("PATH", search_path());
    command.envs(env.iter().map(|(name, value)| (name, value)));
    let output = command.current_dir(rig.work_dir()).kill_on_drop(true).output();
    tokio::time::timeout(SOON, output).await.expect("the command ends in time").unwrap()
}

#[expect(clippy::disallowed_methods, reason = "what is under test finds its programs where the test does")]
fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// What the doctor says, whatever its exit code is.
struct Report {
    checks: Vec<Value>,
    failed: bool,
}

async fn doctor(rig: &Rig, args: &[&str], env: &[(String, String)]) -> Report {
    let output = run(rig, &[&["doctor", "--json"], args].concat(), env).await;
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    Report { checks: said["checks"].as_array().unwrap().clone(), failed: !output.status.success() }
}

impl Report {
    /// All checks of this name, about this agent or about none.
    fn of(&self, about: Option<&str>, name: &str) -> Vec<&Value> {
        self.checks.iter().filter(|check| check["name"] == name && check["about"].as_str() == about).collect()
    }

    #[track_caller]
    fn one(&self, about: Option<&str>, name: &str) -> &Value {
        let found = self.of(about, name);
        assert_eq!(found.len(), 1, "{about:?} {name}: {:#?}", self.checks);
        found[0]
    }

    /// Every finding that is not ok says what mends it.
    #[track_caller]
    fn is_complete(&self) {
        for check in &self.checks {
            assert_eq!(check["verdict"] == "ok", check["fix"].is_null(), "{check}");
        }
        assert_eq!(self.failed, self.checks.iter().any(|check| check["verdict"] == "fail"));
    }
}

#[track_caller]
fn is(check: &Value, verdict: &str, words: &[&str], mend: &str) {
    let detail = check["detail"].as_str().unwrap();
    assert!(check["verdict"] == verdict && words.iter().all(|word| detail.contains(word)), "{words:?}: {check}");
    assert!(check["fix"].as_str().unwrap_or_default().contains(mend), "{mend}: {check}");
}

async fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition() {
        assert!(Instant::now() < deadline, "it did not happen in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The real Copilot CLI without an account, whose model is nowhere: it is never asked anything.
fn copilot(rig: &Rig) -> Vec<(String, String)> {
    let mut env = testkit::copilot::offline(&rig.copilot_home(), "http://127.0.0.1:9/v1", "coder");
    env.extend(copilot_path());
    env
}

fn copilot_path() -> Option<(String, String)> {
    Some(("VOXPILOT_COPILOT_CLI_PATH".to_owned(), testkit::copilot::path().display().to_string()))
}

/// A directory in which a program is found, and nothing else.
fn only(dir: &Path, program: &str) -> (String, String) {
    let found = std::env::split_paths(&search_path()).map(|dir| dir.join(program)).find(|path| path.exists());
    std::fs::create_dir_all(dir).unwrap();
    std::os::unix::fs::symlink(found.unwrap(), dir.join(program)).unwrap();
    ("PATH".to_owned(), dir.display().to_string())
}
