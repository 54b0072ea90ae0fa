//! What is done for an agent, and what a person is shown before it is: files here, terminals next door.

use std::path::{Path, PathBuf};

use domain::agent::{Demand, Location, OptionKind, PermissionAsk, PermissionOption, Problem, Reply, Shown, ToolCall, ToolContent, Update};
use domain::host::{Input, Prepared};
use domain::ids::{PermissionId, RunnerId};
use domain::text::digest;
use serde_json::{Value, json};
use tools::FileError;

use super::{Work, terminals};
use crate::actor::Actor;

/// A change larger than this is shown by its size.
const SHOWN_BYTES: usize = 512 * 1024;
const MOVED: &str = "the file was moved while it was looked at: try again";

impl Actor {
    /// Finds out what a person would have to be asked.
    pub(super) fn prepare(&self, agent: String, id: PermissionId, demand: Demand) -> Work {
        let (work_dir, ground) = (PathBuf::from(&self.row.work_dir), self.ground());
        let path = self.search_path(&agent);
        Work::host(agent, async move {
            let looked = tokio::task::spawn_blocking(move || {
                let mut prepared = match &demand {
                    Demand::WriteFile { path, content } => prepare_write(&work_dir, path, content)?,
                    Demand::StartTerminal(start) => terminals::prepare(&work_dir, start, &path)?,
                    _ => return Err(Reply::refused(Problem::Invalid, "there is nothing to ask about this")),
                };
                ground.look(&mut [&mut prepared.ask]);
                let is_shown = |path: &String| prepared.ask.files.iter().any(|file| file.path == *path);
                match prepared.ask.shown.as_deref() {
                    Some(Shown::File { path, .. }) if !is_shown(path) => Err(Reply::refused(Problem::Invalid, MOVED)),
                    _ => Ok(prepared),
                }
            });
            let outcome = looked.await.unwrap_or_else(|_| Err(internal()));
            Input::Prepared { id, outcome: Box::new(outcome) }
        })
    }

    /// Does what was asked. Where it changes anything, it is known to be allowed and stored as begun.
    pub(super) fn do_demand(
        &mut self,
        agent: String,
        runner: RunnerId,
        id: PermissionId,
        call_id: Option<String>,
        demand: Demand,
        shown: Option<Box<Shown>>,
    ) -> Work {
        let work_dir = PathBuf::from(&self.row.work_dir);
        let to_disk = matches!(self.shared.settings.durability, agents::Durability::Disk);
        match demand {
            Demand::ReadFile { path, line, limit } => file_task(agent, id, move || {
                let read = tools::read_text(&work_dir, &path, line, limit);
                (read.map_or_else(refused, |content| Reply::Text { content }), None)
            }),
            Demand::WriteFile { content, .. } => file_task(agent, id, move || match write_shown(&work_dir, shown, &content, to_disk) {
                Ok((path, old)) => (Reply::Done, Some(written(id, path, old, content))),
                Err(error) => (refused(error), None),
            }),
            Demand::StartTerminal(start) => self.start_terminal(agent, runner, id, start, shown),
            Demand::TerminalOutput { terminal_id } => self.terminal_output(agent, runner, id, &terminal_id),
            Demand::WaitForTerminal { terminal_id } => self.wait_for_terminal(agent, runner, id, &terminal_id),
            Demand::KillTerminal { terminal_id } => self.kill_terminal(agent, runner, id, &terminal_id),
            Demand::ReleaseTerminal { terminal_id } => self.release_terminal(agent, runner, id, terminal_id),
            Demand::Permission(_) | Demand::Form { .. } | Demand::Unknown { .. } => {
                tracing::error!(session = %self.id, %id, ?call_id, "what a person decides is not done here");
                Work::Nothing
            }
        }
    }
}

fn file_task(agent: String, id: PermissionId, work: impl FnOnce() -> (Reply, Option<Update>) + Send + 'static) -> Work {
    Work::host(agent, async move {
        let (reply, update) = tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| (internal(), None));
        Input::Done { id, reply, update: update.map(Box::new) }
    })
}

fn prepare_write(work_dir: &Path, path: &str, content: &str) -> Result<Prepared, Reply> {
    let (shown, before) = tools::look(work_dir, path).map_err(refused)?;
    let ask = write_ask(&shown.path, before.as_deref(), content);
    let shown = Shown::File { path: shown.path, before: shown.before, after: digest(content) };
    Ok(Prepared { ask: PermissionAsk { shown: Some(Box::new(shown)), ..ask }, before })
}

/// Writes the file that was shown, with the text that was shown, if it still is what it was. Gives its path and the text before.
fn write_shown(work_dir: &Path, shown: Option<Box<Shown>>, content: &str, to_disk: bool) -> Result<(String, Option<String>), FileError> {
    match shown.map(|shown| *shown) {
        Some(Shown::File { path, before, after }) if after == digest(content) => {
            let shown = tools::Shown { path, before };
            let old = tools::write_shown(work_dir, &shown, content, to_disk)?;
            Ok((shown.path, old))
        }
        _ => Err(FileError::Refused("this is not what was shown: ask again".to_owned())),
    }
}

fn write_ask(path: &str, old: Option<&str>, content: &str) -> PermissionAsk {
    let title = if old.is_some() { format!("Change {path}") } else { format!("Create {path}") };
    let size = old.map_or(0, str::len) + content.len();
    let diff = (size <= SHOWN_BYTES).then(|| agents::unified_diff(path, old, content));
    let input = diff.is_none().then(|| json!({ "path": path, "bytes": content.len(), "sha256": digest(content) }));
    let locations = vec![Location { path: path.to_owned(), line: None }];
    PermissionAsk { diff, locations, ..ask(title, "edit", input) }
}

/// A question with the answers that we give meaning to.
pub(super) fn ask(title: String, kind: &str, input: Option<Value>) -> PermissionAsk {
    let option = |kind: OptionKind, name: &str| PermissionOption::new(kind.as_str(), name, kind);
    let options = vec![
        option(OptionKind::AllowOnce, "Allow"),
        option(OptionKind::AllowAlways, "Always allow"),
        option(OptionKind::RejectOnce, "Deny"),
    ];
    PermissionAsk { title, kind: Some(kind.to_owned()), options, input, ..PermissionAsk::default() }
}

/// What was written, where people read what the agent does.
fn written(id: PermissionId, path: String, old_text: Option<String>, new_text: String) -> Update {
    let verb = if old_text.is_some() { "Changed" } else { "Created" };
    let size = old_text.as_ref().map_or(0, String::len) + new_text.len();
    let content = if size <= SHOWN_BYTES {
        ToolContent::Diff { path: path.clone(), old_text, new_text, hunks: None }
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

pub(super) fn refused(error: FileError) -> Reply {
    match error {
        FileError::Missing(message) => Reply::refused(Problem::NotFound, message),
        FileError::Refused(message) => Reply::refused(Problem::Invalid, message),
    }
}

fn internal() -> Reply {
    Reply::refused(Problem::Internal, "an internal error of the client")
}
