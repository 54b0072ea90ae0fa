//! What the two models say: the main AI delegates, Copilot's model asks for Copilot's own tools in the form that Copilot offers them.

use std::path::Path;

use serde_json::json;
use testkit::model_server::{Reply, ToolCall};

use crate::setup::Real;

/// The main AI hands `prompt` to the agent session called `name`.
pub(crate) fn delegate(name: &str, prompt: &str) -> Reply {
    delegate_all([(name, prompt)])
}

/// Several delegations in one answer.
pub(crate) fn delegate_all<'a>(tasks: impl IntoIterator<Item = (&'a str, &'a str)>) -> Reply {
    Real::Copilot.delegate_all(tasks)
}

/// Copilot's shell. The wait is far above any test: a command that outlives it would be moved to the background.
pub(crate) fn bash(command: &str) -> ToolCall {
    ToolCall::new("bash", json!({ "command": command, "description": "Run a command", "mode": "sync", "initial_wait": 300 }))
}

/// Copilot wants absolute paths.
pub(crate) fn create(path: &Path, text: &str) -> ToolCall {
    ToolCall::new("create", json!({ "path": path, "file_text": text }))
}

pub(crate) fn edit(path: &Path, old: &str, new: &str) -> ToolCall {
    ToolCall::new("edit", json!({ "path": path, "old_str": old, "new_str": new }))
}

/// A command that notes each of its runs in `runs.txt`, says so, and ends when a file called `go` appears in the work directory.
pub(crate) fn held_command() -> ToolCall {
    bash("echo run >> runs.txt; echo started; until [ -e go ]; do sleep 0.05; done; echo ended")
}
