//! The built server as a process: started, asked over HTTP, killed at any moment, started again on the same data.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::{faulty_agent, processes};

const TOKEN: &str = "test-token-0123456789";
const START: Duration = Duration::from_secs(60);

/// What a server is started with; everything else is its own temporary directory.
pub struct Rig {
    home: TempDir,
    env: Vec<(String, String)>,
    config: String,
}

pub struct Server {
    rig: Rig,
    child: Child,
    pub base: String,
    port: u16,
    http: reqwest::Client,
    printed: Printed,
}

/// What the server prints, read until it ends.
struct Printed {
    lines: watch::Receiver<Vec<String>>,
    _reading: JoinSet<()>,
}

impl Default for Rig {
    fn default() -> Rig {
        Rig::of(TempDir::new().expect("a temporary directory can be made"))
    }
}

impl Rig {
    /// One that lies in this directory. Agents in a sandbox may write in temporary directories, and a person's home is none.
    pub fn below(dir: &Path) -> Rig {
        Rig::of(TempDir::new_in(dir).expect("a directory can be made there"))
    }

    fn of(home: TempDir) -> Rig {
        for dir in ["work", "data", "home", "copilot", "codex"] {
            std::fs::create_dir(home.path().join(dir)).expect("a directory can be made in it");
        }
        Rig { home, env: Vec::new(), config: String::new() }
    }

    pub fn work_dir(&self) -> PathBuf {
        self.home.path().join("work")
    }

    pub fn data_dir(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// Where the real Copilot CLI keeps its state.
    pub fn copilot_home(&self) -> PathBuf {
        self.home.path().join("copilot")
    }

    /// Where the real Codex CLI keeps its state.
    pub fn codex_home(&self) -> PathBuf {
        self.home.path().join("codex")
    }

    /// The directory that holds all of it; every process of the rig names it.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn env(mut self, name: &str, value: impl Into<String>) -> Rig {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Adds to the person's own `voxpilot.toml`.
    pub fn config(mut self, toml: &str) -> Rig {
        self.config.push_str(toml);
        self
    }

    /// The main AI is the scripted model at `base_url`.
    pub fn model(self, base_url: &str) -> Rig {
        self.env("VOXPILOT_MODEL", "main").env("VOXPILOT_MODEL_BASE_URL", base_url).env("VOXPILOT_MODEL_API_KEY", "k")
    }

    /// The agent is the demo agent, without pauses.
    pub fn demo_agent(self) -> Rig {
        self.env("VOXPILOT_AGENT", "demo").config("[agents.demo]\nargs = [\"demo-agent\", \"--pace\", \"fast\"]\n")
    }

    /// The agent is the faulty one.
    pub fn faulty_agent(self) -> Rig {
        self.agent("faulty", &faulty_agent::path(), &[])
    }

    pub fn agent(self, id: &str, command: &Path, args: &[String]) -> Rig {
        let section = format!("[agents.{id}]\ncommand = {:?}\nargs = {args:?}\n", command.display().to_string());
        self.env("VOXPILOT_AGENT", id).config(&section)
    }

    /// The agent is the real Copilot CLI, with the scripted model at `base_url` behind it.
    pub fn copilot(self, base_url: &str) -> Rig {
        let offline = crate::copilot::offline(&self.copilot_home(), base_url, "coder");
        let path = crate::copilot::path().display().to_string();
        let rig = self.env("VOXPILOT_AGENT", "copilot").env("VOXPILOT_COPILOT_CLI_PATH", path);
        offline.into_iter().fold(rig, |rig, (name, value)| rig.env(&name, value))
    }

    /// The agent is the real Codex CLI, with the scripted model at `base_url` behind it.
    pub fn codex(self, base_url: &str) -> Rig {
        self.codex_by(&crate::codex::path(), &["app-server".to_owned()], base_url)
    }

    /// Likewise, but started by another command.
    pub fn codex_by(self, command: &Path, args: &[String], base_url: &str) -> Rig {
        let home = self.codex_home();
        crate::codex::write_home(&home, base_url);
        self.env("VOXPILOT_AGENT", "codex").config(&crate::codex::section(command, args, &home))
    }

    /// A command of the binary, not started yet: it finds the rig's server by the data directory and has the secret.
    pub fn command(&self, args: &[&str]) -> Command {
        let home = self.home.path().join("home");
        let mut command = Command::new(faulty_agent::voxpilot_path());
        command
            .args(args)
            .env_clear()
            .env("HOME", &home)
            .env("VOXPILOT_DATA_DIR", self.data_dir())
            .env("VOXPILOT_TOKEN", TOKEN)
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub async fn start(self) -> Server {
        let own = self.home.path().join("home/.config/voxpilot");
        std::fs::create_dir_all(&own).expect("the configuration directory can be made");
        std::fs::write(own.join("voxpilot.toml"), &self.config).expect("the configuration can be written");
        let (child, scheme, port, printed) = spawn(&self, 0).await;
        // Which certificate an encrypted server shows is looked at by the tests that are about it.
        let http = tls::client_trusting().no_proxy().tls_danger_accept_invalid_certs(true).build();
        let http = http.expect("a client without options can be built");
        Server { base: format!("{scheme}://127.0.0.1:{port}"), port, child, http, printed, rig: self }
    }
}

/// Starts the server.
fn launch(rig: &Rig, port: u16) -> Child {
    Command::new(faulty_agent::voxpilot_path())
        .arg("serve")
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", rig.home.path().join("home"))
        .env("VOXPILOT_BIND", format!("127.0.0.1:{port}"))
        .env("VOXPILOT_DATA_DIR", rig.data_dir())
        .env("VOXPILOT_WORK_DIR", rig.work_dir())
        .env("VOXPILOT_TOKEN", TOKEN)
        .env("VOXPILOT_LOG", "info")
        .envs(rig.env.iter().map(|(name, value)| (name, value)))
        .current_dir(rig.work_dir())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log_file(rig))
        .kill_on_drop(true)
        .spawn()
        .expect("the server can be started")
}

/// Starts the binary and waits until it listens.
async fn spawn(rig: &Rig, port: u16) -> (Child, &'static str, u16, Printed) {
    let mut child = launch(rig, port);
    let stdout = child.stdout.take().expect("its output is piped");
    let mut lines = BufReader::new(stdout).lines();
    let listening = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some((_, port)) = line.strip_prefix("listening on http").and_then(|rest| rest.rsplit_once(':')) {
                let scheme = if line.starts_with("listening on https") { "https" } else { "http" };
                return port.parse().ok().map(|port| (scheme, port));
            }
        }
        None
    };
    let port = tokio::time::timeout(START, listening).await.ok().flatten();
    let (scheme, port) = port.unwrap_or_else(|| panic!("the server did not start:\n{}", log(rig)));
    let (sender, receiver) = watch::channel(Vec::new());
    let mut reading = JoinSet::new();
    reading.spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            sender.send_modify(|lines| lines.push(line));
        }
    });
    (child, scheme, port, Printed { lines: receiver, _reading: reading })
}

#[expect(clippy::disallowed_methods, reason = "the server under test finds its programs where the test does")]
fn search_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

fn log_file(rig: &Rig) -> Stdio {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(rig.home.path().join("log"));
    file.map_or_else(|_| Stdio::null(), Stdio::from)
}

fn log(rig: &Rig) -> String {
    std::fs::read_to_string(rig.home.path().join("log")).unwrap_or_default()
}

impl Server {
    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    pub fn token(&self) -> &str {
        TOKEN
    }

    pub fn pid(&self) -> i32 {
        self.child.id().and_then(|pid| i32::try_from(pid).ok()).expect("the server is running")
    }

    /// Everything it wrote to its log, over all its lives.
    pub fn log(&self) -> String {
        log(&self.rig)
    }

    /// The first line that begins so, of those that this life of the server printed after the one with its address.
    pub async fn printed(&self, start: &str) -> String {
        let mut lines = self.printed.lines.clone();
        let found = async { lines.wait_for(|lines| lines.iter().any(|line| line.starts_with(start))).await.map(|lines| lines.clone()) };
        let lines = tokio::time::timeout(START, found).await.ok().and_then(Result::ok).unwrap_or_default();
        let line = lines.into_iter().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no line begins with {start:?}\n{}", self.log()))
    }

    /// `kill -9`, and nothing else: its runners live on.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("a running server can be killed");
    }

    /// Starts it again, on the same port and data.
    pub async fn restart(&mut self) {
        (self.child, _, self.port, self.printed) = spawn(&self.rig, self.port).await;
    }

    /// Starts it again and kills it after `life`, wherever in its start it has come to by then.
    pub async fn restart_briefly(&mut self, life: Duration) {
        self.child = launch(&self.rig, self.port);
        tokio::time::sleep(life).await;
        self.kill().await;
    }

    /// SIGTERM, and waits for its end.
    pub async fn terminate(&mut self) -> ExitStatus {
        processes::signal(self.pid(), "TERM");
        let ended = tokio::time::timeout(Duration::from_secs(60), self.child.wait()).await;
        ended.expect("the server ends in time").expect("its end can be waited for")
    }

    /// Ends the server and everything it started, and fails if anything is left.
    pub async fn end(mut self) {
        for id in self.session_ids().await {
            self.call("DELETE", &format!("/api/sessions/{id}"), None).await;
        }
        self.terminate().await;
        if let Err(left) = processes::none_left(self.rig.home(), Duration::from_secs(60)).await {
            panic!("left running: {left:?}\n{}", self.log());
        }
    }

    async fn session_ids(&self) -> Vec<String> {
        let (_, list) = self.call("GET", "/api/sessions?limit=200", None).await;
        let sessions = list["sessions"].as_array().cloned().unwrap_or_default();
        sessions.iter().filter_map(|session| session["id"].as_str().map(str::to_owned)).collect()
    }

    /// One call with the secret; the body is `null` where there is none.
    pub async fn call(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        self.try_call(method, path, body).await.unwrap_or_else(|error| panic!("{method} {path}: {error}\n{}", self.log()))
    }

    /// Like [`Server::call`], for a server that may be dead.
    pub async fn try_call(&self, method: &str, path: &str, body: Option<Value>) -> Result<(u16, Value), String> {
        let method = method.parse().expect("a method's name");
        let mut request = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(TOKEN);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.map_err(|error| format!("{error:?}"))?;
        let status = response.status().as_u16();
        let text = response.text().await.map_err(|error| format!("{error:?}"))?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    /// One call whose answer is text, read to its end.
    pub async fn text(&self, method: &str, path: &str) -> String {
        let method = method.parse().expect("a method's name");
        let answer = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(TOKEN).send().await;
        answer.expect("the server answers").text().await.unwrap_or_else(|error| panic!("{error:?}\n{}", self.log()))
    }

    pub async fn new_session(&self, wanted: Value) -> String {
        let (status, session) = self.call("POST", "/api/sessions", Some(wanted)).await;
        assert_eq!(status, 201, "{session}");
        session["id"].as_str().expect("a session has an id").to_owned()
    }

    /// Sends a message and gives the server's answer.
    pub async fn send(&self, session: &str, content: &str) -> Value {
        let (status, answer) = self.call("POST", &format!("/api/sessions/{session}/messages"), Some(json!({ "content": content }))).await;
        assert_eq!(status, 202, "{answer}");
        answer
    }

    /// Opens the event stream, after `cursor` or with a snapshot.
    pub async fn stream(&self, session: &str, cursor: Option<u64>) -> Client {
        Client::open(&self.http, &self.base, TOKEN, session, cursor).await.unwrap_or_else(|error| panic!("{error}\n{}", self.log()))
    }

    pub async fn try_stream(&self, session: &str, cursor: Option<u64>) -> Result<Client, String> {
        Client::open(&self.http, &self.base, TOKEN, session, cursor).await
    }
}
