//! What the agents say that they changed, put together: of every file what it was first and what it became last.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use domain::agent::{ToolCall, ToolContent, Update};
use render::hunks::{LineKind, between};
use store::{SessionRow, Store};
use tools::{FileChange, Side, Status};

use super::{Scope, Since};
use crate::Refusal;

/// More files, and more text of them, than this are left out.
const MOST_FILES: usize = 500;
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// How much of what agents did is looked through, from the latest back.
const READ_BYTES: usize = 16 * 1024 * 1024;

#[derive(Default)]
pub(super) struct Told {
    files: Vec<File>,
}

struct File {
    path: String,
    /// One where every report goes on from the one before; agents that tell only the part that they replaced make several.
    parts: Vec<Part>,
}

struct Part {
    old: Option<String>,
    new: String,
}

pub(super) async fn read(store: &Store, row: &SessionRow, scope: Scope) -> Result<Told, Refusal> {
    let turn = match (scope.since, scope.turn) {
        (Since::Turn, None) => store.latest_turn(row.id).await?.map(|turn| turn.id),
        (Since::Turn, turn) => turn,
        _ => None,
    };
    let messages = match turn {
        Some(turn) => store.turn_messages(row.id, turn).await?,
        None => store.delegated(row.id, READ_BYTES).await?,
    };
    let mut calls = Calls::default();
    for message in &messages {
        for placed in message.delegation.iter().flat_map(|delegation| &delegation.updates) {
            calls.hear(message.tool_call_id.as_deref().unwrap_or_default(), &placed.update);
        }
    }
    // What a call that is not over has changed stands in no message yet.
    if let Some(snapshot) = store.snapshot(row.id, 1).await?
        && snapshot.turn.is_some_and(|running| turn.is_none_or(|turn| turn == running.turn_id))
    {
        for call in snapshot.turn_state.turn.iter().flat_map(|turn| turn.calls()) {
            call.updates.iter().for_each(|placed| calls.hear(&call.call.id, &placed.update));
        }
    }
    Ok(calls.told(Path::new(&row.work_dir)))
}

/// The agents' tool calls, each as it was reported last, in the order in which they were first heard of.
#[derive(Default)]
struct Calls {
    order: Vec<ToolCall>,
    places: HashMap<(String, String), usize>,
}

impl Calls {
    fn hear(&mut self, delegation: &str, update: &Update) {
        let Update::ToolCall(call) = update else { return };
        let place = *self.places.entry((delegation.to_owned(), call.id.clone())).or_insert(self.order.len());
        match self.order.get_mut(place) {
            Some(known) => *known = call.clone(),
            None => self.order.push(call.clone()),
        }
    }

    fn told(self, work_dir: &Path) -> Told {
        let mut told = Told::default();
        let mut room = MOST_BYTES;
        for call in self.order.into_iter().filter(|call| call.status.as_deref() == Some("completed")) {
            for content in call.content.unwrap_or_default() {
                let ToolContent::Diff { path, old_text, new_text, .. } = content else { continue };
                let size = old_text.as_ref().map_or(0, String::len) + new_text.len();
                if size <= room {
                    room -= size;
                    told.add(&relative(&path, work_dir), old_text, new_text);
                }
            }
        }
        told.files.retain(|file| file.parts.iter().any(|part| part.old.as_deref() != Some(&part.new)));
        told
    }
}

impl Told {
    fn add(&mut self, path: &str, old: Option<String>, new: String) {
        let Some(file) = self.files.iter_mut().find(|file| file.path == path) else {
            if self.files.len() < MOST_FILES {
                self.files.push(File { path: path.to_owned(), parts: vec![Part { old, new }] });
            }
            return;
        };
        let before = old.clone().unwrap_or_default();
        if let Some(part) = file.parts.iter_mut().find(|part| part.new == before) {
            part.new = new;
        } else if let Some(part) = file.parts.iter_mut().find(|part| !before.is_empty() && part.new.contains(&before)) {
            part.new = part.new.replacen(&before, &new, 1);
        } else {
            file.parts.push(Part { old, new });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn version(&self) -> String {
        let digests: Vec<String> = self.files.iter().map(File::digest).collect();
        digest(&digests)
    }

    pub(super) fn files(&self) -> Vec<FileChange> {
        self.files.iter().map(File::change).collect()
    }

    /// One side of a file that is known whole.
    pub(super) fn text(&self, path: &str, side: Side) -> Option<String> {
        let (_, old, new) = self.only(path)?;
        Some(if side == Side::New { new } else { old.unwrap_or_default() })
    }

    /// The digest and both sides of a file whose reports go on from each other.
    pub(super) fn only(&self, path: &str) -> Option<(String, Option<String>, String)> {
        let file = self.files.iter().find(|file| file.path == path)?;
        let [part] = file.parts.as_slice() else { return None };
        Some((file.digest(), part.old.clone(), part.new.clone()))
    }
}

impl File {
    fn digest(&self) -> String {
        let parts: Vec<(&Option<String>, &String)> = self.parts.iter().map(|part| (&part.old, &part.new)).collect();
        digest(&(&self.path, parts))
    }

    fn change(&self) -> FileChange {
        let hunks: Vec<_> = self.parts.iter().flat_map(|part| between(part.old.as_deref().unwrap_or_default(), &part.new)).collect();
        let count = |kind: LineKind| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.kind == kind).count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        FileChange {
            path: self.path.clone(),
            old_path: None,
            status: if self.parts.iter().all(|part| part.old.is_none()) { Status::Added } else { Status::Modified },
            old_mode: None,
            new_mode: None,
            additions: number(count(LineKind::Add)),
            deletions: number(count(LineKind::Delete)),
            binary: false,
            too_large: false,
            old_size: None,
            new_size: None,
            digest: self.digest(),
            hunks,
        }
    }
}

pub(super) fn counts(files: &[FileChange]) -> (u32, u32, u32) {
    let sum = |count: fn(&FileChange) -> u32| files.iter().map(count).fold(0, u32::saturating_add);
    (u32::try_from(files.len()).unwrap_or(u32::MAX), sum(|file| file.additions), sum(|file| file.deletions))
}

fn relative(path: &str, work_dir: &Path) -> String {
    let below = Path::new(path).strip_prefix(work_dir).ok().and_then(Path::to_str);
    below.unwrap_or(path).to_owned()
}

pub(super) fn digest(value: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, status: &str, old: Option<&str>, new: &str) -> Update {
        Update::ToolCall(ToolCall {
            id: id.to_owned(),
            status: Some(status.to_owned()),
            content: Some(vec![ToolContent::Diff {
                path: "/work/src/a".to_owned(),
                old_text: old.map(str::to_owned),
                new_text: new.to_owned(),
                hunks: None,
            }]),
            ..ToolCall::default()
        })
    }

    fn told(updates: &[Update]) -> Told {
        let mut calls = Calls::default();
        updates.iter().for_each(|update| calls.hear("d", update));
        calls.told(Path::new("/work"))
    }

    #[test]
    fn reports_that_go_on_from_each_other_are_one_change() {
        let told = told(&[
            call("1", "in_progress", Some("a\n"), "half"),
            call("1", "completed", Some("a\n"), "b\n"),
            call("2", "completed", Some("b\n"), "b\nc\n"),
            call("3", "failed", Some("b\nc\n"), "never"),
        ]);
        let [file] = &told.files()[..] else { panic!() };
        assert_eq!((file.path.as_str(), file.additions, file.deletions, file.status), ("src/a", 2, 1, Status::Modified));
        assert_eq!(told.text("src/a", Side::New).unwrap(), "b\nc\n");
    }

    #[test]
    fn parts_of_a_file_are_kept_apart_unless_one_lies_in_the_other() {
        let told = told(&[
            call("1", "completed", Some("one"), "two"),
            call("2", "completed", Some("x"), "y"),
            call("3", "completed", Some("wo"), "en"),
        ]);
        assert_eq!(told.files()[0].hunks.len(), 2);
        assert!(told.only("src/a").is_none(), "what is not known whole cannot be put back");
        assert_eq!(told.files[0].parts[0].new, "ten");
    }

    #[test]
    fn what_was_taken_back_by_its_agent_is_no_change() {
        assert!(told(&[call("1", "completed", Some("a"), "b"), call("2", "completed", Some("b"), "a")]).is_empty());
        assert_eq!(told(&[call("1", "completed", None, "")]).files()[0].status, Status::Added);
    }
}
