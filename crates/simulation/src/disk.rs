//! A model of the files that agents have us change, with links between them. What is done to it is what really happens.

use std::collections::BTreeMap;

use domain::agent::{Run, Shown, StartTerminal};
use domain::text::digest;

/// The files that agents want changed. The last one is protected.
pub(crate) const FILES: [&str; 3] = ["file", "other file", ".git/config"];

#[derive(Clone, Debug, Default)]
pub struct Disk {
    texts: BTreeMap<String, String>,
    /// A name that leads to another file.
    links: BTreeMap<String, String>,
}

impl Disk {
    pub fn resolve(&self, name: &str) -> String {
        self.links.get(name).map_or(name, String::as_str).to_owned()
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// A name leads to another file from now on, or to itself again.
    pub fn link(&mut self, name: &str, to: &str) {
        if name == to {
            self.links.remove(name);
        } else {
            self.links.insert(name.to_owned(), to.to_owned());
        }
    }

    pub fn write(&mut self, path: &str, content: &str) {
        self.texts.insert(path.to_owned(), content.to_owned());
    }

    /// What a write to this name would be held to.
    pub fn look(&self, name: &str, content: &str) -> Shown {
        let path = self.resolve(name);
        let before = self.text(&path).map(digest);
        Shown::File { path, before, after: digest(content) }
    }

    /// What is there is what was shown, and the path leads nowhere else.
    pub fn is_as_shown(&self, path: &str, before: Option<&str>) -> bool {
        !self.links.contains_key(path) && self.text(path).map(digest).as_deref() == before
    }

    /// What a change of a file comes to, in words.
    pub fn change(&self, path: &str, content: &str) -> String {
        change(path, self.text(path), content)
    }
}

/// What a change of a file comes to, in words: all that a person can be shown of it.
pub(crate) fn change(path: &str, before: Option<&str>, after: &str) -> String {
    let (old, removed) = before.map_or(("/dev/null".to_owned(), String::new()), |text| (format!("a/{path}"), format!("-{text}\n")));
    format!("--- {old}\n+++ b/{path}\n@@ -{} +1 @@\n{removed}+{after}\n", if before.is_some() { "1" } else { "0,0" })
}

/// What a command comes to, in words.
pub(crate) fn command(start: &StartTerminal) -> String {
    run(&Run::of(start))
}

pub(crate) fn run(run: &Run) -> String {
    match run {
        Run::Script { script, env } => format!("line {script:?} with {env:?}"),
        Run::Words { words, env } => format!("words {words:?} with {env:?}"),
    }
}
