//! The agents that can be driven, as data: how each is found, started, and what it is given. Starts nothing but `--version`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod dialect;
mod environment;
mod offline;
mod program;
mod quirks;
mod state;
mod token;

pub use dialect::Dialect;
pub use environment::environment;
pub use offline::{Offline, Words};
pub use program::{find, version};
pub use quirks::{Asks, Offers, Quirks, SecondPrompt};
pub use state::scratch;
pub use token::TokenError;

pub const COPILOT: &str = "copilot";
pub const CODEX: &str = "codex";
pub const DEMO: &str = "demo";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Agent {
    pub id: String,
    pub title: String,
    /// What it is good at, in a line: for people, and for the main AI that chooses. Empty where nobody said.
    pub about: String,
    /// What it speaks.
    pub dialect: Dialect,
    /// A name to look up in `PATH`, or a path.
    pub command: PathBuf,
    pub args: Vec<String>,
    /// Beside what every agent gets.
    pub env: Vec<(String, String)>,
    /// The arguments with which its program runs a login; none where it has no such command.
    pub login: Vec<String>,
    /// A file whose content the agent gets as its GitHub token. Read at every start and never kept.
    pub token_file: Option<PathBuf>,
    /// How it differs from what the protocol says.
    pub quirks: Quirks,
    /// Where it listens, for an agent that is not started by us: the command only carries its lines there.
    pub remote: Option<String>,
    /// It may write only in the work directory and where it keeps what is its own.
    pub confined: bool,
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
}

impl Catalogue {
    pub fn new(settings: Settings) -> Self {
        let home = settings.copilot_home.map(|home| ("COPILOT_HOME".to_owned(), home.to_string_lossy().into_owned()));
        let copilot = Agent {
            id: COPILOT.to_owned(),
            title: "GitHub Copilot".to_owned(),
            about: "general coding work in the work directory, with GitHub's own tools".to_owned(),
            dialect: Dialect::Acp,
            command: settings.copilot_command,
            args: vec!["--acp".to_owned(), "--stdio".to_owned()],
            env: home.into_iter().collect(),
            token_file: settings.copilot_token_file,
            login: vec!["login".to_owned()],
            quirks: quirks::COPILOT,
            remote: None,
            confined: false,
        };
        let demo = Agent {
            id: DEMO.to_owned(),
            title: "Demo agent".to_owned(),
            about: "trying VoxPilot out: it follows a few phrases and has no model behind it".to_owned(),
            dialect: Dialect::Acp,
            command: settings.own_exe,
            args: vec!["demo-agent".to_owned()],
            env: Vec::new(),
            token_file: None,
            login: Vec::new(),
            quirks: Quirks::default(),
            remote: None,
            confined: false,
        };
        let mut agents = vec![copilot, demo];
        for agent in settings.configured {
            match agents.iter_mut().find(|known| known.id == agent.id) {
                Some(known) => *known = agent,
                None => agents.push(agent),
            }
        }
        Self { agents }
    }

    pub fn get(&self, id: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.id == id)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Agent> {
        self.agents.iter()
    }

    /// Copilot where it is installed, else the demo agent, which always is.
    pub fn default_id(&self, path: Option<&OsStr>) -> &'static str {
        match self.get(COPILOT).and_then(|copilot| copilot.program(path)) {
            Some(_) => COPILOT,
            None => DEMO,
        }
    }
}

impl Agent {
    /// As people call it for short.
    pub fn short_title(&self) -> &str {
        self.title.strip_prefix("GitHub ").unwrap_or(&self.title)
    }

    /// Where its program is, if it is installed.
    pub fn program(&self, path: Option<&OsStr>) -> Option<PathBuf> {
        find(&self.command, path)
    }

    /// The flag that gives it the stdio MCP servers. One that is not started by us gets no flags.
    pub fn mcp_flag(&self) -> Option<&'static str> {
        self.quirks.mcp_flag.filter(|_| self.remote.is_none())
    }

    /// What a person can do where it needs a login.
    pub fn login_advice(&self) -> &'static str {
        self.quirks.login_advice
    }

    /// What a person can do where its program is missing; empty where nothing is known.
    pub fn install_advice(&self) -> &'static str {
        self.quirks.install_advice
    }

    /// How long to wait after the end of a connection before its sessions may be brought back on another.
    pub fn settle_after_disconnect(&self) -> Duration {
        if self.remote.is_some() { self.quirks.settle_after_disconnect } else { Duration::ZERO }
    }

    /// The whole environment it is started with: what it is let have of `vars`, its own, and its token.
    pub fn environment(&self, vars: impl Iterator<Item = (OsString, OsString)>) -> Result<Vec<(String, String)>, TokenError> {
        let mut extra = self.env.clone();
        if let Some(file) = &self.token_file {
            extra.push(("COPILOT_GITHUB_TOKEN".to_owned(), token::read(Path::new(file))?));
        }
        Ok(environment(vars, &extra))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn settings(configured: Vec<Agent>) -> Settings {
        Settings {
            copilot_command: "/nowhere/copilot".into(),
            copilot_home: Some("/state".into()),
            copilot_token_file: None,
            own_exe: "/bin/sh".into(),
            configured,
        }
    }

    #[test]
    fn configured_agents_are_added_or_take_a_known_place() {
        let other = |id: &str| Agent {
            id: id.into(),
            title: id.into(),
            about: String::new(),
            dialect: Dialect::Acp,
            command: "x".into(),
            args: vec![],
            env: vec![],
            login: vec![],
            token_file: None,
            quirks: Quirks::default(),
            remote: None,
            confined: false,
        };
        let catalogue = Catalogue::new(settings(vec![other("mine"), other(COPILOT)]));
        assert_eq!(catalogue.iter().map(|agent| agent.id.as_str()).collect::<Vec<_>>(), [COPILOT, DEMO, "mine"]);
        assert_eq!(catalogue.get(COPILOT).unwrap().title, COPILOT);
    }

    #[test]
    fn without_copilot_the_demo_agent_is_the_default() {
        let catalogue = Catalogue::new(settings(vec![]));
        assert_eq!(catalogue.default_id(None), DEMO);
        let installed = Catalogue::new(Settings { copilot_command: "sh".into(), ..settings(vec![]) });
        assert_eq!(installed.default_id(Some(OsStr::new("/nowhere:/bin"))), COPILOT);
    }

    #[test]
    fn how_an_agent_differs_is_data_and_follows_how_it_is_reached() {
        let catalogue = Catalogue::new(settings(vec![]));
        let (copilot, demo) = (catalogue.get(COPILOT).unwrap(), catalogue.get(DEMO).unwrap());
        assert_eq!((copilot.mcp_flag(), demo.mcp_flag()), (Some("--additional-mcp-config"), None));
        assert!(copilot.login_advice().contains("copilot login") && !demo.login_advice().contains("copilot"));
        assert!(copilot.install_advice().contains("npm install") && demo.install_advice().is_empty());
        assert_eq!(copilot.settle_after_disconnect(), Duration::ZERO);
        let remote = Agent { remote: Some("127.0.0.1:1".into()), ..copilot.clone() };
        assert_eq!((remote.mcp_flag(), remote.settle_after_disconnect()), (None, Duration::from_secs(3)));
    }

    #[test]
    fn copilot_gets_its_state_directory_and_its_token() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "secret\n").unwrap();
        let mut settings = settings(vec![]);
        settings.copilot_token_file = Some(file.path().to_owned());
        let catalogue = Catalogue::new(settings);
        let env = catalogue.get(COPILOT).unwrap().environment(std::iter::empty()).unwrap();
        assert_eq!(env, [("COPILOT_HOME".into(), "/state".into()), ("COPILOT_GITHUB_TOKEN".into(), "secret".into())]);
    }
}
