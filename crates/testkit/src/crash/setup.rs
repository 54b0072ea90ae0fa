//! One rig with its models, its session and its reader: started, its processes killed, and cleaned away.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::case::{Agent, Victim};
use super::conversation::{self, Pacing};
use super::findings::{Fault, Findings};
use super::input_gate::InputGate;
use super::reader::{Address, Reader};
use super::rig_processes;
use crate::client::Transcript;
use crate::model_server::ModelServer;
use crate::server::{Rig, Server};
use crate::{codex, copilot, faulty_agent, processes};

/// Far above anything healthy, on a machine that does other things too.
pub(super) const SOON: Duration = Duration::from_secs(60);
/// How long a server lives that is killed in the middle of its start.
const BRIEF: Duration = Duration::from_millis(50);
/// A server keeps a few connections of its own; a leak grows with every turn and every client.
const SOCKETS_SPARE: usize = 3;

pub(super) struct Setup {
    pub agent: Agent,
    pub server: Server,
    pub models: ModelServer,
    pub pacing: Pacing,
    pub input_gate: InputGate,
    pub address: Address,
    pub reader: Reader,
    sockets: usize,
}

impl Setup {
    /// With `held`, lines to the agent can be held back.
    pub(super) async fn start(agent: Agent, pacing: Pacing, held: bool) -> Result<Setup, String> {
        let models = ModelServer::start(conversation::model_script(agent, &pacing));
        let rig = Rig::default().model(&models.base_url());
        let input_gate = InputGate::new(rig.home().join("gates")).map_err(|error| format!("the gates cannot be made: {error}"))?;
        let rig = match (agent, held) {
            (Agent::Copilot, false) => rig.copilot(&models.base_url()),
            (Agent::Copilot, true) => {
                let held = input_gate.command(&copilot::path(), &["--acp", "--stdio"]);
                section(rig.copilot(&models.base_url()), "copilot", held)
            }
            (Agent::Codex, false) => rig.codex(&models.base_url()),
            (Agent::Codex, true) => {
                let (command, args) = input_gate.command(&codex::path(), &["app-server"]);
                rig.codex_by(&command, &args, &models.base_url())
            }
            (Agent::Demo, held) => {
                let (exe, args) = (faulty_agent::voxpilot_path(), ["demo-agent", "--pace", "normal"]);
                let plain = || (exe.clone(), args.map(str::to_owned).to_vec());
                section(rig.env("VOXPILOT_AGENT", "demo"), "demo", if held { input_gate.command(&exe, &args) } else { plain() })
            }
        };
        let server = rig.start().await;
        let sockets = rig_processes::sockets(server.pid());
        let session = server.new_session(json!({ "permission_policy": "auto" })).await;
        let http = tls::client().no_proxy().build().map_err(|error| error.to_string())?;
        let address = Address { http, base: server.base.clone(), token: server.token().to_owned(), session };
        let reader = Reader::start(address.clone());
        reader.until("the stream", SOON, |seen| seen.of_kind("ready").next().is_some()).await?;
        Ok(Setup { agent, server, models, pacing, input_gate, address, reader, sockets })
    }

    pub(super) fn home(&self) -> &Path {
        self.server.rig().home()
    }

    pub(super) fn work_file(&self, name: &str) -> PathBuf {
        self.server.rig().work_dir().join(name)
    }

    /// The names that the agent has written down, in order.
    pub(super) fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.work_file("log.txt")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How often the agent's model was asked to begin with the task of that name.
    pub(super) fn asked(&self, name: &str) -> usize {
        let task = format!("task {name} ");
        let requests = self.models.requests_for(self.agent.model());
        requests.iter().filter(|request| !request.has_tool_result() && request.last_user().contains(&task)).count()
    }

    pub(super) async fn logged(&self, name: &str) -> Result<(), String> {
        let late = |error| format!("{error}\n{}", self.reader.seen().tail());
        rig_processes::until(&format!("{name} in the log"), SOON, || self.log().iter().any(|line| line == name)).await.map_err(late)
    }

    /// Waits until so many turns have ended.
    pub(super) async fn turns_ended(&self, count: usize) -> Result<(), String> {
        self.reader.until(&format!("the end of turn {count}"), SOON, |seen| ended(seen) >= count).await
    }

    pub(super) async fn say(&self, content: &str) -> Result<Value, String> {
        let before = ended(&self.reader.seen());
        let answer = self.address.post(content).await?;
        self.turns_ended(before + 1).await?;
        Ok(answer)
    }

    /// Changes what the session is set to.
    pub(super) async fn change(&self, change: Value) -> Result<(), String> {
        match self.address.call("PATCH", "", Some(change)).await? {
            (200, _) => Ok(()),
            (status, answer) => Err(format!("the session cannot be changed: {status} {answer}")),
        }
    }

    /// Ends the agent while nobody needs it, so that its session has to be loaded again.
    pub(super) async fn lose_idle_agent(&self) -> Result<(), String> {
        rig_processes::kill(&rig_processes::agents(self.home(), self.agent));
        rig_processes::until("the agent's end", SOON, || rig_processes::runners(self.home()).is_empty()).await?;
        let deadline = std::time::Instant::now() + SOON;
        loop {
            let agents = self.address.get("/agents").await?;
            if agents.to_string().contains("\"stored\"") {
                return Ok(());
            }
            if std::time::Instant::now() > deadline {
                return Err(format!("the agent's end was not noticed: {agents}"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Kills. A dead server stays dead until [`Setup::bring_back`].
    pub(super) async fn kill_victim(&mut self, victim: Victim) {
        let home = self.home().to_owned();
        match victim {
            Victim::Nobody => {}
            Victim::Browser => self.reader.cut(),
            Victim::Server | Victim::ServerTwice => self.server.kill().await,
            Victim::Runner => rig_processes::kill(&rig_processes::runners(&home)),
            Victim::Agent => rig_processes::kill(&rig_processes::agents(&home, self.agent)),
            Victim::Wrapper => rig_processes::kill(&rig_processes::wrappers(&home, self.agent)),
            Victim::ServerAndRunner | Victim::ServerAndAgent => {
                let others = if victim == Victim::ServerAndRunner {
                    rig_processes::runners(&home)
                } else {
                    rig_processes::agents(&home, self.agent)
                };
                let all: Vec<i32> = others.into_iter().chain([self.server.pid()]).collect();
                rig_processes::kill(&all);
                self.server.kill().await;
            }
        }
    }

    pub(super) async fn bring_back(&mut self, victim: Victim) {
        if victim == Victim::ServerTwice {
            self.server.restart_briefly(BRIEF).await;
        }
        if victim.takes_server() {
            self.server.restart().await;
        }
    }

    /// Ends the session and the server, and says what they left.
    pub(super) async fn close(mut self) -> Findings {
        let mut findings = Findings::default();
        let Setup { reader, address, .. } = self;
        drop(reader);
        let deleted = address.call("DELETE", "", None).await;
        findings.expect(matches!(deleted, Ok((204, _))), || format!("the session was not deleted: {deleted:?}"));
        let data = self.server.rig().data_dir();
        let runners = data.join("runners");
        let entries =
            || std::fs::read_dir(&runners).map(|dir| dir.flatten().map(|entry| entry.path()).collect::<Vec<_>>()).unwrap_or_default();
        if rig_processes::until("an empty runners directory", Duration::from_secs(60), || entries().is_empty()).await.is_err() {
            findings.add(Fault::Leak(format!("left of runners: {:?}", entries())));
        }
        drop(address);
        let (pid, limit) = (self.server.pid(), self.sockets + SOCKETS_SPARE);
        if rig_processes::until("closed sockets", Duration::from_secs(60), || rig_processes::sockets(pid) <= limit).await.is_err() {
            findings.add(Fault::Leak(format!("the server holds {} sockets, {} at its start", rig_processes::sockets(pid), self.sockets)));
        }
        let status = self.server.terminate().await;
        findings.expect(status.success(), || format!("the server ended with {status}"));
        if let Err(left) = processes::none_left(self.server.rig().home(), Duration::from_secs(60)).await {
            left.iter().for_each(|process| findings.add(Fault::Orphan(format!("{} {}", process.pid, process.command))));
            // Nothing of a failed case may disturb the next one.
            rig_processes::kill(&left.iter().map(|process| process.pid).collect::<Vec<_>>());
        }
        left_sockets(&data).into_iter().for_each(|path| findings.add(Fault::Leak(format!("the socket {}", path.display()))));
        damaged(&data).into_iter().for_each(|text| findings.add(Fault::Wrong(text)));
        findings
    }
}

/// How many turns have come to an end.
pub(super) fn ended(seen: &Transcript) -> usize {
    seen.of_kind("turn").filter(|event| event.data["state"] != "running").count()
}

fn section(rig: Rig, id: &str, (command, args): (PathBuf, Vec<String>)) -> Rig {
    rig.config(&format!("[agents.{id}]\ncommand = {:?}\nargs = {args:?}\n", command.display().to_string()))
}

fn left_sockets(dir: &Path) -> Vec<PathBuf> {
    use std::os::unix::fs::FileTypeExt;
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(left_sockets(&entry.path())),
            Ok(kind) if kind.is_socket() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

/// What SQLite itself says of the database, where its command is installed; a server has read it again in any case.
fn damaged(data: &Path) -> Option<String> {
    let databases = std::fs::read_dir(data).into_iter().flatten().flatten().map(|entry| entry.path());
    let database = databases.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "db" || extension == "sqlite"));
    let Some(database) = database else { return Some("there is no database".to_owned()) };
    let output = Command::new("sqlite3").arg(&database).arg("PRAGMA integrity_check").output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout);
    (said.trim() != "ok").then(|| format!("the database is damaged: {said}{}", String::from_utf8_lossy(&output.stderr)))
}
