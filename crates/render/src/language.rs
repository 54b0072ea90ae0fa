//! Which syntax a language name or a file path means. The only place that holds the syntax set.

use std::sync::{Mutex, PoisonError};

use syntect::parsing::{SyntaxReference, SyntaxSet};

/// Names that people and models use and the syntax set does not know, or knows as something else.
/// Both TypeScript grammars are huge, and the one with JSX reads everything.
const ALIASES: [(&str, &str); 20] = [
    ("shell", "bash"),
    ("shell-session", "bash"),
    ("console", "bash"),
    ("terminal", "bash"),
    ("zsh", "bash"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("jsonl", "json"),
    ("golang", "go"),
    ("node", "js"),
    ("mjs", "js"),
    ("cjs", "js"),
    ("jsx", "tsx"),
    ("ts", "tsx"),
    ("mts", "tsx"),
    ("cts", "tsx"),
    ("typescript", "tsx"),
    ("typescriptreact", "tsx"),
    ("py3", "py"),
    ("docker", "dockerfile"),
];

/// Names for "no language", answered without loading anything.
const PLAIN: [&str; 6] = ["", "text", "txt", "plain", "plaintext", "output"];

const LABEL_CHARS: usize = 32;

/// Compiled grammars are kept, and some take tens of megabytes, so this many are kept at most.
const MOST_SYNTAXES: usize = 6;

/// The syntax set, with the names of those that were used and so have their expressions compiled.
struct Loaded {
    set: SyntaxSet,
    used: Vec<String>,
}

/// Empty until the first code is highlighted: a server without code should not pay for it. One thread highlights at a time,
/// because compiled expressions keep a scratch space for every thread that uses them at once.
static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

/// Does `work` with the syntax for a language name such as `rust`, or a path such as `src/main.rs`, if there is one.
pub(crate) fn with<R>(language_or_path: &str, work: impl FnOnce(&SyntaxSet, &SyntaxReference) -> R) -> Option<R> {
    let token = token(language_or_path)?;
    let mut slot = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let loaded = slot.get_or_insert_with(Loaded::new);
    let name = find(&loaded.set, language_or_path, &token)?.name.clone();
    if !loaded.used.contains(&name) {
        if loaded.used.len() == MOST_SYNTAXES {
            *loaded = Loaded::new();
        }
        loaded.used.push(name);
    }
    let syntax = find(&loaded.set, language_or_path, &token)?;
    Some(work(&loaded.set, syntax))
}

impl Loaded {
    fn new() -> Self {
        Self { set: two_face::syntax::extra_newlines(), used: Vec::new() }
    }
}

/// The name to look for; none if it means plain text.
fn token(language_or_path: &str) -> Option<String> {
    let given = language_or_path.trim();
    let name = if given.contains(['/', '.']) { given.rsplit(['/', '.']).next().unwrap_or(given) } else { given };
    let name = name.to_ascii_lowercase();
    if PLAIN.contains(&name.as_str()) {
        return None;
    }
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    Some(alias.map_or(name.as_str(), |(_, known)| known).to_owned())
}

fn find<'a>(set: &'a SyntaxSet, language_or_path: &str, token: &str) -> Option<&'a SyntaxReference> {
    let file_name = language_or_path.trim().rsplit('/').next().unwrap_or_default();
    let by_name = set.find_syntax_by_extension(file_name).filter(|_| file_name.contains('.'));
    by_name.or_else(|| set.find_syntax_by_token(token)).filter(|syntax| syntax.name != "Plain Text")
}

/// A language as it may stand in a class name.
pub(crate) fn label(language_or_path: &str) -> String {
    let name = language_or_path.trim().rsplit(['/', '.']).next().unwrap_or_default();
    name.chars().filter(|c| is_label_char(*c)).take(LABEL_CHARS).collect::<String>().to_ascii_lowercase()
}

pub(crate) fn is_label_char(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '#' | '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_languages_people_write_are_known() {
        for (given, expected) in [
            ("rust", "Rust"),
            ("rs", "Rust"),
            ("src/main.rs", "Rust"),
            ("Python", "Python"),
            ("ts", "TypeScriptReact"),
            ("tsx", "TypeScriptReact"),
            ("javascript", "JavaScript"),
            ("golang", "Go"),
            ("console", "Bourne Again Shell (bash)"),
            ("sh", "Bourne Again Shell (bash)"),
            ("jsonc", "JSON"),
            ("yaml", "YAML"),
            (".github/workflows/ci.yml", "YAML"),
            ("Cargo.toml", "TOML"),
            ("docker/Dockerfile", "Dockerfile"),
            ("Makefile", "Makefile"),
            ("c++", "C++"),
            ("sql", "SQL"),
            ("diff", "Diff"),
            ("html", "HTML"),
            ("css", "CSS"),
            ("kotlin", "Kotlin"),
            ("swift", "Swift"),
        ] {
            assert_eq!(with(given, |_, syntax| syntax.name.clone()).as_deref(), Some(expected), "{given}");
        }
        for given in ["", "text", "notes.txt", "no-such-language", "<script>"] {
            assert!(with(given, |_, _| ()).is_none(), "{given}");
        }
    }

    #[test]
    fn a_label_is_harmless() {
        for (given, expected) in [("Rust", "rust"), ("c++", "c++"), ("src/main.rs", "rs"), ("\"><script>", "script"), ("", "")] {
            assert_eq!(label(given), expected);
        }
    }
}
