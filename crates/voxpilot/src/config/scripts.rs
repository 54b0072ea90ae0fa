//! The files below a project that its `voxpilot.toml` runs. Whoever trusts the project trusts what is in them, so they are part of what
//! is consented to, by their content.
//!
//! They are found by the words of the sections that start programs: every word that names something below the project counts. What such a
//! file loads in turn is not looked for.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use super::form::Given;

/// More than a project starts; the rest is reported as not checked.
const MAX_SCRIPTS: usize = 64;
/// So much of a file is shown to whoever is asked.
const SHOWN_BYTES: usize = 16 * 1024;
/// The settings that name a program, or a file of programs.
const PROGRAM_KEYS: [&str; 2] = ["copilot_cli_path", "agents_registry"];
const SECTIONS: [&str; 2] = ["agents", "mcp_servers"];
/// What separates the words of a command line that is one text.
const SEPARATORS: [char; 13] = ['\'', '"', '`', '=', ';', '|', '&', '(', ')', '<', '>', ',', ':'];

/// Something below the project that its file names as a program, or hands to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The key that names it: `agents.mine`, `mcp_servers.tools`, `copilot_cli_path`.
    pub key: String,
    /// Absolute, as it was named: links are followed when it is read.
    pub path: PathBuf,
    /// Relative to the project.
    pub shown: String,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The beginning of it is for people to read; none where it is not text.
    File { sha256: String, bytes: u64, text: Option<String> },
    /// What of it runs is not known.
    Directory,
    /// Why its content cannot be checked.
    Unchecked(String),
}

impl Script {
    /// What has to stay the same for consent to hold.
    pub(super) fn identity(&self) -> String {
        let content = match &self.content {
            Content::File { sha256, .. } => sha256.as_str(),
            Content::Directory => "directory",
            Content::Unchecked(_) => "unchecked",
        };
        format!("{}\n{}\n{content}\n", self.key, self.shown)
    }
}

/// Everything that the file of the project in `dir` names below `dir`. A text that is not TOML names nothing, and nothing of it counts.
pub(super) fn find(dir: &Path, text: &str, home: Option<&Path>) -> Vec<Script> {
    let Ok(table) = text.parse::<Table>() else { return Vec::new() };
    let mut scripts: Vec<Script> = Vec::new();
    for (key, value) in &table {
        let sections: Vec<(String, &Value)> = match value {
            Value::Table(sections) if SECTIONS.contains(&key.as_str()) => {
                sections.iter().map(|(name, section)| (format!("{key}.{name}"), section)).collect()
            }
            value if PROGRAM_KEYS.contains(&key.as_str()) => vec![(key.clone(), value)],
            _ => Vec::new(),
        };
        for (key, section) in sections {
            let mut texts = Vec::new();
            collect(section, &mut texts);
            for path in texts.into_iter().flat_map(|text| named(dir, text, home)) {
                add(&mut scripts, dir, &key, path);
            }
        }
    }
    scripts
}

fn add(scripts: &mut Vec<Script>, dir: &Path, key: &str, path: PathBuf) {
    if scripts.len() > MAX_SCRIPTS || scripts.iter().any(|known| known.key == key && known.path == path) {
        return;
    }
    let Some(content) = content(&path) else { return };
    let shown = path.strip_prefix(dir).unwrap_or(&path).to_string_lossy().into_owned();
    if scripts.len() == MAX_SCRIPTS {
        let content = Content::Unchecked(format!("only {MAX_SCRIPTS} files are checked"));
        return scripts.push(Script { key: key.to_owned(), path, shown, content });
    }
    scripts.push(Script { key: key.to_owned(), path, shown, content });
}

fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Table(table) => table.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

/// The paths below `dir` that a text may mean: as a whole, or by its words.
fn named<'a>(dir: &'a Path, text: &'a str, home: Option<&'a Path>) -> impl Iterator<Item = PathBuf> + 'a {
    let words = text.split(|character: char| character.is_whitespace() || SEPARATORS.contains(&character));
    let words = std::iter::once(text).chain(words).filter(|word| !word.is_empty() && !word.contains('\0'));
    // `$PWD/x`, `${PROJECT}/x` and `@x` may mean the project's `x`.
    let words = words.flat_map(|word| {
        let rest = word.strip_prefix('$').and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
        [Some(word), rest, word.strip_prefix('@')].into_iter().flatten()
    });
    words.filter_map(move |word| {
        let word = word.strip_prefix("//").filter(|_| text.starts_with("file:")).map_or(word, |rest| rest);
        let path = normal(&Given { text: word, base: dir, home }.path()?);
        (path != dir && path.starts_with(dir)).then_some(path)
    })
}

/// Without `.` and `..`, by the spelling alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// None where there is nothing at that path.
fn content(path: &Path) -> Option<Content> {
    match tools::fingerprint(path, SHOWN_BYTES) {
        Ok(tools::Fingerprint::File { sha256, bytes, start }) => {
            let text = readable(&start, bytes);
            Some(Content::File { sha256, bytes, text })
        }
        Ok(tools::Fingerprint::Directory) => Some(Content::Directory),
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => None,
        Err(error) if error.kind() == std::io::ErrorKind::InvalidFilename => None,
        Err(error) => Some(Content::Unchecked(error.to_string())),
    }
}

/// The beginning of a text; a character that was cut in two is left out.
fn readable(start: &[u8], bytes: u64) -> Option<String> {
    if start.contains(&0) {
        return None;
    }
    match std::str::from_utf8(start) {
        Ok(text) => Some(text.to_owned()),
        Err(error) if bytes > start.len() as u64 && error.error_len().is_none() => {
            Some(String::from_utf8_lossy(&start[..error.valid_up_to()]).into_owned())
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        let project = tempfile::tempdir().unwrap();
        let dir = project.path().canonicalize().unwrap();
        fs::create_dir_all(dir.join("tools/sub")).unwrap();
        for path in ["agent.js", "tools/run.sh", "tools/sub/x", "a b.sh", "mcp.py"] {
            fs::write(dir.join(path), path).unwrap();
        }
        symlink("agent.js", dir.join("link")).unwrap();
        symlink("/dev/zero", dir.join("zero")).unwrap();
        let text = text.replace("DIR", dir.to_str().unwrap());
        find(&dir, &text, dir.parent()).into_iter().map(|script| (script.key, script.shown)).collect()
    }

    #[test]
    fn finds_what_is_named_below_the_project() {
        let table = [
            ("[agents.a]\ncommand = './agent.js'", vec!["agent.js"]),
            ("[agents.a]\ncommand = 'node'\nargs = ['agent.js']", vec!["agent.js"]),
            ("[agents.a]\ncommand = 'node'\nargs = ['--require=./tools/run.sh', 'x/../agent.js']", vec!["tools/run.sh", "agent.js"]),
            (
                "[agents.a]\ncommand = 'sh'\nargs = ['-c', 'cd tools/sub && ./tools/run.sh; exec agent.js']",
                vec!["tools/sub", "tools/run.sh", "agent.js"],
            ),
            ("[agents.a]\ncommand = 'sh'\nargs = ['-c', '$PWD/agent.js']", vec!["agent.js"]),
            ("[agents.a]\ncommand = 'sh'\nargs = ['-c', '\"${ROOT}/tools/run.sh\"']", vec!["tools/run.sh"]),
            ("[agents.a]\ncommand = 'DIR/agent.js'", vec!["agent.js"]),
            ("[agents.a]\ncommand = 'a b.sh'", vec!["a b.sh"]),
            ("[agents.a]\ncommand = 'x'\nenv = { NODE_OPTIONS = '--import file://DIR/agent.js' }", vec!["agent.js"]),
            ("[agents.a]\ncommand = 'x'\nenv = { PYTHONPATH = '/usr/lib:tools' }", vec!["tools"]),
            ("[agents.a]\ncommand = 'x'\nenv = { KEY = { file = 'agent.js' } }", vec!["agent.js"]),
            ("[agents.a]\ncommand = 'x'\nlogin = ['mcp.py']", vec!["mcp.py"]),
            ("[agents.a]\ncommand = './link'", vec!["link"]),
            ("[agents.a]\ncommand = './zero'", vec!["zero"]),
            ("[mcp_servers.t]\ncommand = 'python3'\nargs = ['@mcp.py']", vec!["mcp.py"]),
            ("copilot_cli_path = 'tools/run.sh'", vec!["tools/run.sh"]),
            ("agents_registry = 'mcp.py'", vec!["mcp.py"]),
            ("[agents.a]\ncommand = '/bin/true'\nargs = ['../outside', '.', 'missing.js', '']", vec![]),
            ("title = 'agent.js'\nignore = ['mcp.py']", vec![]),
            ("[mcp_servers.t]\nurl = 'https://example.org/agent.js'", vec![]),
            ("not toml", vec![]),
        ];
        for (text, expected) in table {
            let shown: Vec<String> = found(text).into_iter().map(|(_, shown)| shown).collect();
            assert_eq!(shown, expected, "{text}");
        }
        assert_eq!(
            found("[agents.a]\ncommand = './agent.js'\n[mcp_servers.b]\ncommand = './agent.js'").len(),
            2,
            "each user of it is named"
        );
    }

    #[test]
    fn only_so_many_are_checked_and_that_is_reported() {
        let project = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..100).map(|number| format!("f{number}")).collect();
        names.iter().for_each(|name| fs::write(project.path().join(name), "").unwrap());
        let text = format!("[agents.a]\ncommand = 'x'\nargs = {names:?}");
        let scripts = find(project.path(), &text, None);
        assert_eq!(scripts.len(), MAX_SCRIPTS + 1);
        assert!(matches!(&scripts[MAX_SCRIPTS].content, Content::Unchecked(why) if why.contains("64")));
    }
}
