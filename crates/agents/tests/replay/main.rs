//! Captures of real agents, fed through the decoder line by line. What comes out is kept as a snapshot, one a capture, and every
//! update is accounted for. `INSTA_UPDATE=always cargo test -p agents --test replay` writes the snapshots anew.
//!
//! The captures are cut down: few commands and options, no times, the ids of requests in our own form.
#![allow(clippy::unwrap_used)]

mod account;
mod captures;
mod tell;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agents::Signal;
use agents::acp::decoder::{Decoded, Decoder};
use agents::catalogue::{COPILOT, Catalogue, Quirks, Settings};
use domain::agent::Update;
use serde_json::Value;

use captures::{entries, name};
use tell::Names;

#[test]
fn captures_of_real_agents_are_understood() {
    let captures = captures();
    assert_eq!(captures.len(), 91);
    for capture in captures {
        insta::assert_snapshot!(name(&capture), replay(&capture));
    }
}

/// Holds S4-28, S2-31.
#[test]
fn no_update_of_a_capture_is_lost_or_misread() {
    let mut updates = 0;
    for capture in captures() {
        let mut decoders = Decoders::of(&capture);
        let check = |params: &Value, signals: &[Signal]| {
            account::check(params, signals).unwrap_or_else(|lost| panic!("{}: {lost}\n{params}", name(&capture)));
        };
        // A chunk of which only the next line tells whose words it is.
        let mut held: Option<Value> = None;
        for entry in entries(&capture) {
            let Some(decoder) = decoders.take(&entry) else { continue };
            let mut decoded = Decoded::default();
            decoder.from_agent(0, entry["msg"].to_string().as_bytes(), &mut decoded);
            let mut signals = decoded.take_signals();
            // What was used may be told before it.
            let tells_held = |signal: &Signal| !matches!(signal, Signal::Update { update: Update::Usage { .. }, .. });
            if signals.first().is_some_and(tells_held)
                && let Some(held) = held.take()
            {
                check(&held, &signals[..1]);
                signals.remove(0);
            }
            let params = &entry["msg"]["params"];
            let begins = |text: &str| ["Error: ", r#"{"error""#, "Ran into this error:"].iter().any(|doubt| text.starts_with(doubt));
            let in_doubt = params["update"]["content"]["text"].as_str().is_some_and(begins);
            if entry["msg"]["method"] == "session/update" {
                updates += 1;
                match signals.is_empty() && in_doubt {
                    true => held = Some(params.clone()),
                    false => check(params, &signals),
                }
            }
        }
        assert_eq!(held, None, "{}", name(&capture));
    }
    assert!(updates > 3000, "{updates}");
}

fn captures() -> Vec<PathBuf> {
    captures::all_in("transcripts")
}

/// One decoder for every connection of a capture, and a new one where an agent is started anew.
struct Decoders {
    by_connection: HashMap<String, Decoder>,
    quirks: Quirks,
}

impl Decoders {
    fn of(capture: &Path) -> Decoders {
        Decoders { by_connection: HashMap::new(), quirks: quirks_of(agent(name(capture))) }
    }

    /// Takes a line of ours; gives the decoder for a line of the agent's.
    fn take(&mut self, entry: &Value) -> Option<&mut Decoder> {
        let quirks = self.quirks;
        let fresh = || Decoder::default().with_quirks(quirks);
        let decoder = self.by_connection.entry(entry["conn"].to_string()).or_insert_with(fresh);
        match entry["dir"].as_str().unwrap() {
            "<" => Some(decoder),
            ">" => {
                if entry["msg"]["method"] == "initialize" {
                    *decoder = fresh();
                }
                decoder.to_agent(entry["msg"].to_string().as_bytes());
                None
            }
            _ => None,
        }
    }
}

/// All captures are of Copilot, but for those that are named after another agent.
fn agent(capture: &str) -> &str {
    match capture.strip_prefix("z-") {
        Some("codexacp") => "codex-acp",
        Some(other) => other,
        None => COPILOT,
    }
}

fn quirks_of(agent: &str) -> Quirks {
    let settings = Settings {
        copilot_command: "copilot".into(),
        copilot_home: None,
        copilot_token_file: None,
        own_exe: "x".into(),
        configured: vec![],
    };
    Catalogue::new(settings).get(agent).unwrap().quirks
}

fn replay(capture: &Path) -> String {
    let mut told = String::new();
    let mut names = Names::default();
    let mut decoders = Decoders::of(capture);
    let mut decoded = Decoded::default();
    for entry in entries(capture) {
        if let Some(decoder) = decoders.take(&entry) {
            decoder.from_agent(0, entry["msg"].to_string().as_bytes(), &mut decoded);
        } else if entry["dir"] == ">" {
            // Signals are told up to here, so that a capture's turns can be told apart.
            tell_all(&mut decoded, &mut names, &mut told);
            let what = entry["msg"]["method"].as_str().unwrap_or("(answer)");
            writeln!(told, "> {what} {}", entry["msg"]["id"]).unwrap();
        }
    }
    tell_all(&mut decoded, &mut names, &mut told);
    told
}

fn tell_all(decoded: &mut Decoded, names: &mut Names, told: &mut String) {
    for signal in decoded.take_signals() {
        writeln!(told, "{}", names.tell(&signal)).unwrap();
    }
}
