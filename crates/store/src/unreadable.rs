//! What stands in for a stored text that cannot be read: one bad row must not take the conversation along.
//!
//! The row stays as it is in the database; only readers are given something else.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::{LazyLock, Mutex, PoisonError};

use domain::event::Notice;
use serde::de::IgnoredAny;

/// As deep as the parser goes; what is nested deeper is valid, but nothing here can read it.
pub(crate) const DEPTH: usize = 127;
/// How many rows are remembered as reported. Beyond that one may be reported again.
const REPORTED: usize = 4096;

static SEEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// The text of a column cannot be read, and that was logged.
pub(crate) struct Unreadable;

impl Unreadable {
    /// Logged once for each row, however often it is read.
    pub(crate) fn report(table: &'static str, key: &str, error: &dyn Display) -> Unreadable {
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= REPORTED {
            seen.clear();
        }
        if seen.insert(format!("{table} {key}")) {
            tracing::warn!(table, key, %error, "a stored row cannot be read, a stand-in is shown for it");
        }
        Unreadable
    }
}

/// Said where an event of the log should be.
pub(crate) fn notice(seq: u64, kind: &str) -> Notice {
    Notice {
        code: "unreadable".into(),
        level: "warning".into(),
        title: "An event cannot be read".into(),
        text: format!("Event {seq} of this session (of the kind \"{kind}\") is damaged or nested too deep, so it is left out."),
        session_name: None,
    }
}

/// Whether the text is JSON that every reader of the log can take.
pub(crate) fn is_sound(text: &str) -> bool {
    !is_too_deep(text) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Of valid JSON only.
pub(crate) fn is_too_deep(text: &str) -> bool {
    // Nearly all texts are done with here, at the speed of memory.
    if text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count() <= DEPTH {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > DEPTH {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn sound_is_what_the_parser_can_read() {
        let texts =
            [nested(DEPTH), nested(DEPTH + 1), format!("\"\\\"{}\"", "[".repeat(500)), format!("[{}0]", "[],".repeat(500)), "{".into()];
        for text in texts {
            assert_eq!(is_sound(&text), serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        }
    }
}
