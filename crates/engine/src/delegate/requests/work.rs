//! What is done for an agent, and what a person is shown before it is: files here, terminals next door.

use std::path::PathBuf;

use agents::acp::client_request::NOT_FOUND;
use agents::{Answer, ClientRequest};
use domain::agent::{Location, PermissionAsk, PermissionOption, ToolCall, ToolContent, Update};
use domain::ids::PermissionId;
use serde_json::{Value, json};
use tools::FileError;

use super::{AgentTask, RequestTask, Stage, terminals};
use crate::actor::{Actor, TaskEnd};

/// A change larger than this is shown by its size.
const SHOWN_BYTES: usize = 512 * 1024;

impl Actor {
    /// Finds out what a person would have to be asked.
    pub(super) fn prepare(&mut self, id: PermissionId) {
        let work_dir = PathBuf::from(&self.row.work_dir);
        let Some(asked) = self.asked(id) else { return };
        let request = asked.request.clone();
        self.tasks.spawn(async move {
            let looked = tokio::task::spawn_blocking(move || match &request {
                ClientRequest::WriteTextFile { path, content } => {
                    tools::current_text(&work_dir, path).map(|old| write_ask(path, old.as_deref(), content)).map_err(file_answer)
                }
                ClientRequest::CreateTerminal(create) => {
                    tools::directory(&work_dir, create.cwd.as_deref()).map(|cwd| terminals::ask(create, &cwd)).map_err(file_answer)
                }
                _ => Err(Answer::invalid("nothing to ask about this")),
            });
            let outcome = looked.await.unwrap_or_else(|_| Err(internal()));
            TaskEnd::Agent(AgentTask::Request(RequestTask::Prepared { id, outcome: Box::new(outcome) }))
        });
    }

    /// Does what was asked. Where it changes anything, it is known to be allowed and stored as begun.
    pub(super) fn do_request(&mut self, id: PermissionId) {
        let work_dir = PathBuf::from(&self.row.work_dir);
        let Some(asked) = self.asked(id) else { return };
        let request = asked.request.clone();
        match request {
            ClientRequest::ReadTextFile { path, line, limit } => self.file_task(id, move || {
                let read = tools::read_text(&work_dir, &path, line, limit);
                (read.map_or_else(file_answer, |content| Answer::Result(json!({ "content": content }))), None)
            }),
            ClientRequest::WriteTextFile { path, content } => {
                self.file_task(id, move || match tools::write_text(&work_dir, &path, &content) {
                    Ok(old) => (Answer::Result(json!({})), Some(written(id, path, old, content))),
                    Err(error) => (file_answer(error), None),
                });
            }
            ClientRequest::CreateTerminal(create) => self.start_terminal(id, create),
            ClientRequest::TerminalOutput { terminal_id } => self.terminal_output(id, &terminal_id),
            ClientRequest::WaitForTerminalExit { terminal_id } => self.wait_for_terminal(id, &terminal_id),
            ClientRequest::KillTerminal { terminal_id } => self.kill_terminal(id, &terminal_id),
            ClientRequest::ReleaseTerminal { terminal_id } => self.release_terminal(id, terminal_id),
            ClientRequest::Elicit { .. } => {}
        }
    }

    fn file_task(&mut self, id: PermissionId, work: impl FnOnce() -> (Answer, Option<Update>) + Send + 'static) {
        let handle = self.tasks.spawn(async move {
            let (answer, update) = tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| (internal(), None));
            TaskEnd::Agent(AgentTask::Request(RequestTask::Done { id, answer, update: update.map(Box::new) }))
        });
        // What is being written cannot be taken back, so only a reading can be given up.
        if let Some(asked) = self.asked(id).filter(|asked| matches!(asked.request, ClientRequest::ReadTextFile { .. })) {
            asked.stage = Stage::Acting(Some(handle));
        }
    }
}

fn write_ask(path: &str, old: Option<&str>, content: &str) -> PermissionAsk {
    let title = if old.is_some() { format!("Change {path}") } else { format!("Create {path}") };
    let size = old.map_or(0, str::len) + content.len();
    let diff = (size <= SHOWN_BYTES).then(|| agents::unified_diff(path, old, content));
    let input = diff.is_none().then(|| json!({ "path": path, "bytes": content.len() }));
    let locations = vec![Location { path: path.to_owned(), line: None }];
    PermissionAsk { diff, locations, ..ask(title, "edit", None, input) }
}

/// A question with the answers that we give meaning to.
pub(super) fn ask(title: String, kind: &str, command: Option<String>, input: Option<Value>) -> PermissionAsk {
    let option = |option_id: &str, name: &str| PermissionOption {
        option_id: option_id.to_owned(),
        name: name.to_owned(),
        kind: option_id.to_owned(),
    };
    PermissionAsk {
        title,
        kind: Some(kind.to_owned()),
        command,
        diff: None,
        locations: Vec::new(),
        options: vec![option("allow_once", "Allow"), option("allow_always", "Always allow"), option("reject_once", "Reject")],
        agent_call: None,
        input,
        form: None,
    }
}

/// What was written, where people read what the agent does.
fn written(id: PermissionId, path: String, old_text: Option<String>, new_text: String) -> Update {
    let verb = if old_text.is_some() { "Changed" } else { "Created" };
    let size = old_text.as_ref().map_or(0, String::len) + new_text.len();
    let content = if size <= SHOWN_BYTES {
        ToolContent::Diff { path: path.clone(), old_text, new_text }
    } else {
        ToolContent::Text { text: format!("{} bytes were written", new_text.len()) }
    };
    Update::ToolCall(ToolCall {
        id: format!("write:{id}"),
        title: Some(format!("{verb} {path}")),
        kind: Some("edit".to_owned()),
        status: Some("completed".to_owned()),
        content: Some(vec![content]),
        locations: Some(vec![Location { path, line: None }]),
        ..ToolCall::default()
    })
}

fn file_answer(error: FileError) -> Answer {
    match error {
        FileError::Missing(message) => Answer::error(NOT_FOUND, message),
        FileError::Refused(message) => Answer::invalid(message),
    }
}

fn internal() -> Answer {
    Answer::error(-32603, "an internal error of the client")
}
