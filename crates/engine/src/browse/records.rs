//! What an agent keeps by itself, removed on a person's word: its record of a session, and its login.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use agents::catalogue::Places;
use domain::host::AgentSession;

use super::{Errand, visit};
use crate::catalogue::CatalogueEntry;
use crate::{Engine, Refusal, Shared};

/// A record that an agent still has, although it was to be deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptRecord {
    /// The agent's name, as people see it.
    pub agent: String,
    pub reason: String,
}

/// Has every agent that can delete its own record of the session's work. What could not be deleted is returned; an error means
/// that the server stops, and nothing is known.
pub(crate) async fn delete_records(shared: &Arc<Shared>, sessions: Vec<AgentSession>) -> Result<Vec<KeptRecord>, Refusal> {
    let mut by_agent: BTreeMap<String, (PathBuf, Vec<String>)> = BTreeMap::new();
    for session in sessions.into_iter().filter(|session| shared.deletes_records(&session.agent)) {
        by_agent.entry(session.agent).or_insert_with(|| (session.cwd.into(), Vec::new())).1.push(session.agent_session);
    }
    let mut kept = Vec::new();
    for (agent, (cwd, sessions)) in by_agent {
        // It may have been deleted since.
        let cwd = if cwd.is_dir() { cwd } else { shared.settings.work_dir.clone() };
        match visit(shared, &agent, cwd, Errand::Delete(sessions)).await {
            Ok(_) => {}
            Err(refusal) if shared.stop.is_cancelled() => return Err(refusal),
            Err(refusal) => kept.push(KeptRecord { agent: shared.title_of(&agent), reason: refusal.to_string() }),
        }
    }
    Ok(kept)
}

impl Shared {
    /// The agent said that it can.
    pub(crate) fn deletes_records(&self, agent: &str) -> bool {
        self.learned(agent).said.is_some_and(|said| said.delete)
    }

    fn title_of(&self, agent: &str) -> String {
        self.settings.agent(agent).map_or_else(|_| agent.to_owned(), |agent| agent.title.clone())
    }
}

impl Engine {
    /// Has the agent forget who is signed in. A process of it that runs keeps what it knows until it ends.
    pub async fn sign_out(&self, id: &str) -> Result<CatalogueEntry, Refusal> {
        let shared = &self.shared;
        let agent = shared.settings.agent(id)?;
        if shared.learned(id).said.is_some_and(|said| !said.logout) {
            return Err(Refusal::Conflict(format!("{} offers no sign-out: sign out with its own program", agent.title)));
        }
        visit(shared, id, shared.settings.work_dir(None)?, Errand::SignOut).await?;
        shared.learn(id, |learned| learned.logged_in = Some(false));
        Ok(shared.entry(agent, &Places::of(&shared.settings.environment)))
    }
}
