//! Flag over environment over file over default: what each setting is, and where it came from. Pure.

use std::fmt;
use std::path::{Path, PathBuf};

use agents::catalogue::Reference;

use super::error::ConfigError;
use super::file::{self, ParsedFile};
use super::form::{Given, visible, without_password};
use super::setting::{Fallback, PREFIX, PROVIDERS, SETTINGS, Setting};
use super::sources::Sources;
use super::{Config, EnvValue, Secret};

/// Of the keys that do not count.
const KEYS_NAMED: usize = 12;

/// One line of `voxpilot config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    /// None if it is not set; a secret is already hidden.
    pub value: Option<String>,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag(String),
    Environment(String),
    File(PathBuf),
    /// Chosen in the page.
    Here,
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => write!(out, "flag {flag}"),
            Origin::Environment(variable) => write!(out, "environment {variable}"),
            Origin::File(path) => write!(out, "{}", path.display()),
            Origin::Here => write!(out, "chosen in the page"),
            Origin::Default => write!(out, "default"),
        }
    }
}

pub fn resolve(sources: &Sources) -> Result<Config, ConfigError> {
    let mut problems = unknown_variables(sources);
    let home = sources.home();
    let mut config = Config { warnings: sources.warnings.clone(), ..Config::default() };
    let parse = |source| file::parse(source, home, &mut problems);
    let mut files: Vec<_> = sources.project.iter().filter(|project| project.trusted).chain(&sources.user).map(parse).collect();
    if let Some(project) = sources.project.as_ref().filter(|project| !project.trusted) {
        files.insert(0, file::parse_harmless(project, sources.own_policy(), &mut config.warnings));
    }
    for setting in &SETTINGS {
        let (text, origin, base) = pick(setting, sources, &files);
        if text.is_none() && setting.name == "data-dir" {
            problems.push("no data directory: set VOXPILOT_DATA_DIR, XDG_DATA_HOME or HOME to an absolute path".to_owned());
        }
        let value = text.and_then(|text| {
            let given = Given { text: &text, base, home };
            let shown = if text.is_empty() { None } else { (setting.apply)(&mut config, &given) };
            if shown.is_none() {
                problems.push(bad_value(setting, &origin, &text));
            }
            shown
        });
        let value = if setting.secret { value.map(|_| "***".to_owned()) } else { value };
        config.entries.push(Entry { key: setting.key(), value, origin });
    }
    if sources.project.as_ref().is_some_and(|project| !project.trusted && config.is_from("permission_policy", &project.path)) {
        config.least_policy = config.permission_policy;
        config.permission_policy = sources.own_policy();
    }
    keep_policy_apart(&mut config, &files);
    files.iter().for_each(|file| tell_withheld(&mut config, file));
    add_mcp_servers(&mut config, &files);
    add_agents(&mut config, files);
    adopt_main_ai(&mut config, sources);
    adopt_provider_key(&mut config, sources);
    if problems.is_empty() && config.model != "relay" && config.model_base_url.is_none() && config.model_provider.is_none() {
        problems.push(format!(
            "`model` is `{}` ({}) but there is no endpoint for it: set VOXPILOT_MODEL_BASE_URL or VOXPILOT_MODEL_PROVIDER",
            config.model,
            config.origin("model")
        ));
    }
    ConfigError::unless_empty(problems)?;
    add_warnings(&mut config, sources);
    config.warnings.iter_mut().for_each(|warning| *warning = visible(warning));
    Ok(config)
}

/// What was chosen in the page is for delegated work: it does not hide what the files say of the rest, nor what a project asks for.
fn keep_policy_apart(config: &mut Config, files: &[ParsedFile<'_>]) {
    let is_chosen = |entry: &Entry| entry.key == "permission_policy" && entry.origin == Origin::Here;
    if !config.entries.iter().any(is_chosen) {
        return;
    }
    let policy = |trusted: bool| {
        let mut files = files.iter().filter(|file| file.source.trusted == trusted);
        files.find_map(|file| file.values.get("permission_policy")?.parse().ok())
    };
    config.chosen_policy = config.permission_policy.take();
    config.permission_policy = policy(true);
    config.least_policy = policy(false);
}

/// The text of a setting, its origin, and what a relative path in it is relative to.
fn pick<'a>(setting: &Setting, sources: &'a Sources, files: &'a [ParsedFile<'_>]) -> (Option<String>, Origin, &'a Path) {
    let (key, cwd) = (setting.key(), sources.cwd.as_path());
    if let Some(text) = sources.flags.get(&key) {
        return (Some(text.clone()), Origin::Flag(format!("--{}", setting.name)), cwd);
    }
    for variable in [Some(setting.variable()), setting.alias.map(str::to_owned)].into_iter().flatten() {
        if let Some(text) = sources.variable(&variable) {
            return (Some(text.to_owned()), Origin::Environment(variable), cwd);
        }
    }
    if let Some(text) = sources.here.get(&key) {
        return (Some(text.clone()), Origin::Here, cwd);
    }
    for file in files {
        if let Some(text) = file.values.get(&key) {
            return (Some(text.clone()), Origin::File(file.source.path.clone()), file.dir());
        }
    }
    let default = match setting.default {
        Fallback::Nothing => None,
        Fallback::Text(text) => Some(text.to_owned()),
        Fallback::CurrentDirectory => Some(cwd.display().to_string()),
        Fallback::UserData => sources.user_directory("XDG_DATA_HOME", ".local/share").map(|path| path.display().to_string()),
    };
    (default, Origin::Default, cwd)
}

fn bad_value(setting: &Setting, origin: &Origin, text: &str) -> String {
    let named = match origin {
        Origin::Flag(flag) => format!("`{flag}`"),
        Origin::Environment(variable) => format!("`{variable}`"),
        Origin::File(path) => format!("`{}` in {}", setting.key(), path.display()),
        Origin::Here => format!("`{}`", setting.key()),
        Origin::Default => format!("the default of `{}`", setting.key()),
    };
    let value = match (setting.secret, text) {
        (_, "") => "is empty".to_owned(),
        (true, _) => "has a bad value".to_owned(),
        (false, text) => format!("has the bad value `{}`", without_password(text).escape_debug()),
    };
    format!("{named} {value}: expected {}", setting.form)
}

fn unknown_variables(sources: &Sources) -> Vec<String> {
    let known: Vec<_> = SETTINGS.iter().map(Setting::variable).collect();
    let unknown = sources.env.keys().filter(|name| name.starts_with(PREFIX) && !known.contains(name));
    unknown.map(|name| format!("unknown environment variable `{name}`: expected one of {}", known.join(", "))).collect()
}

/// What a project wants and does not get.
fn tell_withheld(config: &mut Config, file: &ParsedFile<'_>) {
    if file.withheld.is_empty() {
        return;
    }
    let (path, count) = (file.source.path.display(), file.withheld.len());
    let mut keys = file.withheld.iter().take(KEYS_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if count > KEYS_NAMED {
        keys = format!("{keys} and {} more", count - KEYS_NAMED);
    }
    config.warnings.push(format!(
        "{path} is not trusted, so these settings are ignored: {keys}. To review and trust it, run `voxpilot trust` in that directory"
    ));
    let entry = |key: &String| {
        let value = Some("not trusted".to_owned());
        Entry { key: key.clone(), value, origin: Origin::File(file.source.path.clone()) }
    };
    config.entries.extend(file.withheld.iter().map(entry));
}

/// A section is taken whole from the first file that has it.
fn add_agents(config: &mut Config, files: Vec<ParsedFile<'_>>) {
    for file in files {
        for (id, section) in file.agents {
            if config.agents.contains_key(&id) {
                continue;
            }
            let mut entry = |key: &str, value: String| {
                let key = format!("agents.{id}.{key}");
                config.entries.push(Entry { key, value: Some(value), origin: Origin::File(file.source.path.clone()) });
            };
            if let Some(command) = &section.command {
                entry("command", command.display().to_string());
            }
            if let Some(remote) = &section.remote {
                entry("url", format!("tcp://{remote}"));
            }
            if let Some(args) = &section.args {
                entry("args", format!("{args:?}"));
            }
            for (name, value) in &section.env {
                let shown = match value {
                    // A variable of an agent is a secret as likely as not.
                    EnvValue::Text(_) => "***".to_owned(),
                    EnvValue::Elsewhere(Reference::Variable(other)) => format!("the variable {other}"),
                    EnvValue::Elsewhere(Reference::File(path)) => format!("the file {}", path.display()),
                };
                entry(&format!("env.{name}"), shown);
            }
            if section.npx {
                entry("npx", "true".to_owned());
            }
            if let Some(title) = &section.title {
                entry("title", title.clone());
            }
            if let Some(remote) = &section.remote {
                config.warnings.push(format!(
                    "agents.{id} is reached at tcp://{remote} without authentication or encryption; a lost connection ends its sessions"
                ));
            }
            config.agents.insert(id, section);
        }
    }
}

/// A server is taken whole from the first file that has it. What may be a secret is not shown.
fn add_mcp_servers(config: &mut Config, files: &[ParsedFile<'_>]) {
    for file in files {
        for (name, section) in &file.mcp_servers {
            if config.mcp_servers.contains_key(name) {
                continue;
            }
            let hidden = section.secrets.keys().map(|secret| (format!("mcp_servers.{name}.{secret}"), "***".to_owned()));
            let shown = std::iter::once((format!("mcp_servers.{name}"), section.transport.to_string())).chain(hidden);
            let origin = || Origin::File(file.source.path.clone());
            config.entries.extend(shown.map(|(key, value)| Entry { key, value: Some(value), origin: origin() }));
            config.mcp_servers.insert(name.clone(), section.clone());
            if file.source.open_to_others && !section.secrets.is_empty() {
                let path = file.source.path.display();
                config
                    .warnings
                    .push(format!("{path} holds secrets of mcp_servers.{name} and can be read by others: run `chmod 600 {path}`"));
            }
        }
    }
}

/// What names the endpoint of the main AI; one of them anywhere else than in the page overrides all that was set up there.
pub const ENDPOINT: [&str; 3] = ["model_provider", "model_base_url", "model_api_key"];

fn adopt_main_ai(config: &mut Config, sources: &Sources) {
    let is_set = |entry: &Entry| ENDPOINT.contains(&entry.key.as_str()) && entry.value.is_some();
    let Some(main_ai) = sources.main_ai.as_ref().filter(|_| !config.entries.iter().any(is_set)) else { return };
    config.model_provider.clone_from(&main_ai.provider);
    config.model_base_url.clone_from(&main_ai.base_url);
    config.model_api_key = main_ai.api_key.as_ref().map(Secret::new);
    let key = main_ai.api_key.as_ref().map(|_| "***".to_owned());
    for (name, value) in ENDPOINT.into_iter().zip([main_ai.provider.clone(), main_ai.base_url.clone(), key]) {
        if let (Some(value), Some(entry)) = (value, config.entries.iter_mut().find(|entry| entry.key == name)) {
            (entry.value, entry.origin) = (Some(value), Origin::Here);
        }
    }
}

/// A preset whose key is not configured uses the variable that everybody uses for it. A provider's key is not for another address: with
/// a base URL only a configured key counts.
fn adopt_provider_key(config: &mut Config, sources: &Sources) {
    let wanted = config.model_api_key.is_none() && config.model_base_url.is_none();
    let Some(provider) = config.model_provider.as_deref().filter(|_| wanted) else { return };
    let variables = PROVIDERS.iter().find(|(name, _)| *name == provider).map_or([].as_slice(), |(_, variables)| variables);
    if variables.is_empty() {
        return;
    }
    match variables.iter().find_map(|variable| Some((*variable, sources.variable(variable)?))) {
        Some((variable, key)) => {
            config.model_api_key = Some(Secret::new(key));
            if let Some(entry) = config.entries.iter_mut().find(|entry| entry.key == "model_api_key") {
                entry.value = Some("***".to_owned());
                entry.origin = Origin::Environment(variable.to_owned());
            }
        }
        None => {
            config.warnings.push(format!("model_provider {provider} has no key: set VOXPILOT_MODEL_API_KEY or {}", variables.join(" or ")))
        }
    }
}

fn add_warnings(config: &mut Config, sources: &Sources) {
    for source in sources.project.iter().chain(&sources.user).filter(|source| source.open_to_others) {
        let holds = |setting: &&Setting| {
            let from_here =
                |entry: &Entry| source.trusted && entry.key == setting.key() && entry.origin == Origin::File(source.path.clone());
            setting.secret && config.entries.iter().any(from_here)
        };
        let secrets: Vec<_> = SETTINGS.iter().filter(holds).map(Setting::key).collect();
        if !secrets.is_empty() {
            let path = source.path.display();
            config.warnings.push(format!("{path} holds {} and can be read by others: run `chmod 600 {path}`", secrets.join(" and ")));
        }
    }
}
