//! One line of the log: what an event says, fit to be shown.

use std::fmt::{self, Write as _};

use agents::trace::Mask;
use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata};

const MESSAGE: &str = "message";
/// Says on whose behalf something happened.
const PEER: &str = "session";
/// The words of our own.
const MESSAGE_CHARS: usize = 1000;
/// Everything else may come from anywhere.
const FIELD_CHARS: usize = 200;
/// More of a value is not even looked at.
const LOOKED_AT_BYTES: usize = 8192;

#[derive(Default)]
pub(super) struct Line {
    fields: Vec<(&'static str, Value)>,
}

impl Line {
    pub(super) fn new(message: String, fields: impl IntoIterator<Item = (&'static str, Value)>) -> Line {
        let mut line = Line { fields: vec![(MESSAGE, message.into())] };
        line.fields.extend(fields);
        line
    }

    fn text_of(&self, name: &str) -> &str {
        self.fields.iter().find(|(field, _)| *field == name).and_then(|(_, value)| value.as_str()).unwrap_or_default()
    }

    pub(super) fn message(&self) -> &str {
        self.text_of(MESSAGE)
    }

    pub(super) fn peer(&self) -> &str {
        self.text_of(PEER)
    }

    /// For people.
    pub(super) fn text(&self, metadata: &Metadata<'_>, mask: &Mask, colour: bool) -> String {
        let (level, code) = level(*metadata.level());
        let (time, target, message) = (Timestamp::now(), metadata.target(), shown(self.message(), MESSAGE_CHARS, mask));
        let mut text = match colour {
            true => format!("\x1b[2m{time:.6}\x1b[0m \x1b[{code}m{level:>5}\x1b[0m \x1b[2m{target}:\x1b[0m {message}"),
            false => format!("{time:.6} {level:>5} {target}: {message}"),
        };
        for (name, value) in self.fields.iter().filter(|(name, _)| *name != MESSAGE) {
            let value = match value {
                Value::String(words) => shown(words, FIELD_CHARS, mask),
                other => other.to_string(),
            };
            let quote = if value.is_empty() || value.contains(' ') { "\"" } else { "" };
            let _ = write!(text, " {name}={quote}{value}{quote}");
        }
        text.push('\n');
        text
    }

    /// For programs.
    pub(super) fn json(&self, metadata: &Metadata<'_>, mask: &Mask) -> String {
        let mut object = Map::new();
        object.insert("timestamp".to_owned(), format!("{:.6}", Timestamp::now()).into());
        object.insert("level".to_owned(), level(*metadata.level()).0.into());
        for (name, value) in &self.fields {
            let most = if *name == MESSAGE { MESSAGE_CHARS } else { FIELD_CHARS };
            let value = match value {
                Value::String(words) => shown(words, most, mask).into(),
                other => other.clone(),
            };
            object.insert((*name).to_owned(), value);
        }
        object.insert("target".to_owned(), metadata.target().into());
        format!("{}\n", Value::Object(object))
    }
}

fn level(level: Level) -> (&'static str, u8) {
    match level {
        Level::ERROR => ("ERROR", 31),
        Level::WARN => ("WARN", 33),
        Level::INFO => ("INFO", 32),
        Level::DEBUG => ("DEBUG", 34),
        Level::TRACE => ("TRACE", 35),
    }
}

/// Masked before it is cut, so that no part of a secret is left at the cut.
fn shown(text: &str, most_chars: usize, mask: &Mask) -> String {
    let masked = mask.text(text);
    let text = masked.as_deref().unwrap_or(text);
    let mut shown = String::with_capacity(text.len().min(most_chars));
    for (count, character) in text.chars().enumerate() {
        if count == most_chars {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

/// Takes what a value says of itself, and no more of it than anybody looks at.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = LOOKED_AT_BYTES.saturating_sub(self.0.len());
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        if text.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut words = Bounded(String::new());
        // An error says that there was more.
        let _ = write!(words, "{value:?}");
        self.fields.push((field.name(), words.0.into()));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.push((field.name(), value[..value.floor_char_boundary(LOOKED_AT_BYTES)].into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.push((field.name(), value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.fields.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.fields.push((field.name(), value.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_masked_clipped_and_visible() {
        let mask = Mask::new(["the-secret-value".to_owned()]);
        assert_eq!(shown("a \"b\" the-secret-value", 200, &mask), "a \"b\" [masked]");
        assert_eq!(shown("red \u{1b}[31m\nline \u{202e}txt", 200, &mask), "red \\u{1b}[31m\\nline \\u{202e}txt");
        let long = format!("{}the-secret-value", "x".repeat(195));
        assert_eq!(shown(&long, 200, &mask), format!("{}[mask…", "x".repeat(195)), "the cut is made in what is masked");
    }
}
