//! Where an agent keeps what is its own: sessions, settings, logins. A confined one may write there.

use std::path::{Path, PathBuf};

use super::Agent;
use super::known::Known;

/// Base directories in which programs have a directory of their own name.
const BASES: [(&str, &str); 3] = [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share"), ("XDG_STATE_HOME", ".local/state")];

const CACHE: (&str, &str) = ("XDG_CACHE_HOME", ".cache");

impl Agent {
    /// The directories that belong to it alone, given the environment it is started with.
    pub fn state(&self, env: &[(String, String)]) -> Vec<PathBuf> {
        let known = Known::resembling(&self.id, self.program_name()).map(|known| &known.state);
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

    fn state(id: &str, command: &str, env: &[(&str, &str)]) -> Vec<String> {
        let agent = Agent { id: id.into(), command: command.into(), ..Agent::default() };
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
        assert_eq!(state("qwen", "qwen", &[home]), with("/h/.qwen", "qwen"));
        assert_eq!(state("codex-acp", "codex-acp", &[home, ("CODEX_HOME", "/c")]), with("/c", "codex"));
        assert_eq!(state("demo", "/opt/voxpilot", &[home]), own("voxpilot-demo-agent"));
        assert_eq!(state("mine", "/opt/local", &[home]), own("mine"));
        assert_eq!(state("mine", "/opt/local", &[home, ("XDG_CONFIG_HOME", "relative")]), own("mine"));
        assert!(state("mine", "/opt/local", &[]).is_empty());
    }
}
