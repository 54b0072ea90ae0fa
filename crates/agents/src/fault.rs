//! Why a request of ours was not met: JSON-RPC's codes and their meaning, which nobody outside of this crate needs to know.

use domain::agent::{Failure, Fault};
use domain::text::visible;
use serde_json::Value;

use crate::jsonrpc::{ErrorObject, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::signal::cut;

pub(crate) const LOGIN_REQUIRED: i64 = -32000;
pub(crate) const NOT_FOUND: i64 = -32002;
/// How much of an agent's reason is passed on.
const REASON_BYTES: usize = 2048;
/// A longer text is not looked into for what a model's server answered.
const ANSWER_BYTES: usize = 64 * 1024;

#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum RpcError {
    #[error("{reason}")]
    Rejected { code: i64, reason: String },
    /// The agent process ended, or nothing can be written to it any more.
    #[error("{0}")]
    Gone(String),
    /// The runner would not take the line just now (a full disk); nothing reached the agent.
    #[error("not sent: {0}")]
    NotSent(String),
    #[error("no answer to {method} within {seconds} s")]
    Timeout { method: String, seconds: u64 },
    #[error("the answer to {method} cannot be read")]
    Malformed { method: String },
    /// The agent has said that it does not take this; nothing was sent.
    #[error("{0}")]
    Unsupported(String),
    #[error("{method} is already under way")]
    Busy { method: String },
}

impl RpcError {
    pub(crate) fn fault(&self) -> Fault {
        match self {
            RpcError::Rejected { code: LOGIN_REQUIRED, .. } => Fault::NeedsLogin,
            RpcError::Rejected { code: METHOD_NOT_FOUND, .. } | RpcError::Unsupported(_) => Fault::Unsupported,
            RpcError::Rejected { reason, .. } if reason.contains("already has an active writer") => Fault::OwnedElsewhere,
            RpcError::Rejected { code, reason } if is_unknown_session(*code, reason) => Fault::UnknownSession,
            RpcError::Gone(_) => Fault::Gone,
            RpcError::NotSent(_) => Fault::NotSent,
            RpcError::Timeout { .. } => Fault::TimedOut,
            RpcError::Rejected { .. } | RpcError::Malformed { .. } | RpcError::Busy { .. } => Fault::Refused,
        }
    }

    pub(crate) fn is_method_missing(&self) -> bool {
        self.code() == Some(METHOD_NOT_FOUND)
    }

    /// The agent holds the session already; loading it again is neither needed nor possible.
    pub(crate) fn is_already_loaded(&self) -> bool {
        matches!(self, RpcError::Rejected { code: INVALID_PARAMS, reason } if reason.contains("is already loaded"))
    }

    /// None of the names that a method may have is known to the agent; `error` is what it said to the last.
    pub(crate) fn unknown_names(tried: &[&str], error: &RpcError) -> RpcError {
        RpcError::Unsupported(format!("unsupported: it speaks no dialect that is known here (tried {}): {error}", tried.join(", ")))
    }

    pub(crate) fn code(&self) -> Option<i64> {
        match self {
            RpcError::Rejected { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// Agents have several codes for a session that they do not know, or no longer, so the words count too.
/// A code above zero is none of the protocol's, but what an agent's model was answered over HTTP: nothing of a session.
fn is_unknown_session(code: i64, reason: &str) -> bool {
    if code > 0 {
        return false;
    }
    let reason = reason.to_ascii_lowercase();
    code == NOT_FOUND || (reason.contains("session") && reason.contains("not found")) || reason.contains("no previous sessions")
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        match error.fault() {
            Fault::OwnedElsewhere => {
                let message = format!("another program has this conversation open; close it there and send the message again ({error})");
                Failure::new(Fault::OwnedElsewhere, message)
            }
            fault => Failure::new(fault, error.to_string()),
        }
    }
}

impl From<ErrorObject> for RpcError {
    fn from(error: ErrorObject) -> Self {
        RpcError::Rejected { code: error.code, reason: reason(&error) }
    }
}

/// What the agent says, with what stands in the error's data: some say only there what went wrong.
fn reason(error: &ErrorObject) -> String {
    let message = plain(error.message.trim());
    let detail = plain(error.data.as_ref().and_then(detail).unwrap_or_default().trim());
    let (message, detail) = (message.as_str(), detail.as_str());
    let whole = match (message.is_empty(), detail.is_empty() || message.contains(detail)) {
        (true, _) if !detail.is_empty() => detail.to_owned(),
        (true, _) => format!("error {}", error.code),
        (false, true) => message.to_owned(),
        (false, false) => format!("{message}: {detail}"),
    };
    // Some pass on what their model's server answered.
    let status = (400..600).contains(&error.code) && !whole.contains(&error.code.to_string());
    let whole = if status { format!("HTTP {}: {whole}", error.code) } else { whole };
    visible(cut(&whole, REASON_BYTES)).into_owned()
}

fn detail(data: &Value) -> Option<&str> {
    data.as_str().or_else(|| named(data)).or_else(|| named(data.get("error")?))
}

fn named(data: &Value) -> Option<&str> {
    ["details", "detail", "reason", "message", "error"].iter().find_map(|key| data.get(key)?.as_str())
}

/// The words in what a model's server answered, where an agent passes that on as it is.
pub(crate) fn plain(text: &str) -> String {
    let is_answer = text.starts_with(['{', '[']) && text.len() <= ANSWER_BYTES;
    let answer = if is_answer { serde_json::from_str::<Value>(text).ok() } else { None };
    let first = answer.as_ref().map(|answer| answer.get(0).unwrap_or(answer));
    let words = first.and_then(|answer| answer.pointer("/error/message").or(answer.get("message"))?.as_str());
    words.map(str::trim).filter(|words| !words.is_empty()).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failure(code: i64, message: &str, data: Option<Value>) -> Failure {
        RpcError::from(ErrorObject { code, message: message.to_owned(), data }).into()
    }

    #[test]
    fn an_unknown_session_is_recognised_by_code_or_by_words() {
        for (code, message) in [
            (-32002, "Resource not found"),
            (-32602, "Session x not found"),
            (-32603, "Request session.abort failed with message: Session not found for sessionId: x"),
        ] {
            assert_eq!(failure(code, message, None).fault, Fault::UnknownSession, "{message}");
        }
        let gemini = failure(-32603, "Internal error", Some(json!({ "details": "No previous sessions found for this project." })));
        assert_eq!(gemini, Failure::new(Fault::UnknownSession, "Internal error: No previous sessions found for this project."));
        assert_eq!(failure(-32602, "Invalid params: cwd is required", None).fault, Fault::Refused);
    }

    #[test]
    fn every_error_has_its_fault() {
        assert_eq!(failure(-32000, "Authentication required", None).fault, Fault::NeedsLogin);
        assert_eq!(failure(-32601, "no", None).fault, Fault::Unsupported);
        for code in [-32700, -32600, -32602, -32603, -32800, -32001, 400, 401, 403, 404, 429, 500, 0] {
            assert_eq!(failure(code, "no", None).fault, Fault::Refused, "{code}");
        }
        for (error, fault) in [
            (RpcError::Gone("x".into()), Fault::Gone),
            (RpcError::NotSent("x".into()), Fault::NotSent),
            (RpcError::Timeout { method: "m".into(), seconds: 1 }, Fault::TimedOut),
            (RpcError::Malformed { method: "m".into() }, Fault::Refused),
            (RpcError::Unsupported("x".into()), Fault::Unsupported),
            (RpcError::Busy { method: "m".into() }, Fault::Refused),
        ] {
            assert_eq!(error.fault(), fault, "{error}");
        }
        assert!(RpcError::Rejected { code: -32602, reason: "Session x is already loaded".into() }.is_already_loaded());
    }

    #[test]
    fn the_reason_is_found_in_the_data_and_bounded() {
        let message = |message, data| failure(-32603, message, data).message;
        assert_eq!(message("Internal error", Some(json!({ "details": "quota used up" }))), "Internal error: quota used up");
        assert_eq!(message("Internal error", Some(json!({ "reason": "too long" }))), "Internal error: too long");
        assert_eq!(message("Internal error", Some(json!("plain words"))), "Internal error: plain words");
        assert_eq!(message("Session x not found", Some(json!({ "sessionId": "x" }))), "Session x not found");
        assert_eq!(message("Internal error", Some(json!({ "error": { "message": "deep" } }))), "Internal error: deep");
        assert_eq!(message("no\u{202e}", None), "no⟨U+202E⟩");
        assert_eq!(message("", None), "error -32603");
        assert_eq!(message("no", Some(json!("ä".repeat(5000)))).len(), REASON_BYTES);
    }

    /// Gemini answers a prompt with what its model's server said, status and all.
    #[test]
    fn a_status_of_http_is_shown_as_one_and_read_as_nothing_else() {
        let body = r#"{"error":{"message":"session quota: model not found","code":"x"}}"#;
        assert_eq!(failure(429, body, None), Failure::new(Fault::Refused, "HTTP 429: session quota: model not found"));
        assert_eq!(failure(401, "401 Unauthorized", None), Failure::new(Fault::Refused, "401 Unauthorized"));
        assert_eq!(failure(404, "Session x not found", None).fault, Fault::Refused);
        assert_eq!(plain(r#"[{"error":{"message":"in a list"}}]"#), "in a list");
        assert_eq!(plain("{broken"), "{broken");
    }
}
