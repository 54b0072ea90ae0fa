//! One server, one session, one client that watches it, a real agent at work in it, and the model server behind everything.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Event};
use crate::codex;
use crate::model_server::{ModelServer, Reply, Request, Script, ToolCall};
use crate::processes::{self, Process};
use crate::server::{Rig, Server};

/// For every wait: far above what a healthy run takes on a loaded machine.
pub const SOON: Duration = Duration::from_secs(90);

/// How Copilot's native program calls itself, on whatever platform.
pub const COPILOT: &str = "node_modules/@github/copilot-";

/// The agents that the tests have for real.
#[derive(Clone, Copy)]
pub enum Real {
    Copilot,
    Codex,
}

pub struct Setup {
    pub agent: Real,
    pub model: ModelServer,
    pub server: Server,
    pub session: String,
    pub client: Client,
}

/// The processes of the agent, as the rig finds them on the machine.
pub struct AgentProcesses {
    pub runners: Vec<Process>,
    /// The npm wrapper that runs in Node.
    pub wrappers: Vec<Process>,
    /// The program that is the agent.
    pub natives: Vec<Process>,
}

impl Real {
    /// What its model is called, so that a script can tell its requests from those of others.
    fn model(self) -> &'static str {
        match self {
            Real::Copilot => "coder",
            Real::Codex => codex::MODEL,
        }
    }

    fn install(self, rig: Rig, base_url: &str) -> Rig {
        match self {
            Real::Copilot => rig.copilot(base_url),
            Real::Codex => rig.codex(base_url),
        }
    }

    /// The main AI's answer that hands each prompt to the agent session of that name.
    pub fn delegate_all<'a>(self, tasks: impl IntoIterator<Item = (&'a str, &'a str)>) -> Reply {
        let call = |(name, prompt)| match self {
            Real::Copilot => ToolCall::new("copilot_agent", json!({ "prompt": prompt, "session_name": name })),
            Real::Codex => ToolCall::new("delegate", json!({ "agent": "codex", "prompt": prompt, "session_name": name })),
        };
        Reply::tool_calls(tasks.into_iter().map(call))
    }

    fn is_wrapper(self, command: &str) -> bool {
        let started = match self {
            Real::Copilot => ".bin/copilot --acp",
            Real::Codex => "/codex app-server",
        };
        command.starts_with("node ") && command.contains(started)
    }

    /// At work: every server asks once for the version, and so does the npm wrapper.
    fn is_native(self, command: &str) -> bool {
        match self {
            Real::Copilot => command.contains(COPILOT) && command.contains(" --acp "),
            Real::Codex => command.split(' ').next().is_some_and(|program| program.ends_with("/codex")) && command.contains(" app-server "),
        }
    }
}

impl Setup {
    /// Everything in place, nothing scripted yet but what `script` says; `change` is for what the server is started with.
    pub async fn start(agent: Real, script: Script, session: Value, change: impl FnOnce(Rig) -> Rig) -> Setup {
        let model = ModelServer::start(script);
        let rig = agent.install(Rig::default().model(&model.base_url()), &model.base_url());
        let server = change(rig).start().await;
        let session = server.new_session(session).await;
        let client = server.stream(&session, None).await;
        Setup { agent, model, server, session, client }
    }

    /// What the main AI says next, answer after answer.
    pub fn main(&self, replies: impl IntoIterator<Item = Reply>) {
        replies.into_iter().for_each(|reply| self.model.push("main", reply));
    }

    /// What the agent's model says next.
    pub fn coder(&self, replies: impl IntoIterator<Item = Reply>) {
        replies.into_iter().for_each(|reply| self.model.push(self.agent.model(), reply));
    }

    pub async fn send(&self, text: &str) -> Value {
        self.server.send(&self.session, text).await
    }

    /// Sends a message and gives the state in which its turn ended.
    pub async fn turn(&mut self, text: &str) -> String {
        self.send(text).await;
        self.turn_end().await
    }

    pub async fn turn_end(&mut self) -> String {
        self.client.turn_end(SOON).await
    }

    /// A turn in which the main AI delegates one prompt, the agent answers with one text, and the main AI closes.
    pub async fn exchange(&mut self, name: &str, prompt: &str, answer: &str) {
        self.main([self.agent.delegate_all([(name, prompt)]), Reply::text("Done.")]);
        self.coder([Reply::text(answer)]);
        assert_eq!(self.turn(prompt).await, "completed", "{}", self.client.seen.tail());
    }

    /// Reads on until the agent session called `name` has written `text`, over all its calls.
    pub async fn until_written(&mut self, name: &str, text: &str) {
        while !self.client.seen.agent_text(name).contains(text) {
            self.client.until(&format!("`{text}` from {name}"), SOON, |event| event.kind == "copilot-delta").await;
        }
    }

    /// Reads on until a tool of the agent's has printed `text`, as a stream or in what the call holds.
    pub async fn until_printed(&mut self, text: &str) {
        let printed = |event: &Event| {
            let update = &event.data["update"];
            let says = |value: &Value| value.as_str().is_some_and(|shown| shown.contains(text));
            let content = update["content"].as_array();
            event.kind == "agent-update"
                && (update["type"] == "tool_output" && says(&update["content"])
                    || content.is_some_and(|parts| parts.iter().any(|part| says(&part["text"]))))
        };
        self.client.until(&format!("`{text}` printed by a tool"), SOON, printed).await;
    }

    pub async fn until_kind(&mut self, kind: &str) -> Event {
        self.client.until(kind, SOON, |event| event.kind == kind).await
    }

    pub async fn until_notice(&mut self, code: &str) -> Event {
        self.client.until(&format!("notice {code}"), SOON, |event| event.kind == "notice" && event.data["code"] == code).await
    }

    /// The data of all notices with this code that were seen so far.
    pub fn notices(&self, code: &str) -> Vec<Value> {
        self.client.seen.of_kind("notice").map(|event| event.data.clone()).filter(|notice| notice["code"] == code).collect()
    }

    /// All updates of one type that were seen so far.
    pub fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.client.seen.of_kind("agent-update").map(|event| event.data["update"].clone());
        updates.filter(|update| update["type"] == kind).collect()
    }

    pub async fn get(&self, below: &str) -> Value {
        let (status, body) = self.server.call("GET", &format!("/api/sessions/{}/{below}", self.session), None).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    pub async fn post(&self, below: &str, body: Value) -> u16 {
        self.server.call("POST", &format!("/api/sessions/{}/{below}", self.session), Some(body)).await.0
    }

    /// The stored messages, oldest first.
    pub async fn messages(&self) -> Vec<Value> {
        self.get("messages?limit=200").await["messages"].as_array().expect("a list of messages").clone()
    }

    /// The stored results of delegations.
    pub async fn results(&self) -> Vec<Value> {
        let mut messages = self.messages().await;
        messages.retain(|message| message["role"] == "tool");
        messages
    }

    /// `kill -9` of the server; the client keeps what it has seen.
    pub async fn kill_server(&mut self) {
        self.server.kill().await;
        while self.client.next().await.is_some() {}
    }

    /// A new server on the same data, and the same client with the cursor it held.
    pub async fn restart_server(&mut self) {
        self.server.restart().await;
        self.reconnect().await;
    }

    /// The client comes back with its `Last-Event-ID`.
    pub async fn reconnect(&mut self) {
        let seen = self.client.seen.clone();
        self.client = self.server.stream(&self.session, seen.cursor).await.continuing(seen);
    }

    /// A client that knows nothing, read up to `ready`.
    pub async fn new_client(&self) -> Client {
        let mut client = self.server.stream(&self.session, None).await;
        client.until("ready", SOON, |event| event.kind == "ready").await;
        client
    }

    pub fn main_requests(&self) -> Vec<Request> {
        self.model.requests_for("main")
    }

    pub fn coder_requests(&self) -> Vec<Request> {
        self.model.requests_for(self.agent.model())
    }

    pub fn processes(&self) -> AgentProcesses {
        let all = processes::of_dir(self.server.rig().home());
        let having = |fits: &dyn Fn(&str) -> bool| all.iter().filter(|process| fits(&process.command)).cloned().collect::<Vec<_>>();
        // What the native program starts has its name for a moment.
        let natives = having(&|command| self.agent.is_native(command));
        let is_child = |process: &Process| natives.iter().any(|other| processes::parent(process.pid) == Some(other.pid));
        let natives = natives.iter().filter(|process| !is_child(process)).cloned().collect();
        let wrappers = having(&|command| self.agent.is_wrapper(command));
        AgentProcesses { runners: having(&|command| command.contains("voxpilot runner ")), wrappers, natives }
    }

    /// How many processes of the rig have this in their command line.
    pub fn count(&self, part: &str) -> usize {
        processes::of_dir(self.server.rig().home()).iter().filter(|process| process.command.contains(part)).count()
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.server.rig().work_dir().join(file))
            .unwrap_or_else(|error| panic!("{file}: {error}\n{}", self.client.seen.tail()))
    }

    pub fn exists(&self, file: &str) -> bool {
        self.server.rig().work_dir().join(file).exists()
    }

    /// Lets a held command end.
    pub fn let_go(&self) {
        std::fs::write(self.server.rig().work_dir().join("go"), "").expect("the file can be made");
    }

    pub async fn end(self) {
        drop(self.client);
        self.server.end().await;
    }
}

impl AgentProcesses {
    /// The process of which there must be exactly one.
    pub fn native(&self) -> i32 {
        assert_eq!(self.natives.len(), 1, "{:?}", self.natives);
        self.natives[0].pid
    }

    pub fn wrapper(&self) -> i32 {
        assert_eq!(self.wrappers.len(), 1, "{:?}", self.wrappers);
        self.wrappers[0].pid
    }

    pub fn runner(&self) -> i32 {
        assert_eq!(self.runners.len(), 1, "{:?}", self.runners);
        self.runners[0].pid
    }
}

/// Waits for something that no event tells about.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Everything that a request says, as one text to search in.
pub fn said(request: &Request) -> String {
    Value::from(request.messages().to_vec()).to_string()
}
