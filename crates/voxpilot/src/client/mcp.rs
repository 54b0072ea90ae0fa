//! `voxpilot mcp`: carries the messages of an MCP client on stdio to the server's `/mcp`, and the answers back. It knows no tool: what they
//! do is the server's affair alone, and a server that was started again in between is simply the next one that is asked.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use reqwest::Response;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::address::Address;
use super::http::{Api, CallError};
use crate::say::say;

/// A line of the client's; the server takes less in a body.
const LINE_MAX: usize = 4 * 1024 * 1024;
/// How much may be under way at once; a client with more waits.
const CALLS_MAX: usize = 64;
/// For what is still under way when the client has closed its end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

const ANSWER: &str = "answer";
const PRINT_TOKEN: &str = "print-token";
const PROTOCOL_VERSION: &str = "mcp-protocol-version";

pub(super) fn arguments(command: Command) -> Command {
    let answer = Arg::new(ANSWER).long(ANSWER).action(ArgAction::SetTrue);
    let print = Arg::new(PRINT_TOKEN).long(PRINT_TOKEN).action(ArgAction::SetTrue).conflicts_with(ANSWER);
    command
        .arg(answer.help("let the program also answer requests that wait for a person (never for an agent that VoxPilot drives)"))
        .arg(print.help("print a token for a program that connects to the server's /mcp itself; it can't answer requests"))
}

pub(super) async fn run(address: Address, matches: &ArgMatches) -> Result<ExitCode> {
    let address = if matches.get_flag(ANSWER) {
        if is_below_a_runner() {
            bail!("an agent that VoxPilot drives may not answer what agents ask: start it without --{ANSWER}");
        }
        address
    } else {
        address.as_agent()
    };
    if matches.get_flag(PRINT_TOKEN) {
        say(format_args!("{}", address.token()));
        return Ok(ExitCode::SUCCESS);
    }
    let api = Api::new(address)?;
    // Whoever starts this is to learn at once that there is no server, or that it does not take the token.
    api.mcp(HeaderMap::new(), json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" }).to_string()).await?;
    Bridge { api, calls: Arc::default(), version: Arc::default() }.run().await?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone)]
struct Bridge {
    api: Api,
    /// What is under way, by the id of the client's request.
    calls: Arc<Mutex<HashMap<String, AbortHandle>>>,
    /// What client and server have agreed on, once they have.
    version: Arc<Mutex<Option<String>>>,
}

impl Bridge {
    async fn run(&self) -> Result<()> {
        let (out, mut lines) = mpsc::channel::<String>(CALLS_MAX);
        let mut writing = JoinSet::new();
        let mut stdout = file(std::io::stdout())?;
        writing.spawn(async move {
            while let Some(line) = lines.recv().await {
                stdout.write_all(format!("{line}\n").as_bytes()).await?;
                stdout.flush().await?;
            }
            Ok::<_, std::io::Error>(())
        });
        let mut calls = JoinSet::new();
        let mut stdin = BufReader::new(file(std::io::stdin())?);
        loop {
            let line = tokio::select! {
                line = next_line(&mut stdin) => line.context("reading from the client")?,
                // Nobody reads the answers any more.
                _ = writing.join_next() => return Ok(()),
            };
            match line {
                None => break,
                Some(Line::Whole(line)) if line.trim().is_empty() => {}
                Some(Line::Whole(line)) => self.take(line, &out, &mut calls).await,
                Some(Line::TooLong) => {
                    let _ = out.send(error(Value::Null, -32600, format!("a message may have {LINE_MAX} bytes"))).await;
                }
            }
        }
        drop(out);
        let ended = async { while calls.join_next().await.is_some() {} };
        let _late = tokio::time::timeout(LAST_ANSWERS, ended).await;
        calls.shutdown().await;
        while writing.join_next().await.is_some() {}
        Ok(())
    }

    async fn take(&self, line: String, out: &mpsc::Sender<String>, calls: &mut JoinSet<()>) {
        let message: Value = match serde_json::from_str(&line) {
            Ok(message @ Value::Object(_)) => message,
            _ => {
                let _ = out.send(error(Value::Null, -32700, "this is no JSON-RPC message".to_owned())).await;
                return;
            }
        };
        // The server hears of it by the end of the connection: each of its requests stands alone.
        if message["method"] == "notifications/cancelled" {
            if let Some(call) = self.calls().remove(&message["params"]["requestId"].to_string()) {
                call.abort();
            }
            return;
        }
        while calls.try_join_next().is_some() {}
        if calls.len() >= CALLS_MAX {
            calls.join_next().await;
        }
        let (bridge, out) = (self.clone(), out.clone());
        let id = message["id"].clone();
        let key = id.to_string();
        let started = calls.spawn(async move {
            bridge.carry(message, line, &out).await;
            bridge.calls().remove(&key);
        });
        if !id.is_null() && !started.is_finished() {
            self.calls().insert(id.to_string(), started);
        }
    }

    /// Asks the server and passes on whatever it says, to the last line.
    async fn carry(&self, message: Value, line: String, out: &mpsc::Sender<String>) {
        let id = message["id"].clone();
        let failed = match self.api.mcp(self.headers(&message), line).await {
            Ok(response) => self.pass_on(response, out).await.err(),
            Err(error) => Some(told(&error)),
        };
        if let Some(failed) = failed
            && !id.is_null()
        {
            let _ = out.send(error(id, -32000, failed)).await;
        }
    }

    async fn pass_on(&self, mut response: Response, out: &mpsc::Sender<String>) -> Result<(), String> {
        let is = |kind: &str| {
            response.headers().get("content-type").and_then(|value| value.to_str().ok()).is_some_and(|value| value.starts_with(kind))
        };
        if is("text/event-stream") {
            let mut buffer = Vec::new();
            let mut answered = false;
            while let Ok(Some(piece)) = response.chunk().await {
                buffer.extend_from_slice(&piece);
                while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = buffer.drain(..=end).collect();
                    if let Some(data) = String::from_utf8_lossy(&line).strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty())
                    {
                        answered |= self.note(data);
                        let _ = out.send(data.to_owned()).await;
                    }
                }
            }
            return if answered { Ok(()) } else { Err(GONE.to_owned()) };
        }
        let (status, is_json) = (response.status(), is("application/json"));
        let text = response.text().await.map_err(|_| GONE.to_owned())?;
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        if is_json && body["jsonrpc"] == "2.0" {
            self.note(&text);
            let _ = out.send(body.to_string()).await;
        } else if !status.is_success() {
            let why = body["error"]["message"].as_str().unwrap_or(&text);
            return Err(format!("the server refused ({status}): {why}"));
        }
        Ok(())
    }

    /// Remembers the version that was agreed on. True where this is the answer itself.
    fn note(&self, data: &str) -> bool {
        let message: Value = serde_json::from_str(data).unwrap_or_default();
        if let (Some(version), true) = (message["result"]["protocolVersion"].as_str(), message["result"]["serverInfo"].is_object()) {
            *self.version.lock().unwrap_or_else(PoisonError::into_inner) = Some(version.to_owned());
        }
        message["method"].is_null() && !message["id"].is_null()
    }

    /// What HTTP wants to have said outside of the message.
    fn headers(&self, message: &Value) -> HeaderMap {
        let said = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str().map(str::to_owned);
        let agreed = || self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let version = if message["method"] == "initialize" { None } else { said.or_else(agreed) };
        let pairs = [
            (PROTOCOL_VERSION, version),
            ("mcp-method", message["method"].as_str().map(str::to_owned)),
            ("mcp-name", message["params"]["name"].as_str().map(str::to_owned)),
        ];
        let pairs =
            pairs.into_iter().filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(&value?).ok()?)));
        pairs.collect()
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Line {
    Whole(String),
    TooLong,
}

/// `None` at the end. What is too long is read over, and costs no more than it may.
async fn next_line(stdin: &mut BufReader<File>) -> std::io::Result<Option<Line>> {
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        let read = (&mut *stdin).take(LINE_MAX as u64).read_until(b'\n', &mut line).await?;
        if read == 0 || line.last() == Some(&b'\n') {
            break;
        }
        if line.len() >= LINE_MAX {
            too_long = true;
            line.clear();
        }
    }
    Ok(match (too_long, line.is_empty()) {
        (true, _) => Some(Line::TooLong),
        (false, true) => None,
        (false, false) => Some(Line::Whole(String::from_utf8_lossy(&line).into_owned())),
    })
}

fn file(stream: impl AsFd) -> Result<File> {
    let own = stream.as_fd().try_clone_to_owned().context("opening stdin and stdout")?;
    Ok(File::from_std(own.into()))
}

const GONE: &str = "the server went away in the middle. What was handed out goes on when it is back: `list_sessions` shows its job_id, and the same \
                    `delegate` with the same client_id gives the same job";

fn told(error: &CallError) -> String {
    match error {
        CallError::Away { source, .. } if !source.is_connect() => GONE.to_owned(),
        other => other.to_string(),
    }
}

fn error(id: Value, code: i32, message: String) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

/// Whether a runner of ours has started us, directly or not: then we belong to an agent that VoxPilot drives. Guards against a
/// configuration that means no harm; an agent that means it is held by its sandbox.
fn is_below_a_runner() -> bool {
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let is_runner = |pid: u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let program = words.next().unwrap_or_default().into_owned();
        Path::new(&program).file_name().is_some_and(|name| name == "voxpilot") && words.next().is_some_and(|word| word == "runner")
    };
    std::iter::successors(parent(std::process::id()), |pid| parent(*pid)).take_while(|pid| *pid > 1).take(256).any(is_runner)
}
