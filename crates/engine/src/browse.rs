//! Sessions that agents keep by themselves: looked through in a process that lives only as long, and taken over into one of ours.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use agents::{Connection, Listed, Part, RpcError, Signal};
use domain::agent::Update;
use domain::event::{Event, Message, Role};
use domain::ids::{MessageId, SessionId};
use jiff::Timestamp;
use store::{AgentSessionRow, NewSession, Row, SessionRow, Write};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::delegate::SIGNALS;
use crate::settings::RELAY;
use crate::{Engine, Refusal, Shared, Wanted, recover};

/// The name under which a session that was taken over goes on.
const NAME: &str = "main";
/// So many are shown, the latest first.
const MOST: usize = 500;
/// How much of what was said before is taken over; what is older stays with the agent.
const HISTORY_BYTES: usize = 2 * 1024 * 1024;
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
        let (listed, _) = self.visit(agent, root, Errand::List).await?;
        let owners = self.store().agent_session_owners(agent).await?;
        let mut found: Vec<_> = listed.into_iter().filter_map(|listed| self.own(listed, &owners)).collect();
        found.retain(|own| wanted.as_ref().is_none_or(|wanted| own.work_dir == *wanted));
        found.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
        found.truncate(MOST);
        Ok(found)
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
        let agent = wanted.agent.unwrap_or_else(|| settings.default_agent.clone());
        let model = wanted.model.unwrap_or_else(|| RELAY.to_owned());
        settings.check_model(&model)?;
        // From looking for an owner to becoming one, nobody else may.
        let _alone = self.shared.taking_over.acquire().await.map_err(|_| Refusal::stopping())?;
        self.check_free(&agent, &agent_session).await?;
        let (listed, history) = self.visit(&agent, settings.work_dir(None)?, Errand::Load(agent_session.clone())).await?;
        let listed = listed.into_iter().next().ok_or(Refusal::NotFound("agent session"))?;
        let own = self.own(listed, &HashMap::new());
        let own =
            own.ok_or_else(|| Refusal::Invalid("that session belongs to a directory outside of the server's work directory".to_owned()))?;
        let now = Timestamp::now();
        let said_at = own.updated_at.as_deref().and_then(|time| time.parse().ok()).unwrap_or(now);
        let messages: Vec<_> = history.into_messages(said_at).collect();
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
        let id = SessionId(Uuid::now_v7());
        let events = messages.into_iter().map(Event::Message).collect();
        self.store().commit(Write { session: id, events, rows }).await?;
        self.row(id).await
    }

    async fn check_free(&self, agent: &str, agent_session: &str) -> Result<(), Refusal> {
        let Some(owner) = self.store().agent_session_owners(agent).await?.get(agent_session).copied() else { return Ok(()) };
        let title = self.row(owner).await.map(|row| row.title).unwrap_or_default();
        Err(Refusal::Conflict(format!("that session goes on here already, in “{title}”: one agent session has one owner")))
    }

    /// Starts the agent, does the errand, and waits until it is gone again, also when nobody waits for the answer any more.
    async fn visit(&self, agent: &str, cwd: PathBuf, errand: Errand) -> Result<(Vec<Listed>, History), Refusal> {
        let (shared, agent) = (self.shared.clone(), agent.to_owned());
        let visit = self.shared.tasks.spawn(async move {
            let stop = shared.stop.clone();
            tokio::select! {
                outcome = visit(&shared, &agent, cwd, errand) => outcome,
                () = stop.cancelled() => Err(Refusal::stopping()),
            }
        });
        visit.await.unwrap_or_else(|_| Err(Refusal::Unavailable("the agent's sessions could not be looked through".to_owned())))
    }
}

enum Errand {
    List,
    /// List, and of one session everything that was said.
    Load(String),
}

async fn visit(shared: &Shared, agent: &str, cwd: PathBuf, errand: Errand) -> Result<(Vec<Listed>, History), Refusal> {
    let title = shared.settings.agent(agent)?.title.clone();
    let mut launch = shared.settings.launch(agent, Uuid::now_v7(), cwd, format!("the sessions of agent {agent}"))?;
    launch.spec.ttl_s = TTL_S;
    let dir = launch.dir.clone();
    let (sender, mut signals) = mpsc::channel(SIGNALS);
    let mut history = History::default();
    let outcome = match Connection::start(launch, shared.settings.deadlines, sender).await {
        Err(error) => Err(Refusal::Unavailable(format!("{title} could not be started: {error}"))),
        Ok(connection) => {
            let outcome = {
                let work = run(&connection, errand);
                tokio::pin!(work);
                loop {
                    tokio::select! {
                        outcome = &mut work => break outcome,
                        Some(batch) = signals.recv() => history.hear(batch.signals),
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
                        Some(batch) => history.hear(batch.signals),
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

async fn run(connection: &Connection, errand: Errand) -> Result<Vec<Listed>, RpcError> {
    if !connection.capabilities().list {
        return Err(RpcError::Unsupported("it cannot list its sessions".to_owned()));
    }
    let listed = connection.list_sessions(None).await?;
    let Errand::Load(wanted) = errand else { return Ok(listed) };
    let found: Vec<_> = listed.into_iter().filter(|listed| listed.agent_session == wanted).collect();
    if let Some(Listed { cwd: Some(cwd), .. }) = found.first()
        && connection.capabilities().load
    {
        connection.load_session(NAME, &wanted, cwd.as_ref()).await?;
    }
    Ok(found)
}

fn explain(title: &str, error: &RpcError) -> Refusal {
    if error.is_auth_required() {
        return Refusal::Conflict(format!("{title} needs a login before it shows its sessions"));
    }
    Refusal::Unavailable(format!("{title}: {error}"))
}

fn continued(agent_session: String, agent: String, cwd: String, now: Timestamp) -> AgentSessionRow {
    AgentSessionRow {
        allow_all: false,
        id: Uuid::now_v7(),
        name: NAME.to_owned(),
        acp_session_id: agent_session,
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
        restored: None,
        runner_id: None,
    }
}

/// What was said in a session before it was ours: words only, as the agent repeats them.
#[derive(Default)]
struct History {
    said: Vec<(Role, String)>,
    bytes: usize,
}

impl History {
    fn hear(&mut self, signals: Vec<Signal>) {
        for signal in signals {
            match signal {
                Signal::Replay { part: Part::Text(text), .. } => self.add(Role::Assistant, &text),
                Signal::Replay { part: Part::Update(update), .. } => match *update {
                    Update::UserMessage { text } => self.add(Role::User, &text),
                    // Work between two pieces of text parts them.
                    Update::ToolCall(_) => self.part(),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn part(&mut self) {
        if let Some((Role::Assistant, text)) = self.said.last_mut()
            && !text.ends_with("\n\n")
        {
            text.push_str("\n\n");
        }
    }

    fn add(&mut self, role: Role, text: &str) {
        self.bytes += text.len();
        match self.said.last_mut() {
            Some((last, said)) if *last == role => said.push_str(text),
            _ => self.said.push((role, text.to_owned())),
        }
        while self.bytes > HISTORY_BYTES && self.said.len() > 1 {
            self.bytes -= self.said.remove(0).1.len().min(self.bytes);
        }
    }

    fn into_messages(self, said_at: Timestamp) -> impl Iterator<Item = Message> {
        let said = self.said.into_iter().filter(|(_, text)| !text.trim().is_empty());
        said.map(move |(role, text)| Message::plain(MessageId(Uuid::now_v7()), role, text.trim().to_owned(), said_at))
    }
}
