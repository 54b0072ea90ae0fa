//! Where an agent keeps what is its own: sessions, settings, logins. A confined one may write there.

use std::path::{Path, PathBuf};

use super::Agent;

/// An agent whose habits are known.
struct Known {
    /// How its id or the name of its program begins.
    begins: &'static str,
    /// The variable that moves its state, and where that is below the home directory otherwise.
    moved_by: Option<&'static str>,
    below_home: Option<&'static str>,
    /// What its directories in the base directories are called.
    name: &'static str,
}

const fn known(begins: &'static str, moved_by: Option<&'static str>, below_home: Option<&'static str>) -> Known {
    Known { begins, moved_by, below_home, name: begins }
}

const KNOWN: [Known; 7] = [
    known("copilot", Some("COPILOT_HOME"), Some(".copilot")),
    known("codex", Some("CODEX_HOME"), Some(".codex")),
    known("claude", Some("CLAUDE_CONFIG_DIR"), Some(".claude")),
    known("gemini", None, Some(".gemini")),
    known("goose", None, None),
    known("opencode", None, None),
    Known { begins: super::DEMO, moved_by: Some("DEMO_AGENT_HOME"), below_home: None, name: "voxpilot-demo-agent" },
];

/// Base directories in which programs have a directory of their own name.
const BASES: [(&str, &str); 3] = [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share"), ("XDG_STATE_HOME", ".local/state")];

const CACHE: (&str, &str) = ("XDG_CACHE_HOME", ".cache");

impl Agent {
    /// The directories that belong to it alone, given the environment it is started with.
    pub fn state(&self, env: &[(String, String)]) -> Vec<PathBuf> {
        let program = self.command.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let known = KNOWN.iter().find(|known| self.id.starts_with(known.begins) || program.starts_with(known.begins));
        let moved = known.and_then(|known| variable(env, known.moved_by?));
        let at_home = || Some(variable(env, "HOME")?.join(known?.below_home?));
        let mut state: Vec<PathBuf> = moved.or_else(at_home).into_iter().collect();
        let name = known.map_or(self.id.as_str(), |known| known.name);
        state.extend(BASES.iter().filter_map(|base| Some(directory(env, *base)?.join(name))));
        state
    }
}

/// Where any program may write what it can do without: caches and temporary files.
pub fn scratch(env: &[(String, String)]) -> Vec<PathBuf> {
    let temporary = variable(env, "TMPDIR").into_iter().chain(["/tmp", "/var/tmp"].map(PathBuf::from));
    temporary.chain(directory(env, CACHE)).collect()
}

fn directory(env: &[(String, String)], (moved, below_home): (&str, &str)) -> Option<PathBuf> {
    variable(env, moved).or_else(|| Some(variable(env, "HOME")?.join(below_home)))
}

fn variable(env: &[(String, String)], name: &str) -> Option<PathBuf> {
    let (_, value) = env.iter().find(|(known, _)| known == name)?;
    Some(Path::new(value)).filter(|path| path.is_absolute()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Quirks;

    fn state(id: &str, command: &str, env: &[(&str, &str)]) -> Vec<String> {
        let agent = Agent {
            id: id.into(),
            title: id.into(),
            about: String::new(),
            dialect: crate::catalogue::Dialect::Acp,
            command: command.into(),
            args: vec![],
            env: vec![],
            login: vec![],
            token_file: None,
            quirks: Quirks::default(),
            remote: None,
            confined: true,
        };
        let env: Vec<_> = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        agent.state(&env).into_iter().map(|path| path.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn an_agent_has_its_own_directories_and_nobody_elses() {
        let home = ("HOME", "/h");
        let own = |name: &str| [format!("/h/.config/{name}"), format!("/h/.local/share/{name}"), format!("/h/.local/state/{name}")];
        let with = |first: &str, name: &str| [vec![first.to_owned()], own(name).to_vec()].concat();
        assert_eq!(state("copilot", "/usr/bin/copilot", &[home]), with("/h/.copilot", "copilot"));
        assert_eq!(state("copilot", "copilot", &[home, ("COPILOT_HOME", "/state")]), with("/state", "copilot"));
        assert_eq!(state("mine", "/opt/claude-code-acp", &[home]), with("/h/.claude", "claude"));
        assert_eq!(state("demo", "/opt/voxpilot", &[home]), own("voxpilot-demo-agent"));
        assert_eq!(state("mine", "/opt/local", &[home]), own("mine"));
        assert_eq!(state("mine", "/opt/local", &[home, ("XDG_CONFIG_HOME", "relative")]), own("mine"));
        assert!(state("mine", "/opt/local", &[]).is_empty());
    }
}
