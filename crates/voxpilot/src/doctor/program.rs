//! The programs: are they there, do they start, which version.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;
use tokio::time::timeout;

use agents::catalogue::{COPILOT, DEMO};

use super::{Check, Verdict};
use crate::config::{Config, find_program};

const VERSION_DEADLINE: Duration = Duration::from_secs(10);

pub(super) async fn git(search_path: Option<&str>) -> Check {
    let mend = "sudo apt-get install git   (or: brew install git)";
    match look("git", search_path).await {
        Ok(version) => Check::ok("git", version),
        Err(detail) => Check::bad("git", Verdict::Fail, detail, mend),
    }
}

/// Copilot itself needs none, but its npm package does, and so does building the UI.
pub(super) async fn node(search_path: Option<&str>) -> Check {
    match look("node", search_path).await {
        Ok(version) => Check::ok("node", version),
        Err(detail) => Check::bad("node", Verdict::Warn, detail, "install Node 20 or later: https://nodejs.org"),
    }
}

pub(super) async fn copilot(config: &Config, search_path: Option<&str>) -> Check {
    let wanted = config.agent.as_deref() == Some(COPILOT);
    let path = &config.copilot_cli_path;
    match look(path, search_path).await {
        Ok(version) => Check::ok("copilot", format!("{version}, {}", path.display())),
        Err(detail) if wanted => Check::bad("copilot", Verdict::Fail, detail, "npm install -g @github/copilot"),
        Err(detail) => {
            let agent = config.agent.as_deref().unwrap_or(DEMO);
            Check::bad("copilot", Verdict::Warn, format!("{detail}; the agent is {agent}"), "npm install -g @github/copilot")
        }
    }
}

/// The version of a program, or what is wrong with it.
async fn look(program: impl AsRef<Path>, search_path: Option<&str>) -> Result<String, String> {
    let program = program.as_ref();
    let path = find_program(program, search_path).ok_or_else(|| format!("{} is not installed", program.display()))?;
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

    #[tokio::test]
    async fn a_missing_copilot_fails_only_where_it_is_asked_for() {
        let mut config = Config { copilot_cli_path: "no-such-copilot".into(), ..Config::default() };
        let check = copilot(&config, Some("/nowhere")).await;
        assert_eq!(check.verdict, Verdict::Warn);
        assert!(check.detail.contains("the agent is demo"), "{}", check.detail);
        config.agent = Some("copilot".into());
        assert_eq!(copilot(&config, Some("/nowhere")).await.verdict, Verdict::Fail);
    }
}
