//! The agents that can be driven, and what is known of each: what can be seen on the disk, and what was learned by driving it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use store::ServerRow;

use crate::{Engine, Shared};

/// How long an agent may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// An agent as people choose it.
#[derive(Clone, Debug)]
pub struct CatalogueEntry {
    pub id: String,
    pub title: String,
    pub installed: bool,
    pub version: Option<String>,
    /// Whether it let us work when it was last asked; it says so only then.
    pub logged_in: Option<bool>,
    /// What it said that it can do.
    pub capabilities: Option<Value>,
    /// missing, unknown, ok, login_required or failing.
    pub health: &'static str,
    /// Why it could not be started last time, or cannot be at all.
    pub problem: Option<String>,
    /// What holds a confined agent: landlock, bubblewrap or unavailable.
    pub sandbox: Option<&'static str>,
}

/// What was learned of an agent since the server started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    pub version: Option<String>,
    pub logged_in: Option<bool>,
    pub capabilities: Option<Value>,
    pub problem: Option<String>,
    /// In which version, and under which names it knows the methods of the protocol.
    pub names: Option<(String, agents::Names)>,
    /// It opens sessions for those who are not logged in, too.
    pub opens_for_anybody: bool,
}

impl Shared {
    pub(crate) fn learn(&self, agent: &str, change: impl FnOnce(&mut Learned)) {
        let mut learned = self.learned.lock().expect("no code panics while it holds what was learned");
        change(learned.entry(agent.to_owned()).or_default());
    }

    pub(crate) fn learned(&self, agent: &str) -> Learned {
        self.learned.lock().expect("no code panics while it holds what was learned").get(agent).cloned().unwrap_or_default()
    }
}

impl Engine {
    /// The agents that can be driven, and how each is, as far as it is known: nothing is started for it.
    pub fn catalogue(&self) -> Vec<CatalogueEntry> {
        let settings = &self.shared.settings;
        let entry = |agent: &agents::catalogue::Agent| {
            let installed = agent.program(settings.path()).is_some();
            let Learned { version, logged_in, capabilities, problem, .. } = self.shared.learned(&agent.id);
            let (sandbox, problem) = (settings.held_by(agent), settings.sandbox_problem(agent).or(problem));
            let health = match (installed, &problem, logged_in, &capabilities) {
                (false, ..) => "missing",
                (_, Some(_), ..) => "failing",
                (_, _, Some(false), _) => "login_required",
                (_, _, _, Some(_)) => "ok",
                _ => "unknown",
            };
            let (id, title, version) = (agent.id.clone(), agent.title.clone(), version.filter(|_| installed));
            CatalogueEntry { id, title, installed, version, logged_in, capabilities, health, problem, sandbox }
        };
        settings.catalogue.iter().map(entry).collect()
    }

    /// Asks every agent for its version, in the background: when the server starts, and when one may have changed.
    pub fn learn_versions(&self) {
        let shared = self.shared.clone();
        self.shared.tasks().start(async move {
            let stop = shared.stop.clone();
            tokio::select! {
                () = ask_versions(&shared) => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

async fn ask_versions(shared: &Shared) {
    // Whoever asks already will do.
    let Ok(_alone) = shared.asking_versions.try_acquire() else { return };
    let settings = &shared.settings;
    let env = agents::catalogue::environment(settings.environment.iter().cloned(), &[]);
    // Of a remote one, the program here is only the way to it.
    for agent in settings.catalogue.iter().filter(|agent| agent.remote.is_none()) {
        if let Some(program) = agent.program(settings.path()) {
            let version = known_version(shared, &agent.id, &program, &env).await;
            shared.learn(&agent.id, |learned| learned.version = version);
        }
    }
}

/// The program is run only where it is not the one that was asked before.
async fn known_version(shared: &Shared, agent: &str, program: &Path, env: &[(String, String)]) -> Option<String> {
    let about = program.metadata().ok()?;
    let file = format!("{} {} {}.{}", program.display(), about.len(), about.mtime(), about.mtime_nsec());
    let key = format!("version of {agent}");
    let stored = shared.store.preference(&key).await.ok().flatten();
    if let Some((known, version)) = stored.as_deref().and_then(|stored| stored.split_once('\n'))
        && known == file
    {
        return Some(version.to_owned());
    }
    let version = agents::catalogue::version(program, env, VERSION_TIMEOUT).await?;
    let row = ServerRow::Preference { key, value: format!("{file}\n{version}") };
    if let Err(error) = shared.store.save(vec![row]).await {
        tracing::warn!(%error, agent, "the agent's version could not be kept");
    }
    Some(version)
}
