//! What the two models say: the main AI delegates, Codex's model asks for Codex's own tools in the form that Codex offers them.

use serde_json::json;
use testkit::model_server::{Reply, ToolCall};

use crate::setup::Real;

/// The main AI hands `prompt` to the agent session called `name`.
pub(crate) fn delegate(name: &str, prompt: &str) -> Reply {
    delegate_all([(name, prompt)])
}

/// Several delegations in one answer.
pub(crate) fn delegate_all<'a>(tasks: impl IntoIterator<Item = (&'a str, &'a str)>) -> Reply {
    Real::Codex.delegate_all(tasks)
}

/// Codex's shell, without what a login shell of this machine may print. After the longest wait that it allows a command would be
/// left running beside the turn.
pub(crate) fn shell(command: &str) -> ToolCall {
    ToolCall::new("exec_command", json!({ "cmd": command, "login": false, "yield_time_ms": 30_000 }))
}

/// Likewise, but outside of Codex's own sandbox, for which it has to ask.
pub(crate) fn beyond(command: &str) -> ToolCall {
    let wanted = json!({
        "cmd": command, "login": false, "yield_time_ms": 30_000, "sandbox_permissions": "require_escalated", "justification": "May I?",
    });
    ToolCall::new("exec_command", wanted)
}

/// A patch in Codex's own form, which makes one file.
pub(crate) fn create(file: &str, line: &str) -> ToolCall {
    ToolCall::new("apply_patch", format!("*** Begin Patch\n*** Add File: {file}\n+{line}\n*** End Patch\n"))
}

/// One that changes one line of one file.
pub(crate) fn edit(file: &str, old: &str, new: &str) -> ToolCall {
    ToolCall::new("apply_patch", format!("*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\n"))
}

pub(crate) fn plan(steps: &[(&str, &str)]) -> ToolCall {
    let steps: Vec<_> = steps.iter().map(|(step, status)| json!({ "step": step, "status": status })).collect();
    ToolCall::new("update_plan", json!({ "plan": steps }))
}

/// A command that notes each of its runs in `runs.txt` and says that it has started until a file called `go` appears in the work
/// directory. It says so again and again, because what comes in the very first moment Codex may tell only together with what follows.
pub(crate) fn held_command() -> ToolCall {
    beyond("echo run >> runs.txt; until [ -e go ]; do echo started; sleep 0.2; done; echo ended")
}
