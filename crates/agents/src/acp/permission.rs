//! `session/request_permission`: what an agent asks, with the exact command or change it asks for.

use std::path::Path;

use domain::agent::{
    AskedChange, AskedFile, ChangeText, DIRECTORY_FIELDS, FILE_FIELDS, FilePlace, OptionKind, PermissionAsk, PermissionOption, Run,
    ToolCall, ToolContent, Variable,
};
use domain::patch;
use domain::text::{clip, shell_word};
use serde::Deserialize;
use serde_json::Value;

use super::tool_call::{self, Report};
use super::{diff, update};
use crate::bounds::bounded_id;
use crate::jsonrpc;

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
        #[serde(default)]
        options: Value,
        title: Option<String>,
    }
    let wire: Wire = serde_json::from_str(json).ok().or_else(|| serde_json::from_str(&jsonrpc::repair_surrogates(json)?).ok())?;
    Some(Request {
        agent_session: wire.session_id,
        report: wire.tool_call.and_then(|call| tool_call::read_value(call).ok()),
        options: wire.options.as_array().into_iter().flatten().map(option).collect(),
        title: wire.title,
    })
}

/// Nothing is left out or filled in: whether the offer makes sense is judged as a whole.
fn option(entry: &Value) -> PermissionOption {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    PermissionOption::new(text("optionId"), text("name"), OptionKind::offered(text("kind")))
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
        let (diff, changes) = change(&call, input.as_ref());
        PermissionAsk {
            title,
            command: input.as_ref().and_then(command),
            run: input.as_ref().and_then(run).map(Box::new),
            diff,
            cwd: directory(&call, input.as_ref()),
            files: named(&call, input.as_ref()),
            kind: call.kind,
            locations: call.locations.unwrap_or_default(),
            options: self.options,
            // A request that names no call is shown whole.
            input: input.or_else(|| agent_call.is_none().then(|| update::value(json))),
            agent_call,
            reason,
            changes,
            form: None,
            shown: None,
        }
    }
}

/// The agent's own words for why it asks, where its tool has a field for them.
fn reason(input: &Value) -> Option<String> {
    let words = |field: &str| input.get(field)?.as_str().map(str::trim).filter(|text| !text.is_empty());
    REASON_FIELDS.into_iter().find_map(words).map(|text| clip(text, REASON_MAX).to_owned())
}

/// The command with the environment that it is given: that may change what it does. Words are quoted, so that a program with a space in
/// its name is not taken for a program and its argument.
fn command(input: &Value) -> Option<String> {
    let command = match input.get("command") {
        Some(Value::String(command)) => command.clone(),
        Some(list) => strings(list)?.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
        None => strings(input.get("commands")?)?.join("\n"),
    };
    Some(environment(&input["env"]) + &command)
}

/// The same, taken apart; none where the environment is in a form that nobody knows.
fn run(input: &Value) -> Option<Run> {
    let env = variables(&input["env"])?;
    Some(match input.get("command") {
        Some(Value::String(script)) => Run::Script { script: script.clone(), env },
        Some(list) => Run::Words { words: strings(list)?.iter().map(|word| (*word).to_owned()).collect(), env },
        None => Run::Script { script: strings(input.get("commands")?)?.join("\n"), env },
    })
}

fn strings(list: &Value) -> Option<Vec<&str>> {
    let words: Option<Vec<&str>> = list.as_array()?.iter().map(Value::as_str).collect();
    words.filter(|words| !words.is_empty())
}

fn variables(env: &Value) -> Option<Vec<Variable>> {
    let set = |name: &str, value: &Value| Some(Variable { name: name.to_owned(), value: value.as_str()?.to_owned() });
    match env {
        Value::Null => Some(Vec::new()),
        Value::Object(variables) => variables.iter().map(|(name, value)| set(name, value)).collect(),
        Value::Array(variables) => variables.iter().map(|variable| set(variable["name"].as_str()?, &variable["value"])).collect(),
        _ => None,
    }
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

/// The change that is shown, and the same file by file.
fn change(call: &ToolCall, input: Option<&Value>) -> (Option<String>, Vec<AskedChange>) {
    let given = input.and_then(|input| input.get("diff")?.as_str());
    if let Some(given) = given {
        let given = given.trim_start_matches('\n');
        return (Some(given.to_owned()), patches(named(call, input), given));
    }
    let (mut made, mut changes) = (String::new(), Vec::new());
    for content in call.content.iter().flatten() {
        if let ToolContent::Diff { path, old_text, new_text, .. } = content {
            made.push_str(&diff::unified(path, old_text.as_deref(), new_text));
            let text = ChangeText::Texts { old: old_text.clone(), new: new_text.clone() };
            changes.push(AskedChange { path: path.clone(), text });
        }
    }
    changes.truncate(MOST_NAMED);
    ((!made.is_empty()).then_some(made), changes)
}

/// The parts of a diff. Its headers may have lost the beginning of a path, so the one file of a request is called as the request calls it.
fn patches(named: Vec<AskedFile>, given: &str) -> Vec<AskedChange> {
    let parts = patch::files(given);
    let only = match (&parts[..], &named[..]) {
        ([(header, _)], [file]) if Path::new(&file.path).ends_with(header) => Some(file.path.clone()),
        _ => None,
    };
    let change =
        |(header, part): (String, &str)| AskedChange { path: only.clone().unwrap_or(header), text: ChangeText::Patch(part.to_owned()) };
    parts.into_iter().map(change).take(MOST_NAMED).collect()
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
            (r#"{"command":["bash","-lc","x y"]}"#, Some("bash -lc 'x y'")),
            (r#"{"command":["make","test"]}"#, Some("make test")),
            (r#"{"command":["make test"]}"#, Some("'make test'")),
            (r#"{"command":["make",7]}"#, None),
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
        assert_eq!(ask.changes.len(), 1);
        assert!(ask.changes[0].makes(Some("1\n"), "2\n") && !ask.changes[0].makes(Some("1\n"), "3\n"));
        assert_eq!(ask.title, "Edit");
        assert_eq!(ask.diff.as_deref(), Some("--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-1\n+2\n"));
        assert_eq!(ask.options, [PermissionOption::new("y", "", OptionKind::Unknown)], "nothing is filled in");
        assert!(ask.flaw().is_some());
    }

    #[test]
    fn a_line_its_words_and_a_program_of_that_name_are_three_commands() {
        let run = |input: &str| {
            let json = format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"c","rawInput":{input}}},"options":[]}}"#);
            ask(&json, None).run.map(|run| *run)
        };
        let words = |words: &[&str]| Some(Run::Words { words: words.iter().map(|word| (*word).to_owned()).collect(), env: Vec::new() });
        assert_eq!(run(r#"{"command":"make test"}"#), Some(Run::script("make test")));
        assert_eq!(run(r#"{"command":["make","test"]}"#), words(&["make", "test"]));
        assert_eq!(run(r#"{"command":["make test"]}"#), words(&["make test"]));
        let with_env = Some(Run::Script { script: "make".into(), env: vec![Variable { name: "A".into(), value: "b".into() }] });
        assert_eq!(run(r#"{"command":"make","env":{"A":"b"}}"#), with_env);
        assert_eq!(run(r#"{"command":"make","env":[{"name":"A","value":"b"}]}"#), with_env);
        for unknown in [r#"{"command":"make","env":["A=b"]}"#, r#"{"command":"make","env":{"A":1}}"#, r#"{"command":"make","env":"A=b"}"#] {
            assert_eq!(run(unknown), None, "{unknown}");
        }
    }

    /// As opencode asks: the file by its path, and a diff of it.
    #[test]
    fn a_diff_in_the_input_is_a_change_of_the_file_that_is_named() {
        let diff = "Index: /w/a\n=====\n--- /w/a\n+++ /w/a\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";
        let call = serde_json::json!({ "toolCallId": "c", "kind": "edit", "rawInput": { "filepath": "/w/a", "diff": diff } });
        let json = serde_json::json!({ "sessionId": "s", "toolCall": call, "options": [] }).to_string();
        let ask = ask(&json, None);
        assert_eq!((ask.diff.as_deref(), ask.changes[0].path.as_str()), (Some(diff), "/w/a"));
        assert!(ask.changes[0].makes(Some("one\ntwo\n"), "one\nTWO\n"));
        assert!(!ask.changes[0].makes(Some("one\ntwo\n"), "one\nTWO\nmore\n"));
        let lying = json.replace("+++ /w/a", "+++ /w/.git/config");
        let ask = read(&lying).unwrap().ask(&lying, None);
        assert_eq!(ask.changes[0].path, "/w/.git/config", "the diff says what is changed");
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
