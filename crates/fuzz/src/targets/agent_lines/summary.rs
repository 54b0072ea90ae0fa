//! What signals come to, whichever way they were batched.

use std::collections::BTreeMap;
use std::fmt::Debug;

use agents::{Part, Signal};
use domain::agent::{Demand, Place, Update};

use crate::features::Features;

#[derive(Default, PartialEq, Debug)]
pub(super) struct Summary {
    /// By agent session, what is live and what is repeated.
    text: BTreeMap<String, String>,
    replayed: BTreeMap<String, String>,
    /// The last state of each tool call, and what it printed, by session and call.
    calls: BTreeMap<(String, String), String>,
    printed: BTreeMap<(String, String), String>,
    /// Each with what identifies it, in order.
    demands: Vec<(Place, String)>,
    ends: Vec<String>,
    others: Vec<String>,
    /// Updates that are not joined, in order.
    updates: Vec<String>,
    pub bad_lines: u64,
    kinds: Vec<String>,
    bytes: usize,
}

impl Summary {
    pub(super) fn of(signals: &[Signal]) -> Summary {
        let mut summary = Summary::default();
        let mut offsets: BTreeMap<(String, String), u64> = BTreeMap::new();
        for signal in signals {
            match signal {
                Signal::Text { agent_session, text } => {
                    assert!(!text.is_empty(), "a signal with an empty text");
                    summary.text.entry(agent_session.to_string()).or_default().push_str(text);
                    summary.count("text", text.len());
                }
                Signal::Update { agent_session, update } => summary.update(agent_session, update, false, &mut offsets),
                Signal::Replay { agent_session, part } => match part {
                    Part::Text(text) => {
                        summary.replayed.entry(agent_session.to_string()).or_default().push_str(text);
                        summary.count("replay", text.len());
                    }
                    Part::Update(update) => summary.update(agent_session, update, true, &mut offsets),
                },
                Signal::Demand { agent_session, place, rpc_id, demand } => {
                    summary.demands.push((*place, format!("{agent_session} {rpc_id} {demand:?}")));
                    summary.count(kind_of(demand), demand_bytes(demand));
                }
                Signal::PromptEnded { call_id, result } => {
                    summary.ends.push(format!("{call_id} {result:?}"));
                    summary.count(if result.is_ok() { "ended" } else { "failed" }, 0);
                }
                Signal::BadLine { count, text, .. } => {
                    summary.bad_lines += count;
                    summary.count("bad", text.len());
                }
                other => {
                    let shown = format!("{other:?}");
                    summary.count("other", shown.len());
                    summary.others.push(shown);
                }
            }
        }
        summary
    }

    fn update(&mut self, session: &str, update: &Update, replayed: bool, offsets: &mut BTreeMap<(String, String), u64>) {
        let bytes = serde_json::to_vec(update).map(|json| json.len()).unwrap_or_default();
        match update {
            Update::ToolCall(call) => {
                self.calls.insert((session.to_owned(), call.id.clone()), format!("{call:?}"));
                self.count(if call.is_open() { "open call" } else { "call" }, bytes);
            }
            Update::ToolOutput { id, offset, content } => {
                let place = (session.to_owned(), id.clone());
                let expected = offsets.entry(place.clone()).or_default();
                // A call that is reported anew when a session is loaded starts over.
                assert!(*offset == *expected || *offset == 0, "output of {id} goes on at {offset}, not at {expected}");
                *expected = offset + content.encode_utf16().count() as u64;
                self.printed.entry(place).or_default().push_str(content);
                self.count("output", bytes);
            }
            Update::Thought { text } => {
                self.printed.entry((session.to_owned(), "a thought".to_owned())).or_default().push_str(text);
                self.count("thought", bytes);
            }
            other => {
                self.updates.push(format!("{session} {replayed} {other:?}"));
                self.count(&name(other), bytes);
            }
        }
    }

    fn count(&mut self, kind: &str, bytes: usize) {
        if self.kinds.last().is_none_or(|last| last != kind) {
            self.kinds.push(kind.to_owned());
        }
        self.bytes += bytes;
    }

    /// What holds for every summary.
    pub(super) fn hold(&self, input: &[u8]) {
        // A permission and each report of a tool call say again what is known of the call, so a large call costs as much each time.
        let bound = 64 * input.len() + 64 * 1024;
        assert!(self.bytes <= bound, "{} bytes of input became {} bytes of signals", input.len(), self.bytes);
        let places = self.demands.iter().map(|(place, _)| (place.seq, place.index));
        assert!(places.is_sorted_by(|one, next| one < next), "two demands have one place, or are out of order");
    }

    pub(super) fn note(&self, features: &mut Features) {
        self.kinds.iter().for_each(|kind| features.note(kind));
        features.note_size("text", self.text.len());
        features.note_size("demands", self.demands.len());
        features.note_size("bad", usize::try_from(self.bad_lines).unwrap_or(usize::MAX));
    }

    pub(super) fn same_as(&self, other: &Summary, broken: &str) {
        fn same<T: PartialEq + Debug>(one: &T, other: &T, what: &str, broken: &str) {
            assert!(one == other, "{broken}: {what}: {one:?}, not {other:?}");
        }
        same(&self.text, &other.text, "text", broken);
        same(&self.replayed, &other.replayed, "replayed text", broken);
        same(&self.calls, &other.calls, "tool calls", broken);
        same(&self.printed, &other.printed, "output", broken);
        same(&self.demands, &other.demands, "demands", broken);
        same(&self.ends, &other.ends, "ends of prompts", broken);
        same(&self.others, &other.others, "other signals", broken);
        same(&self.updates, &other.updates, "updates", broken);
        same(&self.bad_lines, &other.bad_lines, "malformed lines", broken);
    }
}

fn kind_of(demand: &Demand) -> &'static str {
    match demand {
        Demand::Permission(_) => "permission",
        Demand::Unknown { .. } => "unknown demand",
        _ => "demand",
    }
}

fn demand_bytes(demand: &Demand) -> usize {
    match demand {
        Demand::Permission(ask) => serde_json::to_vec(ask).map(|json| json.len()).unwrap_or_default(),
        other => format!("{other:?}").len(),
    }
}

/// The kind of an update, as it is on the wire.
fn name(update: &Update) -> String {
    let kind = serde_json::to_value(update).ok().and_then(|value| Some(value.get("type")?.as_str()?.to_owned()));
    kind.unwrap_or_else(|| "update".to_owned())
}
