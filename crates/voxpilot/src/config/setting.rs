//! The table of settings: one row each, from which flags, variables, keys, defaults, checks and help are made.

use std::time::Duration;

use super::form::{Given, address, bytes, host_name, identifier, list, name, network, shown, url, whole_number};
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
    apply: |_, _| None,
};

pub(super) static SETTINGS: [Setting; 25] = [
    Setting {
        name: "bind",
        value_name: "HOST:PORT",
        help: "address to listen on; port 0 picks one",
        form: "host:port, such as 127.0.0.1:8000",
        default: Fallback::Text("127.0.0.1:8000"),
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
        apply: |config, given| {
            config.work_dir = given.path()?;
            shown(&config.work_dir)
        },
        ..ROW
    },
    Setting {
        name: "token",
        value_name: "SECRET",
        help: "the access secret; better given by the environment, since a flag can be seen by others [default: made at first start]",
        form: token::FORM,
        secret: true,
        apply: |config, given| {
            token::is_usable(given.text).then(|| config.token = Some(Secret::new(given.text)))?;
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "allowed-hosts",
        value_name: "HOSTS",
        help: "more host names that are the server's own, comma separated",
        form: "host names without ports, such as cockpit.example,vox.lan",
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
        apply: |config, given| {
            config.agent = Some(identifier(given.text)?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "copilot-cli-path",
        value_name: "PATH",
        help: "the Copilot binary",
        form: "a path, or a name in PATH",
        default: Fallback::Text("copilot"),
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
        apply: |config, given| {
            config.copilot_connection_ttl = Duration::from_secs(whole_number(given.text, 0..=TTL_MAX_S)?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "permission-policy",
        value_name: "POLICY",
        help: "auto, ask, read-only or deny [default: auto for delegated work, ask for relay]",
        form: "auto, ask, read-only or deny",
        apply: |config, given| {
            config.permission_policy = Some(given.text.parse().ok()?);
            Some(given.owned())
        },
        ..ROW
    },
    Setting {
        name: "permission-timeout",
        value_name: "SECONDS",
        help: "how long an agent's question waits before it is rejected [default: for ever]",
        form: "whole seconds from 1 to 31536000 (a year)",
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
        name: "disk-quota",
        value_name: "SIZE",
        help: "how much the data directory may have before no new sessions and attachments are taken [default: no limit]",
        form: "a size of at least 1M, such as 500M or 20G",
        apply: |config, given| {
            config.disk_quota = Some(bytes(given.text).filter(|bytes| *bytes >= QUOTA_MIN)?);
            Some(given.owned())
        },
        ..ROW
    },
];
