//! Other names for methods and notifications, as data, for agents that predate the protocol or never read it.
//!
//! The protocol's own name is always tried first; one of these only after "method not found", so that a standard agent
//! never pays.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Under which name an agent knows a method, by the protocol's name, as far as it was found out. Kept for an agent and its version,
/// it spares the next connection the search.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Names(BTreeMap<String, String>);

impl Names {
    pub(crate) fn insert(&mut self, method: &str, name: &str) {
        self.0.insert(method.to_owned(), name.to_owned());
    }

    /// What is noted of the methods that have other names at all.
    pub(crate) fn known(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        METHODS.iter().filter_map(|(method, _)| {
            let noted = self.0.get(*method)?;
            Some((*method, names(method).find(|name| name == noted)?))
        })
    }
}

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

    /// S4-14, S4-15, S4-16: the chains, whole and in order.
    #[test]
    fn every_chain_is_whole() {
        let chain = |method| names(method).collect::<Vec<_>>();
        assert_eq!(chain("session/list"), ["session/list", "sessions/list", "list_sessions", "listSessions"]);
        assert_eq!(chain("session/new"), ["session/new", "session/create", "session/start", "create_session", "startSession"]);
        assert_eq!(chain("session/prompt"), ["session/prompt", "prompt/send", "message/send", "chat/send", "sendMessage"]);
    }

    #[test]
    fn only_names_of_the_table_are_taken_from_a_store() {
        let stored = r#"{"session/new":"startSession","session/prompt":"rm -rf","session/load":"session/load"}"#;
        let names: Names = serde_json::from_str(stored).unwrap_or_default();
        assert_eq!(names.known().collect::<Vec<_>>(), [("session/new", "startSession")]);
    }
}
