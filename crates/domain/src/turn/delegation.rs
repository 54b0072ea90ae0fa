//! The two faces of a delegation's result: a compact one for the model, and everything for people.

use crate::agent::{ToolCall, ToolContent, Update};
use crate::event::{Delegation, PlacedUpdate, Times};
use crate::text::{clip, clip_start};

use super::Call;

/// How much of the agent's last message the model is given; the end counts, as that is where a conclusion stands.
const SUMMARY_MAX: usize = 12_000;
const FACTS_MAX: usize = 4_000;
const COMMAND_MAX: usize = 200;
const WARNING_MAX: usize = 500;
/// So many approvals without a person are kept with a call; each stands in the log.
const APPROVALS_MAX: usize = 1000;

/// Puts an update at its place: a later state of the same thing replaces the earlier one, where that stood. Says how many bytes came, and
/// how many of the earlier state went.
pub(super) fn place(updates: &mut Vec<PlacedUpdate>, offset: u64, update: &Update, times: Times) -> (usize, usize) {
    let same = |placed: &&mut PlacedUpdate| match (&placed.update, update) {
        (Update::ToolCall(old), Update::ToolCall(new)) => old.id == new.id,
        (Update::ToolCall(old), Update::ToolOutput { id, .. }) => old.id == *id,
        (Update::Plan { .. }, Update::Plan { .. })
        | (Update::Usage { .. }, Update::Usage { .. })
        | (Update::Title { .. }, Update::Title { .. })
        | (Update::Commands { .. }, Update::Commands { .. })
        | (Update::Mode { .. }, Update::Mode { .. })
        | (Update::Options { .. }, Update::Options { .. }) => true,
        (Update::Notice { retry: Some(old), .. }, Update::Notice { retry: Some(new), .. }) => old.number == new.number,
        (Update::Compaction { id: old, .. }, Update::Compaction { id: new, .. }) => old == new,
        _ => false,
    };
    if let (Some(PlacedUpdate { update: Update::Thought { text }, offset: at, times: known }), Update::Thought { text: more }) =
        (updates.last_mut(), update)
        && *at == offset
    {
        text.push_str(more);
        known.extend(times);
        return (more.len(), 0);
    }
    if matches!(update, Update::Approved(_))
        && updates.iter().filter(|placed| matches!(placed.update, Update::Approved(_))).count() >= APPROVALS_MAX
    {
        return (0, 0);
    }
    match updates.iter_mut().find(same) {
        Some(placed) => {
            let before = placed.update.bytes();
            replace(&mut placed.update, update);
            placed.times.extend(times);
            (placed.update.bytes(), before)
        }
        None => {
            let update = first(update);
            let bytes = update.bytes();
            updates.push(PlacedUpdate { offset, update, times });
            (bytes, 0)
        }
    }
}

/// Output of a call that was never reported makes one to belong to.
fn first(update: &Update) -> Update {
    match update {
        Update::ToolOutput { id, offset, content } => {
            let mut call = ToolCall { id: id.clone(), ..ToolCall::default() };
            call.append_output(*offset, content);
            Update::ToolCall(call)
        }
        other => other.clone(),
    }
}

/// All but compactions and the output of tools are reported whole every time.
fn replace(placed: &mut Update, later: &Update) {
    match (placed, later) {
        (Update::Compaction { status, summary, error, .. }, Update::Compaction { status: s, summary: more, appends, error: e, .. }) => {
            *status = s.clone().or_else(|| status.take());
            *error = e.clone().or_else(|| error.take());
            match (summary.as_mut(), more) {
                (Some(text), Some(more)) if *appends => text.push_str(more),
                (_, Some(more)) => *summary = Some(more.clone()),
                (_, None) => {}
            }
        }
        (Update::ToolCall(call), Update::ToolOutput { offset, content, .. }) => call.append_output(*offset, content),
        (Update::ToolCall(call), Update::ToolCall(later)) => {
            let (stream, stream_length) = (call.stream.take(), call.stream_length);
            *call = ToolCall { stream, stream_length, ..later.clone() };
        }
        (placed, later) => *placed = later.clone(),
    }
}

/// What the model reads: the agent's last message, the files and commands, and how it ended.
pub(super) fn content(call: &Call, summary: &str, stop_reason: &str) -> String {
    let mut text = if summary.is_empty() { "(the agent wrote no closing message)".to_owned() } else { summary.to_owned() };
    text.push_str("\n\n");
    let facts = facts(call);
    text.push_str(clip(&facts, FACTS_MAX));
    if facts.len() > FACTS_MAX {
        text.push_str("\n… (list cut)\n");
    }
    text.push_str(&format!("stop reason: {stop_reason}"));
    text
}

pub(super) fn record(call: &Call, session_name: &str, agent: &str, summary: &str, stop_reason: &str) -> Delegation {
    Delegation {
        session_name: session_name.to_owned(),
        agent: agent.to_owned(),
        stop_reason: stop_reason.to_owned(),
        ending: None,
        waited_ms: 0,
        turn_waited_ms: None,
        summary: summary.to_owned(),
        updates: call.updates.clone(),
    }
}

/// What the model reads of a call that failed: why, and what the agent had done until then.
pub(super) fn failure(call: &Call, reason: String, stop_reason: &str) -> String {
    if call.text.is_empty() && facts(call).is_empty() {
        return reason;
    }
    format!("{reason}\n\nwhat it had written until then:\n\n{}", content(call, &summary(call), stop_reason))
}

/// The agent's final message: its text after the last tool call, or all of it where that is empty.
pub(super) fn summary(call: &Call) -> String {
    let begins = |placed: &&PlacedUpdate| match &placed.update {
        Update::ToolCall(_) | Update::FollowUp { .. } => true,
        Update::Notice { retry: Some(retry), .. } => retry.anew,
        _ => false,
    };
    let last = call.updates.iter().filter(begins).map(|placed| placed.offset).max();
    let tail = last.map_or(call.text.as_str(), |offset| after_utf16(&call.text, offset)).trim();
    let whole = if tail.is_empty() { call.text.trim() } else { tail };
    if whole.len() <= SUMMARY_MAX { whole.to_owned() } else { format!("… (earlier text cut)\n{}", clip_start(whole, SUMMARY_MAX)) }
}

fn after_utf16(text: &str, offset: u64) -> &str {
    let mut units = 0;
    for (index, character) in text.char_indices() {
        if units >= offset {
            return &text[index..];
        }
        units += character.len_utf16() as u64;
    }
    ""
}

fn facts(call: &Call) -> String {
    let tool_calls = || {
        call.updates.iter().filter_map(|placed| match &placed.update {
            Update::ToolCall(tool_call) => Some(tool_call),
            _ => None,
        })
    };
    let mut files: Vec<&str> = tool_calls()
        .filter(|call| !matches!(call.status.as_deref(), Some("failed" | "declined" | "rejected" | "cancelled")))
        .flat_map(changed_paths)
        .collect();
    files.sort_unstable();
    files.dedup();
    let mut text = String::new();
    if !files.is_empty() {
        text.push_str(&format!("files changed: {}\n", files.join(", ")));
    }
    for placed in &call.updates {
        if let Update::Notice { level, text: told, .. } = &placed.update
            && level == "warning"
        {
            text.push_str(&format!("the agent warned: {}\n", clip(told, WARNING_MAX)));
        }
    }
    for (command, tool_call) in tool_calls().filter_map(|tool_call| Some((command(tool_call)?, tool_call))) {
        let outcome = match (tool_call.exit_code, tool_call.status.as_deref()) {
            (_, Some("declined" | "rejected")) => {
                text.push_str(&format!("command not allowed, so not run: {}\n", clip(&command, COMMAND_MAX)));
                continue;
            }
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(status)) => status.to_owned(),
            (None, None) => "no outcome".to_owned(),
        };
        text.push_str(&format!("command run: {} ({outcome})\n", clip(&command, COMMAND_MAX)));
    }
    text
}

fn changed_paths(tool_call: &ToolCall) -> Vec<&str> {
    let diffs = tool_call.content.iter().flatten().filter_map(|content| match content {
        ToolContent::Diff { path, .. } => Some(path.as_str()),
        _ => None,
    });
    let changing = matches!(tool_call.kind.as_deref(), Some("edit" | "delete" | "move"));
    let locations = tool_call.locations.iter().flatten().filter(|_| changing).map(|location| location.path.as_str());
    diffs.chain(locations).collect()
}

fn command(tool_call: &ToolCall) -> Option<String> {
    (tool_call.kind.as_deref() == Some("execute")).then_some(())?;
    tool_call.input.as_ref()?.text_field("command")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_stored_once_and_no_report_of_the_call_wipes_it() {
        let report =
            |status: &str| Update::ToolCall(ToolCall { id: "c".to_owned(), status: Some(status.to_owned()), ..ToolCall::default() });
        let output = |offset, content: &str| Update::ToolOutput { id: "c".to_owned(), offset, content: content.to_owned() };
        let mut updates = Vec::new();
        for update in [report("in_progress"), output(0, "one "), output(4, "two"), report("completed")] {
            place(&mut updates, 7, &update, Times::default());
        }
        let [PlacedUpdate { offset: 7, update: Update::ToolCall(call), .. }] = &updates[..] else { panic!("{updates:?}") };
        assert_eq!((call.status.as_deref(), call.stream.as_deref(), call.stream_length), (Some("completed"), Some("one two"), 7));
    }

    #[test]
    fn what_is_told_as_one_says_when_it_was_first_and_last_heard_of() {
        let at = |ms| Times { at_ms: Some(ms), ..Times::default() };
        let thought = Update::Thought { text: "hm".to_owned() };
        let report =
            |status: &str| Update::ToolCall(ToolCall { id: "c".to_owned(), status: Some(status.to_owned()), ..ToolCall::default() });
        let mut updates = Vec::new();
        let heard = [(thought.clone(), 10), (thought.clone(), 20), (thought, 30), (report("in_progress"), 40), (report("completed"), 90)];
        for (update, ms) in heard {
            place(&mut updates, 0, &update, at(ms));
        }
        let times: Vec<_> = updates.iter().map(|placed| (placed.times.since_ms, placed.times.at_ms)).collect();
        assert_eq!(times, [(Some(10), Some(30)), (Some(40), Some(90))]);
    }
}
