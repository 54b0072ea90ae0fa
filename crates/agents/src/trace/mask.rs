//! What must not be shown: secrets that are known by their value, by the name they go under, and by their shape. Pure.
//!
//! It looks at one line at a time: a secret that an agent says in two pieces is not found.

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Payload;
use crate::jsonrpc;

pub(super) const MASKED: &str = "[masked]";
/// A shorter value is too likely to be part of something else.
const VALUE_CHARS_MIN: usize = 6;
/// How the tokens begin that are known by their looks, and how many more characters they have at least.
const SHAPES: [(&str, usize); 8] =
    [("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 20), ("sk-", 16), ("Bearer ", 8)];
/// Under these names every value is taken for a secret: a program's environment and a request's headers.
const PAIRS: [&str; 2] = ["env", "headers"];
const NAMES: [&str; 12] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "api-key",
    "apikey",
    "x-api-key",
    "token",
    "secret",
    "password",
    "passphrase",
    "private-key",
];
const NAME_ENDS: [&str; 4] = ["-token", "-secret", "-password", "-api-key"];

/// The secrets that are known by their value.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// The longest first, since one may be part of another.
    values: Vec<String>,
}

/// Whether a variable of the environment holds a secret, going by its name.
pub fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL"]
        .iter()
        .any(|part| name.contains(part))
}

impl Mask {
    pub fn new(values: impl IntoIterator<Item = String>) -> Mask {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.chars().count() >= VALUE_CHARS_MIN).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Mask { values }
    }

    /// A line as it may be shown: as it is where it holds no secret.
    pub(super) fn line(&self, text: &str) -> Payload {
        let parsed = serde_json::from_str::<Value>(text).map(|value| (value, None)).or_else(|error| {
            let repaired = jsonrpc::repair_surrogates(text).ok_or(error)?;
            serde_json::from_str(&repaired).map(|value| (value, Some(repaired)))
        });
        let Ok((mut value, repaired)) = parsed else {
            return Payload::Text(self.text(text).unwrap_or_else(|| text.to_owned()));
        };
        if self.value(&mut value) {
            return Payload::Json(raw(&value));
        }
        let as_it_is = RawValue::from_string(repaired.unwrap_or_else(|| text.to_owned()));
        Payload::Json(as_it_is.unwrap_or_else(|_| raw(&value)))
    }

    pub(super) fn json(&self, mut value: Value) -> Box<RawValue> {
        self.value(&mut value);
        raw(&value)
    }

    /// Whether there was anything to mask.
    fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Some(masked) => {
                    *text = masked;
                    true
                }
                None => false,
            },
            Value::Array(items) => items.iter_mut().fold(false, |changed, item| self.value(item) | changed),
            Value::Object(fields) => fields.iter_mut().fold(false, |changed, (name, field)| {
                let masked = if is_secret_name(name) && field.is_string() {
                    *field = MASKED.into();
                    true
                } else if PAIRS.contains(&name.to_ascii_lowercase().as_str()) {
                    mask_pairs(field) | self.value(field)
                } else {
                    self.value(field)
                };
                masked | changed
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The text without its secrets; `None` where there are none.
    pub fn text(&self, text: &str) -> Option<String> {
        let mut masked: Option<String> = None;
        for value in &self.values {
            let now = masked.as_deref().unwrap_or(text);
            if now.contains(value.as_str()) {
                masked = Some(now.replace(value.as_str(), MASKED));
            }
        }
        for (start, more) in SHAPES {
            let now = masked.as_deref().unwrap_or(text);
            if let Some(changed) = mask_shape(now, start, more) {
                masked = Some(changed);
            }
        }
        masked
    }
}

fn is_secret_name(name: &str) -> bool {
    // `accessToken`, `access_token` and `Access-Token` are one name.
    let mut plain = String::with_capacity(name.len() + 4);
    for (at, character) in name.char_indices() {
        if character.is_ascii_uppercase() && at > 0 && name.as_bytes()[at - 1].is_ascii_lowercase() {
            plain.push('-');
        }
        plain.push(if character == '_' { '-' } else { character.to_ascii_lowercase() });
    }
    NAMES.contains(&plain.as_str()) || NAME_ENDS.iter().any(|end| plain.ends_with(end))
}

/// The values of `[{name, value}]` or of `{name: value}`.
fn mask_pairs(pairs: &mut Value) -> bool {
    let hide = |value: &mut Value| {
        let is_text = value.is_string();
        if is_text {
            *value = MASKED.into();
        }
        is_text
    };
    match pairs {
        Value::Array(items) => {
            items.iter_mut().filter_map(|item| item.get_mut("value")).fold(false, |changed, value| hide(value) | changed)
        }
        Value::Object(fields) => fields.values_mut().fold(false, |changed, value| hide(value) | changed),
        _ => false,
    }
}

/// Masks what begins with `start` at the beginning of a word and goes on for at least `more` characters.
fn mask_shape(text: &str, start: &str, more: usize) -> Option<String> {
    let mut masked = String::new();
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find(start) {
        let head = &rest[..at];
        let tail = &rest[at + start.len()..];
        let length = tail.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.~+/=".contains(byte)).count();
        let is_word = head.chars().next_back().or(before).is_none_or(|last| !last.is_alphanumeric() && last != '_');
        masked.push_str(head);
        if is_word && length >= more {
            masked.push_str(MASKED);
        } else {
            masked.push_str(&rest[at..at + start.len() + length]);
        }
        before = rest[..at + start.len() + length].chars().next_back();
        rest = &tail[length..];
    }
    masked.push_str(rest);
    (masked != text).then_some(masked)
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).expect("a JSON value can always be written")
}
