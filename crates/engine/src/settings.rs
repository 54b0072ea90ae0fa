//! What the engine is told at its start. Nothing in here is read from the environment later.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agents::McpServer;
use agents::catalogue::{Agent, Catalogue, Found, Package, Places, Program};
use domain::ids::RunnerId;
use domain::policy::Policy;

use crate::Refusal;

pub(crate) const RELAY: &str = "relay";
/// How long npx may take to fetch an agent.
const FETCH_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Clone, Debug)]
pub struct Settings {
    /// This binary, which is also the runner.
    pub exe: PathBuf,
    /// With these another command of this binary reads the same settings.
    pub flags: Vec<String>,
    pub data_dir: PathBuf,
    pub work_dir: PathBuf,
    /// More directories in which sessions may work.
    pub work_dirs: Vec<PathBuf>,
    /// What lists and searches leave out besides what git ignores: patterns of a `.gitignore` in the work directory.
    pub ignore: Vec<String>,
    /// The default model's name, `relay` where none is configured.
    pub model: String,
    /// The endpoint at which every other model name is asked for, as it is at the start; `Relay` where there is none.
    pub endpoint: model::Settings,
    pub model_tuning: model::Tuning,
    pub max_iterations: u32,
    pub default_agent: String,
    pub catalogue: Catalogue,
    /// The environment that the server was started with; an agent gets what its allowlist lets through.
    pub environment: Vec<(OsString, OsString)>,
    /// What holds the agents that are to be confined; none where nothing here can.
    pub sandbox: Option<agents::Mechanism>,
    /// What a confined agent does not see, besides the data directory.
    pub private: Vec<PathBuf>,
    /// What every agent is given to use, as far as it can.
    pub mcp_servers: Arc<[McpServer]>,
    /// What agents run of the project's own files, as it was trusted.
    pub pinned: Arc<[PinnedFile]>,
    pub permission_policy: Option<Policy>,
    /// What people chose in the page; it goes before what is configured where a main AI delegates.
    pub chosen_policy: Option<Policy>,
    /// What a session gets that has no policy of its own is at least as strict: what the project asks for.
    pub least_policy: Option<Policy>,
    /// The project's name, for people.
    pub project_title: Option<String>,
    /// What the page proposes to begin with.
    pub suggestions: Vec<String>,
    pub durability: agents::Durability,
    /// How many bytes the data directory may have before nothing new is begun.
    pub disk_quota: Option<u64>,
    pub agent_ttl: Duration,
    /// How many agents run at once, in all sessions together.
    pub agents_most: usize,
    /// How long an agent has to leave at each of the steps from a hint to a kill.
    pub term_grace_ms: u64,
    /// How long a person has to agree to one of the main AI's own tools.
    pub confirm_timeout: Duration,
    /// How long a person has to answer an agent; for ever where there is none.
    pub permission_timeout: Option<Duration>,
    /// How long a person can take back a denial before the agent is told.
    pub denial_hold: Duration,
    /// How long an agent has to end a turn that was stopped.
    pub cancel_timeout: Duration,
    pub deadlines: agents::Deadlines,
    /// Where spans of turns go; nowhere unless somebody wants them.
    pub spans: telemetry::Spans,
}

/// A file of the project that is run, with the content that a person has trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedFile {
    /// The agent that runs it; every agent where there is none.
    pub agent: Option<String>,
    pub path: PathBuf,
    /// As people know it.
    pub shown: String,
    /// In hexadecimal.
    pub sha256: String,
}

impl PinnedFile {
    fn is_unchanged(&self) -> bool {
        let found = tools::fingerprint(&self.path, 0);
        matches!(found, Ok(tools::Fingerprint::File { sha256, .. }) if sha256 == self.sha256)
    }
}

impl Settings {
    /// Nothing is started for the agent from a file of the project that is no longer what was trusted. Blocking.
    pub(crate) fn check_pinned(&self, agent: &Agent) -> Result<(), Refusal> {
        let own = |file: &&PinnedFile| file.agent.as_ref().is_none_or(|id| *id == agent.id);
        match self.pinned.iter().filter(own).find(|file| !file.is_unchanged()) {
            Some(file) => Err(Refusal::Invalid(format!(
                "{} was not started: {} has changed since you trusted this project; review the project's settings again, in the page or with \
                 `voxpilot trust`",
                agent.title, file.shown
            ))),
            None => Ok(()),
        }
    }

    pub fn agent(&self, id: &str) -> Result<&Agent, Refusal> {
        self.catalogue.get(id).ok_or_else(|| {
            let known: Vec<_> = self.catalogue.iter().map(|agent| agent.id.as_str()).collect();
            Refusal::Invalid(format!("no agent is called `{id}`: there is {}", known.join(", ")))
        })
    }

    /// Where the agent's program is; none where it is not installed and may not be fetched.
    pub fn find(&self, agent: &Agent) -> Option<Program> {
        self.catalogue.find(agent, &Places::of(&self.environment))
    }

    pub(crate) fn program(&self, agent: &Agent) -> Result<Program, Refusal> {
        self.check_pinned(agent)?;
        self.find(agent).ok_or_else(|| {
            let name = agent.command.display();
            let advice = agent.install_advice();
            let advice = if advice.is_empty() { advice } else { format!(": {advice}") };
            Refusal::Invalid(format!("{} is not installed: there is no program `{name}`{advice}", agent.title))
        })
    }

    /// How long its process may take. One that npx may have to fetch first gets the time for that.
    pub(crate) fn deadlines_of(&self, agent: &str) -> agents::Deadlines {
        let fetched = self.fetched(agent).is_some();
        let initialize = if fetched { self.deadlines.initialize.max(FETCH_TIMEOUT) } else { self.deadlines.initialize };
        agents::Deadlines { initialize, ..self.deadlines }
    }

    /// The package that npx fetches to start the agent; none where it is installed.
    pub(crate) fn fetched(&self, agent: &str) -> Option<&Package> {
        let agent = self.catalogue.get(agent)?;
        agent.package.as_ref().filter(|_| self.find(agent).is_some_and(|program| program.how == Found::Npx))
    }

    /// Everything that the program is started with in its environment.
    pub(crate) fn environment_of(&self, agent: &Agent, program: &Program) -> Result<Vec<(String, String)>, Refusal> {
        let mut env = agent
            .environment(self.environment.iter().cloned())
            .map_err(|error| Refusal::Invalid(format!("{} cannot be started: {error}", agent.title)))?;
        agent.complete(program, self.environment.iter().cloned(), &mut env);
        Ok(env)
    }

    pub fn runners_dir(&self) -> PathBuf {
        self.data_dir.join("runners")
    }

    pub(crate) fn runner_dir(&self, runner: RunnerId) -> PathBuf {
        self.runners_dir().join(runner.to_string())
    }

    /// The work directory of a new session: the configured one, or a directory that exists below it or below one of the others.
    pub(crate) fn work_dir(&self, wanted: Option<&Path>) -> Result<PathBuf, Refusal> {
        let path = wanted.map_or_else(|| self.work_dir.clone(), |wanted| self.work_dir.join(wanted));
        // What the person named; never where the server's own directory is.
        let shown = wanted.map_or_else(|| "of the server".to_owned(), |wanted| wanted.display().to_string());
        let real = path.canonicalize().map_err(|_| Refusal::Invalid(format!("the work directory {shown} does not exist")))?;
        let root = self.work_dir.canonicalize().map_err(|_| Refusal::Invalid("the server's work directory is gone".to_owned()))?;
        if !self.work_dirs.iter().chain([&root]).any(|root| real.starts_with(root)) {
            let advice = "add it to VOXPILOT_WORK_DIRS to allow it";
            return Err(Refusal::Invalid(format!("the work directory {shown} is outside the server's work directory: {advice}")));
        }
        if !real.is_dir() {
            return Err(Refusal::Invalid(format!("the work directory {shown} is not a directory")));
        }
        Ok(if wanted.is_none() { self.work_dir.clone() } else { real })
    }
}
