//! The envelope of a line: who speaks to whom, with the payload left as raw JSON. Pure.
//!
//! Lenient where real agents are: `jsonrpc` may be missing, ids may be anything JSON-RPC ever allowed, a batch is its
//! elements, and `"result": null` is an answer. It must not know any method.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
/// An id is kept until its request is answered, and goes back with the answer.
const ID_BYTES: usize = 1024;

/// The id of a request. Ours are strings; an agent's are its own, counted in a space of their own that starts at 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RpcId {
    Number(Number),
    String(String),
    Null,
}

impl RpcId {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("an id is a number, a string or null")
    }
}

impl fmt::Display for RpcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

#[derive(Debug)]
pub enum Message<'a> {
    Request {
        id: RpcId,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// `outcome` is `None` where the answer holds neither a result nor an error.
    Response {
        id: RpcId,
        outcome: Option<Result<&'a RawValue, ErrorObject>>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct ErrorObject {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

/// Not a JSON-RPC message, nor a batch of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not a JSON-RPC message")]
pub struct Malformed;

/// The text of a line; only a line that is not UTF-8 is copied.
pub fn text(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.trim_ascii())
}

/// Calls `each` with every message of a line, in order. A bad element of a batch spoils only itself.
pub fn messages<'a>(text: &'a str, mut each: impl FnMut(Result<Message<'a>, Malformed>)) {
    if !text.starts_with('[') {
        return each(message(text));
    }
    match serde_json::from_str::<Vec<&RawValue>>(text) {
        Ok(elements) if !elements.is_empty() => elements.into_iter().for_each(|element| each(message(element.get()))),
        _ => each(Err(Malformed)),
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, deserialize_with = "present")]
    id: Option<RpcId>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

/// `null` is a value here, and only a missing key is `None`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

pub fn message(text: &str) -> Result<Message<'_>, Malformed> {
    if !text.starts_with('{') {
        return Err(Malformed);
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|_| Malformed)?;
    if matches!(&envelope.id, Some(RpcId::String(id)) if id.len() > ID_BYTES) {
        return Err(Malformed);
    }
    match (envelope.method, envelope.id) {
        (Some(method), Some(id)) => Ok(Message::Request { id, method, params: envelope.params }),
        (Some(method), None) => Ok(Message::Notification { method, params: envelope.params }),
        (None, Some(id)) => {
            let outcome = match (envelope.error, envelope.result) {
                (Some(error), _) => Some(Err(error_object(error))),
                (None, Some(result)) => Some(Ok(result)),
                (None, None) => None,
            };
            Ok(Message::Response { id, outcome })
        }
        (None, None) => Err(Malformed),
    }
}

/// An error of an unexpected shape keeps its text, so that a person can still read it.
fn error_object(raw: &RawValue) -> ErrorObject {
    #[derive(Deserialize)]
    struct Shape {
        code: Option<Value>,
        message: Option<String>,
        data: Option<Value>,
    }
    match serde_json::from_str::<Shape>(raw.get()) {
        Ok(Shape { code, message, data }) => ErrorObject {
            code: code.as_ref().and_then(code_number).unwrap_or_default(),
            message: message.unwrap_or_else(|| raw.get().to_owned()),
            data,
        },
        Err(_) => ErrorObject { code: 0, message: raw.get().to_owned(), data: None },
    }
}

fn code_number(code: &Value) -> Option<i64> {
    match code {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A line that asks, with an id of ours.
pub fn request(id: &str, method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, P> {
        jsonrpc: &'a str,
        id: &'a str,
        method: &'a str,
        params: &'a P,
    }
    line(&Line { jsonrpc: "2.0", id, method, params })
}

pub fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, P> {
        jsonrpc: &'a str,
        method: &'a str,
        params: &'a P,
    }
    line(&Line { jsonrpc: "2.0", method, params })
}

pub fn answer(id: &RpcId, result: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a, R> {
        jsonrpc: &'a str,
        id: &'a RpcId,
        result: &'a R,
    }
    line(&Line { jsonrpc: "2.0", id, result })
}

pub fn refusal(id: &RpcId, code: i64, message: &str) -> Vec<u8> {
    line(&serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
}

fn line(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("maps with string keys and no failing serialisers always become JSON")
}

/// Replaces escaped lone surrogates (`\ud83d` without its other half) by U+FFFD. JavaScript agents cut an emoji in two when
/// they cut text by length, and no Rust string can hold the halves.
pub fn repair_surrogates(json: &str) -> Option<String> {
    let mut repaired = String::with_capacity(json.len());
    let mut rest = json;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        repaired.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match unit(rest) {
            Some(0xD800..=0xDBFF) if matches!(rest.get(6..).and_then(unit), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                changed = true;
                repaired.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        repaired.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    repaired.push_str(rest);
    changed.then_some(repaired)
}

/// The UTF-16 unit of a `\uXXXX` escape that `text` starts with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests;
