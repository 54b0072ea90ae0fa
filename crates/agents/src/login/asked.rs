//! A login that the agent itself makes: it is started for it, asked to `authenticate`, and ended. What it prints meanwhile (an address to
//! open, a code) is for the person who waits.

use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use runner::{BrokerGuard, Family, Invocation};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, sleep_until};

use super::{elsewhere, first_offered, offers};
use crate::acp::{PROTOCOL_VERSION, response};
use crate::catalogue::Agent;
use crate::fault::RpcError;
use crate::jsonrpc::{self, METHOD_NOT_FOUND, Message, RpcId};

/// A person may have to find a telephone first.
const PATIENCE: Duration = Duration::from_secs(600);
/// No answer in a login is longer.
const LINE_BYTES: usize = 1024 * 1024;
const READ_BYTES: usize = 16 * 1024;
const INITIALIZE: &str = "initialize";
const AUTHENTICATE: &str = "authenticate";

/// What is started, and which of the agent's ways is wanted.
pub struct Asked<'a> {
    pub agent: &'a Agent,
    pub program: Invocation,
    /// The first that it offers, without one.
    pub method: Option<&'a str>,
}

/// An agent that is being asked. Dropped, it is ended with everything that it started.
pub(super) struct Exchange {
    child: Child,
    group: Option<Pid>,
    /// Makes the connections of an agent in a sandbox.
    _broker: Option<BrokerGuard>,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
    stderr_open: bool,
    /// What has come of a line of its that is not whole yet.
    line: Vec<u8>,
    method: Option<String>,
    /// What a person can do where it offers nothing.
    advice: String,
    deadline: Instant,
    begun: bool,
    /// Whether it worked, once that is known.
    pub(super) outcome: Option<bool>,
}

impl Exchange {
    pub(super) fn start(asked: Asked<'_>) -> Result<Exchange, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{} could not be started for its login: {error}", asked.agent.title);
        let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| failed(&error))?;
        let (mut command, broker) = asked.program.prepare(theirs).map_err(|error| failed(&error))?;
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = Command::from(command).kill_on_drop(true).spawn().map_err(|error| failed(&error))?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(failed(&"its pipes are missing"));
        };
        let stdin = ChildStdin::from_std(ours.into()).map_err(|error| failed(&error))?;
        let started = broker.zip(child.id()).map(|(broker, id)| broker.start(Family::of(id, None)));
        let broker = started.transpose().map_err(|error| failed(&error))?;
        Ok(Exchange {
            child,
            group,
            _broker: broker,
            stdin,
            stdout,
            stderr,
            stderr_open: true,
            line: Vec::new(),
            method: asked.method.map(str::to_owned),
            advice: elsewhere(asked.agent),
            deadline: Instant::now() + PATIENCE,
            begun: false,
            outcome: None,
        })
    }

    /// The next piece for the person; nothing once it is over.
    pub(super) async fn output(&mut self) -> Option<Bytes> {
        if !std::mem::replace(&mut self.begun, true) {
            self.send(jsonrpc::request(INITIALIZE, INITIALIZE, &initialize())).await;
        }
        let (mut printed, mut said) = ([0; READ_BYTES], [0; READ_BYTES]);
        while self.outcome.is_none() {
            tokio::select! {
                // What it printed before its answer is told before it.
                biased;
                () = sleep_until(self.deadline) => return Some(Bytes::from(self.fail("nobody has logged in in time"))),
                read = self.stderr.read(&mut printed), if self.stderr_open => match read {
                    Ok(length @ 1..) => return Some(Bytes::copy_from_slice(&printed[..length])),
                    _ => self.stderr_open = false,
                },
                read = self.stdout.read(&mut said) => {
                    let text = match read {
                        Ok(length @ 1..) => self.take(&said[..length]).await,
                        _ => self.fail("the agent ended before the login was over"),
                    };
                    if !text.is_empty() {
                        return Some(Bytes::from(text));
                    }
                }
            }
        }
        None
    }

    /// Takes what the agent said; what of it is for the person.
    async fn take(&mut self, bytes: &[u8]) -> String {
        let mut told = String::new();
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
            } else if self.outcome.is_none() {
                let line = std::mem::take(&mut self.line);
                told.push_str(&self.answer(&jsonrpc::text(&line)).await);
            }
        }
        if self.line.len() > LINE_BYTES {
            told.push_str(&self.fail("the agent's answer is too long"));
        }
        told
    }

    async fn answer(&mut self, line: &str) -> String {
        match jsonrpc::message(line) {
            Ok(Message::Response { id: RpcId::String(id), outcome: Some(outcome) }) => match (id.as_str(), outcome) {
                (INITIALIZE, Ok(result)) => {
                    let methods = response::initialized(result).map(|(_, can)| can.auth_methods).unwrap_or_default();
                    self.authenticate(&methods).await
                }
                (AUTHENTICATE, Ok(_)) => {
                    self.outcome = Some(true);
                    String::new()
                }
                (_, Err(error)) => self.fail(&RpcError::from(error).to_string()),
                (_, Ok(_)) => String::new(),
            },
            // Nothing is served here.
            Ok(Message::Request { id, method, .. }) => {
                let refusal = jsonrpc::refusal(&id, METHOD_NOT_FOUND, &format!("{method} is not served during a login"));
                self.send(refusal).await;
                String::new()
            }
            Ok(_) => String::new(),
            // Not in the protocol, so it may be for people.
            Err(_) if line.is_empty() => String::new(),
            Err(_) => format!("{line}\n"),
        }
    }

    async fn authenticate(&mut self, methods: &[Value]) -> String {
        let method = match &self.method {
            Some(wanted) => methods.iter().find(|method| offers(std::slice::from_ref(method), wanted)),
            None => first_offered(methods),
        };
        let Some((method, id)) = method.and_then(|method| Some((method, method["id"].as_str()?))) else {
            let advice = self.advice.clone();
            return self.fail(&advice);
        };
        self.send(jsonrpc::request(AUTHENTICATE, AUTHENTICATE, &json!({ "methodId": id }))).await;
        let name = method["name"].as_str().unwrap_or(id);
        let description = method["description"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
        format!("{name}{description}\n")
    }

    async fn send(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        // One that has ended is noticed by what it no longer says.
        let _ = self.stdin.write_all(&line).await;
    }

    fn fail(&mut self, why: &str) -> String {
        self.outcome = Some(false);
        format!("{why}\n")
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        // Killing a wrapper alone would leave the real program running.
        if let (Some(group), Some(_)) = (self.group, self.child.id()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Nothing is offered to the agent: there is no session in which it could use it.
fn initialize() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {},
        "clientInfo": { "name": "voxpilot", "title": "VoxPilot", "version": env!("CARGO_PKG_VERSION") },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// An agent of a few lines of shell: what it answers to initialize, and what it does at `authenticate`.
    async fn asked(methods: &str, then: &str, method: Option<&str>) -> (String, bool) {
        let script = format!(
            "read -r line; echo 'hello there'; echo '{{\"id\":\"initialize\",\"result\":{{\"protocolVersion\":1,\"authMethods\":{methods}}}}}'\n\
             read -r line || exit 0; {then}\n"
        );
        let agent = Agent { title: "X".into(), login_command: Some("x sign-in".into()), ..Agent::default() };
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let args = vec!["-c".into(), script];
        let program = Invocation { command: "/bin/sh".into(), args, env, cwd: Some("/".into()), ..Invocation::default() };
        let asked = Asked { agent: &agent, program, method };
        let mut login = super::super::ask(asked).unwrap();
        let mut text = String::new();
        while let Some(piece) = login.output().await {
            text.push_str(&String::from_utf8_lossy(&piece));
        }
        (text, login.succeeded().await)
    }

    const METHODS: &str =
        r#"[{"type":"terminal","id":"t","name":"T"},{"id":"web","name":"Web","description":"in a browser"},{"id":"key","name":"Key"}]"#;
    const WORKS: &str = r#"echo "got $line" >&2; sleep 0.1; echo '{"id":"authenticate","result":{}}'; sleep 600"#;

    #[tokio::test]
    async fn the_agent_is_asked_and_what_it_prints_is_told() {
        let (text, worked) = asked(METHODS, WORKS, None).await;
        assert!(
            worked && text.contains("hello there") && text.contains("Web: in a browser") && text.contains(r#""methodId":"web""#),
            "{text}"
        );
        let (text, worked) = asked(METHODS, WORKS, Some("key")).await;
        assert!(worked && text.contains(r#""methodId":"key""#), "{text}");
    }

    #[tokio::test]
    async fn a_login_that_fails_says_why() {
        let refused = r#"echo '{"id":"authenticate","error":{"code":-32603,"message":"no key"}}'"#;
        assert_eq!(asked(METHODS, refused, None).await, ("hello there\nWeb: in a browser\nno key\n".to_owned(), false));
        let (text, worked) = asked(METHODS, "exit 3", None).await;
        assert!(!worked && text.ends_with("the agent ended before the login was over\n"), "{text}");
        for (methods, method) in [("[]", None), (METHODS, Some("absent"))] {
            let (text, worked) = asked(methods, WORKS, method).await;
            assert!(!worked && text.contains("run `x sign-in` in a terminal"), "{text}");
        }
        let long = "head -c 3000000 /dev/zero | tr '\\0' x; sleep 600";
        let (text, worked) = asked(METHODS, long, None).await;
        assert!(!worked && text.ends_with("the agent's answer is too long\n"), "{}", text.len());
    }
}
