//! A prompt on its way to the agent: with what a restored session does not know in front of it, and with what a person sent along.

use domain::agent::{Failure, Fault, Update};
use domain::host::{AgentSession, How, Input, WriteOutcome};
use domain::ids::{RunnerId, SessionId, TurnId};
use domain::turn::Input as TurnInput;
use store::Store;

use super::Work;
use crate::actor::{Actor, Ended};
use crate::attachments::SentAlong;
use crate::history;
use crate::settings::RELAY;

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
        let sent_along = SentAlong {
            session: self.id,
            turn_id: prompt.turn_id,
            work_dir: self.row.work_dir.clone().into(),
            agent: agent.clone(),
            name: prompt.name.clone(),
            straight: self.row.model == RELAY,
            renewed: record.as_ref().is_some_and(|record| record.restored.as_deref() == Some(How::Lost.as_str())),
        };
        if let Some(connection) = &connection {
            connection.set_busy(true);
        }
        let stops = self.links.stops(prompt.runner);
        let tree_taken = self.trees.gate();
        Work::task(async move {
            let (attached, left_out) = match &connection {
                // What comes after the first prompt of a call tells the agent only why something was not allowed.
                Some(connection) if prompt.round == 0 => match sent_along.gather(&store, &prompt.text).await {
                    Ok(attached) => {
                        let (taken, left_out) = sent_along.sort_out(connection, attached);
                        (Ok(taken), left_out)
                    }
                    Err(failure) => (Err(failure), None),
                },
                _ => (Ok(Vec::new()), None),
            };
            let call_id = prompt.call_id.clone();
            let write = async move {
                let sent = match (connection, attached) {
                    (None, _) => Err(Failure::new(Fault::Gone, "the agent is gone")),
                    (Some(_), Err(failure)) => Err(failure),
                    (Some(connection), Ok(attached)) => {
                        stops.over().await;
                        tree_taken.open().await;
                        connection.tell_busy().await;
                        let text = match record {
                            Some(record) => with_preface(&store, id, &record, &prompt.text).await,
                            None => prompt.text.clone(),
                        };
                        connection.prompt(write_id, &key, &prompt.agent_session, &text, &attached).await
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
                let input = Input::Written { call_id: prompt.call_id, round: prompt.round, outcome };
                Ended::Host { agent, input: Box::new(input) }
            };
            match left_out {
                None => write.await,
                Some(text) => Ended::LeftOut { call_id, text, write: Box::pin(write) },
            }
        })
    }

    /// Stored before the prompt is written: an agent that answers at once would end the call first, and of one that dies with its
    /// prompt nothing would say what it was not sent.
    pub(crate) fn left_out(&mut self, call_id: String, text: String) {
        let update = Update::notice("warning", text);
        let call = self.machine.turn().turn.as_ref().and_then(|turn| turn.call(&call_id));
        // It is here already where an earlier server was about to write the prompt.
        if call.is_some_and(|call| call.updates.iter().all(|placed| placed.update != update)) {
            self.turn_input(TurnInput::AgentUpdate { call_id, update });
        }
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
