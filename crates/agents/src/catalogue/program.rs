//! Asking an agent's program for its version.

use std::path::Path;
use std::time::Duration;

use runner::{Invocation, Sandbox, first_line};

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

/// The first line that the program prints when it is asked for its version. `None` where it fails, says nothing or takes too long.
pub async fn version(program: &Path, env: Vec<(String, String)>, sandbox: Option<Sandbox>, deadline: Duration) -> Option<String> {
    let args = vec!["--version".to_owned()];
    let program = Invocation { command: program.to_owned(), args, env, sandbox, ..Invocation::default() };
    first_line(&program, deadline).await
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
        assert_eq!(version(&good, vec![], None, long).await.as_deref(), Some("1.2.3"));
        assert_eq!(version(&script(dir.path(), "bad", "echo 1; exit 3"), vec![], None, long).await, None);
        let stuck = script(dir.path(), "stuck", "exec sleep 600");
        assert_eq!(version(&stuck, vec![], None, Duration::from_millis(50)).await, None);
    }
}
