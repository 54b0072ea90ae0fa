//! What the machine can do without VoxPilot: the same agents, or the same model, copied by a bare loop to sockets, with the same
//! checks at the end. No journal, no JSON, no database.

pub(crate) mod sqlite;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use testkit::faulty_agent::fast_agent_path;

use crate::audience::{Audience, Seat, Watched};
use crate::chunks::Asked;
use crate::figures::thread_cpu;

const COPY_BYTES: usize = 64 * 1024;
const AGENT_TEXT: &[u8] = b"\"text\":\"";
const MODEL_TEXT: &[u8] = b"\"content\":\"";

pub(crate) struct Copied {
    /// From the first prompt to the last chunk at the last client.
    pub took: Duration,
    pub watched: Watched,
    /// Processor time of all the loops.
    pub cpu: Duration,
}

/// So many agents answer `prompt`, each copied by a loop of its own to so many sockets.
pub(crate) fn agents(agents: usize, sockets_each: usize, prompt: &str, asked: Asked) -> anyhow::Result<Copied> {
    let mut agents = (0..agents).map(|_| Agent::start()).collect::<anyhow::Result<Vec<_>>>()?;
    let (mut loops, mut seats) = (Vec::new(), Vec::new());
    for agent in &mut agents {
        let (sockets, clients) = connect(sockets_each)?;
        seats.extend(clients.into_iter().map(|client| Seat::bare(client, AGENT_TEXT, asked)));
        let output = agent.output.take().context("the agent's output was taken already")?;
        loops.push(thread::spawn(move || copy(output.into_inner(), sockets)));
    }
    let begun = Instant::now();
    for agent in &mut agents {
        agent.ask(3, "session/prompt", &json!({ "sessionId": agent.session, "prompt": [{ "type": "text", "text": prompt }] }))?;
    }
    let watched = Audience::new(seats).watch(|_, _| {})?;
    for agent in &mut agents {
        agent.end()?;
    }
    Ok(Copied { took: watched.last_chunk - begun, watched, cpu: join(loops)? })
}

/// The model at `base_url` answers `prompt`, copied to one socket.
pub(crate) fn model(base_url: &str, prompt: &str, asked: Asked) -> anyhow::Result<Copied> {
    let (address, path) = base_url.strip_prefix("http://").and_then(|url| url.split_once('/')).context("not the URL of a model")?;
    let mut upstream = TcpStream::connect(address)?;
    let (sockets, mut clients) = connect(1)?;
    let seat = Seat::bare(clients.pop().context("one socket was made")?, MODEL_TEXT, asked);
    let body = json!({ "model": "main", "stream": true, "messages": [{ "role": "user", "content": prompt }] }).to_string();
    let length = body.len();
    let request =
        format!("POST /{path}/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    let begun = Instant::now();
    upstream.write_all(request.as_bytes())?;
    let copying = thread::spawn({
        let upstream = upstream.try_clone()?;
        move || copy(upstream, sockets)
    });
    let watched = Audience::new(vec![seat]).watch(|_, _| {})?;
    upstream.shutdown(std::net::Shutdown::Both)?;
    Ok(Copied { took: watched.last_chunk - begun, watched, cpu: join(vec![copying])? })
}

/// Connected pairs: where a loop writes, and where a client reads.
fn connect(count: usize) -> anyhow::Result<(Vec<TcpStream>, Vec<TcpStream>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut pairs = (Vec::new(), Vec::new());
    for _ in 0..count {
        pairs.1.push(TcpStream::connect(listener.local_addr()?)?);
        let (socket, _) = listener.accept()?;
        socket.set_nodelay(true)?;
        pairs.0.push(socket);
    }
    Ok(pairs)
}

/// Ends with its source, or when nobody reads any more; gives the processor time that it took.
fn copy(mut source: impl Read, mut sockets: Vec<TcpStream>) -> Duration {
    let mut buffer = vec![0; COPY_BYTES];
    while let Ok(length @ 1..) = source.read(&mut buffer) {
        if sockets.iter_mut().any(|socket| socket.write_all(&buffer[..length]).is_err()) {
            break;
        }
    }
    thread_cpu()
}

fn join(loops: Vec<JoinHandle<Duration>>) -> anyhow::Result<Duration> {
    let ended = loops.into_iter().map(|copying| copying.join().map_err(|_| anyhow::anyhow!("a bare loop failed")));
    ended.sum()
}

struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
    session: String,
}

impl Agent {
    fn start() -> anyhow::Result<Agent> {
        let mut child = Command::new(fast_agent_path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let mut agent = Agent { child, input, output, session: String::new() };
        agent.ask(1, "initialize", &json!({ "protocolVersion": 1 }))?;
        agent.answer()?;
        agent.ask(2, "session/new", &json!({ "cwd": "/", "mcpServers": [] }))?;
        agent.session = agent.answer()?["result"]["sessionId"].as_str().context("the agent opened no session")?.to_owned();
        Ok(agent)
    }

    fn ask(&mut self, id: u32, method: &str, params: &Value) -> anyhow::Result<()> {
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let input = self.input.as_mut().context("the agent's input is closed")?;
        Ok(input.write_all(format!("{line}\n").as_bytes())?)
    }

    fn answer(&mut self) -> anyhow::Result<Value> {
        let mut line = String::new();
        self.output.as_mut().context("the agent's output is being copied")?.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        self.input = None;
        let status = self.child.wait()?;
        ensure!(status.success(), "the agent ended with {status}");
        Ok(())
    }
}
