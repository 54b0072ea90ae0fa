//! Sessions that agents keep by themselves: looked through in a process that lives only as long, and taken over into one of ours.

mod history;
mod records;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::{Connection, Listed};
use domain::agent::{Failure, Fault};
use domain::event::Event;
use domain::host::AgentSession;
use domain::ids::{RunnerId, SessionId};
use jiff::Timestamp;
use store::{NewSession, Row, SessionRow, Write};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use self::history::History;
pub use self::records::KeptRecord;
pub(crate) use self::records::delete_records;
use crate::agent::SIGNALS;
use crate::settings::RELAY;
use crate::{Engine, Refusal, Shared, Wanted, recover};

/// The name under which a session that was taken over goes on.
const NAME: &str = "main";
/// So many are shown, the latest first.
const MOST: usize = 500;
/// An agent that lists one directory at a time is asked for so many, taken from the latest sessions.
const MOST_PLACES: usize = 50;
const LOOKED_AT: u32 = 500;
/// A process that only looks something up needs no life of its own.
const TTL_S: u64 = 30;

/// A session that an agent has stored.
#[derive(Clone, Debug)]
pub struct AgentsOwn {
    pub agent_session: String,
    pub work_dir: PathBuf,
    pub title: Option<String>,
    pub updated_at: Option<String>,
    /// The session of ours that it belongs to already.
    pub owner: Option<SessionId>,
}

impl Engine {
    /// What the agent has stored for a work directory, or for all that the server may work in; the latest first.
    pub async fn agents_own(&self, agent: &str, work_dir: Option<&Path>) -> Result<Vec<AgentsOwn>, Refusal> {
        let settings = self.settings();
        let wanted = work_dir.map(|path| settings.work_dir(Some(path))).transpose()?;
        let root = settings.work_dir(None)?;
        let places = self.places().await?;
        let (listed, _) = visit(&self.shared, agent, root, Errand::List { places, load: None }).await?;
        let owners = self.store().agent_session_owners(agent).await?;
        let mut found: Vec<_> = listed.into_iter().filter_map(|listed| self.own(listed, &owners)).collect();
        found.retain(|own| wanted.as_ref().is_none_or(|wanted| own.work_dir == *wanted));
        found.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
        found.truncate(MOST);
        Ok(found)
    }

    /// The directories in which agents may have worked for us, without any twice.
    async fn places(&self) -> Result<Vec<PathBuf>, Refusal> {
        let settings = self.settings();
        let mut places = vec![settings.work_dir.clone()];
        places.extend(settings.work_dirs.iter().cloned());
        places.extend(self.store().sessions(None, LOOKED_AT).await?.into_iter().map(|row| PathBuf::from(row.work_dir)));
        let mut seen = HashSet::new();
        places.retain(|place| seen.insert(place.clone()));
        places.truncate(MOST_PLACES);
        Ok(places)
    }

    /// One that lies outside of where the server may work is not shown.
    fn own(&self, listed: Listed, owners: &HashMap<String, SessionId>) -> Option<AgentsOwn> {
        let work_dir = self.settings().work_dir(Some(listed.cwd.as_ref()?.as_ref())).ok()?;
        let owner = owners.get(&listed.agent_session).copied();
        Some(AgentsOwn { agent_session: listed.agent_session, work_dir, title: listed.title, updated_at: listed.updated_at, owner })
    }

    /// Makes a session of ours that goes on with one of the agent's own. What was said before becomes its first messages.
    pub(crate) async fn take_over(&self, wanted: Wanted, agent_session: String) -> Result<SessionRow, Refusal> {
        let settings = self.settings();
        let id = wanted.new_id();
        let agent = wanted.agent.clone().unwrap_or_else(|| self.choices().default_agent.clone());
        let model = wanted.model.clone().unwrap_or_else(|| RELAY.to_owned());
        self.choices().check_model(&model)?;
        // From looking for an owner to becoming one, nobody else may.
        let _alone = self.shared.taking_over.acquire().await.map_err(|_| Refusal::stopping())?;
        if let Some(found) = self.made_before(&wanted).await? {
            return Ok(found);
        }
        self.check_free(&agent, &agent_session).await?;
        let errand = Errand::List { places: self.places().await?, load: Some(agent_session.clone()) };
        let (listed, history) = visit(&self.shared, &agent, settings.work_dir(None)?, errand).await?;
        let listed = listed.into_iter().next().ok_or(Refusal::NotFound("agent session"))?;
        let own = self.own(listed, &HashMap::new());
        let own =
            own.ok_or_else(|| Refusal::Invalid("that session belongs to a directory outside the server's work directory".to_owned()))?;
        let now = Timestamp::now();
        let said_at = own.updated_at.as_deref().and_then(|time| time.parse().ok()).unwrap_or(now);
        let messages = history.into_messages(&agent, said_at);
        let work_dir = own.work_dir.to_string_lossy().into_owned();
        let mut rows = vec![Row::CreateSession(NewSession {
            title: wanted.title.or(own.title).unwrap_or_default(),
            work_dir: work_dir.clone(),
            model,
            agent: agent.clone(),
            permission_policy: wanted.permission_policy,
            created_at: now,
        })];
        rows.extend(messages.iter().cloned().map(Row::Message));
        rows.push(Row::AgentSession(continued(agent_session, agent, work_dir, now)));
        let events = messages.into_iter().map(Event::Message).collect();
        self.store().commit(Write { session: id, events, rows }).await?;
        self.row(id).await
    }

    async fn check_free(&self, agent: &str, agent_session: &str) -> Result<(), Refusal> {
        let Some(owner) = self.store().agent_session_owners(agent).await?.get(agent_session).copied() else { return Ok(()) };
        let title = self.row(owner).await.map(|row| row.title).unwrap_or_default();
        Err(Refusal::Conflict(format!("that session is already open here, in “{title}”: an agent session has one owner")))
    }
}

/// What an agent is started for.
enum Errand {
    List {
        /// Where it may have worked, for those that list one directory at a time.
        places: Vec<PathBuf>,
        /// Of this session everything that was said and done.
        load: Option<String>,
    },
    /// These are removed from the agent's storage.
    Delete(Vec<String>),
    SignOut,
}

/// Starts the agent, does the errand, and waits until the agent is gone again, also when nobody waits for the answer any more.
async fn visit(shared: &Arc<Shared>, agent: &str, cwd: PathBuf, errand: Errand) -> Result<(Vec<Listed>, History), Refusal> {
    let (answer, outcome) = oneshot::channel();
    let (of_task, agent) = (shared.clone(), agent.to_owned());
    shared.tasks().start(async move {
        let stop = of_task.stop.clone();
        let seen = tokio::select! {
            seen = start_and_run(&of_task, &agent, cwd, errand) => seen,
            () = stop.cancelled() => Err(Refusal::stopping()),
        };
        // Whoever asked may have left.
        let _ = answer.send(seen);
    });
    outcome.await.unwrap_or_else(|_| Err(Refusal::Unavailable("the agent did not do what it was started for".to_owned())))
}

async fn start_and_run(shared: &Shared, agent: &str, cwd: PathBuf, errand: Errand) -> Result<(Vec<Listed>, History), Refusal> {
    let title = shared.settings.agent(agent)?.title.clone();
    let mut launch = shared.settings.launch(agent, RunnerId(Uuid::now_v7()), cwd, format!("the storage of agent {agent}"))?;
    launch.spec.ttl_s = TTL_S;
    let by_directory = launch.quirks.lists_by_directory;
    let dir = launch.dir.clone();
    let (sender, mut signals) = mpsc::channel(SIGNALS);
    let mut history = History::default();
    // What it says before its first answer is taken meanwhile.
    let started = {
        let starting = Connection::start(launch, shared.settings.deadlines_of(agent), sender);
        tokio::pin!(starting);
        loop {
            tokio::select! {
                started = &mut starting => break started,
                Some(_) = signals.recv() => {}
            }
        }
    };
    let outcome = match started {
        Err(error) => Err(Refusal::Unavailable(format!("{title} could not be started: {error}"))),
        Ok(connection) => {
            let outcome = {
                let work = run(&connection, by_directory, errand);
                tokio::pin!(work);
                loop {
                    tokio::select! {
                        outcome = &mut work => break outcome,
                        Some(batch) = signals.recv() => history.take(batch.signals),
                    }
                }
            };
            // What it said before its answer may still be on its way: its end comes behind everything.
            let ending = connection.stop();
            tokio::pin!(ending);
            let mut ended = false;
            loop {
                tokio::select! {
                    _ = &mut ending, if !ended => ended = true,
                    batch = signals.recv() => match batch {
                        Some(batch) => history.take(batch.signals),
                        None => break,
                    },
                }
            }
            outcome.map_err(|error| explain(&title, &error))
        }
    };
    recover::clear_dir(&shared.settings, &dir).await;
    Ok((outcome?, history))
}

async fn run(connection: &Connection, by_directory: bool, errand: Errand) -> Result<Vec<Listed>, Failure> {
    match errand {
        Errand::List { places, load } => list(connection, by_directory, &places, load).await,
        Errand::Delete(sessions) => {
            for session in &sessions {
                connection.delete_session(session).await?;
            }
            Ok(Vec::new())
        }
        Errand::SignOut => connection.logout().await.map(|()| Vec::new()),
    }
}

async fn list(connection: &Connection, by_directory: bool, places: &[PathBuf], load: Option<String>) -> Result<Vec<Listed>, Failure> {
    if !connection.capabilities().list {
        return Err(Failure::new(Fault::Unsupported, "it cannot list its sessions"));
    }
    let mut listed = Vec::new();
    if by_directory {
        for place in places {
            listed.extend(connection.list_sessions(Some(place)).await?);
        }
    } else {
        listed = connection.list_sessions(None).await?;
    }
    let Some(wanted) = load else { return Ok(listed) };
    let found: Vec<_> = listed.into_iter().filter(|listed| listed.agent_session == wanted).collect();
    if let Some(Listed { cwd: Some(cwd), .. }) = found.first()
        && connection.capabilities().load
    {
        connection.load_session(NAME, &wanted, cwd.as_ref()).await?;
    }
    Ok(found)
}

fn explain(title: &str, error: &Failure) -> Refusal {
    if error.fault == Fault::NeedsLogin {
        return Refusal::Conflict(format!("{title} needs you to sign in before it can list its sessions"));
    }
    Refusal::Unavailable(format!("{title}: {error}"))
}

fn continued(agent_session: String, agent: String, cwd: String, now: Timestamp) -> AgentSession {
    AgentSession {
        id: Uuid::now_v7(),
        name: NAME.to_owned(),
        agent_session,
        agent,
        cwd,
        created_at: now,
        // The agent has something to restore, although not by us.
        prompted_at: Some(now),
        mode: None,
        options: None,
        usage: None,
        commands: None,
        title: None,
        wanted: None,
        allow_all: false,
        restored: None,
        runner_id: None,
    }
}
