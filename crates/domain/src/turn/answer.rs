//! The answer that an agent's model is giving within a call: where it begins, how far a repetition of it has come, and whether the
//! agent's last word was that it failed.
//!
//! When a model breaks off, Copilot says so in a notice, asks again, and streams the answer from its beginning. What had been written
//! stays, as a stream only grows; so the repetition is compared with it and swallowed for as long as it says the same. All of this is
//! folded from the log: a restarted server goes on swallowing where the old one stopped.

use crate::agent::{Retry, Update};
use crate::text::utf16_len;

use super::Call;

/// Stands between an answer that is void and the one that replaces it.
const SEPARATOR: &str = "\n\n";

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Answer {
    /// Where it begins in the call's text, in bytes.
    start: usize,
    /// None where nothing is being repeated.
    repeated: Option<Repeated>,
    /// The next text is the beginning of another answer.
    begins: bool,
    /// How often the call's answers were asked for again.
    retries: u32,
    fault: Option<String>,
}

/// How far a repetition has come: where in the call's text, in bytes, and how much that is, in UTF-16 code units.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Repeated {
    to: usize,
    units: u64,
}

/// What a piece of an answer comes to: the notice of its retry in its new state, and the text that is new.
pub(super) struct Repetition {
    pub notice: Update,
    pub text: String,
}

impl Answer {
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// `content` is about to be appended at `end`: what was repeated is behind it.
    pub(super) fn written(&mut self, end: usize, content: &str) {
        if std::mem::take(&mut self.begins) {
            self.start = end + if content.starts_with(SEPARATOR) { SEPARATOR.len() } else { 0 };
        }
        self.fault = None;
        self.repeated = None;
    }
}

/// Folds an update that is about to be placed into the call's answer.
pub(super) fn follow(call: &mut Call, update: &Update) {
    let (end, known) = (call.text.len(), is_known(call, update));
    let answer = &mut call.answer;
    match update {
        Update::Notice { retry: Some(retry), .. } => {
            answer.fault = None;
            answer.retries = retry.number;
            let from = answer.repeated.filter(|_| known).unwrap_or(Repeated { to: answer.start, units: 0 });
            let to = advance(&call.text, from.to, retry.repeated.saturating_sub(from.units));
            answer.repeated = (!retry.anew && to < end).then_some(Repeated { to, units: retry.repeated });
            if retry.anew {
                (answer.start, answer.begins) = (end, true);
            }
        }
        Update::Notice { level, text, in_text: true, .. } if level == "error" => answer.fault = Some(text.clone()),
        Update::ToolCall(_) if !known => *answer = Answer { start: end, retries: answer.retries, ..Answer::default() },
        Update::FollowUp { .. } => *answer = Answer { start: end, retries: answer.retries, ..Answer::default() },
        // Copilot tells the usage before it asks its model; within a repetition it is still the same answer.
        Update::Usage { .. } if answer.repeated.is_none() => answer.start = end,
        Update::Notice { .. } | Update::ToolCall(_) | Update::Thought { .. } | Update::Plan { .. } => answer.fault = None,
        _ => {}
    }
}

/// What the next piece of text comes to while an answer is repeated; `None` where it is simply new.
pub(super) fn incoming(call: &Call, content: &str) -> Option<Repetition> {
    let repeated = call.answer.repeated?;
    let before = &call.text[repeated.to..];
    let same: usize = content.chars().zip(before.chars()).take_while(|(new, old)| new == old).map(|(new, _)| new.len_utf8()).sum();
    if same < content.len() && same < before.len() {
        return begin_anew(call, content);
    }
    let units = repeated.units + utf16_len(&content[..same]);
    Some(Repetition { notice: retry_notice(call, units, false)?, text: content[same..].to_owned() })
}

/// A repetition that ends before it has said all that was there: the rest of what was there is void.
pub(super) fn cut_short(call: &Call) -> Option<Repetition> {
    call.answer.repeated.and_then(|_| begin_anew(call, ""))
}

/// Whether the model's answer is over with this update.
pub(super) fn ends(call: &Call, update: &Update) -> bool {
    matches!(update, Update::ToolCall(_)) && !is_known(call, update)
}

/// Gives a retry that the agent has just announced its number.
pub(super) fn number(call: &Call, update: Update) -> Update {
    match update {
        Update::Notice { level, text, in_text, retry: Some(retry) } if retry.number == 0 => {
            let retry = Retry { number: call.answer.retries + 1, ..retry };
            Update::Notice { level, text, in_text, retry: Some(retry) }
        }
        other => other,
    }
}

/// The new answer as a whole, behind the one that it replaces.
fn begin_anew(call: &Call, more: &str) -> Option<Repetition> {
    let repeated = call.answer.repeated?;
    let notice = retry_notice(call, repeated.units, true)?;
    let text = format!("{}{more}", &call.text[call.answer.start..repeated.to]);
    Some(Repetition { notice, text: if text.is_empty() { text } else { format!("{SEPARATOR}{text}") } })
}

fn retry_notice(call: &Call, repeated: u64, anew: bool) -> Option<Update> {
    call.updates.iter().rev().find_map(|placed| match &placed.update {
        Update::Notice { level, text, in_text, retry: Some(retry) } if retry.number == call.answer.retries => {
            let retry = Some(Retry { number: retry.number, repeated, anew });
            Some(Update::Notice { level: level.clone(), text: text.clone(), in_text: *in_text, retry })
        }
        _ => None,
    })
}

/// Whether the update replaces one that was placed before.
fn is_known(call: &Call, update: &Update) -> bool {
    call.updates.iter().any(|placed| match (&placed.update, update) {
        (Update::ToolCall(old), Update::ToolCall(new)) => old.id == new.id,
        (Update::Notice { retry: Some(old), .. }, Update::Notice { retry: Some(new), .. }) => old.number == new.number,
        _ => false,
    })
}

/// The place `units` UTF-16 code units behind `from`.
fn advance(text: &str, from: usize, units: u64) -> usize {
    let mut passed = 0;
    let rest = text[from..].char_indices().find(|(_, character)| {
        let here = passed;
        passed += character.len_utf16() as u64;
        here >= units
    });
    rest.map_or(text.len(), |(index, _)| from + index)
}
