//! The agents that can be driven, and what is known of each: what can be seen on the disk, and what was learned by driving it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agents::Capabilities;
use agents::catalogue::{Agent, Found, Places};
use serde_json::Value;
use store::{ServerRow, Store};

use crate::abilities::{self, Ability};
use crate::chores::Chore;
use crate::sandbox::Run;
use crate::{Engine, Refusal, Settings, Shared};

/// How long an agent may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);
const ALLOWED: &str = "allowed";

/// An agent as people choose it.
#[derive(Clone, Debug)]
pub struct CatalogueEntry {
    pub id: String,
    pub title: String,
    /// What it is good at, in a line.
    pub about: String,
    pub installed: bool,
    /// How its program was found: path, npm, npx, built_in or remote.
    pub found: Option<&'static str>,
    pub version: Option<String>,
    /// Whether it let us work when it was last asked; it says so only then.
    pub logged_in: Option<bool>,
    /// What it said that it can do.
    pub capabilities: Option<Value>,
    /// What it can do, in the same words for every agent.
    pub abilities: Vec<Ability>,
    /// missing, installing, unknown, ok, login_required or failing.
    pub health: &'static str,
    /// Why it could not be started last time, or cannot be at all; while it is installed, how far that is.
    pub problem: Option<String>,
    /// What holds a confined agent: landlock, bubblewrap or unavailable.
    pub sandbox: Option<&'static str>,
    /// What that does not hold on this machine.
    pub sandbox_open: Vec<&'static str>,
    /// How one that is missing can be had.
    pub install: Option<Install>,
    /// What a person types in a terminal to log in.
    pub login: Option<String>,
    /// There is a login that can be run from here.
    pub can_login: bool,
    /// What was tried of it, if this version was ever tested.
    pub tested: Option<Tested>,
    /// What is being done about it, or could not be done.
    pub chore: Option<Chore>,
    /// It said that it can sign a person out.
    pub can_logout: bool,
    /// It said that it can delete its own record of a session.
    pub deletes_records: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tested {
    pub at: String,
    pub version: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Install {
    /// What a person types in a terminal.
    pub command: String,
    /// npx could fetch it at its start, and may not yet.
    pub npx: bool,
}

/// What was learned of an agent since the server started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    pub version: Option<String>,
    pub logged_in: Option<bool>,
    pub capabilities: Option<Value>,
    /// What it said of itself when it was last started, perhaps by an earlier server.
    pub said: Option<Capabilities>,
    pub problem: Option<String>,
    /// It is being fetched; what was last said about that.
    pub installing: Option<String>,
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

    /// Keeps what an agent says of itself, also for the servers to come.
    pub(crate) fn keep_said(self: &Arc<Self>, agent: &str, said: &Capabilities) {
        let known = self.learned(agent).said;
        self.learn(agent, |learned| learned.said = Some(said.clone()));
        let (shared, key) = (self.clone(), said_key(agent));
        let Some(value) = serde_json::to_string(said).ok().filter(|_| known.as_ref() != Some(said)) else { return };
        self.tasks().start(async move {
            if let Err(error) = shared.store.save(vec![ServerRow::Preference { key, value }]).await {
                tracing::warn!(%error, "what an agent says of itself could not be kept");
            }
        });
    }

    pub(crate) fn learned(&self, agent: &str) -> Learned {
        self.learned.lock().expect("no code panics while it holds what was learned").get(agent).cloned().unwrap_or_default()
    }
}

impl Shared {
    pub(crate) fn entry(&self, agent: &Agent, places: &Places) -> CatalogueEntry {
        let settings = &self.settings;
        let program = settings.catalogue.find(agent, places);
        let Learned { version, logged_in, capabilities, said: kept, problem, installing, .. } = self.learned(&agent.id);
        let said = || kept.as_ref()?.agent_version.clone();
        let by_npx = program.as_ref().is_some_and(|program| program.how == Found::Npx);
        let packaged = agent.package.as_ref().filter(|_| by_npx).and_then(|package| package.version().map(str::to_owned));
        let version = packaged.or(version).or_else(said).filter(|_| program.is_some());
        let (abilities, tested) = abilities::of(agent, version.as_deref(), kept.as_ref(), &settings.data_dir);
        let problem = settings.sandbox_problem(agent).or(problem).or_else(|| installing.clone());
        let health = match (&program, &installing, &problem, logged_in, &capabilities) {
            (None, ..) => "missing",
            (_, Some(_), ..) => "installing",
            (_, _, Some(_), ..) => "failing",
            (_, _, _, Some(false), _) => "login_required",
            (_, _, _, _, Some(_)) => "ok",
            _ => "unknown",
        };
        let install = Install { command: agent.install.clone(), npx: agent.package.is_some() && places.has_npx() };
        let advertised = capabilities.as_ref().and_then(|said| said.get("login")).filter(|login| !login.is_null());
        let can_login = match agent.remote {
            Some(_) => advertised.is_some_and(|login| !login["command"].is_null()),
            None => advertised.is_some() || !agent.login.is_empty(),
        };
        CatalogueEntry {
            id: agent.id.clone(),
            title: agent.title.clone(),
            about: agent.about.clone(),
            installed: program.is_some(),
            found: program.as_ref().map(|program| program.how.as_str()),
            version,
            logged_in,
            abilities,
            health,
            problem: problem.map(|problem| without_paths(&problem)).filter(|problem| !problem.is_empty()),
            sandbox: settings.held_by(agent),
            sandbox_open: settings.left_open(agent),
            install: Some(install).filter(|install| program.is_none() && (install.npx || !install.command.is_empty())),
            login: agent.login_command(),
            can_login,
            tested,
            chore: self.chores.of(&agent.id),
            can_logout: kept.as_ref().is_some_and(|said| said.logout),
            deletes_records: kept.as_ref().is_some_and(|said| said.delete),
            capabilities,
        }
    }

    fn entries(&self) -> Vec<CatalogueEntry> {
        let places = Places::of(&self.settings.environment);
        self.settings.catalogue.iter().map(|agent| self.entry(agent, &places)).collect()
    }

    /// The agents that work can be given to, as far as it is known.
    pub(crate) fn available(&self) -> Vec<tools::Candidate> {
        let works = |entry: &CatalogueEntry| entry.installed && !matches!(entry.health, "failing" | "login_required");
        let candidate = |entry: CatalogueEntry| tools::Candidate { id: entry.id, title: entry.title, about: entry.about };
        self.entries().into_iter().filter(works).map(candidate).collect()
    }
}

/// Where things are on the server is nobody's business: a path is told by its last part.
pub(crate) fn without_paths(text: &str) -> String {
    let is_edge = |edge: char| edge.is_whitespace() || matches!(edge, '`' | '"' | '\'' | '(' | ')' | ',' | ';' | '=');
    let mut told = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_edge) {
        let (word, edge) = piece.split_at(piece.trim_end_matches(is_edge).len());
        let (path, after) = word.split_at(word.trim_end_matches([':', '.']).len());
        let last = path.rsplit('/').next().filter(|last| path.starts_with('/') && path.len() > 1 && !last.is_empty());
        told.push_str(last.unwrap_or(path));
        told.push_str(after);
        told.push_str(edge);
    }
    told
}

/// The name of a person's word in the store.
fn npx_key(agent: &str) -> String {
    format!("npx of {agent}")
}

/// Takes up what people let npx fetch.
pub(crate) async fn recall_npx(store: &Store, settings: &Settings) -> Result<(), Refusal> {
    for agent in settings.catalogue.iter().filter(|agent| agent.package.is_some()) {
        let allowed = store.preference(&npx_key(&agent.id)).await?.is_some_and(|stored| stored == ALLOWED);
        settings.catalogue.allow_npx(&agent.id, allowed);
    }
    Ok(())
}

impl Engine {
    /// The agents that can be driven, and how each is, as far as it is known: nothing is started for it.
    pub fn catalogue(&self) -> Vec<CatalogueEntry> {
        self.shared.entries()
    }

    /// A person lets npx fetch an agent that is not installed, or no longer.
    pub async fn allow_npx(&self, id: &str, allowed: bool) -> Result<CatalogueEntry, Refusal> {
        let settings = &self.shared.settings;
        let (agent, places) = (settings.agent(id)?, Places::of(&settings.environment));
        let title = &agent.title;
        let refused = if agent.package.is_none() {
            Some(format!("{title} cannot be run by npx: no npm package is known for it, or the configuration names its program"))
        } else if allowed && !places.has_npx() {
            Some("npx is not installed: install Node.js with npm first".to_owned())
        } else if !allowed && agent.npx {
            Some(format!("the configuration lets npx fetch {title}: remove `npx` from the section agents.{id} and start the server again"))
        } else {
            None
        };
        if let Some(message) = refused {
            return Err(Refusal::Conflict(message));
        }
        let value = if allowed { ALLOWED } else { "" };
        self.shared.store.save(vec![ServerRow::Preference { key: npx_key(id), value: value.to_owned() }]).await?;
        settings.catalogue.allow_npx(id, allowed);
        Ok(self.shared.entry(agent, &places))
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

pub(crate) async fn ask_versions(shared: &Shared) {
    // Whoever asks already will do.
    let Ok(_alone) = shared.asking_versions.try_acquire() else { return };
    let settings = &shared.settings;
    let env = agents::catalogue::environment(settings.environment.iter().cloned(), &[], &[]);
    for agent in settings.catalogue.iter() {
        recall(shared, &agent.id).await;
        let program = settings.find(agent).filter(|_| settings.check_pinned(agent).is_ok());
        let version = match program.filter(|program| agent.tells_version(program)) {
            Some(program) => {
                let mut env = env.clone();
                agent.complete(&program, std::iter::empty(), &mut env);
                known_version(shared, agent, &program.path, env).await
            }
            None => None,
        };
        shared.learn(&agent.id, |learned| learned.version = version);
    }
}

fn said_key(agent: &str) -> String {
    format!("capabilities of {agent}")
}

/// What it told an earlier server, where it has not told this one.
async fn recall(shared: &Shared, agent: &str) {
    let stored = shared.store.preference(&said_key(agent)).await.ok().flatten();
    if let Some(said) = stored.and_then(|stored| serde_json::from_str::<Capabilities>(&stored).ok()) {
        shared.learn(agent, |learned| learned.said = learned.said.take().or(Some(said)));
    }
}

/// The program is run only where it is not the one that was asked before.
async fn known_version(shared: &Shared, agent: &Agent, program: &Path, env: Vec<(String, String)>) -> Option<String> {
    let about = program.metadata().ok()?;
    let file = format!("{} {} {}.{}", program.display(), about.len(), about.mtime(), about.mtime_nsec());
    let key = format!("version of {}", agent.id);
    let stored = shared.store.preference(&key).await.ok().flatten();
    if let Some((known, version)) = stored.as_deref().and_then(|stored| stored.split_once('\n'))
        && known == file
    {
        return Some(version.to_owned());
    }
    // One that cannot be held is not run for this either.
    let sandbox = shared.settings.confine(agent, Run { env: &env, ..Run::default() }).ok()?;
    let version = agents::catalogue::version(program, env, sandbox, VERSION_TIMEOUT).await?;
    let row = ServerRow::Preference { key, value: format!("{file}\n{version}") };
    if let Err(error) = shared.store.save(vec![row]).await {
        tracing::warn!(%error, agent = agent.id, "the agent's version could not be kept");
    }
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::without_paths;

    #[test]
    fn a_path_of_the_server_is_told_by_its_last_part() {
        for (text, told) in [
            ("cannot start /opt/x/agent in /home/ada/work: no such file", "cannot start agent in work: no such file"),
            ("see `/home/ada/.npm/_logs/a.log`.", "see `a.log`."),
            ("npm error path=/usr/lib/node (in /tmp)", "npm error path=node (in tmp)"),
            ("fetching https://host/a/b and n/m, a / b", "fetching https://host/a/b and n/m, a / b"),
        ] {
            assert_eq!(without_paths(text), told);
        }
    }
}
