//! Where the faulty agent and the fast agent are, and how to start them so that they are hard to stop.
//! What they do is described in their own files (`src/bin`).

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The faulty agent, built if it is not there yet.
///
/// # Panics
/// If it cannot be built: there is no test without it.
pub fn path() -> PathBuf {
    binary("faulty-agent")
}

/// The fast agent of the benchmarks, built if it is not there yet.
///
/// # Panics
/// If it cannot be built.
pub fn fast_agent_path() -> PathBuf {
    binary("fast-agent")
}

/// The server's own binary, built if it is not there yet.
///
/// # Panics
/// If it cannot be built.
pub fn voxpilot_path() -> PathBuf {
    binary("voxpilot")
}

/// Command and arguments of a faulty agent that SIGTERM, SIGINT and SIGHUP do not reach: an ignored signal stays ignored
/// over `exec`. The pid is the agent's own. With the prompt `ignore_sigterm` it does not mind the end of stdin either.
pub fn deaf() -> (PathBuf, Vec<String>) {
    deaf_command(&path())
}

fn deaf_command(agent: &Path) -> (PathBuf, Vec<String>) {
    let script = "trap '' TERM INT HUP; exec \"$0\" \"$@\"";
    let args = ["-c".to_owned(), script.to_owned(), agent.display().to_string()];
    (PathBuf::from("/bin/sh"), args.to_vec())
}

/// A binary of this crate, beside the test that is running. `cargo test -p other` does not build it, so it is built here.
fn binary(name: &str) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let profile_dir = profile_dir();
    let path = profile_dir.join(name);
    // One build at a time; one that failed before says so again.
    let _building = BUILDING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !path.exists() {
        build(name, &profile_dir);
    }
    assert!(path.exists(), "{} was not built", path.display());
    path
}

/// `target/release` for a test in `target/release/deps`, and for a program in `target/release` itself.
fn profile_dir() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    let dir = test.parent().expect("a program lies in a directory");
    let is_deps = dir.file_name().is_some_and(|name| name == "deps" || name == "examples");
    match dir.parent() {
        Some(parent) if is_deps => parent.to_owned(),
        _ => dir.to_owned(),
    }
}

fn build(name: &str, profile_dir: &Path) {
    let profile = match profile_dir.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(profile) => profile,
    };
    let target_dir = profile_dir.parent().expect("a profile lies in a target directory");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--offline", "--profile", profile, "--bin", name, "--target-dir"])
        .arg(target_dir)
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(if name == "voxpilot" { "../voxpilot/Cargo.toml" } else { "Cargo.toml" }))
        .status()
        .expect("cargo is installed where tests run");
    assert!(status.success(), "{name} could not be built");
}
