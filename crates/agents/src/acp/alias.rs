//! Other names for methods and notifications, as data, for agents that predate the protocol or never read it.
//!
//! The protocol's own name is always tried first; one of these only after "method not found", so that a standard agent
//! never pays.

/// Method of the protocol, and what else it may be called.
const METHODS: &[(&str, &[&str])] = &[
    ("session/list", &["sessions/list", "list_sessions", "listSessions"]),
    ("session/new", &["session/create", "session/start", "create_session", "startSession"]),
    ("session/prompt", &["prompt/send", "message/send", "chat/send", "sendMessage"]),
];

const NOTIFICATIONS: &[(Meaning, &[&str])] = &[
    (Meaning::Text, &["message/delta", "stream/chunk", "completion/delta", "text/delta"]),
    (Meaning::Thought, &["reasoning/delta", "thinking/delta"]),
    (Meaning::ToolStart, &["tool/start", "function/call", "action/start"]),
    (Meaning::ToolResult, &["tool/result", "function/result", "action/result"]),
    (Meaning::TurnStatus, &["turn/status", "message/status", "completion/status"]),
    (Meaning::Error, &["error"]),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    Text,
    Thought,
    ToolStart,
    ToolResult,
    TurnStatus,
    Error,
}

/// The names to try for `method`, in order, its own first.
pub fn names(method: &'static str) -> impl Iterator<Item = &'static str> {
    let others = METHODS.iter().find(|(name, _)| *name == method).map_or(&[][..], |(_, others)| others);
    std::iter::once(method).chain(others.iter().copied())
}

pub fn meaning(notification: &str) -> Option<Meaning> {
    NOTIFICATIONS.iter().find(|(_, names)| names.contains(&notification)).map(|(meaning, _)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_protocol_comes_first() {
        assert_eq!(names("session/new").take(2).collect::<Vec<_>>(), ["session/new", "session/create"]);
        assert_eq!(names("session/load").collect::<Vec<_>>(), ["session/load"]);
        assert_eq!(meaning("thinking/delta"), Some(Meaning::Thought));
        assert_eq!(meaning("session/update"), None);
    }
}
