//! The work on files: read, list, write, append, replace, delete. Everything stays inside the session's directory.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use similar::TextDiff;

use super::prompt::Attachment;
use super::tool_call::{ToolCall, text_content};
use super::{Stop, Turn};
use crate::confine;

/// Files larger than this are not edited, and shown only in part.
const LARGEST: u64 = 1 << 20;
const SHOWN_LINES: usize = 60;
const LISTED: usize = 200;

impl Turn<'_> {
    pub(super) fn create(&mut self, name: &str, content: &str) -> Result<(), Stop> {
        self.edit(name, |_| Ok(content.to_owned()))
    }

    pub(super) fn append(&mut self, name: &str, content: &str) -> Result<(), Stop> {
        self.edit(name, |old| {
            let old = old.unwrap_or_default();
            // What is appended is a line of its own, and a file that ended in a line end still does.
            Ok(match old {
                "" => format!("{content}\n"),
                _ if old.ends_with('\n') => format!("{old}{content}\n"),
                _ => format!("{old}\n{content}"),
            })
        })
    }

    pub(super) fn replace(&mut self, name: &str, from: &str, to: &str) -> Result<(), Stop> {
        self.edit(name, |old| match old {
            None => Err(format!("{name} does not exist")),
            Some(old) if from.is_empty() || !old.contains(from) => Err(format!("{name} does not contain {from:?}")),
            Some(old) => Ok(old.replace(from, to)),
        })
    }

    fn edit(&mut self, name: &str, change: impl Fn(Option<&str>) -> Result<String, String>) -> Result<(), Stop> {
        let planned = resolve_file(&self.session.cwd, name).and_then(|path| {
            let old = read_whole(&path)?;
            let new = change(old.as_deref())?;
            Ok((path, old, new))
        });
        let (path, old, new) = match planned {
            Ok(planned) => planned,
            Err(problem) => return self.refuse("edit", &format!("Write {name}"), name, &problem),
        };
        let shown = confine::shown(&self.session.cwd, &path);
        let verb = if old.is_some() { "Edit" } else { "Create" };
        let mut call = ToolCall::new("edit", format!("{verb} {shown}"));
        call.raw_input = json!({ "fileName": path, "diff": unified(&shown, old.as_deref(), Some(&new)) });
        call.content = vec![diff(&path, old.as_deref(), &new)];
        call.path = Some(path.clone());
        self.announce(&call, "pending");
        self.permission(&call)?;
        match self.still(name, &path, old.as_deref()).and_then(|()| write(&path, &new)) {
            Ok(()) => {
                let output = json!({ "message": format!("{} bytes written", new.len()) });
                self.finish(&call, json!({ "status": "completed", "content": call.content, "rawOutput": output }));
                self.say(&match old {
                    Some(_) => format!("I changed `{shown}`."),
                    None => format!("I created `{shown}`."),
                })
            }
            Err(problem) => self.give_up(&call, &problem),
        }
    }

    pub(super) fn delete(&mut self, name: &str) -> Result<(), Stop> {
        let title = format!("Delete {name}");
        let found = resolve_file(&self.session.cwd, name).and_then(|path| match read_whole(&path)? {
            Some(old) => Ok((path, old)),
            None => Err(format!("{name} does not exist")),
        });
        let (path, old) = match found {
            Ok(found) => found,
            Err(problem) => return self.refuse("delete", &title, name, &problem),
        };
        let shown = confine::shown(&self.session.cwd, &path);
        let mut call = ToolCall::new("delete", title);
        call.raw_input = json!({ "fileName": path, "diff": unified(&shown, Some(&old), None) });
        call.content = vec![diff(&path, Some(&old), "")];
        call.path = Some(path.clone());
        self.announce(&call, "pending");
        self.permission(&call)?;
        let gone = self.still(name, &path, Some(&old)).and_then(|()| fs::remove_file(&path).map_err(|error| format!("{shown}: {error}")));
        match gone {
            Ok(()) => {
                let output = json!({ "message": "deleted" });
                self.finish(&call, json!({ "status": "completed", "content": call.content, "rawOutput": output }));
                self.say(&format!("I deleted `{shown}`."))
            }
            Err(problem) => self.give_up(&call, &problem),
        }
    }

    pub(super) fn read(&mut self, name: Option<&str>, attachments: &[Attachment]) -> Result<(), Stop> {
        let attached = match name {
            Some(name) => attachments.iter().find(|attachment| attachment.name == name),
            None => attachments.first(),
        };
        if let Some(Attachment { name, text: Some(text) }) = attached {
            return self.show(name, text);
        }
        let Some(name) = name.or(attached.map(|attachment| attachment.name.as_str())) else {
            return self.say("There is nothing attached that I could read.");
        };
        let mut call = ToolCall::new("read", format!("Read {name}"));
        call.raw_input = json!({ "path": name });
        let path = resolve_file(&self.session.cwd, name);
        call.path = path.as_ref().ok().cloned();
        self.announce(&call, "in_progress");
        match path.and_then(|path| read_start(&path)) {
            Ok(text) => {
                let content = [text_content(&text)];
                self.finish(&call, json!({ "status": "completed", "content": content, "rawOutput": { "content": text } }));
                self.show(name, &text)
            }
            Err(problem) => self.give_up(&call, &problem),
        }
    }

    pub(super) fn list(&mut self, dir: &str) -> Result<(), Stop> {
        let mut call = ToolCall::new("read", format!("List {dir}"));
        call.raw_input = json!({ "path": dir });
        let path = confine::resolve(&self.session.cwd, dir);
        call.path = path.as_ref().ok().cloned();
        self.announce(&call, "in_progress");
        match path.and_then(|path| entries(&path).map_err(|error| format!("{dir}: {error}"))) {
            Ok(names) => {
                let listing = names.join("\n");
                let content = [text_content(&listing)];
                self.finish(&call, json!({ "status": "completed", "content": content, "rawOutput": { "entries": names } }));
                if names.is_empty() {
                    return self.say(&format!("`{dir}` is empty."));
                }
                let bullets: Vec<String> = names.iter().map(|name| format!("- `{name}`")).collect();
                self.quote(&format!("In `{dir}`:\n\n{}", bullets.join("\n")))
            }
            Err(problem) => self.give_up(&call, &problem),
        }
    }

    fn show(&mut self, name: &str, text: &str) -> Result<(), Stop> {
        let lines: Vec<&str> = text.lines().take(SHOWN_LINES).collect();
        let left = text.lines().count() - lines.len();
        // A fence longer than any run of backticks inside keeps the text from closing it.
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        let mut shown = format!("`{name}` says:\n\n{fence}\n{}\n{fence}", lines.join("\n"));
        if left > 0 {
            shown.push_str(&format!("\n\n… and {left} more lines."));
        }
        self.quote(&shown)
    }

    /// A call that fails before anybody is asked.
    fn refuse(&mut self, kind: &'static str, title: &str, name: &str, problem: &str) -> Result<(), Stop> {
        let mut call = ToolCall::new(kind, title.to_owned());
        call.raw_input = json!({ "fileName": name });
        self.announce(&call, "pending");
        self.give_up(&call, problem)
    }

    fn give_up(&mut self, call: &ToolCall, problem: &str) -> Result<(), Stop> {
        self.fail(call, problem);
        self.say(&format!("That did not work: {problem}."))
    }

    /// What was permitted is what was shown: the file must be where and what it was then.
    fn still(&self, name: &str, path: &Path, old: Option<&str>) -> Result<(), String> {
        let same_place = confine::resolve(&self.session.cwd, name)? == path;
        if same_place && read_whole(path)?.as_deref() == old {
            return Ok(());
        }
        Err(format!("{name} changed while I waited for permission"))
    }
}

fn resolve_file(root: &Path, name: &str) -> Result<PathBuf, String> {
    let path = confine::resolve(root, name)?;
    match path.is_dir() {
        true => Err(format!("{name} is a directory")),
        false => Ok(path),
    }
}

/// The text of a file, `None` if there is none.
fn read_whole(path: &Path) -> Result<Option<String>, String> {
    let shown = || path.file_name().unwrap_or_default().display().to_string();
    match path.metadata() {
        Ok(meta) if !meta.is_file() => return Err(format!("{} is not a plain file", shown())),
        Ok(meta) if meta.len() > LARGEST => return Err(format!("{} is too large for me", shown())),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{}: {error}", shown())),
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(format!("{} is not text", shown())),
        Err(error) => Err(format!("{}: {error}", shown())),
    }
}

/// The text of a file that is only looked at: the start of it, unreadable bytes replaced.
fn read_start(path: &Path) -> Result<String, String> {
    let describe = |error: io::Error| format!("{}: {error}", path.file_name().unwrap_or_default().display());
    // Opening a pipe would wait for a writer.
    if !path.metadata().map_err(describe)?.is_file() {
        return Err(describe(io::Error::other("not a plain file")));
    }
    let file = fs::File::open(path).map_err(describe)?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).map_err(describe)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let shown = path.file_name().unwrap_or_default().display();
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| format!("{shown}: {error}"))?;
    }
    fs::write(path, text).map_err(|error| format!("{shown}: {error}"))
}

/// Names in a directory, sorted, directories with a slash.
fn entries(dir: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let slash = if entry.file_type()?.is_dir() { "/" } else { "" };
        names.push(format!("{}{slash}", entry.file_name().display()));
    }
    names.sort();
    if names.len() > LISTED {
        let left = names.len() - LISTED;
        names.truncate(LISTED);
        names.push(format!("… and {left} more"));
    }
    Ok(names)
}

fn diff(path: &Path, old: Option<&str>, new: &str) -> Value {
    json!({ "type": "diff", "path": path, "oldText": old, "newText": new })
}

fn unified(shown: &str, old: Option<&str>, new: Option<&str>) -> String {
    let side = |prefix: &str, text: Option<&str>| match text {
        Some(_) => format!("{prefix}/{shown}"),
        None => "/dev/null".to_owned(),
    };
    TextDiff::from_lines(old.unwrap_or_default(), new.unwrap_or_default())
        .unified_diff()
        .header(&side("a", old), &side("b", new))
        .to_string()
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
