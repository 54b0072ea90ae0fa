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

/// Parts of a path that follow each other, in small letters. One `*` stands for any text within a part.
const TABLE: &[(&str, When)] = &[
    // Repositories: what their configuration and hooks name is run. Credentials may stand there, too.
    (".git", Always),
    (".githooks", Changed),
    (".husky", Changed),
    (".gitmodules", Changed),
    (".pre-commit-config.y*ml", Changed),
    ("lefthook.y*ml", Changed),
    (".lefthook.y*ml", Changed),
    ("lefthook-local.y*ml", Changed),
    (".lefthook-local.y*ml", Changed),
    ("lefthook.toml", Changed),
    ("lefthook.json", Changed),
    (".lefthook", Changed),
    (".lefthook-local", Changed),
    (".overcommit.yml", Changed),
    // Our own settings and instructions.
    ("voxpilot.toml", Changed),
    ("voxpilot.md", Changed),
    (".config/voxpilot", Always),
    (".local/share/voxpilot", Always),
    // Those of agents.
    ("agent.md", Changed),
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
    (".kiro", Changed),
    (".roo", Changed),
    (".roorules*", Changed),
    (".roomodes", Changed),
    (".continue", Changed),
    (".continuerules", Changed),
    (".continuerc.json", Changed),
    (".junie", Changed),
    (".amazonq", Changed),
    (".augment", Changed),
    (".trae", Changed),
    (".mcp.json", Changed),
    // What editors and shells run when a directory is entered.
    (".vscode/tasks.json", Changed),
    (".vscode/settings.json", Changed),
    (".vscode/launch.json", Changed),
    (".vscode/mcp.json", Changed),
    (".devcontainer", Changed),
    (".devcontainer.json", Changed),
    (".vscode/extensions.json", Changed),
    (".idea", Changed),
    (".zed", Changed),
    (".fleet", Changed),
    (".envrc", Changed),
    ("mise.toml", Changed),
    (".mise.toml", Changed),
    ("mise.*.toml", Changed),
    (".mise.*.toml", Changed),
    ("mise/config*.toml", Changed),
    (".mise/config*.toml", Changed),
    (".mise", Changed),
    (".tool-versions", Changed),
    (".cargo/config", Changed),
    (".cargo/config.toml", Changed),
    (".exrc", Changed),
    (".nvimrc", Changed),
    (".nvim.lua", Changed),
    (".vimrc", Changed),
    (".gvimrc", Changed),
    (".ideavimrc", Changed),
    (".lvimrc", Changed),
    (".local.vimrc", Changed),
    (".dir-locals*.el", Changed),
    (".emacs", Changed),
    (".emacs.d", Changed),
    (".config/nvim", Changed),
    (".vim", Changed),
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
    (".login", Changed),
    (".logout", Changed),
    (".cshdirs", Changed),
    ("nushell", Changed),
    ("env.nu", Changed),
    ("config.nu", Changed),
    ("login.nu", Changed),
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
    let parts = parts(&path);
    TABLE.iter().filter(|(_, when)| *when == Always || (*when == Read) == reading).any(|(pattern, _)| is_in(pattern, &parts))
}

pub(crate) fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// Whether `parts`, in small letters, hold the parts of `pattern` one after the other.
pub(crate) fn is_in(pattern: &str, parts: &[&str]) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    parts.windows(pattern.len()).any(|window| window.iter().zip(&pattern).all(|(part, pattern)| fits(pattern, part)))
}

fn fits(pattern: &str, part: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => part.len() >= start.len() + end.len() && part.starts_with(start) && part.ends_with(end),
        None => part == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_one_star_at_most() {
        for (pattern, _) in TABLE {
            assert!(pattern.split('/').all(|part| part.matches('*').count() <= 1), "{pattern}");
        }
    }

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
            (".cargo/config.toml", true, false),
            ("sub/.cargo/config", true, false),
            ("mise.toml", true, false),
            (".mise.local.toml", true, false),
            (".config/mise/config.toml", true, false),
            (".pre-commit-config.yaml", true, false),
            ("lefthook.yml", true, false),
            (".lefthook-local.yaml", true, false),
            (".idea/workspace.xml", true, false),
            (".zed/tasks.json", true, false),
            (".kiro/hooks/x.json", true, false),
            (".roo/mcp.json", true, false),
            (".roorules-code", true, false),
            (".continue/config.yaml", true, false),
            (".junie/guidelines.md", true, false),
            ("AGENT.md", true, false),
            ("/home/me/.login", true, false),
            ("/home/me/.config/nushell/env.nu", true, false),
            ("config.nu", true, false),
            (".exrc", true, false),
            (".nvim.lua", true, false),
            (".tool-versions", true, false),
            ("miser.toml", false, false),
            ("agent.mdx", false, false),
            ("src/login.rs", false, false),
            ("cargo/config.toml", false, false),
            ("src/main.rs", false, false),
            ("", false, false),
        ];
        for (path, changed, read) in table {
            assert_eq!((is_protected(path, false), is_protected(path, true)), (changed, read), "{path}");
        }
    }
}
