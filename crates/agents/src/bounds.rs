//! What is kept of one update, whichever dialect it came in. Every field that an agent fills has a bound, and what goes beyond it is cut
//! where people see it. `docs/LIMITS.md` has the numbers.

use std::borrow::Cow;

use domain::agent::{Command, Location, PlanEntry, ToolCall, ToolContent, Update};
use domain::json::{RawJson, cut_text};
use domain::text::{clip, digest};
use serde_json::Value;

/// The input of a call, or its output, as JSON.
const RAW_BYTES: usize = 1024 * 1024;
/// One text of a call's content, both sides of one change, and all of the content.
const TEXT_BYTES: usize = 256 * 1024;
const CHANGE_BYTES: usize = 2 * 1024 * 1024;
const CONTENT_BYTES: usize = 4 * 1024 * 1024;
const PARTS: usize = 256;
const LOCATIONS: usize = 256;
const PATH_BYTES: usize = 4096;
pub(crate) const TITLE_BYTES: usize = 4096;
/// A word of the protocol: a kind, a state, a mode.
const WORD_BYTES: usize = 200;
const ID_BYTES: usize = 256;
const STEPS: usize = 500;
const STEP_BYTES: usize = 2048;
const COMMANDS: usize = 500;
const COMMAND_BYTES: usize = 1024;
pub(crate) const OPTIONS_BYTES: usize = 256 * 1024;
const COST_BYTES: usize = 1024;
const NOTICE_BYTES: usize = 64 * 1024;
/// A part of a message that is not text, an image for instance.
const BLOCK_BYTES: usize = 4 * 1024 * 1024;
const UNKNOWN_BYTES: usize = 64 * 1024;

/// Texts that come in pieces are counted where they are put together.
pub(crate) fn update(update: Update) -> Update {
    match update {
        Update::ToolCall(call) => Update::ToolCall(tool_call(call)),
        Update::Plan { entries } => Update::Plan { entries: plan(entries) },
        Update::Commands { commands } => Update::Commands { commands: self::commands(commands) },
        Update::Title { title } => Update::Title { title: title.map(|title| text(title, TITLE_BYTES)) },
        Update::Mode { mode_id } => Update::Mode { mode_id: word(mode_id) },
        Update::Options { options } => match is_longer(&options, OPTIONS_BYTES) {
            true => Update::notice("warning", "The agent's list of options is too long to keep, so it was ignored."),
            false => Update::Options { options },
        },
        Update::Notice { level, text: said, in_text, retry } => {
            Update::Notice { level: word(level), text: text(said, NOTICE_BYTES), in_text, retry }
        }
        Update::Compaction { id, status, summary, appends, error } => {
            let (status, summary) = (status.map(word), summary.map(|summary| text(summary, NOTICE_BYTES)));
            Update::Compaction { id: self::id(id), status, summary, appends, error: error.map(|error| text(error, NOTICE_BYTES)) }
        }
        Update::Content { content } => Update::Content { content: content.bounded(BLOCK_BYTES).0 },
        Update::Unknown { kind, raw } => Update::Unknown { kind: word(kind), raw: raw.bounded(UNKNOWN_BYTES).0 },
        Update::ToolOutput { id, offset, content } => Update::ToolOutput { id: self::id(id), offset, content },
        other => other,
    }
}

pub(crate) fn tool_call(call: ToolCall) -> ToolCall {
    let mut truncated = call.truncated;
    let mut raw = |raw: Option<RawJson>| {
        let (raw, was_cut) = raw?.bounded(RAW_BYTES);
        truncated |= was_cut;
        Some(raw)
    };
    let (input, output) = (raw(call.input), raw(call.output));
    let content = call.content.map(|parts| content(parts, &mut truncated));
    let locations = call.locations.map(|locations| {
        truncated |= locations.len() > LOCATIONS;
        locations.into_iter().take(LOCATIONS).map(|place| Location { path: text(place.path, PATH_BYTES), line: place.line }).collect()
    });
    ToolCall {
        id: id(call.id),
        title: call.title.map(|title| text(title, TITLE_BYTES)),
        kind: call.kind.map(word),
        status: call.status.map(word),
        content,
        locations,
        input,
        output,
        parent: call.parent.map(id),
        truncated,
        ..call
    }
}

/// Agents' ids are compared, so one that is too long becomes another that is as much its own.
pub(crate) fn id(id: String) -> String {
    match bounded_id(&id) {
        Cow::Borrowed(_) => id,
        Cow::Owned(shorter) => shorter,
    }
}

pub(crate) fn bounded_id(id: &str) -> Cow<'_, str> {
    if id.len() <= ID_BYTES { Cow::Borrowed(id) } else { Cow::Owned(format!("{}…{}", clip(id, ID_BYTES / 4), digest(id))) }
}

fn content(parts: Vec<ToolContent>, truncated: &mut bool) -> Vec<ToolContent> {
    let all = parts.len();
    let parts: Vec<ToolContent> = parts.into_iter().take(PARTS + 1).map(|part| tool_content(part, truncated)).collect();
    if all <= PARTS + 1 && parts.iter().map(ToolContent::bytes).sum::<usize>() <= CONTENT_BYTES {
        return parts;
    }
    *truncated = true;
    // Less than what fits, so that the last part fits too.
    let (mut room, mut kept) = (CONTENT_BYTES - 1024, Vec::new());
    for part in parts.into_iter().take(PARTS) {
        let Some(left) = room.checked_sub(part.bytes()) else { break };
        room = left;
        kept.push(part);
    }
    kept.push(ToolContent::Text { text: format!("… {} more parts were too much to keep", all - kept.len()) });
    kept
}

/// Half of a change would look like another change, so one that is too large is only named.
fn tool_content(part: ToolContent, truncated: &mut bool) -> ToolContent {
    let long = part.bytes();
    match part {
        ToolContent::Text { text } if text.len() > TEXT_BYTES => {
            *truncated = true;
            ToolContent::Text { text: cut_text(&text, TEXT_BYTES) }
        }
        ToolContent::Diff { path, .. } if long > CHANGE_BYTES => {
            *truncated = true;
            ToolContent::Text { text: format!("The change of {} is too large to keep ({} KiB).", text(path, PATH_BYTES), long / 1024) }
        }
        ToolContent::Terminal { terminal_id } => ToolContent::Terminal { terminal_id: id(terminal_id) },
        ToolContent::Other { raw } => {
            let (raw, was_cut) = raw.bounded(RAW_BYTES);
            *truncated |= was_cut;
            ToolContent::Other { raw }
        }
        part => part,
    }
}

fn plan(entries: Vec<PlanEntry>) -> Vec<PlanEntry> {
    let all = entries.len();
    let entry = |entry: PlanEntry| PlanEntry {
        content: text(entry.content, STEP_BYTES),
        priority: word(entry.priority),
        status: word(entry.status),
    };
    let mut kept: Vec<PlanEntry> = entries.into_iter().take(STEPS + 1).map(entry).collect();
    if all > STEPS + 1 {
        kept.truncate(STEPS);
        let content = format!("… {} more steps were too many to keep", all - STEPS);
        kept.push(PlanEntry { content, priority: "low".to_owned(), status: "pending".to_owned() });
    }
    kept
}

/// What is missing at the end of a list of commands can still be typed.
fn commands(commands: Vec<Command>) -> Vec<Command> {
    let command = |Command { name, description }: Command| Command { name: word(name), description: text(description, COMMAND_BYTES) };
    commands.into_iter().take(COMMANDS).map(command).collect()
}

/// What an agent reports of the costs is a number and a currency.
pub(crate) fn cost(cost: Option<Value>) -> Option<Value> {
    cost.filter(|cost| !is_longer(cost, COST_BYTES))
}

pub(crate) fn is_longer(value: &Value, bytes: usize) -> bool {
    serde_json::to_vec(value).map_or(0, |text| text.len()) > bytes
}

pub(crate) fn text(text: String, bytes: usize) -> String {
    if text.len() <= bytes { text } else { cut_text(&text, bytes) }
}

fn word(word: String) -> String {
    if word.len() <= WORD_BYTES { word } else { clip(&word, WORD_BYTES).to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use domain::json::CUT;
    use serde_json::json;

    use super::*;

    fn said(call: &ToolCall) -> String {
        serde_json::to_string(call).unwrap()
    }

    fn call() -> ToolCall {
        ToolCall { id: "c".to_owned(), title: Some("t".to_owned()), ..ToolCall::default() }
    }

    #[test]
    fn what_an_agent_fills_into_a_call_has_a_bound_and_says_that_it_was_cut() {
        let long = "x".repeat(20_000_000);
        let diff = |new_text: &str| ToolContent::Diff { path: "a".to_owned(), old_text: None, new_text: new_text.to_owned(), hunks: None };
        let calls = [
            ToolCall { input: Some(json!({ "command": "ls", "content": long }).into()), ..call() },
            ToolCall { output: Some(json!(vec!["xxxx"; 1_000_000]).into()), ..call() },
            ToolCall { content: Some(vec![ToolContent::Text { text: long.clone() }]), ..call() },
            ToolCall { content: Some(vec![ToolContent::Text { text: "x".repeat(200_000) }; 1000]), ..call() },
            ToolCall { content: Some(vec![ToolContent::Terminal { terminal_id: "t".to_owned() }; 100_000]), ..call() },
            ToolCall { content: Some(vec![diff(&long)]), ..call() },
            ToolCall { content: Some(vec![ToolContent::Other { raw: json!(long).into() }]), ..call() },
            ToolCall { locations: Some(vec![Location { path: "p".to_owned(), line: None }; 100_000]), ..call() },
        ];
        for whole in calls {
            let kept = tool_call(whole);
            assert!(kept.truncated && kept.bytes() < 4_300_000, "{:.200}", said(&kept));
            assert_eq!(kept.title.as_deref(), Some("t"));
            assert_eq!(tool_call(kept.clone()), kept, "what was cut once is not cut again");
        }
    }

    #[test]
    fn an_ordinary_call_stays_as_it_is() {
        let text = "y".repeat(200_000);
        let content = vec![
            ToolContent::Text { text: text.clone() },
            ToolContent::Diff { path: "a".to_owned(), old_text: Some(text.clone()), new_text: text.clone(), hunks: None },
        ];
        let whole = ToolCall { input: Some(json!({ "content": text }).into()), content: Some(content), ..call() };
        assert_eq!(tool_call(whole.clone()), whole);
    }

    #[test]
    fn long_ids_stay_different() {
        let (one, two) = (format!("{}a", "x".repeat(5000)), format!("{}b", "x".repeat(5000)));
        assert!(bounded_id(&one).len() < 2 * ID_BYTES && bounded_id(&one) != bounded_id(&two));
        assert_eq!(bounded_id("call_1"), "call_1");
        assert_eq!(bounded_id(&bounded_id(&one)), bounded_id(&one));
    }

    #[test]
    fn lists_and_words_have_a_bound() {
        let long = || "x".repeat(100_000);
        let step = PlanEntry { content: long(), priority: long(), status: long() };
        let command = Command { name: long(), description: long() };
        let updates = [
            Update::Plan { entries: vec![step; 10_000] },
            Update::Commands { commands: vec![command; 10_000] },
            Update::Title { title: Some("x".repeat(20_000_000)) },
            Update::Mode { mode_id: "x".repeat(20_000_000) },
            Update::Options { options: json!(vec!["x"; 1_000_000]) },
            Update::notice("x".repeat(20_000_000), "x".repeat(20_000_000)),
            Update::Unknown { kind: "x".repeat(20_000_000), raw: json!("x".repeat(20_000_000)).into() },
            Update::Content { content: json!({ "type": "image", "data": "x".repeat(20_000_000) }).into() },
            Update::ToolOutput { id: "x".repeat(20_000_000), offset: 0, content: "x".to_owned() },
        ];
        for whole in updates {
            let kept = serde_json::to_string(&update(whole)).unwrap();
            assert!(kept.len() < 4_200_000, "{} bytes: {kept:.100}", kept.len());
        }
        let Update::Plan { entries } = update(Update::Plan {
            entries: vec![PlanEntry { content: "x".to_owned(), priority: "low".to_owned(), status: "pending".to_owned() }; 100_000],
        }) else {
            panic!()
        };
        assert_eq!(entries.last().unwrap().content, "… 99500 more steps were too many to keep");
        assert!(text(long(), 100).ends_with(CUT));
    }
}
