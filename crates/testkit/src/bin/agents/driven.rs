//! One agent behind the built server, with the scripted model behind the agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::client::{Client, Event};
use testkit::model_server::{ModelServer, Script};
use testkit::processes::{self, Process};
use testkit::server::{Rig, Server};

use crate::checks::Finding;
use crate::known::{self, Known};
use crate::plan::Plan;

/// For every wait: far above what a healthy agent takes on a loaded machine.
pub(crate) const SOON: Duration = Duration::from_secs(120);

pub(crate) struct Driven {
    pub agent: &'static Known,
    pub model: ModelServer,
    pub server: Server,
    pub plan: Arc<Plan>,
}

/// One session of it, and a client that watches it.
pub(crate) struct Talk {
    pub session: String,
    pub client: Client,
}

impl Driven {
    pub(crate) async fn start(agent: &'static Known) -> Driven {
        Driven::start_in(agent, Rig::default()).await
    }

    pub(crate) async fn start_in(agent: &'static Known, rig: Rig) -> Driven {
        let plan = Arc::new(Plan::new(agent, rig.work_dir(), rig.home().join("home/outside")));
        let script = Arc::clone(&plan);
        let model = ModelServer::start(Script::rules(move |request| script.answer(request)));
        let origin = model.base_url().trim_end_matches("/v1").to_owned();
        let path = format!("{}:{}", known::programs().display(), system_path());
        let variables = (agent.configure)(&rig, &origin);
        let rig = rig.env("PATH", path).model(&model.base_url());
        let rig = variables.into_iter().fold(rig, |rig, (name, value)| rig.env(&name, value));
        let server = rig.start().await;
        Driven { agent, model, server, plan }
    }

    pub(crate) fn work_file(&self, name: &str) -> PathBuf {
        self.server.rig().work_dir().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work_file(name)).ok()
    }

    /// A session straight to the agent.
    pub(crate) async fn straight(&self, policy: &str) -> Talk {
        self.talk(json!({ "title": policy, "model": "relay", "agent": self.agent.id, "permission_policy": policy })).await
    }

    pub(crate) async fn talk(&self, wanted: Value) -> Talk {
        let session = self.server.new_session(wanted).await;
        let client = self.server.stream(&session, None).await;
        Talk { session, client }
    }

    pub(crate) async fn send(&self, talk: &Talk, prompt: &str) {
        self.server.send(&talk.session, prompt).await;
    }

    /// Sends a prompt and gives the state in which its turn ended.
    pub(crate) async fn turn(&self, talk: &mut Talk, prompt: &str) -> String {
        self.send(talk, prompt).await;
        talk.client.turn_end(SOON).await
    }

    pub(crate) async fn get(&self, talk: &Talk, below: &str) -> Value {
        self.server.call("GET", &format!("/api/sessions/{}/{below}", talk.session), None).await.1
    }

    pub(crate) async fn post(&self, talk: &Talk, below: &str, body: Value) -> u16 {
        self.server.call("POST", &format!("/api/sessions/{}/{below}", talk.session), Some(body)).await.0
    }

    /// How the agent's session came to be in the process that runs it.
    pub(crate) async fn restored(&self, talk: &Talk) -> String {
        let view = self.get(talk, "agents").await;
        view["agents"][0]["restored"].as_str().unwrap_or("unknown").to_owned()
    }

    /// Answers a question with the first option of this kind.
    pub(crate) async fn choose(&self, talk: &Talk, question: &Value, kind: &str) -> Result<(), String> {
        let options = question["options"].as_array().ok_or("a question without options")?;
        let option = options.iter().find(|option| option["kind"] == kind).ok_or_else(|| format!("no option {kind}: {options:?}"))?;
        let request = question["request_id"].as_str().unwrap_or_default();
        match self.post(talk, &format!("permissions/{request}"), json!({ "option_id": option["option_id"] })).await {
            202 => Ok(()),
            status => Err(format!("the answer to a question was refused: {status}")),
        }
    }

    /// The server's sessions, by their ids.
    pub(crate) async fn sessions(&self) -> Vec<String> {
        let list = self.server.try_call("GET", "/api/sessions?limit=200", None).await.map(|(_, list)| list).unwrap_or_default();
        list["sessions"].as_array().into_iter().flatten().filter_map(|session| session["id"].as_str().map(str::to_owned)).collect()
    }

    /// Every session is an agent that runs, and some of them take a gigabyte.
    pub(crate) async fn forget_sessions(&self) {
        for id in self.sessions().await {
            // Where the server does not answer any more, the end says so.
            let _ = self.server.try_call("DELETE", &format!("/api/sessions/{id}"), None).await;
        }
    }

    /// Ends the server and looks whether anything is left of what it started.
    pub(crate) async fn end(mut self) -> Finding {
        self.server.terminate().await;
        let left = processes::none_left(self.server.rig().home(), SOON).await.err().unwrap_or_default();
        for process in &left {
            processes::signal(process.pid, "KILL");
        }
        match left.is_empty() {
            true => Finding::Held(String::new()),
            false => Finding::Failed(format!("left running: {left:?}")),
        }
    }

    /// The programs that the runners have started: the agents themselves, not what they start in turn.
    pub(crate) fn agents(&self) -> Vec<Process> {
        let all = processes::of_dir(self.server.rig().home());
        let runners: Vec<i32> =
            all.iter().filter(|process| process.command.contains("voxpilot runner ")).map(|process| process.pid).collect();
        all.into_iter().filter(|process| processes::parent(process.pid).is_some_and(|parent| runners.contains(&parent))).collect()
    }

    /// Whether the model was asked this prompt by someone who knew that word.
    pub(crate) fn knew(&self, prompt: &str, word: &str) -> bool {
        let requests = self.model.requests();
        requests
            .iter()
            .rev()
            .map(|request| request.body.to_string())
            .find(|body| body.contains(prompt))
            .is_some_and(|body| body.contains(word))
    }
}

impl Talk {
    pub(crate) fn text(&self) -> String {
        self.client.seen.agent_text("main")
    }

    /// Reads on until the agent session called `name` has written `text`.
    pub(crate) async fn until_written(&mut self, name: &str, text: &str) {
        while !self.client.seen.agent_text(name).contains(text) {
            self.client.until(&format!("`{text}` from {name}"), SOON, |event| event.kind == "copilot-delta").await;
        }
    }

    /// The next question, or none where the turn ends before.
    pub(crate) async fn asked(&mut self) -> Option<Value> {
        let ended = |event: &Event| event.kind == "turn" && event.data["state"] != "running";
        let event = self.client.until("question or end", SOON, |event| event.kind == "permission-request" || ended(event)).await;
        (event.kind == "permission-request").then_some(event.data)
    }

    /// The last state of a turn, with its reason.
    pub(crate) fn ended(&self) -> (String, String) {
        let last = self.client.seen.of_kind("turn").last().map(|event| event.data.clone()).unwrap_or_default();
        let text = |field: &str| last[field].as_str().unwrap_or_default().to_owned();
        (text("state"), text("reason"))
    }

    /// Why the last call of the agent stopped.
    pub(crate) fn stop_reason(&self) -> String {
        let last = self.client.seen.of_kind("copilot-done").last();
        last.and_then(|event| event.data["stop_reason"].as_str()).unwrap_or("none").to_owned()
    }
}

/// Waits for something that no event tells about.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) -> Result<(), String> {
    let deadline = Instant::now() + SOON;
    while !holds() {
        if Instant::now() > deadline {
            return Err(format!("in vain: {what}"));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the server under test finds its programs where this one does")]
fn system_path() -> String {
    std::env::var("PATH").unwrap_or_default()
}
