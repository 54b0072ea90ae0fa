//! Each fault, seen from the other end of real pipes.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{deaf, fast_agent_path, path};

mod logins;
mod questions;

const PATIENCE: Duration = Duration::from_secs(60);

struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    session: String,
    next: u64,
}

impl Agent {
    fn start() -> Self {
        Self::start_with(&path(), &[], &[])
    }

    fn start_with(program: &Path, args: &[String], env: &[(&str, &str)]) -> Self {
        let mut child = Command::new(program)
            .args(args)
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = sync_channel(200_000);
        thread::spawn(move || {
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, session: String::new(), next: 1 }
    }

    fn with_session() -> Self {
        let mut agent = Self::start();
        agent.make_session();
        agent
    }

    fn make_session(&mut self) {
        self.call("initialize", json!({ "protocolVersion": 1 }));
        let (_, answer) = self.call("session/new", json!({ "cwd": "/", "mcpServers": [] }));
        self.session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn start_call(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    fn start_prompt(&mut self, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.start_call("session/prompt", json!({ "sessionId": self.session, "prompt": prompt }))
    }

    fn line(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the agent is silent"),
        }
    }

    /// The next line that is a message.
    fn message(&self) -> Value {
        loop {
            let line = self.line().expect("the agent is alive");
            if let Ok(message @ Value::Object(_)) = serde_json::from_slice(&line) {
                return message;
            }
        }
    }

    /// The text up to the answer, and the answer. Requests are answered as a good client would.
    fn finish(&mut self, id: u64) -> (String, Value) {
        let mut text = String::new();
        loop {
            let message = self.message();
            match message["method"].as_str() {
                None if message["id"] == json!(id) => return (text, message),
                Some("session/request_permission") => {
                    let result = json!({ "outcome": { "outcome": "selected", "optionId": "yes" } });
                    self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
                }
                Some(_) if message.get("id").is_some() => {
                    let error = json!({ "code": -32601, "message": "unknown" });
                    self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
                }
                _ => text.push_str(message["params"]["update"]["content"]["text"].as_str().unwrap_or_default()),
            }
        }
    }

    fn call(&mut self, method: &str, params: Value) -> (String, Value) {
        let id = self.start_call(method, params);
        self.finish(id)
    }

    fn prompt(&mut self, text: &str) -> (String, Value) {
        let id = self.start_prompt(text);
        self.finish(id)
    }

    fn say(&mut self, text: &str) -> String {
        let (said, answer) = self.prompt(text);
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{text}");
        said
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the agent stays");
            thread::yield_now();
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn one_process_survives_all_harmless_faults() {
    let mut agent = Agent::with_session();
    assert_eq!(agent.say("say hello there"), "hello there");
    assert_eq!(agent.say("half_line 50"), "a whole sentence");
    assert_eq!(agent.say("garbage"), "before after");
    assert_eq!(agent.say("invalid_utf8"), "before after");
    assert_eq!(agent.say("big_line 3").len(), 3_000_000);
    assert_eq!(agent.say("unknown_kinds"), "before after -32601");
    assert_eq!(agent.say("stderr_flood 1"), "said");
    assert_eq!(agent.say("slow 3"), "1 2 3 ");
    assert_eq!(agent.say("flood 500").split_whitespace().count(), 500);
    assert_eq!(agent.say("ignores_cancel 2"), "tick 1 tick 2 ");
    let yes = "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"yes\"}}\n";
    assert_eq!(agent.say("ask"), yes);
    assert_eq!(agent.say("ask3"), yes.repeat(3));
    assert_eq!(agent.say("pid"), agent.child.id().to_string());
    assert_eq!(agent.say("echo_env FAULTY_NOTHING"), "unset");
    assert_eq!(agent.say("sessions"), json!([agent.session]).to_string());
    assert_eq!(agent.say("a recap\n\nsay last line"), "last line");
    assert_eq!(agent.say("deep-json"), "said");
    assert_eq!(agent.say("many-requests"), "answers 5000 results 0");
    assert_eq!(agent.say("output-deltas"), "printed");
    let error = agent.say("error-text");
    assert!(error.starts_with("Error: ") && error == agent.say("error-text pieces"), "{error}");
    assert_eq!(agent.prompt("usage-in-result").1["result"]["usage"]["totalTokens"], 360);
    assert_eq!(agent.prompt("cancelled-unasked").1["result"]["stopReason"], "cancelled");
    assert_eq!(agent.prompt("error_code -32603").1["error"]["code"], -32603);
    assert_eq!(agent.prompt("unknown_stop").1["result"]["stopReason"], "banana");
    assert_eq!(agent.prompt("null_result").1["result"], Value::Null);
    assert!(agent.say("prompts").contains("\"null_result\",\"prompts\"]"));
}

#[test]
fn answers_come_late_and_twice() {
    let mut agent = Agent::with_session();
    agent.prompt("late_answer");
    let late = agent.message();
    assert_eq!(late["params"]["update"]["content"]["text"], "late 1 ");
    let (_, first) = agent.prompt("duplicate_answer");
    assert_eq!(agent.message(), first);
}

#[test]
fn silence_ends_with_a_cancel_and_stubbornness_does_not() {
    let mut agent = Agent::with_session();
    let session = json!({ "sessionId": agent.session });
    let id = agent.start_prompt("no_answer");
    agent.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": session }));
    assert_eq!(agent.finish(id).1["result"]["stopReason"], "cancelled");
    let id = agent.start_prompt("ignores_cancel 5");
    agent.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": session }));
    assert_eq!(agent.finish(id).1["result"]["stopReason"], "end_turn");
}

#[test]
fn it_crashes_in_mid_line_and_leaves_without_a_word() {
    let mut agent = Agent::with_session();
    agent.start_prompt("crash_mid_line");
    let mut last = Vec::new();
    while let Some(line) = agent.line() {
        last = line;
    }
    assert!(!last.is_empty() && !last.ends_with(b"\n"));
    assert_eq!(agent.wait().code(), Some(3));
    let mut agent = Agent::with_session();
    agent.start_prompt("exit_zero");
    assert_eq!(agent.wait().code(), Some(0));
}

#[test]
fn settings_from_outside_change_the_start() {
    let start = |env: &[(&str, &str)]| Agent::start_with(&path(), &[], env);
    let mut agent = start(&[("FAULTY_PROTOCOL_VERSION", "2"), ("FAULTY_AUTH", "1")]);
    assert_eq!(agent.call("initialize", json!({})).1["result"]["protocolVersion"], 2);
    assert_eq!(agent.call("session/new", json!({ "cwd": "/" })).1["error"]["code"], -32000);
    let mut agent = start(&[("FAULTY_LOAD", "ok")]);
    let (replay, answer) = agent.call("session/load", json!({ "sessionId": "any" }));
    assert_eq!((replay.as_str(), answer.get("result")), ("replayed questionreplayed answer", Some(&Value::Null)));
    let mut agent = start(&[("FAULTY_LOAD", "missing")]);
    assert_eq!(agent.call("session/load", json!({ "sessionId": "any" })).1["error"]["code"], -32002);
    let mut agent = start(&[("FAULTY_INIT", "exit")]);
    agent.start_call("initialize", json!({}));
    assert_eq!(agent.wait().code(), Some(1));
}

#[test]
fn a_new_session_is_mentioned_before_it_is_announced() {
    let mut agent = Agent::start();
    let id = agent.start_call("session/new", json!({ "cwd": "/", "mcpServers": [] }));
    let early = agent.message();
    let (_, answer) = agent.finish(id);
    assert_eq!(early["params"]["sessionId"], answer["result"]["sessionId"]);
}

#[test]
fn a_deaf_agent_outlives_everything_but_a_kill() {
    let (program, args) = deaf();
    let mut agent = Agent::start_with(&program, &args, &[]);
    agent.make_session();
    let said = agent.say("ignore_sigterm");
    assert_eq!(said, format!("pid {}", agent.child.id()));
    let kill = Command::new("kill").arg(agent.child.id().to_string()).status().unwrap();
    assert!(kill.success());
    assert_eq!(agent.say("say still here"), "still here");
    agent.stdin = None;
    // Silence for a moment instead of the end of its output shows that it stays.
    let waited = agent.lines.recv_timeout(Duration::from_millis(300));
    assert_eq!(waited, Err(RecvTimeoutError::Timeout));
    assert!(agent.child.try_wait().unwrap().is_none());
}

#[test]
fn a_grandchild_is_left_in_a_session_of_its_own() {
    let mut agent = Agent::with_session();
    let said = agent.say("grandchild");
    let pid = said.strip_prefix("grandchild ").unwrap().to_owned();
    agent.stdin = None;
    assert!(agent.wait().success());
    let killed = Command::new("kill").args(["-9", &pid]).status().unwrap();
    assert!(killed.success(), "it was still there");
}

#[test]
fn every_line_received_is_logged() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut agent = Agent::start_with(&path(), &[], &[("FAULTY_LOG", log.to_str().unwrap())]);
    agent.make_session();
    agent.say("say x");
    let mut text = String::new();
    std::fs::File::open(log).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn the_fast_agent_floods_and_keeps_time() {
    let mut agent = Agent::start_with(&fast_agent_path(), &[], &[]);
    agent.make_session();
    let id = agent.start_prompt("flood 1000 50");
    for number in 0..1000 {
        let message = agent.message();
        let text = message["params"]["update"]["content"]["text"].as_str().unwrap();
        assert_eq!(text.len(), 50);
        assert_eq!(text.split(' ').next().unwrap().parse(), Ok(number));
    }
    agent.finish(id);
    let said = agent.say("paced 3 40 2000");
    assert_eq!(said.len(), 3 * 40);
    let first: u128 = said.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(first > 1_700_000_000_000_000_000);
}
