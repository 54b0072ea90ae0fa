//! Whether a request only looks at what is in the work directory. Every place that it names has to be there, and has to be written so
//! that it can be read in one way only: a shell, a glob and a file system see three different things in `{/etc,x}/$HOME/~`. Whatever is
//! not understood is a person's to judge.

use std::path::Path;

use serde_json::Value;

use crate::agent::{FilePlace, PermissionAsk};
use crate::fields::{self, Names};
use crate::protected;

const MOST_BYTES: usize = 4096;

/// A pattern with more alternatives than this is not taken apart.
const MAX_ALTERNATIVES: usize = 64;

/// A path may begin after any of these, for one who takes a text apart, or fills in a part of it.
const SEPARATORS: &str = " ,;:|{([!<>=&\"'`@";

/// By the places that it names, not by what the agent calls it: where they are was looked at before. A read that names none is none
/// that anybody could judge; a search that names none looks where the agent works.
pub(crate) fn reads_inside(ask: &PermissionAsk) -> bool {
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
    // The one directory is `cwd`, which was looked up. Of two, nobody knows which one counts.
    let directories = fields.iter().filter(|(field, value)| fields::names(field) == Some(Names::Directory) && !value.is_null()).count();
    let placed = directories == 0 || (directories == 1 && ask.cwd.is_some());
    placed && fields.iter().all(|(field, value)| fields::names(field).is_some_and(|names| is_known(names, value)))
}

fn is_known(names: Names, value: &Value) -> bool {
    match (names, value) {
        (Names::Directory, Value::Array(_)) => false,
        (_, Value::Array(values)) => values.iter().all(|value| !value.is_array() && is_known(names, value)),
        (_, Value::Null) => true,
        (Names::Text | Names::Option, Value::Bool(_) | Value::Number(_)) | (Names::Text, Value::String(_)) => true,
        (Names::Option, Value::String(text)) => !text.contains(['/', '\\', '~', '$', '\0']),
        (Names::Directory | Names::File, Value::String(text)) => is_path(text),
        (Names::Glob, Value::String(text)) => is_pattern(text) && !has_shell_group(text) && !names_secret(text),
        (Names::Pattern, Value::String(text)) => is_pattern(text) && !(text.contains('/') && names_secret(text)),
        _ => false,
    }
}

/// One path, relative or absolute, that nobody would expand.
fn is_path(text: &str) -> bool {
    !text.is_empty() && is_plain(text) && !text.contains('\\') && !is_list(text, |character| ",;|".contains(character))
}

/// Something that names only what is below where it is used. Without a slash it cannot name anything else, and may be an expression
/// for what is looked for in files.
fn is_pattern(text: &str) -> bool {
    let escapes_a_path = text.contains('/') && text.contains('\\');
    let is_list = is_list(text, |character| ",;|".contains(character) || character.is_whitespace());
    is_plain(text) && !text.starts_with('/') && !escapes_a_path && !is_list && !has_slash_in_group(text) && stays_below(text)
}

fn is_plain(text: &str) -> bool {
    let is_trimmed = text.trim() == text && text.len() <= MOST_BYTES && !text.chars().any(char::is_control);
    is_trimmed && !text.contains("..") && !text.starts_with('~') && !is_address(text) && !has_variable(text) && !begins_inside(text)
}

/// A scheme and what it is for: `file:`, `https://`.
fn is_address(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let schemes = ["file:", "http:", "https:", "ftp:", "data:", "ssh:", "git:", "urn:", "vscode:", "untitled:"];
    lower.contains("://") || schemes.iter().any(|scheme| lower.starts_with(scheme))
}

/// `$HOME`, `${HOME}`, `$(pwd)`, and what stands between backquotes. The end of a line in an expression is none of them.
fn has_variable(text: &str) -> bool {
    let begins = |next: char| next.is_ascii_alphabetic() || "_{(".contains(next);
    text.contains('`') || text.match_indices('$').any(|(at, _)| text[at + 1..].starts_with(begins))
}

/// An absolute path, or a home directory, in the middle.
fn begins_inside(text: &str) -> bool {
    let mut before = None;
    for character in text.chars() {
        if "/~".contains(character) && before.is_some_and(|before: char| SEPARATORS.contains(before) || before.is_whitespace()) {
            return true;
        }
        before = Some(character);
    }
    false
}

/// Several paths in one text, for one who takes it apart.
fn is_list(text: &str, separates: fn(char) -> bool) -> bool {
    text.contains('/') && with_depth(text).any(|(character, depth)| depth == 0 && separates(character))
}

/// Alternatives are names, no paths.
fn has_slash_in_group(text: &str) -> bool {
    with_depth(text).any(|(character, depth)| depth > 0 && character == '/')
}

/// Each character, and in how many groups it stands.
fn with_depth(text: &str) -> impl Iterator<Item = (char, usize)> {
    text.chars().scan(0_usize, |depth, character| {
        match character {
            '{' | '(' | '[' => *depth += 1,
            '}' | ')' | ']' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some((character, *depth))
    })
}

/// No alternative of the pattern is another place, with one of its groups left empty for instance.
fn stays_below(pattern: &str) -> bool {
    alternatives(pattern).is_some_and(|all| all.iter().all(|one| is_below(one)))
}

/// An alternative of the pattern is what a person is asked about before it is read.
fn names_secret(pattern: &str) -> bool {
    alternatives(pattern).is_none_or(|all| all.iter().any(|one| protected::is_protected(one, true)))
}

/// `@(a|b)` and the like. In an expression the same means something else.
fn has_shell_group(text: &str) -> bool {
    ["?(", "*(", "@(", "+(", "!("].iter().any(|group| text.contains(group))
}

fn is_below(pattern: &str) -> bool {
    // A group of a shell at the beginning may be empty, and a slash follows.
    let grouped = ["?(", "*(", "@(", "+(", "!("].iter().any(|group| pattern.starts_with(group));
    // `.*/` and `.[.]/` match `..` in some shells, and `**/.e*` matches `.env`. Without a slash it may be an expression.
    let is_hidden = |part: &str| part.starts_with('.') && part.contains(['*', '?', '[']);
    let hides = pattern.contains('/') && pattern.split('/').any(is_hidden);
    !pattern.starts_with(['/', '~']) && !pattern.contains("..") && !grouped && !hides
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

    fn search(input: Value) -> PermissionAsk {
        PermissionAsk { kind: Some("search".into()), input: Some(input), ..PermissionAsk::default() }
    }

    #[test]
    fn what_can_be_read_in_one_way_is_understood() {
        for input in [
            json!({}),
            json!(null),
            json!({ "path": "src/a", "view_range": [1, 2] }),
            json!({ "path": "/w/src/a.rs", "offset": 10, "limit": null }),
            json!({ "paths": ["a", "b c/d"] }),
            json!({ "path": "app/[id]/(group)/@modal/page.tsx" }),
            json!({ "pattern": "TODO", "glob": "*.rs" }),
            json!({ "pattern": "event.key" }),
            json!({ "pattern": "(a|b)?(c)" }),
            json!({ "pattern": "fn \\w+\\(", "path": "src" }),
            json!({ "pattern": "^use .*;$", "-n": true, "-A": 3 }),
            json!({ "pattern": "**/*.{ts,tsx}" }),
            json!({ "pattern": "src/{a,b}/*.rs", "cwd": "sub" }),
            json!({ "regex": "/etc/.*", "type": "rust", "description": "what is in /etc?" }),
        ] {
            let cwd = input.get("cwd").map(|_| "sub".to_owned());
            assert!(reads_inside(&PermissionAsk { cwd, ..search(input.clone()) }), "{input}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_not() {
        for input in [
            json!({ "cwd": "a", "dir": "b" }),
            json!({ "cwd": "/etc", "dir": "/etc" }),
            json!({ "cwd": "/etc" }),
            json!({ "glob": "{x,}/etc/*" }),
            json!({ "glob": "{{x,},y}/etc/*" }),
            json!({ "glob": "?(x)/etc/*" }),
            json!({ "glob": ".*/secret" }),
            json!({ "glob": ".[.]/secret" }),
            json!({ "glob": "**/.e*" }),
            json!({ "glob": ".env" }),
            json!({ "glob": "@(out|x)" }),
            json!({ "include": "**/{.env,x}" }),
            json!({ "include": "**/*.pem" }),
            json!({ "include": "*.rs,out/*" }),
            json!({ "include": "*.rs out/*" }),
            json!({ "include": "src/*;out/*" }),
            json!({ "path": "src/a.rs,out/x" }),
            json!({ "path": "src/a.rs|out/x" }),
            json!({ "glob": "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" }),
            json!({ "path": "" }),
            json!({ "path": { "root": "/" } }),
            json!({ "path": [["/etc"]] }),
            json!({ "path": 7 }),
            json!({ "path": true }),
            json!({ "path": "~/x" }),
            json!({ "path": "~root/x" }),
            json!({ "path": "$HOME/x" }),
            json!({ "path": "${HOME}/x" }),
            json!({ "path": "$(pwd)/x" }),
            json!({ "path": "`pwd`/x" }),
            json!({ "path": "https://example.org" }),
            json!({ "path": "FILE:/etc/passwd" }),
            json!({ "path": "file:src/a" }),
            json!({ "path": "a/../b" }),
            json!({ "path": "a\\b" }),
            json!({ "path": "a\u{0}b" }),
            json!({ "path": "a\n/etc/passwd" }),
            json!({ "path": " a" }),
            json!({ "path": "\u{a0}/etc" }),
            json!({ "path": "'/etc/passwd'" }),
            json!({ "path": "@/etc/passwd" }),
            json!({ "path": "a,/etc/passwd" }),
            json!({ "path": "a ~/x" }),
            json!({ "path": "{/etc,x}/*" }),
            json!({ "dirPath": ["a", "b"] }),
            json!({ "pattern": "/etc/*" }),
            json!({ "pattern": "{/etc,x}/*" }),
            json!({ "pattern": "{a,b/../c}/*" }),
            json!({ "pattern": "{a/b,c}/*" }),
            json!({ "pattern": "@(/etc|x)/*" }),
            json!({ "pattern": "[/]etc/passwd" }),
            json!({ "pattern": "\\/etc\\/passwd" }),
            json!({ "pattern": "!/etc/*" }),
            json!({ "glob": ["*.rs", "/etc/*"] }),
            json!({ "glob": "$HOME" }),
            json!({ "query": { "run": "rm" } }),
            json!({ "line": "/etc/passwd" }),
            json!({ "type": "~" }),
            json!({ "script": "rm -rf ." }),
            json!(["/etc/passwd"]),
            json!("anything"),
        ] {
            assert!(!reads_inside(&search(input.clone())), "{input}");
        }
        assert!(!reads_inside(&search(json!({ "path": "x".repeat(5000) }))));
    }

    #[test]
    fn every_place_has_to_be_inside() {
        let file = |place: FilePlace| AskedFile { path: "a".into(), place };
        let with = |files: Vec<AskedFile>| PermissionAsk { files, ..search(json!({ "path": "a" })) };
        assert!(reads_inside(&with(vec![file(FilePlace::Inside)])));
        for place in [FilePlace::Outside, FilePlace::Protected] {
            assert!(!reads_inside(&with(vec![file(FilePlace::Inside), file(place)])), "{place:?}");
        }
        assert!(!reads_inside(&PermissionAsk { kind: Some("read".into()), ..search(json!({})) }), "a read names what it reads");
        assert!(!reads_inside(&PermissionAsk { cwd: Some("/etc".into()), ..search(json!({})) }));
        assert!(!reads_inside(&PermissionAsk { command: Some("ls".into()), ..search(json!({})) }));
    }
}
