//! The `[agents.<id>]` sections of a file.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use agents::catalogue::{Offers, Reference};
use toml::{Table, Value};

use super::form::{Given, address, identifier};
use super::setting::PREFIX;
use super::{AgentSection, EnvValue};

/// What `env` of an agent's section is to be.
const VARIABLES: &str = "a table of texts, or of where they are: { variable = \"NAME\" } or { file = \"path\" }, no VOXPILOT_*";

/// Relative paths are relative to `dir`; what is wrong is said in `problems`.
pub(super) fn sections(
    value: Value,
    path: &Path,
    dir: &Path,
    home: Option<&Path>,
    problems: &mut Vec<String>,
) -> BTreeMap<String, AgentSection> {
    let path = path.display();
    let Value::Table(sections) = value else {
        problems.push(format!("`agents` in {path} is not a table: expected sections [agents.<id>]"));
        return BTreeMap::new();
    };
    let mut agents = BTreeMap::new();
    for (id, section) in sections {
        if identifier(&id).is_none() {
            problems.push(format!("`agents.{id}` in {path}: expected an id of letters, digits, `-`, `_` and `.`"));
            continue;
        }
        let Value::Table(section) = section else {
            problems.push(format!(
                "`agents.{id}` in {path} is not a table: expected a section with command or url, args, env, login, sandbox and title"
            ));
            continue;
        };
        let mut agent = AgentSection::default();
        for (key, value) in section {
            let read = Reader { dir, home };
            if let Err(expected) = read.set(&mut agent, &key, value) {
                problems.push(format!("`agents.{id}.{key}` in {path}: expected {expected}"));
            }
        }
        match unsafe_remote(&agent) {
            Some(expected) => problems.push(format!("`agents.{id}.url` in {path}: expected {expected}")),
            None => drop(agents.insert(id, agent)),
        }
    }
    agents
}

/// What is wrong with where the agent listens.
fn unsafe_remote(agent: &AgentSection) -> Option<&'static str> {
    let address = agent.remote.as_deref()?;
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).trim_start_matches('[').trim_end_matches(']');
    let loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if agent.command.is_some() {
        return Some("either a command or a url");
    }
    if agent.confined {
        return Some("either a url or a sandbox: what is not started here cannot be held");
    }
    let advice = "a loopback address, since the connection is not authenticated; for another machine add allow_remote = true";
    (!loopback && !agent.allow_remote).then_some(advice)
}

/// What a path in the section is relative to.
struct Reader<'a> {
    dir: &'a Path,
    home: Option<&'a Path>,
}

impl Reader<'_> {
    /// A path, or the name of a program.
    fn program(&self, text: &str) -> Option<PathBuf> {
        Given { text, base: self.dir, home: self.home }.program().filter(|_| !text.is_empty())
    }

    fn path(&self, text: &str) -> Option<PathBuf> {
        Given { text, base: self.dir, home: self.home }.path().filter(|_| !text.is_empty())
    }

    /// Stores one key of an agent's section, or says what was expected of it.
    fn set(&self, agent: &mut AgentSection, key: &str, value: Value) -> Result<(), &'static str> {
        match (key, value) {
            ("title", Value::String(title)) => agent.title = Some(title),
            ("about", Value::String(about)) => agent.about = Some(about),
            ("title" | "about", _) => return Err("a text"),
            ("dialect", Value::String(name)) => agent.dialect = Some(agents::Dialect::from_name(&name).ok_or("\"acp\" or \"codex\"")?),
            ("dialect", _) => return Err("\"acp\" or \"codex\""),
            ("command", Value::String(text)) => agent.command = Some(self.program(&text).ok_or("a path, or a name in PATH")?),
            ("command", _) => return Err("a path, or a name in PATH"),
            ("login", value) => agent.login = Some(value.try_into().map_err(|_| "a list of texts")?),
            ("args", value) => agent.args = Some(value.try_into().map_err(|_| "a list of texts")?),
            ("env", Value::Table(env)) => agent.env = self.variables(env)?,
            ("env", _) => return Err(VARIABLES),
            ("npx", Value::Boolean(allowed)) => agent.npx = allowed,
            ("asks", Value::Boolean(asks)) => agent.asks = Some(asks),
            ("npx" | "asks", _) => return Err("true or false"),
            ("offers", value) => {
                agent.offers = Some(offers(value).ok_or("a list of \"read\", \"write\" and \"terminal\", or an empty one")?)
            }
            ("url", Value::String(text)) => {
                let remote = text.strip_prefix("tcp://").and_then(|rest| address(rest.trim_end_matches('/')));
                agent.remote = Some(remote.ok_or("tcp://host:port")?);
            }
            ("url", _) => return Err("tcp://host:port"),
            ("allow_remote", Value::Boolean(allowed)) => agent.allow_remote = allowed,
            ("allow_remote", _) => return Err("true or false"),
            ("sandbox", Value::String(text)) if text == "workdir" => agent.confined = true,
            ("sandbox", _) => return Err("\"workdir\""),
            _ => {
                return Err(
                    "one of the keys command, url, allow_remote, args, asks, dialect, env, login, npx, offers, sandbox, title and about",
                );
            }
        }
        Ok(())
    }

    /// A value stands there itself, or where it is to be found.
    fn variables(&self, env: Table) -> Result<BTreeMap<String, EnvValue>, &'static str> {
        let usable = |name: &str| !name.is_empty() && !name.contains(['=', '\0']) && !name.starts_with(PREFIX);
        let mut variables = BTreeMap::new();
        for (name, value) in env {
            if !usable(&name) {
                return Err("names of variables, none of them VOXPILOT_*");
            }
            let value = match value {
                Value::String(text) => EnvValue::Text(text),
                Value::Table(table) => {
                    let mut parts = table.into_iter();
                    match (parts.next(), parts.next()) {
                        (Some((key, Value::String(other))), None) if key == "variable" && usable(&other) => {
                            EnvValue::Elsewhere(Reference::Variable(other))
                        }
                        (Some((key, Value::String(file))), None) if key == "file" => {
                            EnvValue::Elsewhere(Reference::File(self.path(&file).ok_or(VARIABLES)?))
                        }
                        _ => return Err(VARIABLES),
                    }
                }
                _ => return Err(VARIABLES),
            };
            variables.insert(name, value);
        }
        Ok(variables)
    }
}

fn offers(value: Value) -> Option<Offers> {
    let names: Vec<String> = value.try_into().ok()?;
    let mut offers = Offers::NONE;
    for name in names {
        match name.as_str() {
            "read" => offers.read = true,
            "write" => offers.write = true,
            "terminal" => offers.terminal = true,
            _ => return None,
        }
    }
    Some(offers)
}
