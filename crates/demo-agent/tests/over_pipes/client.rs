//! A client on the other end of two pipes. Every wait has a deadline.

use std::fs;
use std::io::{self, BufRead, BufReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use demo_agent::{CwdPolicy, Options, Pace, serve};
use serde_json::{Value, json};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);

/// Directories for one test: the agent's state and a work directory.
pub(crate) struct Home {
    _dir: TempDir,
    pub state: PathBuf,
    pub work: PathBuf,
}

impl Home {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (state, work) = (root.join("state"), root.join("work"));
        fs::create_dir(&work).unwrap();
        Self { _dir: dir, state, work }
    }

    pub(crate) fn agent(&self) -> Client {
        self.agent_with(Pace::Fast, CwdPolicy::AnyDirectory)
    }

    pub(crate) fn agent_with(&self, pace: Pace, cwd_policy: CwdPolicy) -> Client {
        let (their_in, our_out) = io::pipe().unwrap();
        let (our_in, their_out) = io::pipe().unwrap();
        let options = Options { state_dir: self.state.clone(), cwd_policy, pace };
        let server = thread::spawn(move || serve(their_in, their_out, options));
        let (sender, messages) = sync_channel(100_000);
        thread::spawn(move || {
            for line in BufReader::new(our_in).lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).expect("the agent writes whole JSON lines");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client { out: Some(our_out), messages, server: Some(server), next: 1 }
    }

    /// A connection with one session in the work directory.
    pub(crate) fn session(&self) -> (Client, String) {
        let mut client = self.agent();
        let id = client.new_session(&self.work);
        (client, id)
    }
}

pub(crate) struct Client {
    out: Option<PipeWriter>,
    messages: Receiver<Value>,
    server: Option<JoinHandle<io::Result<()>>>,
    next: u64,
}

/// What a request brought: everything before its answer, and the answer.
pub(crate) struct Outcome {
    pub before: Vec<Value>,
    pub answer: Value,
}

impl Client {
    pub(crate) fn raw(&mut self, line: &[u8]) {
        let out = self.out.as_mut().unwrap();
        out.write_all(line).unwrap();
        out.write_all(b"\n").unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes());
    }

    pub(crate) fn start(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(crate) fn next(&self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the agent says something in time")
    }

    /// Everything up to the answer to a request. Permissions asked meanwhile are answered with `option`.
    pub(crate) fn finish(&mut self, id: u64, option: &str) -> Outcome {
        let mut before = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "no answer to {id}");
            let message = self.next();
            if message.get("method").is_none() && message["id"] == json!(id) {
                return Outcome { before, answer: message };
            }
            if message["method"] == "session/request_permission" {
                self.answer(&message, &json!({ "outcome": { "outcome": "selected", "optionId": option } }));
            }
            before.push(message);
        }
    }

    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Outcome {
        let id = self.start(method, params);
        self.finish(id, "allow_once")
    }

    pub(crate) fn new_session(&mut self, cwd: &Path) -> String {
        let outcome = self.call("session/new", json!({ "cwd": cwd, "mcpServers": [] }));
        outcome.answer["result"]["sessionId"].as_str().expect("a session id").to_owned()
    }

    pub(crate) fn start_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.start("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Outcome {
        let id = self.start_prompt(session, text);
        self.finish(id, "allow_once")
    }

    /// Reads on until a message passes; returns it.
    pub(crate) fn until(&self, passes: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "the message never came");
            let message = self.next();
            if passes(&message) {
                return message;
            }
        }
    }

    /// Ends our side of the connection and waits for the agent to end its own.
    pub(crate) fn hang_up(mut self) {
        self.out = None;
        let server = self.server.take().unwrap();
        while !server.is_finished() {
            // The agent's end shows as the end of its messages.
            match self.messages.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(_) => break,
            }
        }
        server.join().unwrap().unwrap();
    }

    /// Closes only the side the agent writes to.
    pub(crate) fn stop_listening(self) -> (PipeWriter, JoinHandle<io::Result<()>>) {
        (self.out.unwrap(), self.server.unwrap())
    }
}

impl Outcome {
    pub(crate) fn error_code(&self) -> i64 {
        self.answer["error"]["code"].as_i64().unwrap_or(0)
    }

    pub(crate) fn stop_reason(&self) -> &str {
        self.answer["result"]["stopReason"].as_str().unwrap_or("none")
    }

    pub(crate) fn updates(&self, kind: &str) -> Vec<&Value> {
        self.before.iter().map(|message| &message["params"]["update"]).filter(|update| update["sessionUpdate"] == kind).collect()
    }

    pub(crate) fn text(&self) -> String {
        self.texts("agent_message_chunk").concat()
    }

    pub(crate) fn texts(&self, kind: &str) -> Vec<String> {
        self.updates(kind).iter().map(|update| update["content"]["text"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn permissions(&self) -> Vec<&Value> {
        self.before.iter().filter(|message| message["method"] == "session/request_permission").collect()
    }

    /// The statuses that the tool calls went through, in order.
    pub(crate) fn statuses(&self) -> Vec<&str> {
        self.before
            .iter()
            .map(|message| &message["params"]["update"])
            .filter(|update| update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call")))
            .filter_map(|update| update["status"].as_str())
            .collect()
    }
}
