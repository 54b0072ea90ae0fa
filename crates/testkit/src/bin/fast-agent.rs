//! An ACP agent that does nothing but stream, for the benchmarks.
//!
//! `flood N SIZE` writes N chunks of SIZE bytes of text as fast as it can; `paced N SIZE MICROS` writes one every MICROS
//! microseconds and flushes each. Every chunk carries its number and the moment at which it was written ([`testkit::stamped`]),
//! so that a reader can tell whether it is there, in its place, and how long it was under way.

use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::stamped::ChunkLine;
use uuid::Uuid;

/// Whole lines are gathered up to this before they are written.
const BLOCK_BYTES: usize = 1 << 18;

type Out = Arc<Mutex<std::io::Stdout>>;

fn main() {
    let out: Out = Arc::new(Mutex::new(std::io::stdout()));
    let mut lines = std::io::stdin().lock();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        if let Ok(message) = serde_json::from_slice::<Value>(&line) {
            receive(&out, &message);
        }
        line.clear();
    }
}

fn receive(out: &Out, message: &Value) {
    let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else {
        return;
    };
    let params = &message["params"];
    match method {
        "initialize" => respond(out, id, &json!({ "protocolVersion": 1, "agentCapabilities": {}, "authMethods": [] })),
        "session/new" => respond(out, id, &json!({ "sessionId": Uuid::new_v4().to_string() })),
        "session/prompt" => {
            let (out, id) = (Arc::clone(out), id.clone());
            let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
            let text = params["prompt"][0]["text"].as_str().unwrap_or_default().to_owned();
            // Not joined: several sessions stream side by side, and the end of the process ends them.
            thread::spawn(move || {
                prompt(&out, &session, &text);
                respond(&out, &id, &json!({ "stopReason": "end_turn" }));
            });
        }
        _ => {
            let error = json!({ "code": -32601, "message": format!("method not found: {method}") });
            write(out, format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "error": error })).as_bytes());
        }
    }
}

fn prompt(out: &Out, session: &str, text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |at: usize, default: u64| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(default);
    let (count, size) = (number(1, 1000), number(2, 64));
    let line = chunk_line(session, usize::try_from(size).unwrap_or(64));
    match words.first() {
        Some(&"paced") => paced(out, &line, count, Duration::from_micros(number(3, 1000))),
        _ => flood(out, &line, count),
    }
}

fn flood(out: &Out, line: &ChunkLine, count: u64) {
    let mut block = Vec::with_capacity(BLOCK_BYTES + line.bytes());
    for number in 0..count {
        line.append(&mut block, number);
        if block.len() >= BLOCK_BYTES {
            write(out, &block);
            block.clear();
        }
    }
    write(out, &block);
}

#[allow(clippy::disallowed_methods, reason = "the passing of time is what is wanted here")]
fn paced(out: &Out, line: &ChunkLine, count: u64, every: Duration) {
    let mut buffer = Vec::with_capacity(line.bytes());
    let mut due = Instant::now();
    for number in 0..count {
        due += every;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        buffer.clear();
        line.append(&mut buffer, number);
        write(out, &buffer);
    }
}

fn chunk_line(session: &str, size: usize) -> ChunkLine {
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": "@" } });
    let params = json!({ "sessionId": session, "update": update });
    let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string();
    let (before, after) = line.rsplit_once('@').expect("the mark was just put there");
    ChunkLine::new(before, size, &format!("{after}\n"))
}

fn respond(out: &Out, id: &Value, result: &Value) {
    write(out, format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "result": result })).as_bytes());
}

/// A client that has gone away ends us through our stdin.
fn write(out: &Out, bytes: &[u8]) {
    let mut out = out.lock().expect("nobody panics while writing");
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}
