//! The files that a person is asked about whatever the policy: what decides how programs behave later, and what is secret.
//!
//! Only files that a request names are looked at. What a command does to files is not guessed from its text.

use When::{Always, Changed, Read};

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// When it would be changed.
    Changed,
    /// When it would be read.
    Read,
    Always,
}

/// Parts of a path that follow each other, in small letters. `*` stands for any end or beginning of one part.
const TABLE: &[(&str, When)] = &[
    // Repositories: what their configuration and hooks name is run. Credentials may stand there, too.
    (".git", Always),
    (".githooks", Changed),
    (".husky", Changed),
    // Our own settings and instructions.
    ("voxpilot.toml", Changed),
    ("voxpilot.md", Changed),
    (".config/voxpilot", Always),
    (".local/share/voxpilot", Always),
    // Those of agents.
    ("agents.md", Changed),
    ("agents.override.md", Changed),
    (".agents", Changed),
    ("claude.md", Changed),
    ("claude.local.md", Changed),
    (".claude", Changed),
    (".claude.json", Always),
    ("gemini.md", Changed),
    (".gemini", Changed),
    ("qwen.md", Changed),
    (".qwen", Changed),
    (".github/copilot-instructions.md", Changed),
    (".github/instructions", Changed),
    (".github/prompts", Changed),
    (".github/agents", Changed),
    (".github/skills", Changed),
    (".github/hooks", Changed),
    (".copilot", Changed),
    (".config/github-copilot", Always),
    (".codex", Changed),
    (".opencode", Changed),
    ("opencode.json*", Changed),
    (".config/opencode", Changed),
    (".goose*", Changed),
    (".config/goose", Changed),
    (".aider*", Changed),
    (".cursor", Changed),
    (".cursorrules", Changed),
    (".windsurf", Changed),
    (".windsurfrules", Changed),
    (".clinerules", Changed),
    (".mcp.json", Changed),
    // What editors and shells run when a directory is entered.
    (".vscode/tasks.json", Changed),
    (".vscode/settings.json", Changed),
    (".vscode/launch.json", Changed),
    (".vscode/mcp.json", Changed),
    (".devcontainer", Changed),
    (".devcontainer.json", Changed),
    (".envrc", Changed),
    // What runs at a login or when a shell starts.
    (".bashrc", Changed),
    (".bash_*", Changed),
    (".profile", Changed),
    (".zshrc", Changed),
    (".zshenv", Changed),
    (".zprofile", Changed),
    (".zlogin", Changed),
    (".zlogout", Changed),
    (".kshrc", Changed),
    (".cshrc", Changed),
    (".tcshrc", Changed),
    (".inputrc", Changed),
    (".xprofile", Changed),
    (".xsession*", Changed),
    (".xinitrc", Changed),
    (".pam_environment", Changed),
    (".config/fish", Changed),
    (".config/autostart", Changed),
    (".config/systemd", Changed),
    (".gitconfig", Changed),
    (".config/git", Always),
    // Keys and passwords.
    (".ssh", Always),
    (".gnupg", Always),
    (".password-store", Always),
    (".local/share/keyrings", Always),
    (".aws", Always),
    (".azure", Always),
    (".kube", Always),
    (".config/gcloud", Always),
    (".config/gh", Always),
    (".docker/config.json", Always),
    (".cargo/credentials*", Always),
    (".netrc", Always),
    ("_netrc", Always),
    (".npmrc", Always),
    (".pypirc", Always),
    (".pgpass", Always),
    (".git-credentials", Always),
    ("id_rsa*", Always),
    ("id_dsa*", Always),
    ("id_ecdsa*", Always),
    ("id_ed25519*", Always),
    ("*.pem", Always),
    ("*.key", Always),
    ("*.p12", Always),
    ("*.pfx", Always),
    (".env*", Read),
];

/// Whether a person is asked before the file at `path` is read, or else changed. Large and small letters are alike: on some disks they
/// are.
pub fn is_protected(path: &str, reading: bool) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    TABLE.iter().filter(|(_, when)| *when == Always || (*when == Read) == reading).any(|(pattern, _)| is_in(pattern, &parts))
}

fn is_in(pattern: &str, parts: &[&str]) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    parts.windows(pattern.len()).any(|window| window.iter().zip(&pattern).all(|(part, pattern)| fits(pattern, part)))
}

fn fits(pattern: &str, part: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => part.ends_with(end),
        (_, Some(start)) => part.starts_with(start),
        _ => part == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_later_and_what_is_secret_is_protected_wherever_it_is() {
        let table = [
            (".git/config", true, true),
            ("sub/.GIT/hooks/pre-commit", true, true),
            ("module/.git", true, true),
            ("AGENTS.md", true, false),
            ("docs/Agents.MD", true, false),
            ("voxpilot.toml", true, false),
            (".github/hooks/x.json", true, false),
            (".github/workflows/ci.yml", false, false),
            ("opencode.jsonc", true, false),
            ("/home/me/.bashrc", true, false),
            ("/home/me/.bash_profile", true, false),
            ("/home/me/.ssh/authorized_keys", true, true),
            ("certs/server.pem", true, true),
            (".env", false, true),
            (".env.local", false, true),
            (".envrc", true, true),
            (".gitignore", false, false),
            ("src/git/config", false, false),
            ("vscode/tasks.json", false, false),
            ("src/main.rs", false, false),
            ("", false, false),
        ];
        for (path, changed, read) in table {
            assert_eq!((is_protected(path, false), is_protected(path, true)), (changed, read), "{path}");
        }
    }
}
