//! Plays a capture back: says what the agent said, each line as soon as the client has said what came before it.
//!
//! A capture holds the parts of one or more processes. Each process that is started plays the next part; how many have been played is
//! written beside the capture. Ids of the client's are its own, so they are told by what they ask and exchanged in the answers;
//! those of the agent are as captured. Times are not kept.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use crate::wire::write;

/// One line of a capture.
struct Said {
    by_client: bool,
    message: Value,
    /// It was no JSON and is played as it stands.
    raw: bool,
}

struct Replay {
    /// What the client has said and the capture has not come to yet.
    early: Vec<Value>,
    /// The client's ids by those in the capture.
    ids: HashMap<String, Value>,
    /// Requests of the client's that are not answered yet, by their id in the capture.
    open: Vec<String>,
}

pub(crate) fn run(capture: &Path) -> ExitCode {
    let part = next_part(capture);
    let mut replay = Replay { early: Vec::new(), ids: HashMap::new(), open: Vec::new() };
    let mut exit = None;
    for said in part {
        match said {
            Line::Said(said) if said.by_client => {
                if !replay.hear(&said.message) {
                    return ExitCode::SUCCESS;
                }
            }
            Line::Said(said) => replay.say(&said),
            Line::Exit(code) => exit = Some(code),
        }
    }
    match exit {
        // It ended in the middle of its work, and does so again.
        Some(code) if !replay.open.is_empty() => ExitCode::from(code),
        _ => {
            while read().is_some() {}
            ExitCode::SUCCESS
        }
    }
}

enum Line {
    Said(Said),
    Exit(u8),
}

/// The part of the capture that is this process's to play.
fn next_part(capture: &Path) -> Vec<Line> {
    let text = fs::read_to_string(capture).expect("the capture can be read");
    let mut parts: Vec<Vec<Line>> = Vec::new();
    for line in text.lines() {
        let mut entry: Value = serde_json::from_str(line).expect("a capture has one JSON object a line");
        let message = entry["msg"].take();
        let raw = entry["raw"] == true;
        let said = match entry["dir"].as_str() {
            Some("#") if message.get("runner").is_some() => {
                parts.push(Vec::new());
                continue;
            }
            Some("#") => match message.get("exit") {
                Some(exit) => Line::Exit(exit["code"].as_u64().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
                None => continue,
            },
            dir => Line::Said(Said { by_client: dir == Some(">"), message, raw }),
        };
        if parts.is_empty() {
            parts.push(Vec::new());
        }
        parts.last_mut().expect("a part was begun").push(said);
    }
    let number = played(capture);
    assert!(number < parts.len(), "the capture holds {} processes, and all of them have been played", parts.len());
    parts.swap_remove(number)
}

/// How many processes have played a part before this one.
fn played(capture: &Path) -> usize {
    let path = capture.with_extension("played");
    let before = fs::read(&path).map(|marks| marks.len()).unwrap_or_default();
    let marked = OpenOptions::new().create(true).append(true).open(path).and_then(|mut file| file.write_all(b"."));
    marked.expect("what was played can be written beside the capture");
    before
}

fn read() -> Option<Value> {
    let mut line = String::new();
    while std::io::stdin().lock().read_line(&mut line).is_ok_and(|count| count > 0) {
        if let Ok(message) = serde_json::from_str(&line) {
            return Some(message);
        }
        line.clear();
    }
    None
}

impl Replay {
    /// Waits until the client has said what it said in the capture. `false`: it has gone.
    fn hear(&mut self, captured: &Value) -> bool {
        let live = loop {
            if let Some(at) = self.early.iter().position(|live| is_same(live, captured)) {
                break self.early.remove(at);
            }
            match read() {
                Some(message) => self.early.push(message),
                None => return false,
            }
        };
        if captured.get("method").is_some()
            && let Some(id) = captured.get("id")
        {
            self.open.push(id.to_string());
            self.ids.insert(id.to_string(), live["id"].clone());
        }
        true
    }

    fn say(&mut self, said: &Said) {
        let mut message = said.message.clone();
        let is_answer = message.get("method").is_none();
        if let Some(id) = message.get_mut("id").filter(|_| is_answer) {
            let captured = id.to_string();
            self.open.retain(|open| *open != captured);
            if let Some(live) = self.ids.get(&captured) {
                *id = live.clone();
            }
        }
        let text = if said.raw { message.as_str().unwrap_or_default().to_owned() } else { message.to_string() };
        write(&mut std::io::stdout(), format!("{text}\n").as_bytes());
    }
}

/// Whether a line of the client's is the one of the capture: it asks for the same in the same session, or answers the same request.
fn is_same(live: &Value, captured: &Value) -> bool {
    match captured.get("method") {
        Some(method) => live.get("method") == Some(method) && live["params"]["sessionId"] == captured["params"]["sessionId"],
        None => live.get("method").is_none() && live.get("id") == captured.get("id"),
    }
}
