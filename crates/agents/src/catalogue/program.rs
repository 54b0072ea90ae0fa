//! Asking an agent's program for its version.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

const MAX_OUTPUT_BYTES: u64 = 4096;
/// Programs whose work is to run others: what they say of themselves says nothing of those. Any version of them.
const RUNNERS: [&str; 32] = [
    "node", "nodejs", "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno", "tsx", "python", "uv", "uvx", "pipx", "ruby", "perl",
    "sh", "bash", "dash", "zsh", "fish", "env", "sudo", "ssh", "docker", "podman", "nix", "mise", "timeout", "bwrap", "java",
];

/// Whether the program of this name runs another one.
pub(super) fn runs_others(name: &str) -> bool {
    let name = name.trim_end_matches(|end: char| end.is_ascii_digit() || end == '.');
    RUNNERS.contains(&name)
}

/// The first line that `program --version` prints. `None` where it fails, says nothing or takes too long.
pub async fn version(program: &Path, env: &[(String, String)], deadline: Duration) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let mut stdout = child.stdout.take()?.take(MAX_OUTPUT_BYTES);
    let mut output = Vec::new();
    let ended = timeout(deadline, async {
        stdout.read_to_end(&mut output).await.ok()?;
        child.wait().await.ok()
    })
    .await;
    match ended {
        Ok(status) if status.is_some_and(|status| status.success()) => {
            let output = String::from_utf8_lossy(&output);
            output.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
        }
        Ok(_) => None,
        Err(_) => {
            // Killing a wrapper alone would leave the real program running.
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    fn script(dir: &Path, name: &str, body: &str) -> PathBuf {
        let path = dir.join(name);
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn a_version_is_the_first_line_and_has_a_deadline() {
        let dir = tempfile::tempdir().unwrap();
        let long = Duration::from_secs(30);
        let good = script(dir.path(), "good", "echo; echo ' 1.2.3 '; echo more");
        assert_eq!(version(&good, &[], long).await.as_deref(), Some("1.2.3"));
        assert_eq!(version(&script(dir.path(), "bad", "echo 1; exit 3"), &[], long).await, None);
        let stuck = script(dir.path(), "stuck", "exec sleep 600");
        assert_eq!(version(&stuck, &[], Duration::from_millis(50)).await, None);
    }
}
