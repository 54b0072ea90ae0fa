//! What the agents did in a session, without anything that differs from run to run: two runs of one traffic have the same summary.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{Event, Transcript};

/// What is made anew in each run.
const MADE: [&str; 10] =
    ["waited_ms", "turn_waited_ms", "tool_call_id", "request_id", "turn_id", "message_id", "created_at", "asked_at", "times", "id"];
/// What was found on the disk: the files of one run lie outside of the other's work directory, and what an answer could cover follows
/// from that.
const FOUND: [&str; 4] = ["files", "cwd", "scopes", "warnings"];

/// By the name of the agent session, and under no name how the turns ended. Into how many pieces a text was cut, and how many reports of
/// one tool call were taken together, depends on how busy the machine was, and is left out. So is what an agent says of its session as it
/// opens it: that goes with a call only if one has begun by then. It is in the session's view (`…/agents`) in any case.
pub fn summary(seen: &Transcript) -> BTreeMap<String, Vec<Value>> {
    let mut entries: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in &seen.events {
        let kind = event.kind.as_str();
        if !["copilot-delta", "agent-update", "copilot-done", "permission-request", "done", "turn", "tool-result"].contains(&kind) {
            continue;
        }
        if ["commands", "options", "mode"].iter().any(|about| event.data["update"]["type"] == *about) {
            continue;
        }
        let name = event.data["session_name"].as_str().unwrap_or_default().to_owned();
        let entries = entries.entry(name).or_default();
        let next = json!({ kind: without_ids(event) });
        match entries.last_mut() {
            Some(last) if continues(last, &next) => join(last, next),
            _ => entries.push(next),
        }
    }
    entries
}

fn continues(last: &Value, next: &Value) -> bool {
    let (before, now) = (&last["agent-update"]["update"], &next["agent-update"]["update"]);
    let same_call = now["type"] == "tool_call" && before["type"] == "tool_call" && now["id"] == before["id"];
    let both = |kind: &str| last[kind].is_object() && next[kind].is_object();
    both("copilot-delta") || same_call || now["type"] == "thought" && before["type"] == "thought"
}

/// Text goes on, a tool call is replaced.
fn join(last: &mut Value, next: Value) {
    for path in ["/copilot-delta/content", "/agent-update/update/text"] {
        if let (Some(Value::String(text)), Some(Value::String(more))) = (last.pointer_mut(path), next.pointer(path)) {
            text.push_str(more);
            return;
        }
    }
    *last = next;
}

fn without_ids(event: &Event) -> Value {
    let mut data = event.data.clone();
    if let Some(fields) = data.as_object_mut() {
        fields.retain(|name, _| !MADE.contains(&name.as_str()) && !FOUND.contains(&name.as_str()));
    }
    if data["update"]["type"] == "approved"
        && let Some(fields) = data["update"].as_object_mut()
    {
        fields.retain(|name, _| !FOUND.contains(&name.as_str()));
    }
    data
}

/// Where two summaries part, for a failing test.
pub fn difference(one: &BTreeMap<String, Vec<Value>>, other: &BTreeMap<String, Vec<Value>>) -> Option<String> {
    let names: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().find_map(|name| {
        let entries = |summary: &BTreeMap<String, Vec<Value>>, at: usize| summary.get(name).and_then(|entries| entries.get(at)).cloned();
        let longest = [one, other].iter().filter_map(|summary| summary.get(name)).map(Vec::len).max().unwrap_or_default();
        let at = (0..longest).find(|at| entries(one, *at) != entries(other, *at))?;
        Some(format!("[{name}] {at}:\n{:#?}\n{:#?}", entries(one, at), entries(other, at)))
    })
}
