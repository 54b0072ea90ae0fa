//! The agents that can be driven, as data: how each is found, started, and what it is given. Starts nothing but `--version`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

mod dialect;
mod environment;
mod known;
mod offline;
mod package;
mod place;
mod program;
mod quirks;
mod registry;
mod secret;
mod state;

pub use dialect::Dialect;
pub use environment::environment;
use known::{KNOWN, Known};
pub use offline::{Offline, Words};
pub use package::Package;
pub use place::{Found, Places, Program};
pub use program::version;
pub use quirks::{Asks, Offers, Quirks, SecondPrompt};
pub use registry::registry;
pub use secret::{Reference, SecretError};
pub use state::scratch;

pub const COPILOT: &str = "copilot";
pub const CODEX: &str = "codex";
pub const DEMO: &str = "demo";

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Agent {
    pub id: String,
    pub title: String,
    /// What it is good at, in a line: for people, and for the main AI that chooses. Empty where nobody said.
    pub about: String,
    /// What it speaks.
    pub dialect: Dialect,
    /// A name to look up, or a path.
    pub command: PathBuf,
    /// Other names of the same program.
    pub other_names: &'static [&'static str],
    pub args: Vec<String>,
    /// The package that npx can run it from, where the configuration names no program of its own.
    pub package: Option<Package>,
    /// The configuration lets npx fetch it.
    pub npx: bool,
    /// The variables of the server's that it gets beside what every agent gets; a star at the end stands for any rest.
    pub variables: &'static [&'static str],
    /// Its own variables.
    pub env: Vec<(String, String)>,
    /// Its own variables whose values are found at every start.
    pub references: Vec<(String, Reference)>,
    /// The arguments with which its program runs a login that needs no keyboard; none where it has no such command.
    pub login: Vec<String>,
    /// What a person types in a terminal to log in, where that is something else.
    pub login_command: Option<String>,
    /// How it differs from what the protocol says.
    pub quirks: Quirks,
    /// Where it listens, for an agent that is not started by us: the command only carries its lines there.
    pub remote: Option<String>,
    /// Its program is this one.
    pub built_in: bool,
    /// It may write only in the work directory and where it keeps what is its own.
    pub confined: bool,
    /// What a person types to install it; empty where nobody knows.
    pub install: String,
}

/// What the configuration says about agents.
pub struct Settings {
    pub copilot_command: PathBuf,
    pub copilot_home: Option<PathBuf>,
    pub copilot_token_file: Option<PathBuf>,
    /// Our own binary, which holds the demo agent.
    pub own_exe: PathBuf,
    /// More agents; one with a known id takes its place.
    pub configured: Vec<Agent>,
}

#[derive(Clone, Debug)]
pub struct Catalogue {
    agents: Vec<Agent>,
    /// What a person has let npx fetch, beside what the configuration lets it.
    npx: Arc<Mutex<BTreeSet<String>>>,
}

impl Catalogue {
    pub fn new(settings: Settings) -> Self {
        let mut agents: Vec<Agent> = KNOWN.iter().map(Agent::known).collect();
        for agent in &mut agents {
            if agent.id == COPILOT {
                let home = settings.copilot_home.as_ref();
                agent.env.extend(home.map(|home| ("COPILOT_HOME".to_owned(), home.to_string_lossy().into_owned())));
                let token = settings.copilot_token_file.clone();
                agent.references.extend(token.map(|file| ("COPILOT_GITHUB_TOKEN".to_owned(), Reference::File(file))));
                agent.set_command(settings.copilot_command.clone());
            } else if agent.built_in {
                agent.command = settings.own_exe.clone();
            }
        }
        for agent in settings.configured {
            match agents.iter_mut().find(|known| known.id == agent.id) {
                Some(known) => *known = agent,
                None => agents.push(agent),
            }
        }
        Self { agents, npx: Arc::default() }
    }

    pub fn get(&self, id: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.agents.iter()
    }

    /// Where the agent's program is, if it is there or may be fetched.
    pub fn find(&self, agent: &Agent, places: &Places) -> Option<Program> {
        agent.find(places, agent.npx || self.npx().contains(&agent.id))
    }

    /// A person lets npx fetch the agent, or no longer.
    pub fn allow_npx(&self, id: &str, allowed: bool) {
        if allowed {
            self.npx().insert(id.to_owned());
        } else {
            self.npx().remove(id);
        }
    }

    fn npx(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.npx.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copilot where it is installed, else the demo agent, which always is.
    pub fn default_id(&self, places: &Places) -> &'static str {
        match self.get(COPILOT).and_then(|copilot| self.find(copilot, places)) {
            Some(_) => COPILOT,
            None => DEMO,
        }
    }
}

impl Agent {
    fn known(known: &Known) -> Agent {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let (command, other_names) = known.programs.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
        let package = known.package.map(|(name, version)| Package::new(format!("{name}@{version}"), None));
        Agent {
            id: known.id.to_owned(),
            title: known.title.to_owned(),
            about: known.about.to_owned(),
            dialect: known.dialect,
            command: command.into(),
            other_names,
            args: words(known.args),
            install: package.as_ref().map(|package| format!("npm install -g {}", package.name())).unwrap_or_default(),
            package,
            variables: known.variables,
            login: words(known.login.args),
            login_command: Some(known.login.command.to_owned()).filter(|command| !command.is_empty()),
            quirks: known.quirks,
            built_in: known.programs.is_empty(),
            ..Agent::default()
        }
    }

    /// One that the configuration adds: what is known of its program holds for it too.
    pub fn added(id: &str, command: PathBuf) -> Agent {
        let like = command.file_name().and_then(OsStr::to_str).and_then(Known::by_program);
        let mut agent = like.map(Agent::known).unwrap_or_default();
        (agent.id, agent.title, agent.about) = (id.to_owned(), id.to_owned(), String::new());
        // How it is started is not guessed.
        agent.args = Vec::new();
        agent.set_command(command);
        agent
    }

    /// Another program in place of the known one: it is that one or none.
    pub fn set_command(&mut self, command: PathBuf) {
        if self.command != command {
            (self.command, self.other_names, self.package, self.built_in) = (command, &[], None, false);
        }
    }

    /// As people call it for short.
    pub fn short_title(&self) -> &str {
        self.title.strip_prefix("GitHub ").unwrap_or(&self.title)
    }

    fn program_name(&self) -> &str {
        self.command.file_name().and_then(OsStr::to_str).unwrap_or_default()
    }

    /// The flag that gives it the stdio MCP servers. One that is not started by us gets no flags.
    pub fn mcp_flag(&self) -> Option<&'static str> {
        self.quirks.mcp_flag.filter(|_| self.remote.is_none())
    }

    /// What a person types in a terminal to log in; none where nobody knows.
    pub fn login_command(&self) -> Option<String> {
        let own = || (!self.login.is_empty()).then(|| format!("{} {}", self.program_name(), self.login.join(" ")));
        self.login_command.clone().or_else(own)
    }

    /// What a person can do where it needs a login, behind "it needs a login: ".
    pub fn login_advice(&self) -> String {
        let known = Known::by_id(&self.id).map(|known| &known.login);
        match (known, self.login_command()) {
            (Some(known), Some(command)) if known.command == command => known.advice.to_owned(),
            (_, Some(command)) => format!("run `{command}`; the message waits and is sent afterwards"),
            (_, None) => "how is in its own documentation; a key can be given in `env` of its section of the configuration, and the \
                          message waits and is sent afterwards"
                .to_owned(),
        }
    }

    /// What a person can do where its program is missing; empty where nothing is known.
    pub fn install_advice(&self) -> String {
        let hint = Known::by_id(&self.id).map_or("", |known| known.install_hint);
        if self.install.is_empty() { String::new() } else { format!("install it with `{}`{hint}", self.install) }
    }

    /// Why it cannot be kept from acting without asking; none where it asks, or can be set to. What its sessions' options say of that,
    /// see [`crate::options::asking`], is not counted.
    pub fn acts_unasked(&self) -> Option<String> {
        match self.quirks.asks {
            Asks::Always | Asks::InMode { .. } => None,
            Asks::Never => Some("it does not ask before it acts".to_owned()),
            Asks::WithVariable { name, value } => {
                let set = self.env.iter().find(|(known, _)| known == name).map(|(_, set)| set.as_str());
                let referred = self.references.iter().any(|(known, _)| known == name);
                (referred || set.is_some_and(|set| set != value))
                    .then(|| format!("it asks only where {name} is `{value}`, and the configuration says otherwise"))
            }
        }
    }

    /// How long to wait after the end of a connection before its sessions may be brought back on another.
    pub fn settle_after_disconnect(&self) -> Duration {
        if self.remote.is_some() { self.quirks.settle_after_disconnect } else { Duration::ZERO }
    }

    /// Whether the program that was found is the agent's own, so that its version is the agent's.
    pub fn tells_version(&self, program: &Program) -> bool {
        match program.how {
            Found::BuiltIn => true,
            Found::Npx | Found::Remote => false,
            Found::Path | Found::Npm => {
                let name = program.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
                let known = Known::by_id(&self.id).filter(|known| !known.programs.is_empty());
                known.map_or_else(|| !program::runs_others(name), |known| known.programs.contains(&name))
            }
        }
    }

    /// The whole environment it is started with: what it is let have of `vars`, and its own.
    pub fn environment(&self, vars: impl Iterator<Item = (OsString, OsString)>) -> Result<Vec<(String, String)>, SecretError> {
        let vars: Vec<_> = vars.collect();
        let mut extra = self.env.clone();
        extra.extend(self.referred(&vars)?);
        if let Asks::WithVariable { name, value } = self.quirks.asks
            && !extra.iter().any(|(known, _)| known == name)
        {
            extra.push((name.to_owned(), value.to_owned()));
        }
        Ok(environment(vars.into_iter(), self.variables, &extra))
    }

    /// The values that its section of the configuration refers to.
    pub fn referred(&self, vars: &[(OsString, OsString)]) -> Result<Vec<(String, String)>, SecretError> {
        self.references.iter().map(|(name, reference)| Ok((name.clone(), reference.resolve(name, vars)?))).collect()
    }
}

#[cfg(test)]
mod tests;
