//! Notices that an agent says among its message text. Copilot reports its model's faults, its retries and what it found after a crash
//! as text that nothing marks, each in a chunk of its own that begins with a level. Other agents are not read this way.

use domain::agent::{Retry, Update};

const LEVELS: [(&str, &str); 3] = [("Info: ", "info"), ("Warning: ", "warning"), ("Error: ", "error")];

/// How the words end with which Copilot says that it asks its model again.
const RETRYING: &str = "Retrying...";

/// The notice that a whole chunk is, if it is one.
pub(super) fn notice(chunk: &str) -> Option<Update> {
    let (words, level) = LEVELS.iter().find_map(|(prefix, level)| Some((chunk.strip_prefix(prefix)?, *level)))?;
    let text = words.trim();
    if text.is_empty() {
        return None;
    }
    let retry = (level == "info" && text.ends_with(RETRYING)).then(Retry::default);
    Some(Update::Notice { level: level.to_owned(), text: text.to_owned(), in_text: true, retry })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_that_begins_with_a_level_is_a_notice() {
        let read = |chunk: &str| match notice(chunk) {
            Some(Update::Notice { level, text, in_text: true, retry }) => Some((level, text, retry.is_some())),
            _ => None,
        };
        let told = |level: &str, text: &str, retry| Some((level.to_owned(), text.to_owned(), retry));
        assert_eq!(read("Error: 400 no\n  Check it."), told("error", "400 no\n  Check it.", false));
        assert_eq!(read("Info: Request failed. Retrying..."), told("info", "Request failed. Retrying...", true));
        assert_eq!(read("Warning: 1 tool call(s) had no result"), told("warning", "1 tool call(s) had no result", false));
        for text in ["Error", "Error: ", "Error:x", " Error: x", "an Error: x", "ERROR: x", ""] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
