//! One server, one session, one client that watches it, and the model server behind everything.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::client::{Client, Event};
use testkit::codex::MODEL;
use testkit::model_server::{ModelServer, Reply, Request, Script};
use testkit::processes::{self, Process};
use testkit::server::{Rig, Server};

/// For every wait: far above what a healthy run takes on a loaded machine.
pub(crate) const SOON: Duration = Duration::from_secs(60);

pub(crate) struct Setup {
    pub model: ModelServer,
    pub server: Server,
    pub session: String,
    pub client: Client,
}

impl Setup {
    /// Everything in place, nothing scripted yet, and Codex may do what it likes.
    pub(crate) async fn new() -> Setup {
        Setup::with_policy("auto").await
    }

    pub(crate) async fn with_policy(policy: &str) -> Setup {
        Setup::with(Script::new(), json!({ "permission_policy": policy }), |rig| rig).await
    }

    pub(crate) async fn with(script: Script, session: Value, change: impl FnOnce(Rig) -> Rig) -> Setup {
        let model = ModelServer::start(script);
        let rig = Rig::default().model(&model.base_url()).codex(&model.base_url());
        let server = change(rig).start().await;
        let session = server.new_session(session).await;
        let client = server.stream(&session, None).await;
        Setup { model, server, session, client }
    }

    /// What the main AI says next, answer after answer.
    pub(crate) fn main(&self, replies: impl IntoIterator<Item = Reply>) {
        replies.into_iter().for_each(|reply| self.model.push("main", reply));
    }

    /// What Codex's model says next.
    pub(crate) fn codex(&self, replies: impl IntoIterator<Item = Reply>) {
        replies.into_iter().for_each(|reply| self.model.push(MODEL, reply));
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

    /// A turn in which the main AI delegates one prompt, Codex answers with one text, and the main AI closes.
    pub(crate) async fn exchange(&mut self, name: &str, prompt: &str, answer: &str) {
        self.main([super::replies::delegate(name, prompt), Reply::text("Done.")]);
        self.codex([Reply::text(answer)]);
        assert_eq!(self.turn(prompt).await, "completed", "{}", self.client.seen.tail());
        let result = self.results().await.pop().unwrap();
        assert_eq!(result["delegation"]["stop_reason"], "end_turn", "{result}");
    }

    /// Reads on until the agent session called `name` has written `text`, over all its calls.
    pub(crate) async fn until_written(&mut self, name: &str, text: &str) {
        while !self.client.seen.agent_text(name).contains(text) {
            self.client.until(&format!("`{text}` from {name}"), SOON, |event| event.kind == "copilot-delta").await;
        }
    }

    /// Reads on until a tool of the agent's has printed `text`, as a stream or in what the call holds.
    pub(crate) async fn until_printed(&mut self, text: &str) {
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

    /// All updates of one type that were seen so far.
    pub(crate) fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.client.seen.of_kind("agent-update").map(|event| event.data["update"].clone());
        updates.filter(|update| update["type"] == kind).collect()
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
        let seen = self.client.seen.clone();
        self.client = self.server.stream(&self.session, seen.cursor).await.continuing(seen);
    }

    /// A client that knows nothing, read up to `ready`.
    pub(crate) async fn new_client(&self) -> Client {
        let mut client = self.server.stream(&self.session, None).await;
        client.until("ready", SOON, |event| event.kind == "ready").await;
        client
    }

    pub(crate) fn main_requests(&self) -> Vec<Request> {
        self.model.requests_for("main")
    }

    pub(crate) fn codex_requests(&self) -> Vec<Request> {
        self.model.requests_for(MODEL)
    }

    fn having(&self, fits: impl Fn(&str) -> bool) -> Vec<Process> {
        let mut all = processes::of_dir(self.server.rig().home());
        all.retain(|process| fits(&process.command));
        all
    }

    /// The program that is Codex; what it starts has its name for a moment and does not count.
    pub(crate) fn natives(&self) -> Vec<i32> {
        let found = self.having(|command| command.split(' ').next().is_some_and(|program| program.ends_with("/codex")));
        let found: Vec<i32> = found.iter().map(|process| process.pid).collect();
        found.iter().copied().filter(|pid| processes::parent(*pid).is_none_or(|parent| !found.contains(&parent))).collect()
    }

    /// The one of which there must be exactly one.
    pub(crate) fn native(&self) -> i32 {
        let natives = self.natives();
        assert_eq!(natives.len(), 1, "{natives:?}");
        natives[0]
    }

    /// The npm wrapper that runs in Node; on a newer Node the program takes its place.
    pub(crate) fn wrapper(&self) -> i32 {
        let found = self.having(|command| command.starts_with("node ") && command.contains("/codex app-server"));
        found.first().map_or_else(|| self.native(), |process| process.pid)
    }

    pub(crate) fn runners(&self) -> usize {
        self.having(|command| command.contains("voxpilot runner ")).len()
    }

    /// How many processes of the rig have this in their command line.
    pub(crate) fn count(&self, part: &str) -> usize {
        self.having(|command| command.contains(part)).len()
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.server.rig().work_dir().join(file))
            .unwrap_or_else(|error| panic!("{file}: {error}\n{}", self.client.seen.tail()))
    }

    pub(crate) fn exists(&self, file: &str) -> bool {
        self.server.rig().work_dir().join(file).exists()
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
    serde_json::Value::from(request.messages().to_vec()).to_string()
}

/// The tool calls of a stored delegation, each as it was in the end.
pub(crate) fn calls(result: &Value) -> Vec<Value> {
    let updates = result["delegation"]["updates"].as_array().unwrap().iter().map(|placed| placed["update"].clone());
    updates.filter(|update| update["type"] == "tool_call").collect()
}
