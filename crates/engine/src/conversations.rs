//! All conversations in one place: ours, and those that only the agents keep, by the directory that they are about.

use std::collections::{HashMap, HashSet};

use futures::StreamExt;
use futures::stream;
use store::SessionRow;

use crate::{AgentsOwn, Engine, Refusal};
use domain::ids::SessionId;

/// So many of ours are listed, the latest first.
const MOST: u32 = 1000;
/// So many agents are started at a time to be asked.
const AT_ONCE: usize = 2;

#[derive(Clone, Debug, Default)]
pub struct Conversations {
    /// The one with the latest activity first.
    pub directories: Vec<Directory>,
    pub agents: Vec<Asked>,
}

#[derive(Clone, Debug)]
pub struct Directory {
    pub work_dir: String,
    /// The latest first.
    pub conversations: Vec<Conversation>,
}

#[derive(Clone, Debug)]
pub struct Conversation {
    pub title: String,
    pub agent: String,
    /// None where only the agent keeps it.
    pub session: Option<SessionId>,
    pub agent_session: Option<String>,
    /// waiting (for a person), running, queued, idle; stored where only the agent keeps it.
    pub state: &'static str,
    /// As RFC 3339, or as the agent writes it.
    pub updated_at: Option<String>,
}

/// What is known of an agent's own sessions.
#[derive(Clone, Debug)]
pub struct Asked {
    pub agent: String,
    /// It was asked since the server started.
    pub looked: bool,
    pub problem: Option<String>,
}

/// What an agent said when it was last asked.
pub(crate) type Own = Result<Vec<AgentsOwn>, String>;

impl Engine {
    /// Ours, and what the agents said when they were last asked: nothing is started for it.
    pub async fn conversations(&self) -> Result<Conversations, Refusal> {
        let rows = self.store().sessions(None, MOST).await?;
        let own = self.heard().clone();
        let mut taken = HashMap::new();
        for agent in own.keys() {
            taken.insert(agent.clone(), self.store().agent_session_owners(agent).await?);
        }
        let kept = own.iter().flat_map(|(agent, own)| own.iter().flatten().map(move |own| (agent, own)));
        let free = kept.filter(|(agent, own)| taken.get(*agent).is_none_or(|taken| !taken.contains_key(&own.agent_session)));
        let all = rows.into_iter().map(ours).chain(free.map(|(agent, own)| stored(agent, own)));
        let agents = self.listing_agents().into_iter().map(|agent| {
            let asked = own.get(&agent);
            Asked { looked: asked.is_some(), problem: asked.and_then(|own| own.as_ref().err().cloned()), agent }
        });
        Ok(Conversations { directories: grouped(all), agents: agents.collect() })
    }

    /// Asks these agents for what they keep, or all that can be; each is started for as long as it takes.
    pub async fn ask_for_conversations(&self, agents: Option<Vec<String>>) -> Result<Conversations, Refusal> {
        let known = self.listing_agents();
        let mut wanted = agents.unwrap_or_else(|| known.clone());
        let mut seen = HashSet::new();
        wanted.retain(|agent| seen.insert(agent.clone()));
        for agent in &wanted {
            self.settings().agent(agent)?;
        }
        // Whoever asks meanwhile waits, and then finds it fresh.
        let _alone = self.shared.asking_agents.acquire().await.map_err(|_| Refusal::stopping())?;
        let asking = stream::iter(wanted).map(|agent| async move {
            let found = self.agents_own(&agent, None).await.map_err(|refusal| refusal.to_string());
            self.heard().insert(agent, found);
        });
        asking.buffer_unordered(AT_ONCE).collect::<()>().await;
        self.conversations().await
    }

    /// The agents that are installed and have not said that they cannot list.
    fn listing_agents(&self) -> Vec<String> {
        let installed = self.catalogue().into_iter().filter(|entry| entry.installed);
        let can = |capabilities: &serde_json::Value| capabilities["list"] != false;
        installed.filter(|entry| entry.capabilities.as_ref().is_none_or(can)).map(|entry| entry.id).collect()
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, HashMap<String, Own>> {
        self.shared.own.lock().expect("no code panics while it holds what agents keep")
    }
}

fn ours(row: SessionRow) -> (String, Conversation) {
    let state = match &row {
        row if row.waiting > 0 => "waiting",
        row if row.running => "running",
        row if row.queue_len > 0 => "queued",
        _ => "idle",
    };
    let updated_at = Some(row.updated_at.to_string());
    (row.work_dir, Conversation { title: row.title, agent: row.agent, session: Some(row.id), agent_session: None, state, updated_at })
}

fn stored(agent: &str, own: &AgentsOwn) -> (String, Conversation) {
    let conversation = Conversation {
        title: own.title.clone().unwrap_or_default(),
        agent: agent.to_owned(),
        session: None,
        agent_session: Some(own.agent_session.clone()),
        state: "stored",
        updated_at: own.updated_at.clone(),
    };
    (own.work_dir.to_string_lossy().into_owned(), conversation)
}

fn grouped(all: impl Iterator<Item = (String, Conversation)>) -> Vec<Directory> {
    let mut directories: Vec<Directory> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (work_dir, conversation) in all {
        let at = *places.entry(work_dir.clone()).or_insert_with(|| {
            directories.push(Directory { work_dir, conversations: Vec::new() });
            directories.len() - 1
        });
        directories[at].conversations.push(conversation);
    }
    for directory in &mut directories {
        directory.conversations.sort_by(|a, b| b.updated_at.cmp(&a.updated_at));
    }
    directories.sort_by(|a, b| latest(b).cmp(&latest(a)));
    directories
}

fn latest(directory: &Directory) -> Option<&String> {
    directory.conversations.iter().filter_map(|conversation| conversation.updated_at.as_ref()).max()
}
