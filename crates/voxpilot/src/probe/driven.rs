//! An agent that is driven step by step, and what it said while it was.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{Batch, Connection, KnownSession, Opened, PromptEnd, Reopen, Signal};
use anyhow::{Context, Result, bail};
use domain::agent::{Demand, Failure, OptionKind, Problem, Reply, Update};
use domain::ids::RunnerId;
use engine::Settings;
use rustix::process::{Pid, Signal as Kill, kill_process_group};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

const NAME: &str = "probe";
/// Whoever probes may be killed: the agent then ends by itself, this soon.
const TTL_S: u64 = 30;
const SIGNALS: usize = 64;
/// For anything that is waited for.
const PATIENCE: Duration = Duration::from_secs(90);

pub(super) struct Driven {
    pub connection: Connection,
    signals: mpsc::Receiver<Batch>,
    dir: PathBuf,
    cwd: PathBuf,
    prompts: usize,
    pub heard: Heard,
}

/// What was said since the last prompt.
#[derive(Default)]
pub(super) struct Heard {
    pub text: String,
    pub asked: bool,
    pub usage: bool,
    pub end: Option<Result<PromptEnd, Failure>>,
    pub gone: bool,
}

impl Driven {
    pub(super) async fn start(settings: &Settings, agent: &str, cwd: &Path) -> Result<Driven> {
        let launch = settings.launch(agent, RunnerId(Uuid::now_v7()), cwd.to_owned(), format!("a probe of agent {agent}"));
        let mut launch = launch.map_err(anyhow::Error::msg)?;
        launch.spec.ttl_s = TTL_S;
        let dir = launch.dir.clone();
        let (sender, mut signals) = mpsc::channel(SIGNALS);
        let mut heard = Heard::default();
        let started = listening(&mut signals, &mut heard, Connection::start(launch, settings.deadlines, sender)).await;
        let connection = started.with_context(|| format!("{agent} could not be started"))?;
        Ok(Driven { connection, signals, dir, cwd: cwd.to_owned(), prompts: 0, heard: Heard::default() })
    }

    pub(super) async fn open(&mut self, known: Option<&KnownSession>) -> Result<Opened, Failure> {
        let (connection, cwd) = (self.connection.clone(), self.cwd.clone());
        listening(&mut self.signals, &mut self.heard, connection.open(NAME, &cwd, known, Reopen::No, true)).await
    }

    /// `None` where it does not list at all.
    pub(super) async fn lists(&mut self, agent_session: &str) -> Option<bool> {
        let connection = self.connection.clone();
        if !connection.capabilities().list {
            return None;
        }
        let cwd = self.cwd.clone();
        let all = listening(&mut self.signals, &mut self.heard, connection.list_sessions(None)).await.unwrap_or_default();
        // Some list only what belongs to the directory that they are asked for.
        let here = listening(&mut self.signals, &mut self.heard, connection.list_sessions(Some(&cwd))).await.unwrap_or_default();
        Some(all.iter().chain(&here).any(|listed| listed.agent_session == agent_session))
    }

    pub(super) async fn prompt(&mut self, agent_session: &str, text: &str) -> Result<()> {
        self.prompts += 1;
        self.heard = Heard::default();
        let (connection, call) = (self.connection.clone(), format!("probe-{}", self.prompts));
        let sent = connection.prompt(Uuid::now_v7(), &call, agent_session, text, &[]);
        listening(&mut self.signals, &mut self.heard, sent).await.context("the prompt could not be sent")
    }

    /// Listens until what was heard is enough; false where it never is.
    pub(super) async fn until(&mut self, enough: impl Fn(&Heard) -> bool) -> bool {
        let waiting = async {
            while !enough(&self.heard) {
                let Some(batch) = self.signals.recv().await else { return enough(&self.heard) };
                for signal in batch.signals {
                    if let Some((rpc_id, reply)) = self.heard.take(signal)
                        && let Err(error) = self.connection.answer(Uuid::now_v7(), &rpc_id, &reply).await
                    {
                        tracing::debug!(%error, "the agent was not answered");
                    }
                }
            }
            true
        };
        timeout(PATIENCE, waiting).await.unwrap_or(false)
    }

    pub(super) async fn cancel(&mut self, agent_session: &str) -> Result<()> {
        let connection = self.connection.clone();
        let told = connection.cancel(Uuid::now_v7(), agent_session);
        listening(&mut self.signals, &mut self.heard, told).await.context("it could not be told to stop")
    }

    /// `kill -9` for the agent and everything in its process group.
    pub(super) async fn kill(&mut self) -> Result<()> {
        let found = agents::find_runner(&self.dir).context("the agent's runner is gone")?;
        let agent = found.identity.and_then(|identity| identity.agent).and_then(|agent| Pid::from_raw(agent.pid));
        kill_process_group(agent.context("the agent has no process")?, Kill::KILL).context("killing the agent")?;
        if !self.until(|heard| heard.gone).await {
            bail!("the agent was killed, and its end was not noticed");
        }
        Ok(())
    }

    /// Ends it and whatever it has left.
    pub(super) async fn end(mut self) -> Result<()> {
        let connection = self.connection.clone();
        // One that was killed cannot be told any more.
        let _ = listening(&mut self.signals, &mut self.heard, connection.stop()).await;
        match agents::find_runner(&self.dir) {
            Some(found) => agents::end_runner(&found).await.map(drop).map_err(anyhow::Error::msg).context("ending the agent"),
            None => Ok(()),
        }
    }
}

impl Heard {
    /// What is owed an answer comes back with it.
    fn take(&mut self, signal: Signal) -> Option<(String, Reply)> {
        match signal {
            Signal::Text { text, .. } => self.text.push_str(&text),
            Signal::Update { update: Update::Usage { .. }, .. } => self.usage = true,
            Signal::PromptEnded { result, .. } => self.end = Some(result),
            Signal::Gone { .. } => self.gone = true,
            Signal::Demand { rpc_id, demand, .. } => return Some((rpc_id, self.reply(demand))),
            _ => {}
        }
        None
    }

    /// Allows what it is asked, once; what it would have us do is not what is tried here.
    fn reply(&mut self, demand: Demand) -> Reply {
        match demand {
            Demand::Permission(ask) => {
                self.asked = true;
                Reply::Chosen { option_id: ask.pick(&OptionKind::ALLOW).and_then(|decision| decision.told(&ask)) }
            }
            Demand::Unknown { problem, message } => Reply::Refused { problem, message },
            _ => Reply::Refused { problem: Problem::Unsupported, message: "a probe does nothing for an agent".to_owned() },
        }
    }
}

/// What the agent says while something else is waited for is kept, too.
async fn listening<T>(signals: &mut mpsc::Receiver<Batch>, heard: &mut Heard, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            Some(batch) = signals.recv() => batch.signals.into_iter().for_each(|signal| drop(heard.take(signal))),
        }
    }
}
