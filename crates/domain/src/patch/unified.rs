//! A unified diff of two texts, as it is shown to whoever decides about it.
//!
//! What a person reads here decides what they allow, so nothing in the texts or in the name may look like another part of the diff: lines
//! end at a newline and nowhere else, and a name that could end its line is quoted as git does.

use std::fmt::Write;
use std::time::Instant;

use super::compare::{Change, compare, lines};

const CONTEXT_LINES: usize = 3;

/// `old` is `None` for a file that does not exist yet. Empty where nothing changes.
pub fn unified(path: &str, old: Option<&str>, new: &str, deadline: Option<Instant>) -> String {
    let name = path.trim_start_matches('/');
    let from = if old.is_some() { quoted(&format!("a/{name}")) } else { "/dev/null".to_owned() };
    let (old, new) = (lines(old.unwrap_or_default()), lines(new));
    let mut diff = String::new();
    for hunk in compare(&old, &new, CONTEXT_LINES, deadline) {
        if diff.is_empty() {
            diff = format!("--- {from}\n+++ {}\n", quoted(&format!("b/{name}")));
        }
        write_hunk(&mut diff, &hunk, &old, &new);
    }
    diff
}

fn write_hunk(diff: &mut String, hunk: &[Change], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let range = |start: usize, end: usize| match end - start {
        // A side without lines is named by the line before.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    };
    let (old_range, new_range) = (range(first.old.start, last.old.end), range(first.new.start, last.new.end));
    diff.push_str(&format!("@@ -{old_range} +{new_range} @@\n"));
    for change in hunk {
        for line in &old[change.old.clone()] {
            write_line(diff, if change.equal { ' ' } else { '-' }, line);
        }
        for line in if change.equal { &[] } else { &new[change.new.clone()] } {
            write_line(diff, '+', line);
        }
    }
}

fn write_line(diff: &mut String, sign: char, line: &str) {
    diff.push(sign);
    diff.push_str(line);
    if !line.ends_with('\n') {
        diff.push_str("\n\\ No newline at end of file\n");
    }
}

/// A name as git writes it: in quotes where it holds what would end it or its line.
fn quoted(name: &str) -> String {
    if !name.contains(|c: char| c.is_control() || matches!(c, '"' | '\\')) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    let _infallible = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::names;
    use super::*;

    fn made(path: &str, old: &str, new: &str) -> String {
        unified(path, Some(old), new, None)
    }

    #[test]
    fn shows_a_change_and_a_new_file() {
        assert_eq!(made("/w/a", "1\n2\n", "1\nzwei\n"), "--- a/w/a\n+++ b/w/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+zwei\n");
        assert_eq!(unified("/w/a", None, "1\n", None), "--- /dev/null\n+++ b/w/a\n@@ -0,0 +1 @@\n+1\n");
        assert_eq!(made("a", "x", "x"), "");
    }

    #[test]
    fn only_a_newline_ends_a_line() {
        let expected = "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-1\r2\r\n\\ No newline at end of file\n+1\r\n+2\n\\ No newline at end of file\n";
        assert_eq!(made("a", "1\r2\r", "1\r\n2"), expected);
    }

    #[test]
    fn the_header_of_a_hunk_counts_every_line() {
        let diff = made("a", "a\na\na\nfn\na", "fn\n\nfn\n\na");
        assert!(diff.contains("\n@@ -1,5 +1,5 @@\n"), "{diff}");
    }

    /// A second file that hides in the lines of the first, or in its name.
    #[test]
    fn hides_no_file_behind_a_carriage_return_or_in_a_name() {
        let whole = made("safe", "", "1\r2\r3\r") + &made(".git/config", "a\n", "b\n");
        assert_eq!(names(&whole), ["safe", ".git/config"]);
        for name in ["a\n+++ b/other", "tab\there", "quote\"", "back\\slash", "\u{85}next", "ä\u{7f}"] {
            assert_eq!(names(&made(name, "a", "b")), [name], "{name:?}");
        }
    }
}
