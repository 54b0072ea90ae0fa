//! The agents as the configuration has them: the known ones, changed as it says, and more.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::Path;

use agents::catalogue::{self, Agent, Asks, Catalogue, Places};
use anyhow::{Context, Result, anyhow, bail};

use crate::bridge::BRIDGE;
use crate::config::{AgentSection, Config, EnvValue};

/// Far more than the registry has.
const REGISTRY_BYTES: u64 = 4 * 1024 * 1024;

pub fn catalogue(config: &Config, exe: &Path) -> Result<Catalogue> {
    let mut agents = config.agents_registry.as_deref().map(listed).transpose()?.unwrap_or_default();
    let base = Catalogue::new(settings(config, exe, agents.clone()));
    for (id, section) in &config.agents {
        agents.push(configured(id, section, base.get(id), exe)?);
    }
    Ok(Catalogue::new(settings(config, exe, agents)))
}

/// The agents of a registry's file.
fn listed(path: &Path) -> Result<Vec<Agent>> {
    let named = || format!("agents_registry {}", path.display());
    let file = std::fs::File::open(path).with_context(named)?;
    let mut text = String::new();
    let length = file.take(REGISTRY_BYTES + 1).read_to_string(&mut text).with_context(named)?;
    if length as u64 > REGISTRY_BYTES {
        bail!("{}: it is larger than {} MiB", named(), REGISTRY_BYTES >> 20);
    }
    catalogue::registry(&text).map_err(|problem| anyhow!("{}: {problem}", named()))
}

fn settings(config: &Config, exe: &Path, configured: Vec<Agent>) -> catalogue::Settings {
    catalogue::Settings {
        copilot_command: config.copilot_cli_path.clone(),
        copilot_home: config.copilot_home.clone(),
        copilot_token_file: config.copilot_token_file.clone(),
        own_exe: exe.to_owned(),
        configured,
    }
}

/// The agent of a new session that names none, which is also the one that `copilot_agent` drives.
pub fn default_agent(config: &Config, catalogue: &Catalogue, env: &[(OsString, OsString)]) -> Result<String> {
    let Some(agent) = &config.agent else { return Ok(catalogue.default_id(&Places::of(env)).to_owned()) };
    if catalogue.get(agent).is_none() {
        let known: Vec<_> = catalogue.iter().map(|agent| agent.id.as_str()).collect();
        bail!("VOXPILOT_AGENT: no agent is called `{agent}`: there is {}", known.join(", "));
    }
    Ok(agent.clone())
}

/// An agent of the configuration: a new one, or a known one with some of it changed.
fn configured(id: &str, section: &AgentSection, known: Option<&Agent>, exe: &Path) -> Result<Agent> {
    let mut agent = match (known, &section.command, &section.remote) {
        (Some(known), ..) => known.clone(),
        (None, Some(command), _) => Agent::added(id, command.clone()),
        (None, None, Some(_)) => Agent::added(id, exe.to_owned()),
        (None, None, None) => bail!("agents.{id}: `command` is missing: say which program to start, or a `url` to connect to"),
    };
    if let Some(command) = &section.command {
        agent.set_command(command.clone());
    }
    if let Some(args) = &section.args {
        agent.args = args.clone();
    }
    if let Some(address) = &section.remote {
        agent.set_command(exe.to_owned());
        (agent.args, agent.remote) = (vec![BRIDGE.to_owned(), address.clone()], Some(address.clone()));
    }
    if let Some(title) = &section.title {
        agent.title = title.clone();
    }
    if let Some(about) = &section.about {
        agent.about = about.clone();
    }
    if let Some(login) = &section.login {
        (agent.login, agent.login_command) = (login.clone(), None);
    }
    if let Some(offers) = section.offers {
        agent.quirks.offers = offers;
    }
    if let Some(asks) = section.asks {
        agent.quirks.asks = if asks { Asks::Always } else { Asks::Never };
    }
    agent.dialect = section.dialect.unwrap_or(agent.dialect);
    (agent.npx, agent.confined) = (section.npx, section.confined);
    if agent.npx && agent.package.is_none() {
        bail!("agents.{id}: `npx` needs an agent whose npm package is known, and no `command` or `url` of its own");
    }
    for (name, value) in &section.env {
        agent.env.retain(|(known, _)| known != name);
        agent.references.retain(|(known, _)| known != name);
        match value {
            EnvValue::Text(text) => agent.env.push((name.clone(), text.clone())),
            EnvValue::Elsewhere(reference) => agent.references.push((name.clone(), reference.clone())),
        }
    }
    Ok(agent)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::PathBuf;

    use agents::catalogue::{Offers, Reference};

    use super::*;

    fn built(sections: Vec<(&str, AgentSection)>) -> Result<Catalogue> {
        let agents = sections.into_iter().map(|(id, section)| (id.to_owned(), section)).collect();
        catalogue(&Config { agents, copilot_cli_path: "copilot".into(), ..Config::default() }, Path::new("/bin/voxpilot"))
    }

    #[test]
    fn a_section_changes_a_known_agent_only_where_it_says_so() {
        let section = AgentSection {
            npx: true,
            offers: Some(Offers::NONE),
            asks: Some(false),
            env: [("OPENAI_API_KEY".to_owned(), EnvValue::Elsewhere(Reference::Variable("MY_KEY".to_owned())))].into(),
            ..AgentSection::default()
        };
        let catalogue = built(vec![("codex-acp", section)]).unwrap();
        let agent = catalogue.get("codex-acp").unwrap();
        assert_eq!((agent.title.as_str(), agent.command.to_str(), agent.npx), ("Codex (ACP)", Some("codex-acp"), true));
        assert_eq!((agent.quirks.offers, agent.quirks.asks), (Offers::NONE, Asks::Never));
        assert_eq!(agent.references, [("OPENAI_API_KEY".to_owned(), Reference::Variable("MY_KEY".to_owned()))]);
        assert!(agent.env.is_empty() && agent.login_command().as_deref() == Some("codex login"));
        let own = AgentSection { command: Some("/opt/wrapper".into()), ..AgentSection::default() };
        let catalogue = built(vec![("claude", own)]).unwrap();
        let agent = catalogue.get("claude").unwrap();
        assert_eq!((agent.command.to_str(), &agent.package), (Some("/opt/wrapper"), &None));
        assert!(agent.variables.contains(&"ANTHROPIC_*"));
    }

    #[test]
    fn what_cannot_be_started_is_refused_by_name() {
        let npx = AgentSection { npx: true, command: Some(PathBuf::from("/opt/x")), ..AgentSection::default() };
        for (id, section) in [("mine", AgentSection::default()), ("mine", npx.clone()), ("claude", npx)] {
            assert!(built(vec![(id, section)]).unwrap_err().to_string().starts_with(&format!("agents.{id}: ")));
        }
        let config = Config { agent: Some("nobody".to_owned()), ..Config::default() };
        let error = default_agent(&config, &built(vec![]).unwrap(), &[]).unwrap_err().to_string();
        assert!(error.contains("no agent is called `nobody`"), "{error}");
    }
}
