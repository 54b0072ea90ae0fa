//! The table of settings: one row each, from which flags, variables, keys, defaults, checks and help are made.

use std::time::Duration;

use super::form::{Given, address, bytes, contact, host_name, identifier, line, lines, list, name, network, shown, url, whole_number};
use super::{Config, Durability, LogFormat, Secret};
use crate::{logging, token};

pub(super) const PREFIX: &str = "VOXPILOT_";

/// The presets of the model's endpoint, and where their key is when none is configured.
pub(super) const PROVIDERS: [(&str, &[&str]); 6] = [
    ("github", &["GITHUB_TOKEN", "GH_TOKEN"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("anthropic", &["ANTHROPIC_API_KEY"]),
    ("gemini", &["GEMINI_API_KEY"]),
    ("ollama", &[]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
];

/// Beyond this a deadline made of it could overflow.
const TTL_MAX_S: u64 = 365 * 24 * 60 * 60;

const TITLE_CHARS: usize = 80;
const LINE_CHARS: usize = 200;
const SUGGESTIONS: usize = 8;
const GLOBS: usize = 100;
const WORK_DIRS: usize = 100;
/// An empty data directory has less.
const QUOTA_MIN: u64 = 1024 * 1024;

pub(super) struct Setting {
    /// As the flag is spelled, without its dashes; the key and the variable follow from it.
    pub name: &'static str,
    pub value_name: &'static str,
    pub help: &'static str,
    /// What a good value looks like, for the message about a bad one.
    pub form: &'static str,
    pub default: Fallback,
    pub secret: bool,
    /// Another variable that means the same; the prefixed one wins.
    pub alias: Option<&'static str>,
    /// In a file it is a list of texts, elsewhere a text with one on each line.
    pub list: bool,
    pub for_project: ForProject,
    /// Stores the value and gives back how it is shown; None if it has not got the form.
    pub apply: fn(&mut Config, &Given<'_>) -> Option<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Fallback {
    Nothing,
    Text(&'static str),
    CurrentDirectory,
    /// `voxpilot` in the user's data directory.
    UserData,
}

/// What the file of a work directory may do with a setting before the person has consented to the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ForProject {
    /// It counts: it runs nothing, names nothing and weakens nothing.
    Harmless,
    /// A policy: it counts where it is stricter than what would hold otherwise. What a weaker one does.
    Stricter(&'static str),
    /// It counts with consent only. What it does, for the person who is asked.
    Consent(&'static str),
}

impl Setting {
    /// The key in `voxpilot.toml`.
    pub(super) fn key(&self) -> String {
        self.name.replace('-', "_")
    }

    pub(super) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key().to_uppercase())
    }
}

/// What most rows have in common.
const ROW: Setting = Setting {
    name: "",
    value_name: "TEXT",
    help: "",
    form: "",
    default: Fallback::Nothing,
    secret: false,
    alias: None,
    list: false,
    // Not what a row is meant to keep: each says what it does.
    for_project: ForProject::Consent(""),
    apply: |_, _| None,
};

pub(super) static SETTINGS: [Setting; 34] = [
    Setting {
        name: "bind",
        value_name: "HOST:PORT",
        help: "address to listen on; port 0 picks one",
        form: "host:port, such as 127.0.0.1:8000",
        default: Fallback::Text("127.0.0.1:8000"),
        for_project: ForProject::Consent("decides where the server listens"),
        apply: |config, given| {
            config.bind = address(given.text)?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "data-dir",
        value_name: "DIR",
        help: "database, journals and sockets [default: voxpilot in the user's data directory]",
        form: "a path",
        default: Fallback::UserData,
        for_project: ForProject::Consent("decides where everything is stored"),
        apply: |config, given| {
            config.data_dir = given.path()?;
            shown(&config.data_dir)
        },
        ..ROW
    },
    Setting {
        name: "work-dir",
        value_name: "DIR",
        help: "root for the tools, and where agents start [default: the current directory]",
        form: "a path",
        default: Fallback::CurrentDirectory,
        for_project: ForProject::Consent("names another directory to work in"),
        apply: |config, given| {
            config.work_dir = given.path()?;
            shown(&config.work_dir)
        },
        ..ROW
    },
    Setting {
        name: "work-dirs",
        value_name: "DIRS",
        help: "more directories in which sessions may work, one per line",
        form: "at most 100 paths",
        list: true,
        for_project: ForProject::Consent("decides where agents may work"),
        apply: |config, given| {
            let paths: Option<Vec<_>> = given.text.lines().map(|text| Given { text, ..*given }.path()).collect();
            config.work_dirs = paths.filter(|paths| paths.len() <= WORK_DIRS)?;
            Some(config.work_dirs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join("; "))
        },
        ..ROW
    },
    Setting {
        name: "token",
        value_name: "SECRET",
        help: "the access secret; better given by the environment, since a flag can be seen by others [default: made at first start]",
        form: token::FORM,
        secret: true,
        for_project: ForProject::Consent("sets the secret that lets programs in"),
        apply: |config, given| {
            token::is_usable(given.text).then(|| config.token = Some(Secret::new(given.text)))?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "metrics-token",
        value_name: "SECRET",
        help: "a secret that opens /metrics and nothing else; better given by the environment",
        form: token::FORM,
        secret: true,
        for_project: ForProject::Consent("sets a secret that lets programs read the server's numbers"),
        apply: |config, given| {
            token::is_usable(given.text).then(|| config.metrics_token = Some(Secret::new(given.text)))?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "allowed-hosts",
        value_name: "HOSTS",
        help: "more host names that are the server's own, comma separated",
        form: "host names without ports, such as cockpit.example,vox.lan",
        for_project: ForProject::Consent("lets pages of other host names reach the server"),
        apply: |config, given| {
            config.allowed_hosts = list(given.text, host_name)?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "trusted-proxies",
        value_name: "ADDRESSES",
        help: "addresses whose X-Forwarded-* headers count, comma separated",
        form: "IP addresses or networks, such as 127.0.0.1,10.0.0.0/8",
        for_project: ForProject::Consent("decides who may say where a request comes from"),
        apply: |config, given| {
            config.trusted_proxies = list(given.text, network)?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "tls",
        value_name: "HOW",
        help: "off, or self-signed for a certificate of the server's own making",
        form: "off or self-signed",
        default: Fallback::Text("off"),
        for_project: ForProject::Consent("decides whether connections are encrypted"),
        apply: |config, given| {
            config.self_signed = match given.text {
                "off" => false,
                "self-signed" => true,
                _ => return None,
            };
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "tls-cert",
        value_name: "FILE",
        help: "serve HTTPS with this certificate (PEM, the whole chain); read again when it changes",
        form: "a path",
        for_project: ForProject::Consent("names a file of this machine"),
        apply: |config, given| {
            let path = given.path()?;
            shown(config.tls_cert.insert(path))
        },
        ..ROW
    },
    Setting {
        name: "tls-key",
        value_name: "FILE",
        help: "the certificate's private key (PEM)",
        form: "a path",
        for_project: ForProject::Consent("names a file of this machine"),
        apply: |config, given| {
            let path = given.path()?;
            shown(config.tls_key.insert(path))
        },
        ..ROW
    },
    Setting {
        name: "model",
        value_name: "NAME",
        help: "the main AI: `relay`, or a model's name at the endpoint",
        form: "`relay` or a model's name",
        default: Fallback::Text("relay"),
        for_project: ForProject::Consent("decides which model is asked"),
        apply: |config, given| {
            config.model = name(given.text)?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "model-base-url",
        value_name: "URL",
        help: "an OpenAI-compatible endpoint",
        form: "an http or https URL without a password, such as http://127.0.0.1:11434/v1",
        for_project: ForProject::Consent("names an address that your conversations are sent to"),
        apply: |config, given| {
            config.model_base_url = Some(url(given.text)?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "model-api-key",
        value_name: "SECRET",
        help: "the endpoint's key; better given by the environment",
        form: "a key without spaces",
        secret: true,
        for_project: ForProject::Consent("sets the key of the model's endpoint"),
        apply: |config, given| {
            given.text.bytes().all(|byte| byte.is_ascii_graphic()).then(|| config.model_api_key = Some(Secret::new(given.text)))?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "model-provider",
        value_name: "NAME",
        help: "a preset instead of a URL: github, openai, anthropic, gemini, ollama, openrouter",
        form: "github, openai, anthropic, gemini, ollama or openrouter",
        for_project: ForProject::Consent("decides who is sent your conversations, with your key"),
        apply: |config, given| {
            let (provider, _) = PROVIDERS.iter().find(|(provider, _)| *provider == given.text)?;
            config.model_provider = Some((*provider).to_owned());
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "max-agent-iterations",
        value_name: "COUNT",
        help: "cap of the main AI's tool loop",
        form: "a whole number from 1 to 1000",
        default: Fallback::Text("25"),
        for_project: ForProject::Consent("decides for how long the main AI goes on"),
        apply: |config, given| {
            config.max_agent_iterations = u32::try_from(whole_number(given.text, 1..=1000)?).ok()?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "agent",
        value_name: "ID",
        help: "the agent that is driven by default [default: copilot where it is installed, else demo]",
        form: "an agent's id, such as copilot or demo",
        for_project: ForProject::Consent("decides which program is started as the agent"),
        apply: |config, given| {
            config.agent = Some(identifier(given.text)?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "agents-registry",
        value_name: "FILE",
        help: "more agents, from a file in the format of the ACP registry; nothing of it is downloaded without being asked for",
        form: "a path",
        for_project: ForProject::Consent("names a file of programs that can be started as agents"),
        apply: |config, given| {
            let path = given.path()?;
            shown(config.agents_registry.insert(path))
        },
        ..ROW
    },
    Setting {
        name: "copilot-cli-path",
        value_name: "PATH",
        help: "the Copilot binary",
        form: "a path, or a name in PATH",
        default: Fallback::Text("copilot"),
        for_project: ForProject::Consent("names a program that is run"),
        apply: |config, given| {
            config.copilot_cli_path = given.program()?;
            shown(&config.copilot_cli_path)
        },
        ..ROW
    },
    Setting {
        name: "copilot-home",
        value_name: "DIR",
        help: "Copilot's state directory, passed on as COPILOT_HOME",
        form: "a path",
        for_project: ForProject::Consent("names a directory that the agent is given"),
        apply: |config, given| {
            let path = given.path()?;
            shown(config.copilot_home.insert(path))
        },
        ..ROW
    },
    Setting {
        name: "copilot-token-file",
        value_name: "FILE",
        help: "a file (0600) whose content reaches the agent as COPILOT_GITHUB_TOKEN",
        form: "a path",
        for_project: ForProject::Consent("names a file whose content is handed to the agent"),
        apply: |config, given| {
            let path = given.path()?;
            shown(config.copilot_token_file.insert(path))
        },
        ..ROW
    },
    Setting {
        name: "copilot-connection-ttl",
        value_name: "SECONDS",
        help: "how long an idle agent process is kept",
        form: "whole seconds, at most 31536000 (a year)",
        default: Fallback::Text("1800"),
        alias: Some("COPILOT_CONNECTION_TTL"),
        for_project: ForProject::Consent("decides for how long agents are kept running"),
        apply: |config, given| {
            config.copilot_connection_ttl = Duration::from_secs(whole_number(given.text, 0..=TTL_MAX_S)?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "permission-policy",
        value_name: "POLICY",
        help: "auto, auto-all, ask, read-only or deny [default: auto for delegated work, ask for relay]",
        form: "auto, auto-all, ask, read-only or deny",
        for_project: ForProject::Stricter("lets agents do more without asking you"),
        apply: |config, given| {
            config.permission_policy = Some(given.text.parse().ok()?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "permission-timeout",
        value_name: "SECONDS",
        help: "how long a request waits before it is denied [default: no limit]",
        form: "whole seconds from 1 to 31536000 (a year)",
        for_project: ForProject::Consent("decides for how long you can answer an agent"),
        apply: |config, given| {
            config.permission_timeout = Some(Duration::from_secs(whole_number(given.text, 1..=TTL_MAX_S)?));
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "durability",
        value_name: "LEVEL",
        help: "process (survives any kill) or disk (power loss too)",
        form: "process or disk",
        default: Fallback::Text("process"),
        for_project: ForProject::Consent("decides what survives a power loss"),
        apply: |config, given| {
            config.durability = match given.text {
                "process" => Durability::Process,
                "disk" => Durability::Disk,
                _ => return None,
            };
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "log",
        value_name: "FILTER",
        help: "what is logged",
        form: "a level (off, error, warn, info, debug, trace) or a filter such as info,engine=debug",
        default: Fallback::Text("info"),
        for_project: ForProject::Consent("decides what is logged"),
        apply: |config, given| {
            logging::is_filter(given.text).then(|| config.log = given.owned())?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "log-format",
        value_name: "FORMAT",
        help: "text or json",
        form: "text or json",
        default: Fallback::Text("text"),
        for_project: ForProject::Consent("decides how the log looks"),
        apply: |config, given| {
            config.log_format = match given.text {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => return None,
            };
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "otlp-endpoint",
        value_name: "URL",
        help: "receives traces of turns, without their content [default: none]",
        form: "an http or https URL without a password or a query, such as http://127.0.0.1:4318",
        for_project: ForProject::Consent("names an address that is told when you work, and with which agent and model"),
        apply: |config, given| {
            config.otlp_endpoint = Some(url(given.text).filter(|url| !url.contains(['?', '#']))?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "title",
        help: "the project's name, for the page",
        form: "one line of at most 80 characters",
        for_project: ForProject::Harmless,
        apply: |config, given| {
            let title = line(given.text, TITLE_CHARS)?;
            Some(config.title.insert(title).clone())
        },
        ..ROW
    },
    Setting {
        name: "suggestions",
        value_name: "LINES",
        help: "suggestions on the start page, one per line",
        form: "at most 8 texts of one line and 200 characters each",
        list: true,
        for_project: ForProject::Harmless,
        apply: |config, given| {
            config.suggestions = lines(given.text, SUGGESTIONS, LINE_CHARS)?;
            Some(config.suggestions.join("; "))
        },
        ..ROW
    },
    Setting {
        name: "ignore",
        value_name: "GLOBS",
        help: "what the main AI's searches ignore, one .gitignore pattern per line",
        form: "at most 100 .gitignore patterns of 200 characters each",
        list: true,
        for_project: ForProject::Harmless,
        apply: |config, given| {
            config.ignore = lines(given.text, GLOBS, LINE_CHARS)?;
            Some(config.ignore.join("; "))
        },
        ..ROW
    },
    Setting {
        name: "disk-quota",
        value_name: "SIZE",
        help: "how much the data directory may hold before new sessions and attachments are refused [default: no limit]",
        form: "a size of at least 1M, such as 500M or 20G",
        for_project: ForProject::Consent("decides how much may be stored"),
        apply: |config, given| {
            config.disk_quota = Some(bytes(given.text).filter(|bytes| *bytes >= QUOTA_MIN)?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "push-contact",
        value_name: "ADDRESS",
        help: "whom browsers' push services write to if notifications cause trouble",
        form: "a mailto: or https: address",
        default: Fallback::Text("mailto:voxpilot@example.com"),
        for_project: ForProject::Consent("is told to the push services of your browsers"),
        apply: |config, given| {
            config.push_contact = contact(given.text)?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "push-hosts",
        value_name: "HOSTS",
        help: "push services that may be in a private network or without https, as host:port, comma separated",
        form: "host:port, such as push.lan:443,127.0.0.1:8080; * stands for every port",
        for_project: ForProject::Consent("lets notifications be sent to hosts in your own network"),
        apply: |config, given| {
            config.push_hosts = list(given.text, |host| host.parse().ok())?;
            Some(given.owned())
        },
        ..ROW
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_says_what_it_would_let_a_project_do() {
        for setting in &SETTINGS {
            assert_ne!(setting.for_project, ROW.for_project, "{} says nothing", setting.name);
        }
    }
}
