//! The `[mcp_servers.<name>]` sections of one file: programs or addresses that agents may use as tools.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use toml::Value;

use super::Secret;
use super::form::{Given, identifier, url};

/// One server: a program, or an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpSection {
    pub transport: McpTransport,
    /// Variables of a program, headers of an address: secrets as likely as not.
    pub secrets: BTreeMap<String, Secret>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    Stdio { command: PathBuf, args: Vec<String> },
    Http { url: String },
    Sse { url: String },
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl fmt::Display for McpTransport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpTransport::Stdio { command, args } => write!(out, "{} {args:?}", command.display()),
            // A query may hold a key.
            McpTransport::Http { url } => write!(out, "http {}", url.split('?').next().unwrap_or_default()),
            McpTransport::Sse { url } => write!(out, "sse {}", url.split('?').next().unwrap_or_default()),
        }
    }
}

/// Reads all sections; whatever is wrong is said in `problems`, without a value that could be a secret.
pub(super) fn sections(
    value: Value,
    path: &Path,
    base: &Path,
    home: Option<&Path>,
    problems: &mut Vec<String>,
) -> BTreeMap<String, McpSection> {
    let shown = path.display();
    let Value::Table(sections) = value else {
        problems.push(format!("`mcp_servers` in {shown} is not a table: expected sections [mcp_servers.<name>]"));
        return BTreeMap::new();
    };
    let mut servers = BTreeMap::new();
    for (name, section) in sections {
        let Value::Table(section) = section else {
            problems.push(format!("`mcp_servers.{name}` in {shown} is not a table: expected a section with command or url"));
            continue;
        };
        if identifier(&name).is_none() {
            problems.push(format!("`mcp_servers.{name}` in {shown}: expected a name of letters, digits, `-`, `_` and `.`"));
            continue;
        }
        match read(section, base, home) {
            Ok(server) => drop(servers.insert(name, server)),
            Err((key, expected)) => problems.push(format!("`mcp_servers.{name}{key}` in {shown}: expected {expected}")),
        }
    }
    servers
}

type Wrong = (String, &'static str);

fn read(mut section: toml::Table, base: &Path, home: Option<&Path>) -> Result<McpSection, Wrong> {
    let wrong = |key: &str, expected: &'static str| (format!(".{key}"), expected);
    let mut text = |key: &str, expected: &'static str| match section.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(wrong(key, expected)),
    };
    let command = text("command", "a path, or a name in PATH")?;
    let address = text("url", "an http or https URL without a password")?;
    let kind = text("type", "\"http\" or \"sse\"")?;
    let (transport, secrets_key) = match (command, address) {
        (Some(command), None) => {
            let program = Given { text: &command, base, home }.program();
            let command = program.ok_or_else(|| wrong("command", "a path, or a name in PATH"))?;
            let args = section.remove("args").map(Value::try_into).transpose().map_err(|_| wrong("args", "a list of texts"))?;
            (McpTransport::Stdio { command, args: args.unwrap_or_default() }, "env")
        }
        (None, Some(address)) => {
            let url = url(&address).ok_or_else(|| wrong("url", "an http or https URL without a password"))?;
            match kind.as_deref() {
                None | Some("http") => (McpTransport::Http { url }, "headers"),
                Some("sse") => (McpTransport::Sse { url }, "headers"),
                Some(_) => return Err(wrong("type", "\"http\" or \"sse\"")),
            }
        }
        _ => return Err((String::new(), "either `command` (with args and env) or `url` (with type and headers)")),
    };
    let secrets: BTreeMap<String, String> = match section.remove(secrets_key) {
        None => BTreeMap::new(),
        Some(value) => value.try_into().map_err(|_| wrong(secrets_key, "a table of texts"))?,
    };
    if let Some(key) = section.keys().next() {
        return Err(wrong(key, "one of the keys command, args and env, or url, type and headers"));
    }
    Ok(McpSection { transport, secrets: secrets.into_iter().map(|(name, value)| (name, Secret::new(value))).collect() })
}
