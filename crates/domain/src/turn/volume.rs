//! How much of what an agent says and does in one call is kept. Beyond it the agent goes on and its words are dropped, with a notice at
//! the place where that begins. All of it is folded from the log, so a restarted server counts on.

use crate::agent::{ToolCall, Update};
use crate::event::PlacedUpdate;
use crate::text::clip;

use super::{Call, Settings};

const MIB: usize = 1024 * 1024;

/// What is kept of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// Of the agent's message text, in bytes.
    text: usize,
    /// Of everything else, as it stands at the end.
    kept: usize,
    /// Of the events that led there: a tool call that changes is written anew each time.
    logged: usize,
}

const CALL: Limits = Limits { text: 4 * MIB, kept: 8 * MIB, logged: 64 * MIB };
/// Of a call in a session that holds as much as a session may.
const CALL_IN_FULL_SESSION: Limits = Limits { text: MIB / 16, kept: MIB / 4, logged: MIB };
/// So many things that an agent did are kept of a call.
const UPDATES: usize = 10_000;
const SLIM_TITLE: usize = 200;
/// A tool call up to this long is kept whole when all that has changed is how it stands.
const SLIM_CALL: usize = 16 * 1024;

const TEXT_CUT: &str = "The agent wrote more than is kept of one task: the rest of its text was dropped.";
const TEXT_CUT_IN_FULL_SESSION: &str =
    "This session holds as much as a session may, so only the beginning of the agent's text was kept. Start a new session to keep more.";
const UPDATES_CUT: &str = "The agent did more than is kept of one task: details of what follows were dropped.";

/// What a call has come to so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Volume {
    kept: usize,
    logged: usize,
    /// People were told that its text, or the rest, is cut from here on.
    text_cut: bool,
    updates_cut: bool,
}

impl Volume {
    /// An update that is about to be placed, with the earlier state that it replaces.
    pub(super) fn note(&mut self, update: &Update, grown: usize, shrunk: usize) {
        self.logged += update.bytes();
        self.kept = (self.kept + grown).saturating_sub(shrunk);
        if let Update::Notice { text, .. } = update {
            self.text_cut |= text == TEXT_CUT || text == TEXT_CUT_IN_FULL_SESSION;
            self.updates_cut |= text == UPDATES_CUT;
        }
    }
}

/// What may be appended of an agent's text, and the notice that comes behind it where that is not all.
pub(super) fn text(call: &Call, content: String, settings: &Settings) -> (String, Option<Update>) {
    if call.volume.text_cut {
        return (String::new(), None);
    }
    let room = limits(settings).text.saturating_sub(call.text.len());
    match content.len() <= room {
        true => (content, None),
        false => {
            let notice = if settings.is_full { TEXT_CUT_IN_FULL_SESSION } else { TEXT_CUT };
            (clip(&content, room).to_owned(), Some(Update::notice("warning", notice)))
        }
    }
}

/// What is kept of an update, if anything, and the notice that goes before it where something is dropped for the first time.
pub(super) fn update(call: &Call, update: Update, settings: &Settings) -> (Option<Update>, Option<Update>) {
    let (limits, bytes) = (limits(settings), update.bytes());
    let logged = call.volume.logged + bytes;
    if logged <= limits.logged && call.volume.kept + bytes <= limits.kept && call.updates.len() < UPDATES {
        return (Some(update), None);
    }
    let notice = (!call.volume.updates_cut).then(|| Update::notice("warning", UPDATES_CUT));
    let is_known =
        |known: &PlacedUpdate| matches!((&known.update, &update), (Update::ToolCall(known), Update::ToolCall(new)) if known.id == new.id);
    let before = call.updates.iter().find(|known| is_known(known));
    let has_room = logged <= 2 * limits.logged && (call.updates.len() < 2 * UPDATES || before.is_some());
    let kept = match update {
        // What was refused decides how the call ends, and what was remembered can be taken back where it stands.
        decisive @ (Update::Denied { .. } | Update::FollowUp { .. } | Update::Rule(_)) => Some(decisive),
        _ if !has_room => None,
        Update::ToolCall(tool_call) => Some(Update::ToolCall(slim(tool_call, before))),
        short @ (Update::Notice { .. } | Update::Approved(_) | Update::Usage { .. }) => Some(short),
        _ => None,
    };
    (kept, notice)
}

/// How a tool call stands, with what was known of it before where that is short.
fn slim(call: ToolCall, before: Option<&PlacedUpdate>) -> ToolCall {
    let known = match before.map(|before| &before.update) {
        Some(Update::ToolCall(known)) if known.bytes() <= SLIM_CALL => known.clone(),
        _ => ToolCall { title: call.title.map(|title| clip(&title, SLIM_TITLE).to_owned()), kind: call.kind, ..ToolCall::default() },
    };
    ToolCall { id: call.id, status: call.status, exit_code: call.exit_code, parent: call.parent, truncated: true, stream: None, ..known }
}

fn limits(settings: &Settings) -> Limits {
    if settings.is_full { CALL_IN_FULL_SESSION } else { CALL }
}

#[cfg(test)]
mod tests;
