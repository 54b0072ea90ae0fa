//! `session/request_permission`: what an agent asks, with the exact command or change it asks for.

use domain::agent::{AskedFile, DIRECTORY_FIELDS, FilePlace, PermissionAsk, PermissionOption, ToolCall, ToolContent};
use domain::text::{clip, shell_word};
use serde::Deserialize;
use serde_json::Value;

use super::tool_call::{self, Report};
use super::{diff, update};
use crate::bounds::bounded_id;
use crate::jsonrpc;

/// The fields in which agents name files.
const FILE_FIELDS: [&str; 21] = [
    "path",
    "paths",
    "file",
    "files",
    "file_path",
    "filePath",
    "filepath",
    "file_paths",
    "absolute_path",
    "abs_path",
    "fileName",
    "filename",
    "file_name",
    "target_file",
    "old_path",
    "new_path",
    "oldPath",
    "newPath",
    "source",
    "destination",
    "notebook_path",
];
/// The fields in which agents say why.
const REASON_FIELDS: [&str; 4] = ["reason", "justification", "explanation", "description"];
const REASON_MAX: usize = 2000;
/// More than are looked at, and few enough to be kept.
const MOST_NAMED: usize = 256;

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
    /// What a person would be shown is what was reported of the call before, and part of that was too large to keep.
    pub(super) fn relies_on_cut(&self, known: Option<&ToolCall>) -> bool {
        let Some(known) = known.filter(|known| known.truncated) else { return false };
        let said = self.report.as_ref().map(|report| &report.call);
        let has_input = said.is_some_and(|call| call.input.as_ref().is_some_and(|input| !input.is_empty()));
        let has_content = said.is_some_and(|call| call.content.is_some());
        (known.input.is_some() && !has_input) || (known.content.is_some() && !has_content)
    }

    /// `known` is what was reported of the call before; the request's own words go first.
    pub(super) fn ask(self, json: &str, known: Option<&ToolCall>) -> PermissionAsk {
        let mut call = known.cloned().unwrap_or_default();
        let agent_call = self.report.as_ref().map(|report| bounded_id(&report.call.id).into_owned());
        if let Some(report) = self.report {
            // What is asked for now is judged by what is said now, also where that is nothing: ids are used again.
            let said = report.call.input.clone();
            call.merge(report.call);
            call.input = said.or(call.input);
        }
        let title = self.title.or_else(|| call.title.clone()).unwrap_or_else(|| "Permission".to_owned());
        let input = call.input.take().map(|input| input.parse());
        let reason = input.as_ref().and_then(reason);
        PermissionAsk {
            title,
            command: input.as_ref().and_then(command),
            diff: change(&call, input.as_ref()),
            cwd: directory(&call, input.as_ref()),
            files: named(&call, input.as_ref()),
            kind: call.kind,
            locations: call.locations.unwrap_or_default(),
            options: self.options,
            // A request that names no call is shown whole.
            input: input.or_else(|| agent_call.is_none().then(|| update::value(json))),
            agent_call,
            form: None,
            reason,
        }
    }
}

/// The agent's own words for why it asks, where its tool has a field for them.
fn reason(input: &Value) -> Option<String> {
    let words = |field: &str| input.get(field)?.as_str().map(str::trim).filter(|text| !text.is_empty());
    REASON_FIELDS.into_iter().find_map(words).map(|text| clip(text, REASON_MAX).to_owned())
}

/// The command with the environment that it is given: that may change what it does.
fn command(input: &Value) -> Option<String> {
    let joined = |words: &Value, by: &str| {
        let words: Option<Vec<&str>> = words.as_array()?.iter().map(Value::as_str).collect();
        words.filter(|words| !words.is_empty()).map(|words| words.join(by))
    };
    let command = match input.get("command") {
        Some(Value::String(command)) => command.clone(),
        Some(words @ Value::Array(_)) => joined(words, " ")?,
        _ => joined(input.get("commands")?, "\n")?,
    };
    Some(environment(&input["env"]) + &command)
}

fn environment(env: &Value) -> String {
    let set = |name: &str, value: &Value| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("export {}={}; ", shell_word(name), shell_word(&value))
    };
    match env {
        Value::Null => String::new(),
        Value::Object(variables) => variables.iter().map(|(name, value)| set(name, value)).collect(),
        Value::Array(variables) if variables.iter().all(|variable| variable["name"].is_string()) => {
            variables.iter().map(|variable| set(variable["name"].as_str().unwrap_or_default(), &variable["value"])).collect()
        }
        other => format!("export {}; ", shell_word(&other.to_string())),
    }
}

/// Where the agent says that it would run. One that says two things says nothing.
fn directory(call: &ToolCall, input: Option<&Value>) -> Option<String> {
    let fields = input.and_then(Value::as_object).into_iter().flatten();
    let named: Vec<&Value> = fields.filter(|(name, _)| DIRECTORY_FIELDS.contains(&name.as_str())).map(|(_, value)| value).collect();
    match named[..] {
        [] => call.content.iter().flatten().find_map(told_directory),
        [only] => only.as_str().filter(|path| !path.is_empty()).map(str::to_owned),
        _ => None,
    }
}

/// Gemini writes it into the text of the call.
fn told_directory(content: &ToolContent) -> Option<String> {
    let ToolContent::Text { text } = content else { return None };
    let (directory, _) = text.strip_prefix("[current working directory ")?.split_once(']')?;
    Some(directory.to_owned())
}

/// The files that the request names outright. Where they are nobody has looked yet.
fn named(call: &ToolCall, input: Option<&Value>) -> Vec<AskedFile> {
    let changed = call.content.iter().flatten().filter_map(|content| match content {
        ToolContent::Diff { path, .. } => Some(path.as_str()),
        _ => None,
    });
    let fields = input.and_then(Value::as_object).into_iter().flatten();
    let fields = fields.filter(|(name, _)| FILE_FIELDS.contains(&name.as_str())).flat_map(|(_, value)| match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        value => Vec::from_iter(value.as_str()),
    });
    let is_file = |path: &&str| !path.is_empty() && (path.starts_with("file://") || !path.contains("://"));
    let paths: Vec<&str> = changed.chain(fields).filter(is_file).take(MOST_NAMED).collect();
    paths.into_iter().map(|path| AskedFile { path: path.to_owned(), place: FilePlace::Outside }).collect()
}

fn change(call: &ToolCall, input: Option<&Value>) -> Option<String> {
    let given = input.and_then(|input| input.get("diff")?.as_str());
    if let Some(given) = given {
        return Some(given.trim_start_matches('\n').to_owned());
    }
    let made: String = call
        .content
        .iter()
        .flatten()
        .filter_map(|content| match content {
            ToolContent::Diff { path, old_text, new_text, .. } => Some(diff::unified(path, old_text.as_deref(), new_text)),
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
            (r#"{"command":"make","env":{"A":"b c"}}"#, Some("export A='b c'; make")),
            (r#"{"command":"make","env":[{"name":"A","value":"b"}]}"#, Some("export A=b; make")),
            (r#"{"command":"make","env":["A=b"]}"#, Some("export '[\"A=b\"]'; make")),
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
            content: Some(vec![ToolContent::Diff {
                path: "/w/a".into(),
                old_text: Some("1\n".into()),
                new_text: "2\n".into(),
                hunks: None,
            }]),
            ..ToolCall::default()
        };
        let ask = ask(r#"{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","kind":"strange"}]}"#, Some(&known));
        assert_eq!(ask.title, "Edit");
        assert_eq!(ask.diff.as_deref(), Some("--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-1\n+2\n"));
        assert_eq!((ask.options[0].name.as_str(), ask.options[0].kind.as_str()), ("y", "strange"));
    }

    #[test]
    fn the_directory_and_the_files_are_found_where_agents_name_them() {
        for (call, directory, files) in [
            (r#""rawInput":{"command":"ls","cwd":"/w/a"}"#, Some("/w/a"), vec![]),
            (r#""rawInput":{"command":"ls","workdir":"/w/a"}"#, Some("/w/a"), vec![]),
            (r#""rawInput":{"command":"ls","cwd":"/w/a","workdir":"/w/b"}"#, None, vec![]),
            (
                r#""content":[{"type":"content","content":{"type":"text","text":"[current working directory /w/a] (make)"}}]"#,
                Some("/w/a"),
                vec![],
            ),
            (r#""rawInput":{"fileName":"/w/a","diff":"x"}"#, None, vec!["/w/a"]),
            (r#""rawInput":{"paths":["a","b"],"path":"https://example.org"}"#, None, vec!["a", "b"]),
            (r#""content":[{"type":"diff","path":"/w/c","oldText":"a","newText":"b"}]"#, None, vec!["/w/c"]),
        ] {
            let json = format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c",{call}}},"options":[]}}"#);
            let ask = ask(&json, None);
            assert_eq!(ask.cwd.as_deref(), directory, "{call}");
            assert_eq!(ask.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), files, "{call}");
        }
    }

    #[test]
    fn the_agents_own_reason_is_found() {
        for (input, expected) in [
            (r#"{"command":"ls","description":" List files "}"#, Some("List files")),
            (r#"{"command":"ls","description":"what","reason":"why"}"#, Some("why")),
            (r#"{"command":"ls","reason":""}"#, None),
            (r#"{"command":"ls","reason":7}"#, None),
        ] {
            let json = format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c","rawInput":{input}}},"options":[]}}"#);
            assert_eq!(ask(&json, None).reason.as_deref(), expected, "{input}");
        }
    }

    #[test]
    fn a_request_without_a_call_is_shown_whole() {
        let ask = ask(r#"{"sessionId":"s","title":"May I?","description":"why","options":[]}"#, None);
        assert_eq!((ask.title.as_str(), ask.agent_call), ("May I?", None));
        assert_eq!(ask.input.unwrap()["description"], "why");
        assert!(read("{}").is_none());
    }
}
