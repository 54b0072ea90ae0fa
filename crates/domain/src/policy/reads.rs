//! Which reads stay inside the work directory. What a request says is taken literally: a field that is not known, or a value that could be
//! taken for another place than the one that was looked up, is a person's to decide.

use std::path::Path;

use serde_json::Value;

use crate::agent::{DIRECTORY_FIELDS, FILE_FIELDS, FilePlace, PermissionAsk};

/// The fields that choose among files by their names.
const PATTERN_FIELDS: [&str; 4] = ["pattern", "glob", "include", "query"];
/// The fields that say how much is looked at, and what is shown of it. They name no place.
const PLAIN_FIELDS: [&str; 25] = [
    "line",
    "limit",
    "offset",
    "start_line",
    "end_line",
    "view_range",
    "range",
    "max_results",
    "max_lines",
    "head_limit",
    "recursive",
    "case_sensitive",
    "output_mode",
    "multiline",
    "description",
    "regex",
    "exclude",
    "type",
    "ignore",
    "-n",
    "-i",
    "-A",
    "-B",
    "-C",
    "fileTypes",
];
/// Fields that name files which something would be done to.
const CHANGING_FIELDS: [&str; 6] = ["old_path", "new_path", "oldPath", "newPath", "source", "destination"];
/// A pattern with more alternatives than this is not taken apart.
const MAX_ALTERNATIVES: usize = 64;

/// It only looks at what is in the work directory: by the places that it names, not by what the agent calls it. A read that names none is
/// none that anybody could judge; a search that names none looks where the agent works.
pub(super) fn are_inside(ask: &PermissionAsk) -> bool {
    let inside = ask.files.iter().all(|file| file.place == FilePlace::Inside);
    let placed = !ask.files.is_empty() || ask.kind.as_deref() == Some("search");
    let here = ask.cwd.as_deref().is_none_or(|cwd| !Path::new(cwd).is_absolute());
    ask.is_read() && inside && placed && here && ask.input.as_ref().is_none_or(|input| is_understood(ask, input))
}

fn is_understood(ask: &PermissionAsk, input: &Value) -> bool {
    let fields = match input {
        Value::Null => return true,
        Value::Object(fields) => fields,
        _ => return false,
    };
    let is_directory = |name: &str| DIRECTORY_FIELDS.contains(&name);
    // The one directory is `cwd`, which was looked up. Of two, nobody knows which one counts.
    let directories = fields.iter().filter(|(name, value)| is_directory(name) && !value.is_null()).count();
    let placed = directories == 0 || (directories == 1 && ask.cwd.is_some());
    placed
        && fields.iter().all(|(name, value)| match name.as_str() {
            _ if value.is_null() => true,
            name if is_directory(name) => value.as_str().is_some_and(is_literal),
            name if CHANGING_FIELDS.contains(&name) => false,
            name if FILE_FIELDS.contains(&name) => all_texts(value, is_literal),
            name if PATTERN_FIELDS.contains(&name) => all_texts(value, stays_below),
            name => PLAIN_FIELDS.contains(&name) && is_plain(value),
        })
}

/// A text, or a list of them, and nothing else.
fn all_texts(value: &Value, fits: impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => fits(text),
        Value::Array(items) => items.iter().all(|item| item.as_str().is_some_and(&fits)),
        _ => false,
    }
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| !item.is_object() && !item.is_array()),
        Value::Object(_) => false,
        _ => true,
    }
}

/// A path that means the same to everybody: no URL, no pattern, nothing that a shell or a home directory would complete.
fn is_literal(path: &str) -> bool {
    let special = ['$', '{', '}', '*', '?', '[', ']', '\\', '`', '|', '<', '>', '"', '\''];
    let is_url = path.split_once(':').is_some_and(|(scheme, _)| !scheme.is_empty() && !scheme.contains('/') && path.contains(":/"));
    !path.is_empty() && !path.starts_with('~') && !is_url && !path.contains(special) && !path.contains(char::is_control)
}

/// A pattern of which no alternative leads out of the directory that it is applied in.
fn stays_below(pattern: &str) -> bool {
    // An escaped character means itself.
    let pattern = pattern.replace('\\', "");
    if pattern.contains(char::is_control) || pattern.contains("://") || has_variable(&pattern) {
        return false;
    }
    alternatives(&pattern).is_some_and(|all| all.iter().all(|one| is_below(one)))
}

/// `$HOME`, `${HOME}`, `$(pwd)`: at the end of a regular expression a `$` is only its end.
fn has_variable(pattern: &str) -> bool {
    let after = pattern.split('$').skip(1);
    after.into_iter().any(|rest| rest.starts_with(|next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '{' | '(')))
        || pattern.contains('`')
}

fn is_below(pattern: &str) -> bool {
    let leaves = |text: &str| text.starts_with(['/', '~']);
    // Groups of a shell: `@(/etc|x)`, and those that may be empty before a slash.
    let grouped =
        pattern.split(['(', '|']).skip(1).any(leaves) || ["?(", "*(", "@(", "+(", "!("].iter().any(|group| pattern.starts_with(group));
    let mut parts = pattern.split('/').peekable();
    let mut climbs = pattern.contains("..");
    while let Some(part) = parts.next() {
        // `.*/` and `.[.]/` match `..` in some shells.
        climbs |= parts.peek().is_some() && part.starts_with('.') && part.contains(['*', '?', '[']);
    }
    !leaves(pattern) && !grouped && !climbs
}

/// What braces come to; none where there is too much of it.
fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let mut all = vec![pattern.to_owned()];
    while let Some(at) = all.iter().position(|one| innermost(one).is_some()) {
        let one = all.swap_remove(at);
        let (open, close) = innermost(&one)?;
        all.extend(one[open + 1..close].split(',').map(|part| format!("{}{part}{}", &one[..open], &one[close + 1..])));
        if all.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(all)
}

/// The last brace that opens before the first one that closes.
fn innermost(pattern: &str) -> Option<(usize, usize)> {
    let close = pattern.match_indices('}').map(|(at, _)| at).find(|close| pattern[..*close].contains('{'))?;
    Some((pattern[..close].rfind('{')?, close))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::AskedFile;

    fn approved(kind: &str, cwd: Option<&str>, input: Value) -> bool {
        let files = vec![AskedFile { path: "a".into(), place: FilePlace::Inside }];
        let (kind, cwd) = (Some(kind.to_owned()), cwd.map(str::to_owned));
        are_inside(&PermissionAsk { title: "t".into(), kind, cwd, files, input: Some(input), ..PermissionAsk::default() })
    }

    #[test]
    fn what_is_understood_and_inside_is_approved() {
        for input in [
            json!({ "path": "src/a.rs", "view_range": [1, 2] }),
            json!({ "paths": ["a", "b/c.txt"] }),
            json!({ "file_path": "/w/a", "offset": 1, "limit": 20 }),
            json!({ "path": "a file with spaces.txt" }),
            json!({ "path": "a", "pattern": "fn main\\(", "glob": "*.rs", "output_mode": "content", "-n": true }),
            json!({ "path": "a", "pattern": "^use .*;$" }),
            json!({ "path": "a", "pattern": "a{2,3}|b" }),
            json!({ "path": "a", "glob": "src/**/*.{ts,tsx}" }),
            json!({ "path": "a", "include": ["*.rs", "docs/*.md"] }),
            json!({ "path": "a", "query": "TODO", "cwd": null }),
        ] {
            assert!(approved("read", None, input.clone()), "{input}");
        }
        assert!(approved("search", Some("src"), json!({ "pattern": "x", "dir_path": "src" })));
        assert!(approved("search", Some("src"), json!({ "pattern": "x", "dirPath": "src" })));
    }

    #[test]
    fn what_could_mean_another_place_is_asked_about() {
        for input in [
            json!({ "path": "a", "dirPath": "/etc" }),
            json!({ "path": "a", "cwd": ".", "directory": "/etc" }),
            json!({ "path": "a", "dir": ["."] }),
            json!({ "path": "a", "root": "/etc" }),
            json!({ "path": ["a", { "x": 1 }] }),
            json!({ "path": ["a", 7] }),
            json!({ "path": "https://example.org/a" }),
            json!({ "path": "file:///etc/passwd" }),
            json!({ "path": "file:/etc/passwd" }),
            json!({ "path": "$HOME/x" }),
            json!({ "path": "${HOME}/x" }),
            json!({ "path": "~root/x" }),
            json!({ "path": "~" }),
            json!({ "path": "{/etc,x}/passwd" }),
            json!({ "path": "/w/*" }),
            json!({ "path": "a\\..\\b" }),
            json!({ "path": "a\n/etc" }),
            json!({ "path": "`pwd`" }),
            json!({ "path": "" }),
            json!({ "path": "a", "destination": "b" }),
            json!({ "path": "a", "glob": "{/etc,x}/*" }),
            json!({ "path": "a", "glob": "{x,}/etc/*" }),
            json!({ "path": "a", "glob": "{{x,},y}/etc/*" }),
            json!({ "path": "a", "glob": "x{,/../..}/*" }),
            json!({ "path": "a", "glob": ["*.rs", "/etc/*"] }),
            json!({ "path": "a", "glob": ["*.rs", ["/etc/*"]] }),
            json!({ "path": "a", "glob": "\\/etc/*" }),
            json!({ "path": "a", "glob": "@(/etc|x)/*" }),
            json!({ "path": "a", "glob": "?(x)/etc/*" }),
            json!({ "path": "a", "glob": ".*/secret" }),
            json!({ "path": "a", "glob": ".[.]/secret" }),
            json!({ "path": "a", "glob": "$HOME/*" }),
            json!({ "path": "a", "glob": "~/x" }),
            json!({ "path": "a", "include": { "x": "/etc" } }),
            json!({ "path": "a", "query": "../x" }),
            json!({ "path": "a", "pattern": "{a,b}".repeat(10) }),
            json!({ "path": "a", "cmd": "rm" }),
            json!("a"),
            json!(["a"]),
        ] {
            assert!(!approved("read", None, input.clone()), "{input}");
        }
        assert!(!approved("search", None, json!({ "pattern": "x", "dir": "src" })), "a directory that was not looked up");
        assert!(!approved("search", Some("/etc"), json!({ "pattern": "x", "dir": "/etc" })));
    }

    /// What is approved by its name has been looked up under that name.
    #[test]
    fn no_field_has_two_meanings() {
        let all: Vec<&str> = [&DIRECTORY_FIELDS[..], &FILE_FIELDS, &PATTERN_FIELDS, &PLAIN_FIELDS].concat();
        for (at, name) in all.iter().enumerate() {
            assert!(!all[..at].contains(name), "{name}");
        }
        assert!(CHANGING_FIELDS.iter().all(|name| FILE_FIELDS.contains(name)));
    }
}
