//! Items as tool calls: commands, file changes, calls of tools, searches.

use domain::agent::{Location, ToolCall, ToolContent};
use serde_json::{Value, json};

use super::shell;
use crate::acp::diff;

/// The item as a tool call; `None` where it is something else.
pub(super) fn call(item: &Value) -> Option<ToolCall> {
    let id = item["id"].as_str()?.to_owned();
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let mut call = match item["type"].as_str()? {
        "commandExecution" => command(item),
        "fileChange" => file_change(&item["changes"]),
        "mcpToolCall" => tool(&format!("{}: {}", text("server"), text("tool")), item),
        "dynamicToolCall" => tool(text("tool"), item),
        "collabAgentToolCall" => {
            ToolCall { input: Some(json!({ "prompt": item["prompt"], "model": item["model"] }).into()), ..titled("think", text("tool")) }
        }
        "webSearch" => {
            ToolCall { input: Some(json!({ "query": item["query"], "action": item["action"] }).into()), ..titled("search", &search(item)) }
        }
        "imageView" => ToolCall { locations: Some(vec![location(text("path"))]), ..titled("read", &format!("View {}", text("path"))) },
        "imageGeneration" => titled("other", "Make an image"),
        _ => return None,
    };
    call.id = id;
    call.status = Some(status(item).to_owned());
    Some(call)
}

/// Items of a kind without a state are told when they begin and when they end.
fn status(item: &Value) -> &str {
    match item["status"].as_str() {
        Some("inProgress") => "in_progress",
        // It did not run; who declined it is told with the question.
        Some("declined") => "failed",
        Some(status) => status,
        None if item["completedAtMs"].is_number() => "completed",
        None => "in_progress",
    }
}

fn titled(kind: &str, title: &str) -> ToolCall {
    ToolCall { title: Some(title.to_owned()), kind: Some(kind.to_owned()), ..ToolCall::default() }
}

fn command(item: &Value) -> ToolCall {
    let command = item["command"].as_str().unwrap_or_default();
    let exit_code = item["exitCode"].as_i64();
    ToolCall {
        input: Some(json!({ "command": command, "cwd": item["cwd"] }).into()),
        output: exit_code.map(|code| json!({ "exitCode": code, "durationMs": item["durationMs"] }).into()),
        exit_code,
        ..titled("execute", &shell::script(command))
    }
}

/// The whole output, for a command that did not stream it.
pub(super) fn printed(item: &Value) -> Option<ToolContent> {
    let output = item["aggregatedOutput"].as_str().filter(|output| !output.is_empty())?;
    Some(ToolContent::Text { text: output.to_owned() })
}

pub(super) fn file_change(whole: &Value) -> ToolCall {
    let changes: Vec<&Value> = whole.as_array().into_iter().flatten().collect();
    let kind = |change: &Value, kind: &str| change["kind"]["type"] == kind;
    let all = |wanted: &str| !changes.is_empty() && changes.iter().all(|change| kind(change, wanted));
    let verb = if all("add") {
        "Create"
    } else if all("delete") {
        "Delete"
    } else {
        "Edit"
    };
    let names: Vec<&str> = changes.iter().map(|change| path(change).rsplit('/').next().unwrap_or_default()).collect();
    ToolCall {
        content: Some(changes.iter().map(|change| content(change)).collect()),
        locations: Some(paths(&changes).map(location).collect()),
        input: Some(json!({ "changes": whole }).into()),
        ..titled(if verb == "Delete" { "delete" } else { "edit" }, &format!("{verb} {}", names.join(", ")))
    }
}

fn path(change: &Value) -> &str {
    change["path"].as_str().unwrap_or_default()
}

/// Every path that the changes touch, where files are moved to among them.
fn paths<'a>(changes: &[&'a Value]) -> impl Iterator<Item = &'a str> {
    let paths: Vec<&str> = changes.iter().flat_map(|change| [Some(path(change)), change["kind"]["move_path"].as_str()]).flatten().collect();
    paths.into_iter()
}

/// New and deleted files come as their text, others as the hunks of a diff, of which both sides are made again.
fn content(change: &Value) -> ToolContent {
    let text = change["diff"].as_str().unwrap_or_default();
    let (old_text, new_text) = match change["kind"]["type"].as_str() {
        Some("add") => (None, text.to_owned()),
        Some("delete") => (Some(text.to_owned()), String::new()),
        _ => (Some(side(text, '-')), side(text, '+')),
    };
    ToolContent::Diff { path: path(change).to_owned(), old_text, new_text, hunks: None }
}

fn side(hunks: &str, sign: char) -> String {
    let lines = hunks.lines().filter(|line| !line.starts_with("@@") && !line.starts_with('\\'));
    let kept = lines.filter_map(|line| line.strip_prefix([' ', sign]).or(if line.is_empty() { Some("") } else { None }));
    kept.flat_map(|line| [line, "\n"]).collect()
}

/// The changes as one unified diff, for a person who is asked.
pub(super) fn unified(changes: &Value) -> Option<String> {
    let whole: String = changes.as_array().into_iter().flatten().map(unified_change).collect();
    (!whole.is_empty()).then_some(whole)
}

fn unified_change(change: &Value) -> String {
    let text = change["diff"].as_str().unwrap_or_default();
    let name = path(change).trim_start_matches('/');
    match change["kind"]["type"].as_str() {
        Some("add") => diff::unified(path(change), None, text),
        Some("delete") => {
            let lines: String = text.lines().flat_map(|line| ["-", line, "\n"]).collect();
            format!("--- a/{name}\n+++ /dev/null\n@@ -1,{} +0,0 @@\n{lines}", text.lines().count())
        }
        _ => {
            let to = change["kind"]["move_path"].as_str().map_or(name, |to| to.trim_start_matches('/'));
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("--- a/{name}\n+++ b/{to}\n{text}{end}")
        }
    }
}

fn tool(title: &str, item: &Value) -> ToolCall {
    let results = item["result"]["content"].as_array().or_else(|| item["contentItems"].as_array());
    let mut content: Vec<ToolContent> = results.into_iter().flatten().map(result).collect();
    content.extend(item["error"]["message"].as_str().map(|text| ToolContent::Text { text: text.to_owned() }));
    ToolCall { input: Some((&item["arguments"]).into()), content: (!content.is_empty()).then_some(content), ..titled("other", title) }
}

fn result(block: &Value) -> ToolContent {
    match block["text"].as_str() {
        Some(text) => ToolContent::Text { text: text.to_owned() },
        None => ToolContent::Other { raw: block.into() },
    }
}

fn search(item: &Value) -> String {
    match item["query"].as_str().filter(|query| !query.is_empty()) {
        Some(query) => format!("Search the web: {query}"),
        None => "Search the web".to_owned(),
    }
}

fn location(path: &str) -> Location {
    Location { path: path.to_owned(), line: None }
}
