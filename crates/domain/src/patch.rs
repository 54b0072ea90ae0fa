//! Unified diffs: the files that one names, what it makes of one, and those that are made here of two texts.

mod compare;
mod unified;

pub use compare::{Change, compare, lines};
pub use unified::unified;

const NOWHERE: [&str; 3] = ["/dev/null", "dev/null", ""];

/// The paths of a diff's headers, each once, without the `a/` and `b/` that stand before them. Whether such a path is relative or
/// has lost its first slash is not told by the text.
pub fn names(diff: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut hunk = Hunk::default();
    for line in diff.split_inclusive('\n').map(bare) {
        if hunk.holds(line) || hunk.begins(line) {
            continue;
        }
        if let Some(name) = header(line).filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// The parts of a diff, one a file, each with the name that the file has afterwards; empty where the part names none.
pub fn files(diff: &str) -> Vec<(String, &str)> {
    let mut files: Vec<(String, usize)> = Vec::new();
    let (mut hunk, mut headed) = (Hunk::default(), true);
    let mut at = 0;
    for line in diff.split_inclusive('\n') {
        let (start, text) = (at, bare(line));
        at += line.len();
        if hunk.holds(text) {
            continue;
        }
        // A header after a hunk, or git's own line, begins the next file.
        if files.is_empty() || text.starts_with("diff --git ") || (headed && text.starts_with("--- ")) {
            files.push((String::new(), start));
            headed = false;
        }
        if hunk.begins(text) {
            headed = true;
            continue;
        }
        if let (Some(name), Some((known, _))) = (header(text), files.last_mut()) {
            *known = name;
        }
    }
    let ends: Vec<usize> = files.iter().skip(1).map(|(_, start)| *start).chain([diff.len()]).collect();
    files.into_iter().zip(ends).map(|((name, start), end)| (name, &diff[start..end])).collect()
}

/// A line without its end.
fn bare(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// What the diff of one file makes of `text`. None unless every hunk fits exactly where it says: what was shown is not guessed at.
pub fn apply(text: &str, diff: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut patched = String::with_capacity(text.len());
    let (mut at, mut any) = (0, false);
    let mut rest = diff.split_inclusive('\n').peekable();
    while let Some(line) = rest.next() {
        let Some(header) = line.strip_prefix("@@ ") else {
            // What stands before the first hunk is about the file; behind it nothing else may stand.
            if any && !line.trim().is_empty() {
                return None;
            }
            continue;
        };
        any = true;
        let (start, removed, added) = hunk_place(header)?;
        let (old, new) = hunk_sides(&mut rest, removed, added)?;
        // A hunk that removes nothing stands behind its line, not on it.
        let from = if removed == 0 { start } else { start.checked_sub(1)? };
        let to = from.checked_add(old.len())?;
        if from < at || lines.get(from..to)? != old {
            return None;
        }
        patched.extend(lines[at..from].iter().copied());
        patched.extend(new);
        at = to;
    }
    patched.extend(lines[at..].iter().copied());
    any.then_some(patched)
}

/// The lines of a hunk as they were and as they will be, each with its line end.
fn hunk_sides<'a>(
    rest: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    removed: usize,
    added: usize,
) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    while old.len() < removed || new.len() < added {
        let line = rest.next()?;
        let has_end = rest.next_if(|next| next.starts_with('\\')).is_none();
        let body = line.get(1..)?;
        let body = if has_end { body } else { body.strip_suffix('\n').unwrap_or(body) };
        match line.as_bytes().first()? {
            b'-' => old.push(body),
            b'+' => new.push(body),
            b' ' => {
                old.push(body);
                new.push(body);
            }
            _ => return None,
        }
    }
    (old.len() == removed && new.len() == added).then_some((old, new))
}

/// The first line of a hunk on the old side, and how many lines it has on each.
fn hunk_place(header: &str) -> Option<(usize, usize, usize)> {
    let start = header.strip_prefix('-')?.split([',', ' ']).next()?.parse().ok()?;
    let (removed, added) = hunk_counts(header)?;
    Some((start, usize::try_from(removed).ok()?, usize::try_from(added).ok()?))
}

/// The lines that are still to come in a hunk, by what its first line says.
#[derive(Default)]
struct Hunk {
    removed: u64,
    added: u64,
}

impl Hunk {
    /// Whether the line is one of those that were to come: it looks like a header at times.
    fn holds(&mut self, line: &str) -> bool {
        match line.as_bytes().first() {
            Some(b'-') => take(&mut self.removed),
            Some(b'+') => take(&mut self.added),
            Some(b' ') => take(&mut self.removed) & take(&mut self.added),
            _ => false,
        }
    }

    fn begins(&mut self, line: &str) -> bool {
        let counts = line.strip_prefix("@@ ").and_then(hunk_counts);
        if let Some((removed, added)) = counts {
            *self = Hunk { removed, added };
        }
        counts.is_some()
    }
}

/// Whether a line of this side was still to come.
fn take(left: &mut u64) -> bool {
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}

/// The lines that a hunk says it has, of the old and of the new side.
fn hunk_counts(header: &str) -> Option<(u64, u64)> {
    let mut sides = header.split(' ');
    let count = |side: &str| side.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(sides.next()?.strip_prefix('-')?)?, count(sides.next()?.strip_prefix('+')?)?))
}

/// The file that a line outside of hunks names.
fn header(line: &str) -> Option<String> {
    let side = |rest: &str, prefix: &str| {
        let path = unquoted(rest.split('\t').next().unwrap_or(rest));
        path.strip_prefix(prefix).map_or(path.clone(), str::to_owned)
    };
    let whole = ["rename from ", "rename to ", "copy from ", "copy to "].iter().find_map(|start| line.strip_prefix(start));
    let old = || line.strip_prefix("--- ").map(|rest| side(rest, "a/"));
    let new = || line.strip_prefix("+++ ").map(|rest| side(rest, "b/"));
    whole.map(unquoted).or_else(old).or_else(new).filter(|name| !NOWHERE.contains(&name.as_str()))
}

/// A name that git writes in quotes, with what it escapes.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return path.to_owned() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        rest = more;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let octal = more.get(..3).and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match (octal, more.first()) {
            (Some(byte), _) => {
                bytes.push(byte);
                rest = &more[3..];
            }
            (None, Some(&escaped)) => {
                bytes.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => other,
                });
                rest = &more[1..];
            }
            (None, None) => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_of_several_files_is_taken_apart() {
        let one = "--- a/one\n+++ b/one\n@@ -1 +1 @@\n--- x\n+++ y\n";
        let two = "diff --git a/two b/three\nrename from two\nrename to three\n--- a/two\n+++ b/three\n@@ -1 +0,0 @@\n-x\n";
        let gone = "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let whole = format!("{one}{two}{gone}");
        let parts = files(&whole);
        let expected = [("one".to_owned(), one), ("three".to_owned(), two), ("gone".to_owned(), gone)];
        assert_eq!(parts, expected);
        assert_eq!(files("@@ -1 +1 @@\n-a\n+b"), [(String::new(), "@@ -1 +1 @@\n-a\n+b")]);
        assert_eq!(files(""), []);
    }

    #[test]
    fn a_diff_makes_what_it_says_or_nothing() {
        let text = "one\ntwo\nthree\n";
        let table = [
            (text, "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n", Some("one\nTWO\nthree\n")),
            (text, "@@ -2 +2 @@\n-two\n+TWO\n", Some("one\nTWO\nthree\n")),
            (text, "@@ -2 +2,0 @@\n-two\n", Some("one\nthree\n")),
            (text, "@@ -2,0 +3 @@\n+new\n", Some("one\ntwo\nnew\nthree\n")),
            (text, "@@ -1 +1 @@\n-one\n+1\n@@ -3 +3 @@\n-three\n+3\n", Some("1\ntwo\n3\n")),
            ("", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n", Some("new\n")),
            ("old", "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n", Some("new\n")),
            ("old\n", "@@ -1 +1 @@\n-old\n+new\n\\ No newline at end of file\n", Some("new")),
            // It does not fit: another line, another place, too many or too few lines, hunks out of order, something behind it.
            (text, "@@ -2 +2 @@\n-TWO\n+two\n", None),
            (text, "@@ -1 +1 @@\n-two\n+TWO\n", None),
            (text, "@@ -9 +9 @@\n-two\n+TWO\n", None),
            (text, "@@ -0 +0 @@\n-two\n+TWO\n", None),
            (text, "@@ -2,2 +2 @@\n-two\n+TWO\n", None),
            (text, "@@ -3 +3 @@\n-three\n+3\n@@ -1 +1 @@\n-one\n+1\n", None),
            (text, "@@ -2 +2 @@\n-two\n+TWO\n+more\n", None),
            (text, "@@ -2 +2 @@\n-two\n+TWO\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-one\n+1\n", None),
            (text, "@@ -18446744073709551615,3 +1 @@\n-two\n+TWO\n", None),
            ("old\n", "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n", None),
            (text, "no hunk at all\n", None),
        ];
        for (text, diff, expected) in table {
            assert_eq!(apply(text, diff).as_deref(), expected, "{diff}");
        }
    }

    #[test]
    fn headers_are_read_and_lines_that_look_like_them_are_not() {
        let table: [(&str, &[&str]); 8] = [
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n", &["x"]),
            ("--- /dev/null\n+++ b/new file\n@@ -0,0 +1 @@\n+1\n", &["new file"]),
            ("--- a/dev/null\n+++ b/w/new.txt\n", &["w/new.txt"]),
            ("diff --git a/x b/y\nrename from x\nrename to sub/y\n", &["x", "sub/y"]),
            ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n--- a/z\n+++ b/z\n", &["x", "y"]),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/hidden\n+++ b/hidden\n", &["x", "hidden"]),
            ("--- a/x\t2026-01-01\n+++ \"b/\\303\\244 \\\"q\\\"\"\n", &["x", "ä \"q\""]),
            ("+x\n", &[]),
        ];
        for (diff, expected) in table {
            assert_eq!(names(diff), expected, "{diff}");
        }
    }
}
