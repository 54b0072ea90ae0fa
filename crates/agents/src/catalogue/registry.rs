//! More agents, from a file in the format of the public ACP registry. Nothing that it names is downloaded: a package is run by npx where a
//! person has asked for it, and a program where it is installed already.

use std::collections::BTreeMap;

use domain::text::{clip, visible};
use serde::Deserialize;

use super::known::KNOWN;
use super::{Agent, Package, program};

/// What people and the main AI are shown of a description.
const ABOUT_BYTES: usize = 200;
/// Far more than the registry has.
const AGENTS_MAX: usize = 500;

/// What more there is in the file is for others.
#[derive(Deserialize)]
struct Registry {
    agents: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    name: String,
    #[serde(default)]
    description: String,
    distribution: Distribution,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Distribution {
    npx: Option<Packaged>,
    uvx: Option<Packaged>,
    /// By platform.
    binary: BTreeMap<String, Binary>,
}

#[derive(Deserialize)]
struct Packaged {
    package: String,
    cmd: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Binary {
    cmd: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The agents of the file that are not known anyway. The error says what is wrong with it, and not which file it is.
pub fn registry(text: &str) -> Result<Vec<Agent>, String> {
    let registry: Registry = serde_json::from_str(text).map_err(|error| format!("not in the format of the ACP registry: {error}"))?;
    if registry.agents.len() > AGENTS_MAX {
        return Err(format!("it has more than {AGENTS_MAX} agents"));
    }
    let mut agents = Vec::new();
    for entry in registry.agents {
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if entry.id.is_empty() || !entry.id.bytes().all(is_id) {
            return Err(format!("`{}` is no id of an agent: letters, digits, `-`, `_` and `.`", visible(clip(&entry.id, ABOUT_BYTES))));
        }
        agents.extend(agent(entry).filter(|agent: &Agent| !is_known(agent)));
    }
    Ok(agents)
}

/// None where there is nothing for this platform.
fn agent(entry: Entry) -> Option<Agent> {
    let Distribution { npx, uvx, mut binary } = entry.distribution;
    let mut agent = Agent {
        id: entry.id,
        title: visible(entry.name.trim()).into_owned(),
        about: visible(clip(entry.description.trim(), ABOUT_BYTES)).replace('\n', " "),
        ..Agent::default()
    };
    let env = if let Some(npx) = npx {
        let package = Package::new(npx.package, npx.cmd.clone());
        let name = npx.cmd.unwrap_or_else(|| last_part(package.name()).to_owned());
        agent.install = format!("npm install -g {}", package.name());
        (agent.command, agent.args, agent.package) = (own_program(&name), npx.args, Some(package));
        npx.env
    } else if let Some(binary) = binary.remove(&platform()) {
        (agent.command, agent.args) = (own_program(last_part(&binary.cmd)), binary.args);
        binary.env
    } else {
        let uvx = uvx?;
        let name = uvx.cmd.unwrap_or_else(|| uvx.package.split(['@', '=', '<', '>', '~', '[', '!']).next().unwrap_or_default().to_owned());
        agent.install = format!("uv tool install {}", uvx.package);
        (agent.command, agent.args) = (own_program(&name), uvx.args);
        uvx.env
    };
    agent.env = env.into_iter().collect();
    Some(agent)
}

/// A name that is looked up. One that means something else on every machine is not looked for.
fn own_program(name: &str) -> std::path::PathBuf {
    if program::runs_others(name) || name.contains('/') { std::path::PathBuf::new() } else { name.into() }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// As the registry calls it.
fn platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    format!("{system}-{}", std::env::consts::ARCH)
}

/// One that was tested is better known than by the registry.
fn is_known(agent: &Agent) -> bool {
    let package = agent.package.as_ref().map(Package::name);
    KNOWN.iter().any(|known| known.id == agent.id || known.package.is_some_and(|(name, _)| Some(name) == package))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn agents_are_read_as_the_registry_describes_them() {
        let platform = platform();
        let text = format!(
            r#"{{ "version": "1.0.0", "extensions": [], "agents": [
            {{ "id": "alpha", "name": "Alpha", "version": "1.2.3", "description": "Does things\nwell", "license": "MIT", "icon": "i.svg",
               "authors": ["A"], "distribution": {{ "npx": {{ "package": "@example/alpha@1.2.3", "args": ["--acp"], "env": {{ "A": "b" }} }} }} }},
            {{ "id": "several", "name": "Several", "distribution": {{ "npx": {{ "package": "many@2", "cmd": "one" }} }} }},
            {{ "id": "zeta", "name": "Zeta", "distribution": {{ "binary": {{
               "{platform}": {{ "archive": "https://example/z.tgz", "cmd": "./bin/zeta", "args": ["serve"] }},
               "windows-x86_64": {{ "archive": "https://example/z.zip", "cmd": "zeta.exe" }} }} }} }},
            {{ "id": "beta", "name": "Beta", "distribution": {{ "uvx": {{ "package": "beta-agent[acp]==4.5.6", "cmd": "beta" }} }} }},
            {{ "id": "elsewhere", "name": "E", "distribution": {{ "binary": {{ "plan9-mips": {{ "archive": "x", "cmd": "e" }} }} }} }},
            {{ "id": "snake", "name": "S", "distribution": {{ "uvx": {{ "package": "x", "cmd": "python3" }} }} }},
            {{ "id": "gemini", "name": "Known by id", "distribution": {{ "npx": {{ "package": "x" }} }} }},
            {{ "id": "claude-acp", "name": "Known", "distribution": {{ "npx": {{ "package": "@agentclientprotocol/claude-agent-acp@9.9.9" }} }} }}
            ] }}"#
        );
        let agents = registry(&text).unwrap();
        let seen: Vec<_> =
            agents.iter().map(|agent| (agent.id.as_str(), agent.command.to_str().unwrap(), agent.install.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("alpha", "alpha", "npm install -g @example/alpha"),
                ("several", "one", "npm install -g many"),
                ("zeta", "zeta", ""),
                ("beta", "beta", "uv tool install beta-agent[acp]==4.5.6"),
                ("snake", "", "uv tool install x"),
            ]
        );
        let alpha = &agents[0];
        assert_eq!((alpha.about.as_str(), alpha.args.as_slice()), ("Does things well", &["--acp".to_owned()][..]));
        assert_eq!(alpha.env, [("A".to_owned(), "b".to_owned())]);
        assert_eq!(alpha.package.as_ref().unwrap().version(), Some("1.2.3"));
        assert!(!alpha.npx, "it is not fetched before somebody has asked for it");
        assert_eq!(agents[1].package.as_ref().unwrap().npx_arguments(&[]), ["--yes", "--package", "many@2", "one"]);
    }

    #[test]
    fn a_file_of_another_form_is_refused_with_what_is_wrong() {
        for (text, wrong) in [
            ("[]", "not in the format of the ACP registry"),
            (r#"{ "agents": [{ "id": "x" }] }"#, "missing field `name`"),
            (r#"{ "agents": [{ "id": "a b", "name": "x", "distribution": {} }] }"#, "`a b` is no id"),
        ] {
            let error = registry(text).unwrap_err();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
