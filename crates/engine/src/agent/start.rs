//! How an agent's process is started, what it is given, and what is learned of it.

use std::path::PathBuf;

use agents::{ConnectError, Connection, Launch};
use domain::agent::Fault;
use domain::host::{Input, Signal, StartFailure, Started};
use domain::ids::RunnerId;
use store::Row;
use tokio::sync::mpsc;

use super::{SIGNALS, Work};
use crate::actor::{Actor, Ended};
use crate::room::Place;
use crate::sandbox::Run;
use crate::trace::kept;
use crate::{Refusal, Settings};

/// In the runner's directory, and gone with it.
const MCP_FILE: &str = "mcp.json";

impl Settings {
    /// How an agent's process is started in a directory.
    pub fn launch(&self, agent: &str, runner: RunnerId, cwd: PathBuf, label: String) -> Result<Launch, Refusal> {
        let agent = self.agent(agent)?;
        let program = self.program(agent)?;
        let env = self.environment_of(agent, &program)?;
        let dir = self.runner_dir(runner);
        let mut args = agent.arguments(&program, &agent.args);
        // By way of a file: what stands among the arguments can be seen by everybody on the machine.
        let servers = agent.mcp_flag().and_then(|flag| Some((flag, agents::acp::mcp::for_flag(&self.mcp_servers)?)));
        let file = servers.map(|(flag, servers)| {
            args.extend([flag.to_owned(), format!("@{}", dir.join(MCP_FILE).display())]);
            (MCP_FILE, servers.to_string().into_bytes())
        });
        let shown = file.iter().map(|(name, _)| dir.join(name)).collect();
        let sandbox = self.confine(agent, Run { work_dir: Some(&cwd), env: &env, shown })?;
        let spec = agents::Spec {
            id: runner.0,
            command: program.path,
            args,
            env,
            cwd,
            sandbox,
            durability: self.durability,
            ttl_s: self.agent_ttl.as_secs(),
            term_grace_ms: self.term_grace_ms,
            label,
        };
        Ok(Launch { exe: self.exe.clone(), dir, spec, dialect: agent.dialect, quirks: agent.quirks, names: agents::Names::default(), file })
    }
}

impl Actor {
    pub(super) fn start(&mut self, agent: String, runner: RunnerId) -> Work {
        let label = format!("session {} agent {agent}", self.id);
        let launch = match self.shared.settings.launch(&agent, runner, PathBuf::from(&self.row.work_dir), label) {
            Ok(launch) => launch,
            Err(refusal) => {
                let input = Input::not_found(runner, self.with_others(&agent, &refusal));
                return Work::Input(agent, Box::new(input));
            }
        };
        if let Err(error) = kept::reserve(&self.shared.settings.traces_dir(), self.id, runner.0) {
            tracing::warn!(session = %self.id, %runner, %error, "the traffic of the agent will not be kept");
        }
        // What it says is taken from now on: some agents say a lot before their first answer.
        let (sender, signals) = mpsc::channel(SIGNALS);
        let counted = self.shared.metrics.agents.of(&agent).processes.hold();
        self.links.add(runner, agent.clone(), signals, counted);
        let span = self.observer.begin("agent start").with("agent", agent.as_str());
        let (deadlines, store) = (self.shared.settings.deadlines_of(&agent), self.shared.store.clone());
        let fetching = self.fetch(&agent, runner);
        self.tell_of_room();
        let place = self.shared.agents.place();
        Work::task(async move {
            let place = place.await;
            let outcome = Connection::start(launch, deadlines, sender).await.map(|connection| (connection, place));
            drop(fetching);
            span.end(outcome.is_err());
            if let Ok((connection, _)) = &outcome {
                let known = store.method_names(&agent, version(connection)).await.ok().flatten();
                if let Some(names) = known.and_then(|names| serde_json::from_value(names).ok()) {
                    connection.learn_names(&names);
                }
            }
            Ended::Started { agent, runner, outcome }
        })
    }

    /// Where as many agents run as may, this one waits until another has ended; those with nothing to do are asked to.
    fn tell_of_room(&mut self) {
        if self.shared.agents.is_full() {
            self.shared.make_room(self.id);
            let text = format!("{} agents run already. This one starts when another one ends.", self.shared.agents.most());
            self.notice("agents_waiting", "info", "Waiting for another agent to finish", text, None);
        }
    }

    /// Why an agent cannot be started, with those that can: who chose it, a person or a model, can choose again.
    fn with_others(&self, agent: &str, refusal: &Refusal) -> String {
        let others: Vec<_> = self.shared.available().into_iter().map(|other| other.id).filter(|other| other != agent).collect();
        if others.is_empty() { refusal.to_string() } else { format!("{refusal}; available: {}", others.join(", ")) }
    }

    pub(crate) fn agent_started(&mut self, agent: String, runner: RunnerId, outcome: Result<(Connection, Place), ConnectError>) {
        let outcome = match outcome {
            Ok((connection, place)) => {
                tracing::info!(session = %self.id, %runner, agent, "the agent is up");
                let can = connection.capabilities();
                let can_reopen = can.close && (can.load || can.resume);
                self.shared.keep_said(&agent, can);
                let capabilities = serde_json::to_value(can).unwrap_or_default();
                self.shared.learn(&agent, |learned| {
                    (learned.capabilities, learned.problem) = (Some(capabilities.clone()), None);
                });
                let connection = self.offer(connection, &agent);
                self.links.connect(runner, connection, Some(place));
                self.touch();
                self.shared.metrics.agents.of(&agent).started.increment();
                Ok(Started { capabilities, can_reopen, warning: self.remote_warning(&agent) })
            }
            Err(error) => {
                tracing::warn!(session = %self.id, %runner, agent, %error, "the agent did not start");
                self.shared.metrics.agents.of(&agent).not_started.increment();
                self.shared.learn(&agent, |learned| learned.problem = Some(error.to_string()));
                Err(StartFailure { code: "agent_not_started", gone: error.is_gone(), message: error.to_string() })
            }
        };
        self.tell_host(agent, Input::Started { runner, outcome });
    }

    /// Keeps under which names this version of the agent knows the methods, where that was found out only now.
    pub(crate) fn keep_names(&mut self, agent: &str, runner: RunnerId) {
        let Some(connection) = self.links.connection(runner) else { return };
        let known = (version(connection).to_owned(), connection.names());
        if self.shared.learned(agent).names.as_ref() == Some(&known) {
            return;
        }
        let (version, value) = (known.0.clone(), serde_json::to_value(&known.1).unwrap_or_default());
        self.shared.learn(agent, |learned| learned.names = Some(known));
        self.rows.push(Row::MethodNames { agent: agent.to_owned(), version, names: value });
    }

    /// Gives the agent's sessions the configured MCP servers.
    pub(super) fn offer(&self, connection: Connection, agent: &str) -> Connection {
        let settings = &self.shared.settings;
        let flagged = settings.agent(agent).is_ok_and(|agent| agent.mcp_flag().is_some());
        connection.offering(settings.mcp_servers.clone(), flagged)
    }

    /// Nobody has proved who they are on such a connection, and nothing of it comes back once it is lost.
    fn remote_warning(&self, agent: &str) -> Option<String> {
        let address = self.shared.settings.agent(agent).ok().and_then(|agent| agent.remote.clone())?;
        tracing::warn!(session = %self.id, address, "this agent is reached over TCP, without authentication or encryption");
        Some(format!(
            "{} listens at tcp://{address}. The connection has no authentication: whoever can reach that port can use the agent, and \
             whoever listens there in its place gets your prompts. If the connection is lost, the agent's sessions end with it.",
            self.shared.agent_title(agent)
        ))
    }

    /// What the catalogue says of an agent follows from how it works for us.
    pub(crate) fn learn(&self, agent: &str, input: &Input) {
        if let Input::SessionOpened { outcome, .. } = input {
            match outcome {
                Ok(_) => self.shared.learn(agent, |learned| {
                    if !learned.opens_for_anybody {
                        learned.logged_in = Some(true);
                    }
                }),
                Err(failure) if failure.fault == Fault::NeedsLogin => self.shared.learn(agent, |learned| learned.logged_in = Some(false)),
                Err(_) => {}
            }
        }
        // Some open a session for anybody, and ask for a login only when they are prompted.
        let Input::Batch { signals, .. } = input else { return };
        for signal in signals {
            match signal {
                Signal::Answered { result: Err(failure), .. } if failure.fault == Fault::NeedsLogin => {
                    self.shared.learn(agent, |learned| (learned.logged_in, learned.opens_for_anybody) = (Some(false), true));
                }
                Signal::Answered { result: Ok(_), .. } => self.shared.learn(agent, |learned| learned.logged_in = Some(true)),
                _ => {}
            }
        }
    }
}

fn version(connection: &Connection) -> &str {
    connection.capabilities().agent_version.as_deref().unwrap_or_default()
}
