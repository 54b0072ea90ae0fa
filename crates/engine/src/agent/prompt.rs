//! A prompt on its way to the agent: with what a restored session does not know in front of it, and with what a person sent along.

use std::path::PathBuf;

use domain::agent::{Failure, Fault};
use domain::host::{AgentSession, How, Input, WriteOutcome};
use domain::ids::{RunnerId, SessionId, TurnId};
use store::Store;

use super::Work;
use crate::actor::Actor;
use crate::settings::RELAY;
use crate::{attachments, history};

pub(super) struct Prompt {
    pub runner: RunnerId,
    pub turn_id: TurnId,
    pub call_id: String,
    pub round: u32,
    pub agent_session: String,
    pub name: String,
    pub text: String,
    pub introduce: bool,
}

impl Actor {
    pub(super) fn prompt(&mut self, agent: String, prompt: Prompt) -> Work {
        self.observer.prompted(&agent, prompt.turn_id, &prompt.call_id, prompt.round);
        let connection = self.links.connection(prompt.runner).cloned();
        let dir = self.shared.settings.runner_dir(prompt.runner);
        let write_id = prompt.turn_id.prompt_write(&prompt.call_id, prompt.round);
        let key = prompt.turn_id.prompt_key(&prompt.call_id, prompt.round);
        let record = self.machine.host_of_session(&prompt.name).and_then(|host| {
            let (_, named) = host.sessions().find(|(name, _)| *name == prompt.name)?;
            named.record.clone().filter(|_| prompt.introduce)
        });
        let (store, id) = (self.shared.store.clone(), self.id);
        // Where a person talks straight to the agent, what they sent along is for it.
        let straight = (self.row.model == RELAY && prompt.round == 0).then(|| PathBuf::from(&self.row.work_dir));
        if let Some(connection) = &connection {
            connection.set_busy(true);
        }
        let stops = self.links.stops(prompt.runner);
        let tree_taken = self.trees.gate();
        Work::host(agent, async move {
            let sent = match connection {
                None => Err(Failure::new(Fault::Gone, "the agent is gone")),
                Some(connection) => {
                    stops.over().await;
                    tree_taken.open().await;
                    connection.tell_busy().await;
                    let text = match record {
                        Some(record) => with_preface(&store, id, &record, &prompt.text).await,
                        None => prompt.text.clone(),
                    };
                    match attachments::for_agent(&store, id, prompt.turn_id, &prompt.text, straight).await {
                        Ok(attached) => connection.prompt(write_id, &key, &prompt.agent_session, &text, &attached).await,
                        Err(failure) => Err(failure),
                    }
                }
            };
            let outcome = match sent {
                Ok(()) => WriteOutcome::Written,
                Err(failure) if failure.fault == Fault::Gone => {
                    let written = tokio::task::spawn_blocking(move || agents::written(&dir)).await.ok().flatten();
                    match written {
                        Some(written) if !written.contains(&write_id) => WriteOutcome::Unsent(failure.message),
                        _ => WriteOutcome::Gone,
                    }
                }
                Err(failure) => WriteOutcome::Failed(failure),
            };
            Input::Written { call_id: prompt.call_id, round: prompt.round, outcome }
        })
    }
}

/// What is asked, and in front of it what a restored session does not know by itself. A history that cannot be read is no reason to
/// refuse the prompt.
async fn with_preface(store: &Store, id: SessionId, record: &AgentSession, prompt: &str) -> String {
    if record.restored.as_deref().is_none_or(|restored| restored == How::New.as_str()) {
        return prompt.to_owned();
    }
    match history::preface(store, id, record).await {
        Ok(Some(preface)) => format!("{preface}\n\n{prompt}"),
        Ok(None) => prompt.to_owned(),
        Err(error) => {
            tracing::warn!(session = %id, name = record.name, %error, "the agent could not be told what its session has lost");
            prompt.to_owned()
        }
    }
}
