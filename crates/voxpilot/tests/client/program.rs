//! A command of ours as a process, run to its end or read line by line.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;
use testkit::server::{Rig, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};
use tokio::time::timeout;

use crate::SOON;

/// How a command ended and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Its output as lines of JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self:?}"))).collect()
    }
}

pub(crate) async fn run(server: &Server, args: &[&str]) -> Ended {
    run_with(server.rig(), args, &[], "").await
}

pub(crate) async fn run_with(rig: &Rig, args: &[&str], env: &[(&str, &str)], input: &str) -> Ended {
    let mut child = rig.command(args).envs(env.iter().copied()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let output = timeout(SOON, child.wait_with_output()).await.expect("the command ends in time").unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs a command on a terminal of its own, where `input` is typed, and gives everything that the terminal showed.
pub(crate) async fn on_terminal(server: &Server, args: &[&str], input: &str) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let screen = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let keyboard = screen.try_clone().unwrap();
    let mut child = server.rig().command(args).stdin(keyboard).stdout(screen).stderr(Stdio::null()).spawn().unwrap();
    let mut terminal = File::from(master);
    terminal.write_all(input.as_bytes()).unwrap();
    let shown = tokio::task::spawn_blocking(move || {
        let mut shown = Vec::new();
        // A terminal that nobody uses any more is read with an error.
        let _ = terminal.read_to_end(&mut shown);
        String::from_utf8_lossy(&shown).into_owned()
    });
    let ended = timeout(SOON, child.wait()).await.expect("the command ends in time").unwrap();
    assert!(ended.success(), "{ended}");
    shown.await.unwrap()
}

/// A command that goes on.
pub(crate) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// What it has printed so far.
    pub seen: Vec<Value>,
}

impl Running {
    pub(crate) fn start(server: &Server, args: &[&str]) -> Running {
        let mut child = server.rig().command(args).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running { child, lines, seen: Vec::new() }
    }

    /// Reads until an event fits.
    pub(crate) async fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let found = timeout(SOON, async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                let event: Value = serde_json::from_str(&line).unwrap();
                self.seen.push(event.clone());
                if fits(&event) {
                    return Some(event);
                }
            }
            None
        });
        let found = found.await.ok().flatten();
        found.unwrap_or_else(|| panic!("no {what}; seen: {:#?}", self.seen))
    }

    pub(crate) async fn until_turn(&mut self, state: &str) -> Value {
        self.until(&format!("turn {state}"), |event| event["event"] == "turn" && event["data"]["state"] == state).await
    }

    /// Reads to the end and gives the exit code.
    pub(crate) async fn end(&mut self) -> i32 {
        let ended = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                self.seen.push(serde_json::from_str(&line).unwrap());
            }
            self.child.wait().await.unwrap().code().unwrap()
        };
        timeout(SOON, ended).await.expect("the command ends in time")
    }
}

/// The agent's text, put together from its pieces, each of which must continue the one before; and every event came once.
pub(crate) fn told(seen: &[Value]) -> String {
    let ids: Vec<u64> = seen.iter().filter(|event| event["event"] != "ready").filter_map(|event| event["id"].as_u64()).collect();
    assert!(!ids.is_empty(), "no event has a number: {seen:#?}");
    assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "lost or doubled: {ids:?}");
    let mut text = String::new();
    for delta in seen.iter().filter(|event| event["event"] == "copilot-delta") {
        assert_eq!(delta["data"]["offset"].as_u64().unwrap() as usize, text.encode_utf16().count(), "{delta}");
        text.push_str(delta["data"]["content"].as_str().unwrap());
    }
    text
}
