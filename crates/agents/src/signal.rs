//! What comes out of a connection: signals in journal order, and the errors a caller can act on.

use std::sync::Arc;

use domain::agent::{PermissionAsk, ToolCall, Update};
use serde_json::Value;

use crate::acp::client_request::ClientRequest;
use crate::jsonrpc::{METHOD_NOT_FOUND, RpcId};

/// Everything that some neighbouring journal records meant.
#[derive(Debug)]
pub struct Batch {
    /// The journal's sequence number of the last record consumed. Stored together with what the signals became, it makes
    /// every line count exactly once.
    pub cursor: u64,
    pub signals: Vec<Signal>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Signal {
    /// Message text; neighbouring chunks of one agent session are joined.
    Text {
        agent_session: Arc<str>,
        text: String,
    },
    Update {
        agent_session: Arc<str>,
        update: Update,
    },
    /// What an agent repeats while it loads a session: history, never live output.
    Replay {
        agent_session: Arc<str>,
        part: Part,
    },
    Permission {
        agent_session: Arc<str>,
        rpc_id: RpcId,
        ask: PermissionAsk,
    },
    /// Something that its client does for the agent: a file, a terminal, a form. Like a permission it is owed an answer.
    Request {
        agent_session: Arc<str>,
        rpc_id: RpcId,
        request: ClientRequest,
    },
    /// The agent no longer needs the answer to this request, which it is still owed.
    Withdrawn {
        rpc_id: RpcId,
    },
    TurnEnd {
        call_id: String,
        result: Result<TurnEnd, RpcError>,
    },
    /// A notification that belongs to no agent session, as it came.
    Other {
        method: String,
        params: Value,
    },
    /// A line that is no message: its beginning, or its length where it was too long to be kept.
    BadLine {
        text: String,
        oversized_bytes: Option<u64>,
    },
    /// For people, from the runner.
    Notice(String),
    /// The agent process has ended. Always the last signal; every pending request has failed by then.
    Gone {
        exit: Exit,
        text: String,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    Text(String),
    Update(Box<Update>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct TurnEnd {
    /// end_turn, max_tokens, max_turn_requests, refusal, cancelled, or what the agent says.
    pub stop_reason: String,
    pub usage: Option<Value>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stderr_tail: String,
}

/// What Copilot's npm wrapper says whenever its native program has ended badly, also when that was killed after hours of work.
const FALSE_BLAME: &str = "no platform package found";

impl Exit {
    /// For an agent that has worked before it ended: takes out the advice to install it again.
    pub(crate) fn drop_false_blame(&mut self) {
        if self.stderr_tail.contains(FALSE_BLAME) {
            self.stderr_tail = self.stderr_tail.lines().filter(|line| !line.contains(FALSE_BLAME)).collect::<Vec<_>>().join("\n");
        }
    }

    /// One sentence for a person: how the agent ended and the last thing it said about it.
    pub fn sentence(&self) -> String {
        let how = match (self.code, self.signal) {
            (_, Some(signal)) => format!("the agent was ended by signal {signal}"),
            (Some(code), None) => format!("the agent exited with status {code}"),
            (None, None) if self.stderr_tail.is_empty() => "the agent's runner is gone".to_owned(),
            (None, None) => "the agent could not be started".to_owned(),
        };
        match self.stderr_tail.lines().map(str::trim).rfind(|line| !line.is_empty()) {
            Some(last) => format!("{how}: {}", cut(last, 400)),
            None => how,
        }
    }
}

#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RpcError {
    #[error("{message} ({code})")]
    Rejected { code: i64, message: String, data: Option<Value> },
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
    pub fn is_auth_required(&self) -> bool {
        self.code() == Some(-32000)
    }

    pub fn is_method_missing(&self) -> bool {
        self.code() == Some(METHOD_NOT_FOUND)
    }

    /// The agent does not know the session, or no longer. It has several codes for that, so the words count too.
    pub fn is_not_found(&self) -> bool {
        match self {
            RpcError::Rejected { code: -32002, .. } => true,
            RpcError::Rejected { message, .. } => {
                let message = message.to_ascii_lowercase();
                message.contains("session") && message.contains("not found")
            }
            _ => false,
        }
    }

    /// The agent holds the session already; loading it again is neither needed nor possible.
    pub fn is_already_loaded(&self) -> bool {
        matches!(self, RpcError::Rejected { code: -32602, message, .. } if message.ends_with("is already loaded"))
    }

    fn code(&self) -> Option<i64> {
        match self {
            RpcError::Rejected { code, .. } => Some(*code),
            _ => None,
        }
    }
}

/// Collects signals, joining text that continues the signal before it.
#[derive(Default)]
pub(crate) struct Signals(Vec<Signal>);

impl Signals {
    pub fn text(&mut self, agent_session: &Arc<str>, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Signal::Text { agent_session: last, text: joined }) if last == agent_session => joined.push_str(text),
            _ => self.0.push(Signal::Text { agent_session: agent_session.clone(), text: text.to_owned() }),
        }
    }

    pub fn replayed_text(&mut self, agent_session: &Arc<str>, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Signal::Replay { agent_session: last, part: Part::Text(joined) }) if last == agent_session => {
                joined.push_str(text);
            }
            _ => self.0.push(Signal::Replay { agent_session: agent_session.clone(), part: Part::Text(text.to_owned()) }),
        }
    }

    /// A tool call that follows an earlier state of itself replaces it, and thoughts are joined like text.
    pub fn update(&mut self, agent_session: &Arc<str>, update: Update) {
        if let Some(Signal::Update { agent_session: last, update: before }) = self.0.last_mut()
            && last == agent_session
        {
            match (before, &update) {
                (Update::Thought { text: joined }, Update::Thought { text }) => return joined.push_str(text),
                (Update::ToolCall(before), Update::ToolCall(ToolCall { id, .. })) if before.id == *id => {
                    let Update::ToolCall(call) = update else { return };
                    *before = call;
                    return;
                }
                _ => {}
            }
        }
        self.0.push(Signal::Update { agent_session: agent_session.clone(), update });
    }

    pub fn push(&mut self, signal: Signal) {
        self.0.push(signal);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn take(&mut self) -> Vec<Signal> {
        std::mem::take(&mut self.0)
    }
}

/// The beginning of `text`, at most `bytes` long, cut between characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_told_in_one_sentence() {
        let exit = |code, signal, tail: &str| Exit { code, signal, stderr_tail: tail.into() }.sentence();
        assert_eq!(exit(Some(0), None, ""), "the agent exited with status 0");
        assert_eq!(exit(Some(3), None, "a\nno login\n\n"), "the agent exited with status 3: no login");
        assert_eq!(exit(None, Some(9), " \n"), "the agent was ended by signal 9");
    }

    #[test]
    fn the_wrapper_of_a_killed_copilot_is_not_believed() {
        let tail = "GitHub Copilot CLI: no platform package found. Reinstall with `npm install -g @github/copilot`\n".to_owned();
        let mut exit = Exit { code: Some(1), signal: None, stderr_tail: tail };
        exit.drop_false_blame();
        assert_eq!(exit.sentence(), "the agent exited with status 1");
    }

    #[test]
    fn an_unknown_session_is_recognised_by_code_or_by_words() {
        let rejected = |code, message: &str| RpcError::Rejected { code, message: message.into(), data: None };
        assert!(rejected(-32002, "Resource not found: Session x not found").is_not_found());
        assert!(rejected(-32602, "Session x not found").is_not_found());
        assert!(rejected(-32603, "Request session.abort failed with message: Session not found for sessionId: x").is_not_found());
        assert!(!rejected(-32602, "Invalid params: cwd is required").is_not_found());
        assert!(rejected(-32602, "Session x is already loaded").is_already_loaded());
        assert!(rejected(-32000, "Authentication required").is_auth_required());
        assert!(rejected(-32601, "no").is_method_missing());
        assert!(!RpcError::Gone("gone".into()).is_auth_required());
    }
}
