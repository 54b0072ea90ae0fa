//! Starting an agent only to see whether it answers and lets us work. Nothing of it is kept, and nothing of it stays.

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use agents::{Batch, Capabilities, Connection, Reopen};
use domain::agent::Failure;
use domain::ids::RunnerId;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::Settings;
use crate::agent::SIGNALS;

/// Whoever tries it may be killed: the agent then ends by itself, this soon.
const TTL_S: u64 = 30;
const NAME: &str = "trial";

/// What an agent answered.
#[derive(Debug)]
pub struct Trial {
    pub capabilities: Capabilities,
    /// How long it took to its first answer.
    pub took: Duration,
    /// Whether it opens a session, and why not.
    pub session: Result<(), Failure>,
}

/// Starts the agent in `cwd` with its runner in the settings' data directory, has it open a session, and ends it again. No model is asked
/// anything. The error is for a person.
pub async fn try_agent(settings: &Settings, agent: &str, cwd: &Path) -> Result<Trial, String> {
    let label = format!("a trial of agent {agent}");
    let mut launch = settings.launch(agent, RunnerId(Uuid::now_v7()), cwd.to_owned(), label).map_err(|refusal| refusal.to_string())?;
    launch.spec.ttl_s = TTL_S;
    let dir = launch.dir.clone();
    let (sender, mut signals) = mpsc::channel(SIGNALS);
    let began = Instant::now();
    let started = listening(&mut signals, Connection::start(launch, settings.deadlines, sender)).await;
    let outcome = match started {
        Err(error) => Err(error.to_string()),
        Ok(connection) => {
            let took = began.elapsed();
            let session = listening(&mut signals, open(&connection, cwd)).await;
            let capabilities = connection.capabilities().clone();
            let _ = listening(&mut signals, connection.stop()).await;
            Ok(Trial { capabilities, took, session })
        }
    };
    if let Some(found) = agents::find_runner(&dir) {
        agents::end_runner(&found).await.map_err(|error| format!("it could not be ended again: {error}"))?;
    }
    outcome
}

async fn open(connection: &Connection, cwd: &Path) -> Result<(), Failure> {
    let opened = connection.open(NAME, cwd, None, Reopen::No, true).await?;
    if connection.capabilities().close
        && let Err(error) = connection.close_session(&opened.agent_session).await
    {
        tracing::debug!(%error, "the session of a trial was not closed");
    }
    Ok(())
}

/// What the agent says meanwhile is taken from it, and concerns nobody.
async fn listening<T>(signals: &mut mpsc::Receiver<Batch>, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            Some(_) = signals.recv() => {}
        }
    }
}
