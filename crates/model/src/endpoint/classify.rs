//! Turns what the model library reports into a fault that a person can act on.

use genai::webc::StreamTimeout;
use reqwest::header::HeaderMap;
use serde_json::Value;
use tls::RedirectRefused;

use crate::fault::Fault;
use crate::settings::Target;

/// Endpoints put whole pages into their errors; a sentence is enough.
const DETAIL_LIMIT: usize = 200;

pub(super) fn fault(error: &genai::Error, target: &Target, stall_ms: u64) -> Fault {
    let malformed = |detail: &str| Fault::Malformed { host: target.host.clone(), detail: detail.to_owned() };
    match error {
        genai::Error::WebStream { error, .. } => transport(error.as_ref(), target, stall_ms),
        genai::Error::HttpError { status, body, headers, .. } => from_status(status.as_u16(), body, Some(headers), target),
        genai::Error::ChatResponse { body, .. } => in_stream(body, target),
        genai::Error::WebAdapterCall { webc_error, .. } => of_call(webc_error, target, stall_ms),
        genai::Error::StreamParse { .. } => malformed("an event of the stream is not json"),
        other => Fault::BadRequest { host: target.host.clone(), status: None, detail: presentable(&other.to_string(), target) },
    }
}

pub(super) fn transport(error: &(dyn std::error::Error + Send + Sync + 'static), target: &Target, stall_ms: u64) -> Fault {
    let host = target.host.clone();
    if let Some(inner) = error.downcast_ref::<genai::Error>() {
        return fault(inner, target, stall_ms);
    }
    if error.downcast_ref::<StreamTimeout>().is_some() {
        return Fault::Stalled { host, silent_s: stall_ms.div_ceil(1000) };
    }
    let error_of_client = error.downcast_ref::<reqwest::Error>();
    if let Some(refused) = error_of_client.and_then(RedirectRefused::of) {
        let (to, reason) = (presentable(&refused.to, target), presentable(&refused.to_string(), target));
        return Fault::Redirected { host, to, reason };
    }
    match error_of_client {
        Some(error) if error.is_connect() => Fault::Refused { host, reason: presentable(&innermost(error), target) },
        Some(error) if error.is_builder() => Fault::BadRequest { host, status: None, detail: presentable(&innermost(error), target) },
        Some(_) => Fault::Cut { host },
        None => Fault::Malformed { host, detail: presentable(&innermost(error), target) },
    }
}

/// A request whose answer comes in one piece.
fn of_call(error: &genai::webc::Error, target: &Target, stall_ms: u64) -> Fault {
    use genai::webc::Error;
    let malformed = || Fault::Malformed { host: target.host.clone(), detail: "its list of models is not json".to_owned() };
    match error {
        Error::ResponseFailedStatus { status, body, headers } => from_status(status.as_u16(), body, Some(headers), target),
        Error::Reqwest(error) => transport(error, target, stall_ms),
        Error::ResponseFailedNotJson { .. } | Error::ResponseFailedInvalidJson { .. } | Error::JsonValueExt(_) => malformed(),
    }
}

/// The root of the chain: the outer layers only say that something failed, and name the whole address.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

fn from_status(status: u16, body: &str, headers: Option<&HeaderMap>, target: &Target) -> Fault {
    let host = target.host.clone();
    let detail = || presentable(&message_of(body), target);
    match status {
        401 | 403 => Fault::Unauthorized { host, status, variables: target.key_variables.clone() },
        429 => Fault::RateLimited { host, retry_after_s: headers.and_then(retry_after_s) },
        408 | 500.. => Fault::Unavailable { host, status: Some(status), detail: detail() },
        _ => Fault::BadRequest { host, status: Some(status), detail: detail() },
    }
}

/// An error object in the middle of a stream, after the endpoint had promised a good answer.
fn in_stream(body: &Value, target: &Target) -> Fault {
    let error = if body["error"].is_object() { &body["error"] } else { body };
    let text = error["message"].as_str().unwrap_or_default();
    if let Some(status) = error["code"].as_u64().and_then(|code| u16::try_from(code).ok()) {
        return from_status(status, text, None, target);
    }
    let kind = error["type"].as_str().or(error["code"].as_str()).unwrap_or_default();
    if kind.contains("rate_limit") {
        return from_status(429, text, None, target);
    }
    let detail = presentable(text, target);
    let host = target.host.clone();
    let status = None;
    if kind.contains("invalid_request") {
        return Fault::BadRequest { host, status, detail };
    }
    Fault::Unavailable { host, status, detail }
}

fn retry_after_s(headers: &HeaderMap) -> Option<u64> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    // A cast saturates, so nonsense becomes a bound and not a wrap.
    (seconds >= 0.0).then_some(seconds.ceil() as u64)
}

/// The message of an error body in any of the usual shapes, else the body.
fn message_of(body: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(body) else {
        return body.to_owned();
    };
    let places = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
    let found = places.into_iter().find_map(Value::as_str);
    found.map_or_else(|| body.to_owned(), str::to_owned)
}

/// One short line without the key.
fn presentable(text: &str, target: &Target) -> String {
    let masked = match &target.key {
        Some(key) => text.replace(key.expose(), "…"),
        None => text.to_owned(),
    };
    let line = masked.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(DETAIL_LIMIT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
