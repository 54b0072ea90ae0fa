//! Captures of Codex 0.166.0, fed through the decoder line by line. What comes out is kept as a snapshot, one a capture.
//! `INSTA_UPDATE=always cargo test --test app_server` writes the snapshots anew.
//!
//! The captures are cut down: short threads, no times, the ids of requests in our own form.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agents::Signal;
use agents::acp::decoder::Decoded;
use agents::codex::decoder::Decoder;
use domain::agent::Update;
use serde_json::Value;

use crate::captures::{self, entries, name};
use crate::tell::Names;

#[test]
fn captures_of_codex_are_understood() {
    let captures = captures();
    assert_eq!(captures.len(), 29);
    for capture in captures {
        insta::assert_snapshot!(name(&capture), replay(&capture));
    }
}

/// What a message says in the end is what was told of it, and nothing of it twice.
#[test]
fn every_message_is_told_once_and_whole() {
    let mut messages = 0;
    // Over a socket that was lost meanwhile, pieces are missing; our journal misses none.
    for capture in captures().into_iter().filter(|capture| name(capture) != "x14-ws-reconnect") {
        let mut decoders = HashMap::new();
        let mut told: HashMap<String, String> = HashMap::new();
        for entry in entries(&capture) {
            let signals = step(&mut decoders, &entry);
            let text: String = signals.iter().filter_map(text).collect();
            let params = &entry["msg"]["params"];
            match entry["msg"]["method"].as_str() {
                Some("item/agentMessage/delta") => told.entry(params["itemId"].to_string()).or_default().push_str(&text),
                Some("item/completed") if params["item"]["type"] == "agentMessage" => {
                    messages += 1;
                    let whole = told.remove(&params["item"]["id"].to_string()).unwrap_or_default() + &text;
                    assert_eq!(whole.trim_start(), params["item"]["text"].as_str().unwrap().trim_start(), "{}", name(&capture));
                }
                _ => assert_eq!(text, "", "{}", name(&capture)),
            }
        }
    }
    assert!(messages > 30, "{messages}");
}

/// Nothing of what the tested version says is new to us.
#[test]
fn nothing_is_left_unknown() {
    for capture in captures() {
        let mut decoders = HashMap::new();
        for entry in entries(&capture) {
            for signal in step(&mut decoders, &entry) {
                let unknown = matches!(
                    &signal,
                    Signal::Update { update: Update::Unknown { .. }, .. } | Signal::Other { .. } | Signal::BadLine { .. }
                );
                assert!(!unknown, "{}: {signal:?}", name(&capture));
            }
        }
    }
}

fn text(signal: &Signal) -> Option<&str> {
    match signal {
        Signal::Text { text, .. } => Some(text),
        _ => None,
    }
}

fn captures() -> Vec<PathBuf> {
    captures::all_in("app_server/transcripts")
}

/// One decoder for every connection of a capture, and a new one where the program is started anew.
fn step(decoders: &mut HashMap<String, Decoder>, entry: &Value) -> Vec<Signal> {
    let decoder = decoders.entry(entry["conn"].to_string()).or_default();
    let (line, mut decoded) = (entry["msg"].to_string(), Decoded::default());
    if entry["dir"] == "<" {
        decoder.from_agent(0, line.as_bytes(), &mut decoded);
    } else {
        if entry["msg"]["method"] == "initialize" {
            *decoder = Decoder::default();
        }
        decoder.to_agent(line.as_bytes());
    }
    decoded.take_signals()
}

fn replay(capture: &Path) -> String {
    let (mut told, mut names, mut decoders) = (String::new(), Names::default(), HashMap::new());
    for entry in entries(capture) {
        if entry["dir"] == ">" {
            let what = entry["msg"]["method"].as_str().unwrap_or("(answer)");
            writeln!(told, "> {what} {}", entry["msg"]["id"]).unwrap();
        }
        for signal in step(&mut decoders, &entry) {
            writeln!(told, "{}", names.tell(&signal)).unwrap();
        }
    }
    told
}
