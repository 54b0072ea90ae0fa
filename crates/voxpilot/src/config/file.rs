//! One `voxpilot.toml`: its settings as text and its agent sections. Precedence is not known here.

use std::collections::BTreeMap;
use std::path::Path;

use domain::policy::Policy;
use domain::text::clip;
use toml::{Table, Value};

use super::form::{Given, visible};
use super::setting::{SETTINGS, Setting};
use super::{AgentSection, Config, ConfigFile, McpSection, agent, mcp, project};

/// Of a key that a stranger has chosen.
const KEY_BYTES: usize = 80;

pub(super) struct ParsedFile<'a> {
    pub source: &'a ConfigFile,
    /// By key.
    pub values: BTreeMap<String, String>,
    pub agents: BTreeMap<String, AgentSection>,
    pub mcp_servers: BTreeMap<String, McpSection>,
    /// Keys that do not count, since nobody has consented to them; fit to be shown.
    pub withheld: Vec<String>,
}

impl ParsedFile<'_> {
    /// What a relative path in the file is relative to.
    pub(super) fn dir(&self) -> &Path {
        self.source.path.parent().unwrap_or(Path::new("/"))
    }
}

/// All of it; what is wrong is said in `problems`.
pub(super) fn parse<'a>(source: &'a ConfigFile, home: Option<&Path>, problems: &mut Vec<String>) -> ParsedFile<'a> {
    let table = table(source).unwrap_or_else(|problem| {
        problems.push(problem);
        Table::new()
    });
    values(source, table, home, problems)
}

/// What counts of a file that nobody has consented to: what is harmless and has its form. What is wrong with the rest is of no interest, so
/// that no project can keep the server from starting.
pub(super) fn parse_harmless<'a>(source: &'a ConfigFile, otherwise: Option<Policy>, warnings: &mut Vec<String>) -> ParsedFile<'a> {
    let mut table = table(source).unwrap_or_else(|problem| {
        warnings.push(format!("{problem}; the file is ignored"));
        Table::new()
    });
    let mut withheld = Vec::new();
    table.retain(|key, value| {
        let needs_consent = project::needs_consent(key, value, otherwise).is_some();
        match value {
            _ if !needs_consent => {}
            Value::Table(sections) if matches!(key, "agents" | "mcp_servers") => {
                withheld.extend(sections.keys().map(|name| format!("{key}.{name}")));
            }
            _ => withheld.push(key.to_owned()),
        }
        !needs_consent
    });
    let mut problems = Vec::new();
    let mut file = values(source, table, None, &mut problems);
    file.values.retain(|key, text| {
        let given = Given { text, base: Path::new("/"), home: None };
        let setting = SETTINGS.iter().find(|setting| setting.key() == *key);
        // An empty value is an error where it is resolved, and no project may keep the server from starting.
        let fits = !text.is_empty() && setting.is_some_and(|setting| (setting.apply)(&mut Config::default(), &given).is_some());
        if !fits {
            problems.push(format!("`{key}` in {} has the wrong format", source.path.display()));
        }
        fits
    });
    warnings.extend(problems.into_iter().map(|problem| format!("{problem}; it is ignored")));
    file.withheld = withheld.iter().map(|key| visible(clip(key, KEY_BYTES))).collect();
    file
}

pub(super) fn table(source: &ConfigFile) -> Result<Table, String> {
    source.text.parse::<Table>().map_err(|error| {
        // Not the error's own text: it quotes the line, and the line may hold a secret.
        let line = error.span().map_or(0, |span| source.text.as_bytes()[..span.start].iter().filter(|byte| **byte == b'\n').count());
        format!("{}, line {}: not valid TOML: {}", source.path.display(), line + 1, error.message())
    })
}

fn values<'a>(source: &'a ConfigFile, table: Table, home: Option<&Path>, problems: &mut Vec<String>) -> ParsedFile<'a> {
    let mut file =
        ParsedFile { source, values: BTreeMap::new(), agents: BTreeMap::new(), mcp_servers: BTreeMap::new(), withheld: Vec::new() };
    let path = source.path.display();
    for (key, value) in table {
        if key == "agents" {
            file.agents = agent::sections(value, &source.path, file.dir(), home, problems);
        } else if key == "mcp_servers" {
            file.mcp_servers = mcp::sections(value, &source.path, file.dir(), home, problems);
        } else if let Some(setting) = SETTINGS.iter().find(|setting| setting.key() == key) {
            let kind = value.type_str();
            match text(setting, value) {
                Some(text) => drop(file.values.insert(key, text)),
                None => problems.push(format!("`{key}` in {path} is a {kind}: expected {}", setting.form)),
            }
        } else {
            let known = SETTINGS.iter().map(|setting| setting.key()).collect::<Vec<_>>().join(", ");
            problems.push(format!(
                "unknown key `{}` in {path}: expected one of {known}, or a section [agents.<id>] or [mcp_servers.<name>]",
                visible(&key)
            ));
        }
    }
    file
}

/// A value as the text that the environment would have; none where the setting cannot have such a value.
fn text(setting: &Setting, value: Value) -> Option<String> {
    match value {
        Value::Array(items) if setting.list => {
            let items: Vec<String> = Value::Array(items).try_into().ok()?;
            items.iter().all(|item| !item.contains(['\n', '\r'])).then(|| items.join("\n"))
        }
        Value::String(text) if !setting.list => Some(text),
        Value::Integer(number) if !setting.list => Some(number.to_string()),
        _ => None,
    }
}

/// One text of a file; anything wrong with the file is reported when it is parsed as a whole.
pub(super) fn text_of(text: &str, key: &str) -> Option<String> {
    match text.parse::<Table>().ok()?.remove(key)? {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}
