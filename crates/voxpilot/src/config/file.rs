//! One `voxpilot.toml`: its settings as text and its agent sections. Precedence is not known here.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use toml::{Table, Value};

use super::form::{Given, address, identifier};
use super::setting::{PREFIX, SETTINGS};
use super::{AgentSection, ConfigFile, McpSection, mcp};

pub(super) struct ParsedFile<'a> {
    pub source: &'a ConfigFile,
    /// By key.
    pub values: BTreeMap<String, String>,
    pub agents: BTreeMap<String, AgentSection>,
    pub mcp_servers: BTreeMap<String, McpSection>,
}

impl ParsedFile<'_> {
    /// What a relative path in the file is relative to.
    pub(super) fn dir(&self) -> &Path {
        self.source.path.parent().unwrap_or(Path::new("/"))
    }
}

pub(super) fn parse<'a>(source: &'a ConfigFile, home: Option<&Path>, problems: &mut Vec<String>) -> ParsedFile<'a> {
    let mut file = ParsedFile { source, values: BTreeMap::new(), agents: BTreeMap::new(), mcp_servers: BTreeMap::new() };
    let path = source.path.display();
    let table = match source.text.parse::<Table>() {
        Ok(table) => table,
        Err(error) => {
            // Not the error's own text: it quotes the line, and the line may hold a secret.
            let line = error.span().map_or(0, |span| source.text.as_bytes()[..span.start].iter().filter(|byte| **byte == b'\n').count());
            problems.push(format!("{path}, line {}: not valid TOML: {}", line + 1, error.message()));
            return file;
        }
    };
    for (key, value) in table {
        if key == "agents" {
            file.agents = agents(value, &file, home, problems);
        } else if key == "mcp_servers" {
            file.mcp_servers = mcp::sections(value, &source.path, file.dir(), home, problems);
        } else if let Some(setting) = SETTINGS.iter().find(|setting| setting.key() == key) {
            match value {
                Value::String(text) => drop(file.values.insert(key, text)),
                Value::Integer(number) => drop(file.values.insert(key, number.to_string())),
                other => problems.push(format!("`{key}` in {path} is a {}: expected {}", other.type_str(), setting.form)),
            }
        } else {
            let known = SETTINGS.iter().map(|setting| setting.key()).collect::<Vec<_>>().join(", ");
            problems.push(format!(
                "unknown key `{key}` in {path}: expected one of {known}, or a section [agents.<id>] or [mcp_servers.<name>]"
            ));
        }
    }
    file
}

/// The work directory that a file names; anything wrong with the file is reported when it is parsed as a whole.
pub(super) fn work_dir(text: &str) -> Option<String> {
    match text.parse::<Table>().ok()?.remove("work_dir")? {
        Value::String(path) if !path.is_empty() => Some(path),
        _ => None,
    }
}

fn agents(value: Value, file: &ParsedFile<'_>, home: Option<&Path>, problems: &mut Vec<String>) -> BTreeMap<String, AgentSection> {
    let path = file.source.path.display();
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
            let text = |text: &str| Given { text, base: file.dir(), home }.program().filter(|_| !text.is_empty());
            if let Err(expected) = set_agent_key(&mut agent, &key, value, text) {
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

/// Stores one key of an agent's section, or says what was expected of it.
fn set_agent_key(
    agent: &mut AgentSection,
    key: &str,
    value: Value,
    program: impl Fn(&str) -> Option<std::path::PathBuf>,
) -> Result<(), &'static str> {
    match (key, value) {
        ("title", Value::String(title)) => agent.title = Some(title),
        ("title", _) => return Err("a text"),
        ("command", Value::String(text)) => agent.command = Some(program(&text).ok_or("a path, or a name in PATH")?),
        ("command", _) => return Err("a path, or a name in PATH"),
        ("login", value) => agent.login = Some(value.try_into().map_err(|_| "a list of texts")?),
        ("args", value) => agent.args = Some(value.try_into().map_err(|_| "a list of texts")?),
        ("env", value) => {
            let env: BTreeMap<String, String> = value.try_into().map_err(|_| "a table of texts")?;
            let usable = |name: &String| !name.is_empty() && !name.contains(['=', '\0']) && !name.starts_with(PREFIX);
            if !env.keys().all(usable) {
                return Err("names of variables, none of them VOXPILOT_*");
            }
            agent.env = env;
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
        _ => return Err("one of the keys command, url, allow_remote, args, env, login, sandbox and title"),
    }
    Ok(())
}
