//! `session/request_permission`: what an agent asks, with the exact command or change it asks for.

use domain::agent::{PermissionAsk, PermissionOption, ToolCall, ToolContent};
use serde::Deserialize;
use serde_json::Value;

use super::tool_call::{self, Report};
use super::{diff, update};
use crate::jsonrpc;

/// A request as it came: the call it is about may be one that was never reported before.
pub(super) struct Request {
    pub agent_session: String,
    pub report: Option<Report>,
    options: Vec<PermissionOption>,
    title: Option<String>,
}

/// `None` where not even the session is named.
pub(super) fn read(json: &str) -> Option<Request> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire {
        session_id: String,
        tool_call: Option<Value>,
        options: Option<Vec<Value>>,
        title: Option<String>,
    }
    let wire: Wire = serde_json::from_str(json).ok().or_else(|| serde_json::from_str(&jsonrpc::repair_surrogates(json)?).ok())?;
    Some(Request {
        agent_session: wire.session_id,
        report: wire.tool_call.and_then(|call| tool_call::read_value(call).ok()),
        options: wire.options.unwrap_or_default().iter().filter_map(option).collect(),
        title: wire.title,
    })
}

fn option(entry: &Value) -> Option<PermissionOption> {
    let text = |key: &str| entry[key].as_str().map(str::to_owned);
    let option_id = text("optionId")?;
    Some(PermissionOption { name: text("name").unwrap_or_else(|| option_id.clone()), kind: text("kind").unwrap_or_default(), option_id })
}

impl Request {
    /// `known` is what was reported of the call before; the request's own words go first.
    pub(super) fn ask(self, json: &str, known: Option<&ToolCall>) -> PermissionAsk {
        let mut call = known.cloned().unwrap_or_default();
        let agent_call = self.report.as_ref().map(|report| report.call.id.clone());
        if let Some(report) = self.report {
            call.merge(report.call);
        }
        let title = self.title.or_else(|| call.title.clone()).unwrap_or_else(|| "Permission".to_owned());
        PermissionAsk {
            title,
            command: call.input.as_ref().and_then(command),
            diff: change(&call),
            kind: call.kind,
            locations: call.locations.unwrap_or_default(),
            options: self.options,
            // A request that names no call is shown whole.
            input: call.input.or_else(|| agent_call.is_none().then(|| update::value(json))),
            agent_call,
            form: None,
        }
    }
}

fn command(input: &Value) -> Option<String> {
    let joined = |words: &Value, by: &str| {
        let words: Option<Vec<&str>> = words.as_array()?.iter().map(Value::as_str).collect();
        words.filter(|words| !words.is_empty()).map(|words| words.join(by))
    };
    match input.get("command") {
        Some(Value::String(command)) => Some(command.clone()),
        Some(words @ Value::Array(_)) => joined(words, " "),
        _ => joined(input.get("commands")?, "\n"),
    }
}

fn change(call: &ToolCall) -> Option<String> {
    let given = call.input.as_ref().and_then(|input| input.get("diff")?.as_str());
    if let Some(given) = given {
        return Some(given.trim_start_matches('\n').to_owned());
    }
    let made: String = call
        .content
        .iter()
        .flatten()
        .filter_map(|content| match content {
            ToolContent::Diff { path, old_text, new_text } => Some(diff::unified(path, old_text.as_deref(), new_text)),
            _ => None,
        })
        .collect();
    (!made.is_empty()).then_some(made)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn ask(json: &str, known: Option<&ToolCall>) -> PermissionAsk {
        read(json).unwrap().ask(json, known)
    }

    #[test]
    fn the_command_is_the_exact_one() {
        for (input, expected) in [
            (r#"{"command":"ls -l","commands":["ls -l"]}"#, Some("ls -l")),
            (r#"{"commands":["a","b"]}"#, Some("a\nb")),
            (r#"{"command":["bash","-lc","x"]}"#, Some("bash -lc x")),
            (r#"{"path":"/x"}"#, None),
        ] {
            let json = format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c","rawInput":{input}}},"options":[]}}"#);
            assert_eq!(ask(&json, None).command.as_deref(), expected);
        }
    }

    #[test]
    fn a_change_known_only_as_two_texts_becomes_a_diff() {
        let known = ToolCall {
            id: "c".into(),
            title: Some("Edit".into()),
            content: Some(vec![ToolContent::Diff { path: "/w/a".into(), old_text: Some("1\n".into()), new_text: "2\n".into() }]),
            ..ToolCall::default()
        };
        let ask = ask(r#"{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","kind":"strange"}]}"#, Some(&known));
        assert_eq!(ask.title, "Edit");
        assert_eq!(ask.diff.as_deref(), Some("--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-1\n+2\n"));
        assert_eq!((ask.options[0].name.as_str(), ask.options[0].kind.as_str()), ("y", "strange"));
    }

    #[test]
    fn a_request_without_a_call_is_shown_whole() {
        let ask = ask(r#"{"sessionId":"s","title":"May I?","description":"why","options":[]}"#, None);
        assert_eq!((ask.title.as_str(), ask.agent_call), ("May I?", None));
        assert_eq!(ask.input.unwrap()["description"], "why");
        assert!(read("{}").is_none());
    }
}
