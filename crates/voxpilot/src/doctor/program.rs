//! The programs: are they there, do they start, which version.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use runner::find_program;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;
use tokio::time::timeout;

use engine::Settings;

use super::{Check, Verdict};

pub(super) const VERSION_DEADLINE: Duration = Duration::from_secs(10);
const FIRST_LINE_BYTES: u64 = 256;

pub(super) async fn git(search_path: Option<&str>) -> Check {
    let fix = "sudo apt-get install git   (or: brew install git)";
    match look("git", search_path).await {
        Ok(version) => Check::ok("git", version),
        Err(detail) => Check::bad("git", Verdict::Fail, detail, fix),
    }
}

/// Where an agent that is installed runs in Node, or is brought by it.
pub(super) async fn node(settings: &Settings, search_path: Option<&str>) -> Option<Check> {
    let installed = settings.catalogue.iter().filter_map(|agent| Some((agent, settings.find(agent)?.path)));
    let needing: Vec<&str> = installed.filter(|(_, program)| needs_node(program)).map(|(agent, _)| agent.id.as_str()).collect();
    if needing.is_empty() {
        return None;
    }
    Some(match look("node", search_path).await {
        Ok(version) => Check::ok("node", format!("{version}, for {}", needing.join(", "))),
        Err(detail) => {
            let detail = format!("{detail}, and {} cannot start without it", needing.join(", "));
            Check::bad("node", Verdict::Warn, detail, "sudo apt-get install nodejs   (20 or later; or: brew install node)")
        }
    })
}

/// A package of npm is a script that names it in its first line.
fn needs_node(program: &Path) -> bool {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut first = Vec::new();
    let read = File::open(program).and_then(|file| file.take(FIRST_LINE_BYTES).read_to_end(&mut first));
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let script = read.is_ok() && line.starts_with(b"#!") && String::from_utf8_lossy(line).split(['/', ' ']).any(|word| word == "node");
    script || ["node", "npx", "npm"].contains(&name)
}

/// The version of a program, or what is wrong with it.
async fn look(program: impl AsRef<Path>, search_path: Option<&str>) -> Result<String, String> {
    let program = program.as_ref();
    let path = find_program(program, search_path.map(OsStr::new)).ok_or_else(|| format!("{} is not installed", program.display()))?;
    version(&path, VERSION_DEADLINE).await
}

async fn version(path: &Path, deadline: Duration) -> Result<String, String> {
    let shown = path.display();
    let child = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("{shown} does not start: {error}"))?;
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let Ok(ended) = timeout(deadline, child.wait_with_output()).await else {
        // The npm package is a wrapper around another process, which outlives a kill of the wrapper alone.
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        return Err(format!("{shown} --version did not answer within {} s", deadline.as_secs_f32()));
    };
    let output = ended.map_err(|error| format!("{shown} --version: {error}"))?;
    if !output.status.success() {
        return Err(format!("{shown} --version failed: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn script(dir: &Path, body: &str) -> std::path::PathBuf {
        let path = dir.join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn a_program_is_asked_for_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let path = script(dir.path(), "echo \"a program $1 1.2.3.\"; echo more");
        assert_eq!(look(&path, None).await, Ok("a program --version 1.2.3".to_owned()));
        assert_eq!(look("program", dir.path().to_str()).await, Ok("a program --version 1.2.3".to_owned()));
    }

    #[tokio::test]
    async fn a_program_that_fails_or_hangs_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let failing = script(dir.path(), "exit 3");
        assert!(look(&failing, None).await.unwrap_err().contains("exit status: 3"));
        let hanging = script(dir.path(), "sleep 60 & wait");
        let error = version(&hanging, Duration::from_millis(100)).await.unwrap_err();
        assert!(error.contains("did not answer within 0.1 s"), "{error}");
        assert!(look("no-such-program", dir.path().to_str()).await.unwrap_err().contains("is not installed"));
    }

    #[test]
    fn a_script_that_runs_in_node_is_known_by_its_first_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent");
        for (text, expected) in
            [("#!/usr/bin/env node\nx", true), ("#!/opt/node\n", true), ("#!/bin/sh\n# node\n", false), ("\x7fELF", false)]
        {
            std::fs::write(&path, text).unwrap();
            assert_eq!(needs_node(&path), expected, "{text}");
        }
    }
}
