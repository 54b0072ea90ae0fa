//! What the machine can do: the same agent, its output copied by a bare loop from the pipe to a socket, the same checks at the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use testkit::faulty_agent::fast_agent_path;

use crate::chunks::{Chunks, Sent, now_ns};

const COPY_BYTES: usize = 64 * 1024;
const READ_BYTES: usize = 256 * 1024;

/// Has the agent answer `prompt`; gives the time from the prompt to the last chunk, and the checked chunks.
pub(crate) fn run(prompt: &str, sent: Sent, size: usize) -> anyhow::Result<(Duration, Chunks)> {
    let mut agent = Agent::start()?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (socket, _) = listener.accept()?;
    socket.set_nodelay(true)?;
    let output = agent.output.take().context("the agent's output was taken already")?;
    let copying = thread::spawn(move || copy(output, socket));
    let begun = Instant::now();
    agent.ask(3, "session/prompt", &json!({ "sessionId": agent.session, "prompt": [{ "type": "text", "text": prompt }] }))?;
    let chunks = read(&mut client, Chunks::new(sent, size))?;
    let took = begun.elapsed();
    agent.end()?;
    drop(client);
    let _ = copying.join();
    Ok((took, chunks))
}

/// Ends with the agent, or when nobody reads any more.
fn copy(mut output: BufReader<ChildStdout>, mut socket: TcpStream) {
    let mut buffer = vec![0; COPY_BYTES];
    while let Ok(length @ 1..) = output.get_mut().read(&mut buffer) {
        if socket.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}

fn read(client: &mut TcpStream, mut chunks: Chunks) -> anyhow::Result<Chunks> {
    const TEXT: &[u8] = b"\"text\":\"";
    let mut input = vec![0; READ_BYTES];
    let mut kept: Vec<u8> = Vec::new();
    while !chunks.are_complete() {
        let length = client.read(&mut input)?;
        let now_ns = now_ns();
        ensure!(length > 0, "chunks were lost: only {} came", chunks.count);
        kept.extend_from_slice(&input[..length]);
        let mut start = 0;
        while let Some(end) = kept[start..].iter().position(|byte| *byte == b'\n') {
            let line = &kept[start..start + end];
            start += end + 1;
            let Some(at) = line.windows(TEXT.len()).position(|window| window == TEXT) else { continue };
            let text = &line[at + TEXT.len()..];
            let length = text.iter().position(|byte| *byte == b'"').context("a text without an end")?;
            chunks.take(&text[..length], now_ns)?;
        }
        kept.drain(..start);
    }
    Ok(chunks)
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
