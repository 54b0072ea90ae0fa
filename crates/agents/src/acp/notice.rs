//! Notices that an agent says among its message text. Copilot reports its model's faults, its retries and what it found after a crash
//! as text that nothing marks, each in a chunk of its own that begins with a level. Other agents are not read this way.
//!
//! A model may begin its answer with the same words, and an answer must never be taken for a notice. So a chunk that begins with
//! `Error: ` is held until the next line of its session. Copilot's own is the last thing before the prompt ends, and no tokens were
//! counted for it; whatever else follows, it was the model's. Where that cannot be known, only the words that Copilot is known for
//! make it a notice.

use std::sync::Arc;

use domain::agent::{Retry, Update};

use super::usage::Tokens;
use crate::fault::plain;

const LEVELS: [(&str, &str); 3] = [("Info: ", "info"), ("Warning: ", "warning"), ("Error: ", ERROR)];
const ERROR: &str = "error";

/// How the words end with which Copilot says that it asks its model again.
const RETRYING: &str = "Retrying...";

/// A chunk of which it is not known yet what it is.
pub(super) struct Held {
    pub session: Arc<str>,
    pub text: String,
    pub notice: Update,
    /// It begins like a fault of the agent's model, and the text that follows belongs to it.
    pub grows: bool,
}

/// The notice that a whole chunk may be.
pub(super) fn read(chunk: &str) -> Option<Update> {
    let (words, level) = LEVELS.iter().find_map(|(prefix, level)| Some((chunk.strip_prefix(prefix)?, *level)))?;
    let text = words.trim();
    if text.is_empty() {
        return None;
    }
    let retry = (level == "info" && text.ends_with(RETRYING)).then(Retry::default);
    Some(Update::Notice { level: level.to_owned(), text: text.to_owned(), in_text: true, retry })
}

/// What an agent says of a fault of its model's, among its text.
pub(super) fn fault(text: &str) -> Update {
    Update::Notice { level: ERROR.to_owned(), text: plain(text.trim()), in_text: true, retry: None }
}

pub(super) fn is_error(notice: &Update) -> bool {
    matches!(notice, Update::Notice { level, .. } if level == ERROR)
}

/// Whether a model would hardly have said it.
pub(super) fn is_own(notice: &Update, own_errors: &[&str]) -> bool {
    matches!(notice, Update::Notice { text, .. } if own_errors.iter().any(|own| text.starts_with(own)))
}

/// What is known when a prompt ends with a chunk that may be a notice.
pub(super) struct Ending<'a> {
    /// It ended well, as far as the agent says.
    pub completed: bool,
    /// The tokens that the agent counts after it, and those that it counted after the session's prompt before.
    pub tokens: Option<&'a Tokens>,
    pub before: Option<&'a Tokens>,
    /// Prompts of this session were answered without a count of tokens, so a missing one says nothing.
    pub uncounted: bool,
}

impl Ending<'_> {
    /// Whether no model has answered since the prompt before: then the words are the agent's.
    pub(super) fn without_answer(&self) -> bool {
        match self.tokens {
            _ if !self.completed => false,
            None => !self.uncounted,
            Some(tokens) => self.before == Some(tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_that_begins_with_a_level_may_be_a_notice() {
        let read = |chunk: &str| match read(chunk) {
            Some(Update::Notice { level, text, in_text: true, retry }) => Some((level, text, retry.is_some())),
            _ => None,
        };
        let notice = |level: &str, text: &str, retry| Some((level.to_owned(), text.to_owned(), retry));
        assert_eq!(read("Error: 400 no\n  Check it."), notice("error", "400 no\n  Check it.", false));
        assert_eq!(read("Info: Request failed. Retrying..."), notice("info", "Request failed. Retrying...", true));
        assert_eq!(read("Warning: 1 tool call(s) had no result"), notice("warning", "1 tool call(s) had no result", false));
        for text in ["Error", "Error: ", "Error:x", " Error: x", "an Error: x", "ERROR: x", ""] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
