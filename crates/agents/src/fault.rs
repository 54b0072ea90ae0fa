//! Why a request of ours was not met: JSON-RPC's codes and their meaning, which nobody outside of this crate needs to know.

use domain::agent::{Failure, Fault};
use serde_json::Value;

use crate::jsonrpc::{ErrorObject, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::signal::cut;

pub(crate) const LOGIN_REQUIRED: i64 = -32000;
pub(crate) const NOT_FOUND: i64 = -32002;
/// How much of an agent's reason is passed on.
const REASON_BYTES: usize = 2048;

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

    pub(crate) fn code(&self) -> Option<i64> {
        match self {
            RpcError::Rejected { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// Agents have several codes for a session that they do not know, or no longer, so the words count too.
fn is_unknown_session(code: i64, reason: &str) -> bool {
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
    let message = error.message.trim();
    let detail = error.data.as_ref().and_then(detail).unwrap_or_default();
    let detail = detail.trim();
    let whole = match (message.is_empty(), detail.is_empty() || message.contains(detail)) {
        (true, _) if !detail.is_empty() => detail.to_owned(),
        (true, _) => format!("error {}", error.code),
        (false, true) => message.to_owned(),
        (false, false) => format!("{message}: {detail}"),
    };
    cut(&whole, REASON_BYTES).to_owned()
}

fn detail(data: &Value) -> Option<&str> {
    data.as_str().or_else(|| ["details", "reason", "message"].iter().find_map(|key| data.get(key)?.as_str()))
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
        for code in [-32700, -32600, -32602, -32603, -32800, -32001, 400, 0] {
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
        assert_eq!(message("", None), "error -32603");
        assert_eq!(message("no", Some(json!("ä".repeat(5000)))).len(), REASON_BYTES);
    }
}
