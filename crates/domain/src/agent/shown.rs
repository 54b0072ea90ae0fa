//! What a person was shown of a write or a command, in a form that can be compared with what is done.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::StartTerminal;
use crate::patch;

/// The shells that only pass on the script that they are given.
const SHELLS: [&str; 4] = ["sh", "bash", "zsh", "dash"];
/// Where systems keep their shells. Nobody but the system's owner writes there.
const SHELL_DIRECTORIES: [&str; 5] = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];

/// A command, taken apart. `"make test"`, `["make", "test"]` and `["make test"]` are three commands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = AskedRun)]
pub enum Run {
    /// A line that a shell reads.
    Script {
        script: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<Variable>,
    },
    /// A program and its arguments, run without a shell.
    Words {
        words: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<Variable>,
    },
}

/// A variable that a command is given.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = AskedVariable)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

/// What was shown of something that we do for an agent. It is done only as long as it is this.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = AskedShown)]
pub enum Shown {
    File {
        /// Relative to the work directory, links resolved.
        path: String,
        /// SHA-256 of the text that was there; none where there was no file.
        before: Option<String>,
        /// SHA-256 of the text that will be there.
        after: String,
    },
    Command {
        /// The directory, links resolved.
        cwd: String,
        /// Where the command is a shell with a script: the shell, if it is one of the system's and no file of the project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shell: Option<String>,
    },
}

/// The change of one file, as it was shown.
#[derive(Clone, PartialEq, Debug)]
pub struct AskedChange {
    /// As the agent spells it; once the engine has looked, relative to the work directory and links resolved.
    pub path: String,
    pub text: ChangeText,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ChangeText {
    /// The whole file or a passage of it, before and after.
    Texts { old: Option<String>, new: String },
    /// A unified diff of this one file.
    Patch(String),
}

impl Run {
    pub fn script(script: impl Into<String>) -> Run {
        Run::Script { script: script.into(), env: Vec::new() }
    }

    /// What a terminal is asked to run. A command without arguments is a line for a shell, as agents use it.
    pub fn of(start: &StartTerminal) -> Run {
        let env = start.env.iter().map(|(name, value)| Variable { name: name.clone(), value: value.clone() }).collect();
        match &start.args[..] {
            [] => Run::Script { script: start.command.clone(), env },
            args => Run::Words { words: std::iter::once(&start.command).chain(args).cloned().collect(), env },
        }
    }

    pub fn words(&self) -> Option<&[String]> {
        match self {
            Run::Words { words, .. } => Some(words),
            Run::Script { .. } => None,
        }
    }
}

impl AskedChange {
    /// How much memory it takes, in bytes.
    pub fn len(&self) -> usize {
        match &self.text {
            ChangeText::Texts { old, new } => old.as_ref().map_or(0, String::len) + new.len(),
            ChangeText::Patch(diff) => diff.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this change, and nothing else, makes `after` of what is there.
    pub fn makes(&self, before: Option<&str>, after: &str) -> bool {
        let there = before.unwrap_or_default();
        match &self.text {
            ChangeText::Texts { old, new } => {
                let old = old.as_deref().unwrap_or_default();
                (old == there && new == after) || replaced(there, old, new).is_some_and(|made| made == after)
            }
            ChangeText::Patch(diff) => patch::apply(there, diff).is_some_and(|made| made == after),
        }
    }
}

/// The text with one passage replaced by another. None unless the passage is there once and is made of whole lines, before and after:
/// people saw lines, and could not see where among several they are, or what else is on them.
fn replaced(text: &str, old: &str, new: &str) -> Option<String> {
    let at = text.find(old).filter(|at| !old.is_empty() && text.rfind(old) == Some(*at))?;
    let (before, after) = (&text[..at], &text[at + old.len()..]);
    let begins = before.is_empty() || before.ends_with('\n');
    let ends = old.ends_with('\n') || after.is_empty() || after.starts_with('\n');
    let ends_alike = new.is_empty() || after.is_empty() || old.ends_with('\n') == new.ends_with('\n');
    (begins && ends && ends_alike).then(|| [before, new, after].concat())
}

/// Whether this is the path of a shell where systems keep theirs.
pub fn is_system_shell(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(directory, name)| SHELL_DIRECTORIES.contains(&directory) && SHELLS.contains(&name))
}

/// The script of a command that is nothing but a shell with a script, by the name of the program alone.
pub fn shell_script(start: &StartTerminal) -> Option<&str> {
    let program = start.command.rsplit('/').next().unwrap_or_default();
    match &start.args[..] {
        [flag, script] if SHELLS.contains(&program) && matches!(flag.as_str(), "-c" | "-lc") => Some(script),
        _ => None,
    }
}
