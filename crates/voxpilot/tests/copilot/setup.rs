//! One server, one session, one client that watches it, and the model server behind everything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::client::{Client, Event};
use testkit::model_server::{ModelServer, Reply, Request, Script};
use testkit::processes::{self, Process};
use testkit::server::{Rig, Server};

/// For every wait: far above what a healthy run takes on a loaded machine.
pub(crate) const SOON: Duration = Duration::from_secs(90);

pub(crate) struct Setup {
    pub model: ModelServer,
    pub server: Server,
    pub session: String,
    pub client: Client,
}

/// The processes of the agent, as the rig finds them on the machine.
pub(crate) struct AgentProcesses {
    pub runners: Vec<Process>,
    /// The npm wrapper that runs in Node.
    pub wrappers: Vec<Process>,
    /// The program that is Copilot.
    pub natives: Vec<Process>,
}

impl Setup {
    /// Everything in place, nothing scripted yet.
    pub(crate) async fn new() -> Setup {
        Setup::with(Script::new(), json!({}), |rig| rig).await
    }

    pub(crate) async fn with(script: Script, session: Value, change: impl FnOnce(Rig) -> Rig) -> Setup {
        let model = ModelServer::start(script);
        let rig = Rig::default().model(&model.base_url()).copilot(&model.base_url());
        let server = change(rig).start().await;
        let session = server.new_session(session).await;
        let client = server.stream(&session, None).await;
        Setup { model, server, session, client }
    }

    /// What the main AI says next, answer after answer.
    pub(crate) fn main(&self, replies: impl IntoIterator<Item = Reply>) {
        replies.into_iter().for_each(|reply| self.model.push("main", reply));
    }

    /// What Copilot's model says next.
    pub(crate) fn coder(&self, replies: impl IntoIterator<Item = Reply>) {
        replies.into_iter().for_each(|reply| self.model.push("coder", reply));
    }

    pub(crate) async fn send(&self, text: &str) -> Value {
        self.server.send(&self.session, text).await
    }

    /// Sends a message and gives the state in which its turn ended.
    pub(crate) async fn turn(&mut self, text: &str) -> String {
        self.send(text).await;
        self.turn_end().await
    }

    pub(crate) async fn turn_end(&mut self) -> String {
        self.client.turn_end(SOON).await
    }

    /// A turn in which the main AI delegates one prompt, Copilot answers with one text, and the main AI closes.
    pub(crate) async fn exchange(&mut self, name: &str, prompt: &str, answer: &str) {
        self.main([super::replies::delegate(name, prompt), Reply::text("Done.")]);
        self.coder([Reply::text(answer)]);
        assert_eq!(self.turn(prompt).await, "completed", "{}", self.client.seen.tail());
    }

    /// Reads on until the agent session called `name` has written `text`, over all its calls.
    pub(crate) async fn until_written(&mut self, name: &str, text: &str) {
        while !self.client.seen.agent_text(name).contains(text) {
            self.client.until(&format!("`{text}` from {name}"), SOON, |event| event.kind == "copilot-delta").await;
        }
    }

    /// Reads on until a tool of the agent's has printed `text`.
    pub(crate) async fn until_printed(&mut self, text: &str) {
        let printed = |event: &Event| {
            let content = event.data["update"]["content"].as_array();
            event.kind == "agent-update"
                && content.is_some_and(|parts| parts.iter().any(|part| part["text"].as_str().is_some_and(|shown| shown.contains(text))))
        };
        self.client.until(&format!("`{text}` printed by a tool"), SOON, printed).await;
    }

    pub(crate) async fn until_kind(&mut self, kind: &str) -> Event {
        self.client.until(kind, SOON, |event| event.kind == kind).await
    }

    pub(crate) async fn until_notice(&mut self, code: &str) -> Event {
        self.client.until(&format!("notice {code}"), SOON, |event| event.kind == "notice" && event.data["code"] == code).await
    }

    /// The data of all notices with this code that were seen so far.
    pub(crate) fn notices(&self, code: &str) -> Vec<Value> {
        self.client.seen.of_kind("notice").map(|event| event.data.clone()).filter(|notice| notice["code"] == code).collect()
    }

    pub(crate) async fn get(&self, below: &str) -> Value {
        let (status, body) = self.server.call("GET", &format!("/api/sessions/{}/{below}", self.session), None).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    pub(crate) async fn post(&self, below: &str, body: Value) -> u16 {
        self.server.call("POST", &format!("/api/sessions/{}/{below}", self.session), Some(body)).await.0
    }

    /// The stored messages, oldest first.
    pub(crate) async fn messages(&self) -> Vec<Value> {
        self.get("messages?limit=200").await["messages"].as_array().unwrap().clone()
    }

    /// The stored results of delegations.
    pub(crate) async fn results(&self) -> Vec<Value> {
        let mut messages = self.messages().await;
        messages.retain(|message| message["role"] == "tool");
        messages
    }

    /// `kill -9` of the server; the client keeps what it has seen.
    pub(crate) async fn kill_server(&mut self) {
        self.server.kill().await;
        while self.client.next().await.is_some() {}
    }

    /// A new server on the same data, and the same client with the cursor it held.
    pub(crate) async fn restart_server(&mut self) {
        self.server.restart().await;
        self.reconnect().await;
    }

    /// The client comes back with its `Last-Event-ID`.
    pub(crate) async fn reconnect(&mut self) {
        let seen = self.client.seen.clone();
        self.client = self.server.stream(&self.session, seen.cursor).await.continuing(seen);
    }

    /// A client that knows nothing, read up to `ready`.
    pub(crate) async fn new_client(&self) -> Client {
        let mut client = self.server.stream(&self.session, None).await;
        client.until("ready", SOON, |event| event.kind == "ready").await;
        client
    }

    /// Copilot's own journal of the session that was given this prompt. It is written a moment after the prompt has come.
    pub(crate) fn journal_of(&self, prompt: &str) -> Option<PathBuf> {
        let states = std::fs::read_dir(self.server.rig().copilot_home().join("session-state")).ok()?;
        let mut journals = states.flatten().map(|entry| entry.path().join("events.jsonl"));
        journals.find(|journal| std::fs::read_to_string(journal).is_ok_and(|text| text.contains(prompt)))
    }

    /// Kills the idle agent and waits until the server knows.
    pub(crate) async fn kill_idle_agent(&self) {
        processes::signal(self.processes().native(), "KILL");
        let deadline = Instant::now() + SOON;
        loop {
            let sessions = self.get("agents").await;
            let views = sessions["agents"].as_array().unwrap();
            if views.iter().all(|view| view["state"] == "stored") {
                return;
            }
            assert!(Instant::now() < deadline, "the server did not notice: {sessions}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) fn main_requests(&self) -> Vec<Request> {
        self.model.requests_for("main")
    }

    pub(crate) fn coder_requests(&self) -> Vec<Request> {
        self.model.requests_for("coder")
    }

    pub(crate) fn processes(&self) -> AgentProcesses {
        let all = processes::of_dir(self.server.rig().home());
        let having = |part: &str| all.iter().filter(|process| process.command.contains(part)).cloned().collect::<Vec<_>>();
        let mut wrappers = having(".bin/copilot --acp");
        wrappers.retain(|process| process.command.starts_with("node "));
        // What the native program starts has its name for a moment.
        let natives = having(NATIVE);
        let is_child = |process: &Process| natives.iter().any(|other| processes::parent(process.pid) == Some(other.pid));
        let natives = natives.iter().filter(|process| !is_child(process)).cloned().collect();
        AgentProcesses { runners: having("voxpilot runner "), wrappers, natives }
    }

    /// How many processes of the rig have this in their command line.
    pub(crate) fn count(&self, part: &str) -> usize {
        processes::of_dir(self.server.rig().home()).iter().filter(|process| process.command.contains(part)).count()
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.server.rig().work_dir().join(file))
            .unwrap_or_else(|error| panic!("{file}: {error}\n{}", self.client.seen.tail()))
    }

    /// Lets a held command end.
    pub(crate) fn let_go(&self) {
        std::fs::write(self.server.rig().work_dir().join("go"), "").unwrap();
    }

    pub(crate) async fn end(self) {
        drop(self.client);
        self.server.end().await;
    }
}

/// How the native program calls itself, on whatever platform.
pub(crate) const NATIVE: &str = "node_modules/@github/copilot-";

impl AgentProcesses {
    /// The process of which there must be exactly one.
    pub(crate) fn native(&self) -> i32 {
        assert_eq!(self.natives.len(), 1, "{:?}", self.natives);
        self.natives[0].pid
    }

    pub(crate) fn wrapper(&self) -> i32 {
        assert_eq!(self.wrappers.len(), 1, "{:?}", self.wrappers);
        self.wrappers[0].pid
    }

    pub(crate) fn runner(&self) -> i32 {
        assert_eq!(self.runners.len(), 1, "{:?}", self.runners);
        self.runners[0].pid
    }
}

/// Waits for something that no event tells about.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Everything that a request says, as one text to search in.
pub(crate) fn said(request: &Request) -> String {
    request.body["messages"].to_string()
}
