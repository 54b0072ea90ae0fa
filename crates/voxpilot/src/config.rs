//! The settings: where they come from, what they must look like, and what came out.
//!
//! `resolve` is pure; `load` reads the environment and the files for it, once, at start. Nothing else in the program may
//! look at `VOXPILOT_*`. This module does not know what the settings are used for.

mod agent;
mod apart;
mod consent;
mod error;
mod file;
mod form;
mod mcp;
mod project;
mod report;
mod resolve;
mod review;
mod scripts;
mod setting;
mod shown;
mod sources;

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::catalogue::{Offers, Reference};
use domain::policy::Policy;

pub use apart::is_inside;
pub use consent::Consents;
pub use error::ConfigError;
pub use form::visible;
pub use mcp::{McpSection, McpTransport};
pub use project::file as project_file;
pub use resolve::{ENDPOINT, Entry, Origin, resolve};
pub use review::{Line, Review};
pub use scripts::{Content, Script};
pub use shown::{Change, Kind, Shown, Unit, as_text, can_be_chosen, is_secret, shown};
pub use sources::{ConfigFile, FILE_NAME, Sources, args, flags};

/// Every setting, resolved.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// `host:port`; the host may be a name.
    pub bind: String,
    pub data_dir: PathBuf,
    pub work_dir: PathBuf,
    /// More directories in which sessions may work.
    pub work_dirs: Vec<PathBuf>,
    /// None: the secret of the data directory, made at first start.
    pub token: Option<Secret>,
    /// What opens `/metrics` and nothing else.
    pub metrics_token: Option<Secret>,
    /// More host names that are ours, in small letters.
    pub allowed_hosts: Vec<String>,
    /// Networks whose `X-Forwarded-*` headers count: an address and how many of its bits.
    pub trusted_proxies: Vec<(IpAddr, u8)>,
    /// Serve HTTPS with a certificate of our own making.
    pub self_signed: bool,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    /// `relay`, or a model's name at the endpoint.
    pub model: String,
    pub model_base_url: Option<String>,
    pub model_api_key: Option<Secret>,
    pub model_provider: Option<String>,
    pub max_agent_iterations: u32,
    /// None: Copilot where it is installed, else the demo agent.
    pub agent: Option<String>,
    /// More agents, in the format of the ACP registry.
    pub agents_registry: Option<PathBuf>,
    /// A path, or a bare name that is looked up in `PATH`.
    pub copilot_cli_path: PathBuf,
    pub copilot_home: Option<PathBuf>,
    pub copilot_token_file: Option<PathBuf>,
    pub copilot_connection_ttl: Duration,
    /// None: the engine decides, by who talks to the agent.
    pub permission_policy: Option<Policy>,
    /// What people chose in the page; it goes before the files where a main AI delegates.
    pub chosen_policy: Option<Policy>,
    /// What a project that is not trusted asks for, where it is stricter: nothing else may become weaker by it.
    pub least_policy: Option<Policy>,
    /// None: an agent's question waits for ever.
    pub permission_timeout: Option<Duration>,
    pub durability: Durability,
    /// How many bytes the data directory may have; None: as many as the disk.
    pub disk_quota: Option<u64>,
    /// A tracing filter, known to parse.
    pub log: String,
    pub log_format: LogFormat,
    /// Where spans are sent; None: nowhere.
    pub otlp_endpoint: Option<String>,
    /// The project's name.
    pub title: Option<String>,
    /// What the welcome page proposes.
    pub suggestions: Vec<String>,
    /// Whom push services write to where notifications make trouble.
    pub push_contact: String,
    /// Push services that need not be public.
    pub push_hosts: Vec<push::AllowedHost>,
    /// `.gitignore` patterns of what the main AI's searches leave out.
    pub ignore: Vec<String>,
    /// The `[agents.<id>]` sections.
    pub agents: BTreeMap<String, AgentSection>,
    /// The `[mcp_servers.<name>]` sections.
    pub mcp_servers: BTreeMap<String, McpSection>,
    /// Every setting as `voxpilot config` shows it.
    pub entries: Vec<Entry>,
    /// What is accepted but unwise; logged at start.
    pub warnings: Vec<String>,
}

/// What `[agents.<id>]` adds to a known agent, or how an unknown one is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSection {
    pub title: Option<String>,
    /// What it is good at, in a line.
    pub about: Option<String>,
    /// What it speaks: `acp` or `codex`.
    pub dialect: Option<agents::Dialect>,
    /// A path, or a bare name that is looked up in `PATH`; None keeps what the catalogue says.
    pub command: Option<PathBuf>,
    pub args: Option<Vec<String>>,
    /// The arguments with which the command runs a login.
    pub login: Option<Vec<String>>,
    pub env: BTreeMap<String, EnvValue>,
    /// npx may fetch it and run it.
    pub npx: bool,
    /// What of ours it is offered.
    pub offers: Option<Offers>,
    /// Whether it asks before it changes something.
    pub asks: Option<bool>,
    /// `host:port` of one that listens on TCP; then it is not started but connected to.
    pub remote: Option<String>,
    /// The host may be another machine.
    pub allow_remote: bool,
    /// It may write only in the work directory and where it keeps what is its own: `sandbox = "workdir"`.
    pub confined: bool,
}

/// A variable of an agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvValue {
    Text(String),
    /// Found when the agent is started.
    Elsewhere(Reference),
}

/// What the journals and the database survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Any kill.
    #[default]
    Process,
    /// Power loss too.
    Disk,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// A value that no log, page or message may show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("***")
    }
}

/// Reads every source, resolves them, and checks what must exist on disk.
pub fn load(flags: BTreeMap<String, String>) -> Result<(Config, Sources), ConfigError> {
    let sources = Sources::gather(flags)?;
    Ok((check(&sources)?, sources))
}

/// Resolves the sources, and checks what must exist on disk.
pub fn check(sources: &Sources) -> Result<Config, ConfigError> {
    let mut config = resolve(sources)?;
    verify(&mut config)?;
    Ok(config)
}

impl Config {
    /// The table that `voxpilot config` prints, secrets hidden.
    pub fn report(&self) -> String {
        report::table(&self.entries)
    }

    /// What is in the work directory can be brought along by a project and changed by an agent; none of it may be taken for our own.
    pub fn keep_data_apart(&self) -> Result<(), ConfigError> {
        let more = self.work_dirs.iter().map(|dir| (dir, "work_dirs"));
        let inside = [(&self.work_dir, "work_dir")].into_iter().chain(more).filter(|(dir, _)| apart::is_inside(&self.data_dir, dir));
        let problem = |(dir, key): (&PathBuf, &str)| {
            format!(
                "the data directory {} ({}) is inside the work directory {} ({}), where agents and projects could change it: start in \
                 another directory, or set VOXPILOT_DATA_DIR to one outside",
                self.data_dir.display(),
                self.origin("data_dir"),
                dir.display(),
                self.origin(key)
            )
        };
        ConfigError::unless_empty(inside.map(problem).collect())
    }

    fn is_from(&self, key: &str, path: &Path) -> bool {
        self.entries.iter().find(|entry| entry.key == key).is_some_and(|entry| matches!(&entry.origin, Origin::File(from) if from == path))
    }

    fn origin(&self, key: &str) -> String {
        self.entries.iter().find(|entry| entry.key == key).map_or_else(String::new, |entry| entry.origin.to_string())
    }
}

/// The checks that need the disk, kept apart so that `resolve` stays pure.
fn verify(config: &mut Config) -> Result<(), ConfigError> {
    let mut problems = Vec::new();
    match config.work_dir.canonicalize() {
        Ok(path) if path.is_dir() => config.work_dir = path,
        Ok(path) => problems.push(format!("work_dir {} ({}) is not a directory", path.display(), config.origin("work_dir"))),
        Err(error) => problems.push(format!("work_dir {} ({}): {error}", config.work_dir.display(), config.origin("work_dir"))),
    }
    for dir in &mut config.work_dirs {
        match dir.canonicalize() {
            Ok(path) if path.is_dir() => *dir = path,
            Ok(path) => problems.push(format!("work_dirs: {} is not a directory", path.display())),
            Err(error) => problems.push(format!("work_dirs: {}: {error}", dir.display())),
        }
    }
    if let Some(path) = config.copilot_token_file.clone() {
        match std::fs::File::open(&path) {
            Ok(_) if open_to_others(&path) => config
                .warnings
                .push(format!("copilot_token_file {path} can be read by others: run `chmod 600 {path}`", path = path.display())),
            Ok(_) => {}
            Err(error) => {
                problems.push(format!("copilot_token_file {} ({}): {error}", path.display(), config.origin("copilot_token_file")));
            }
        }
    }
    ConfigError::unless_empty(problems)
}

/// Whether somebody besides the owner may read the file.
fn open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o044 != 0)
}
