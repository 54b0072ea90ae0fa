//! The files that a unified diff names.

const NOWHERE: [&str; 3] = ["/dev/null", "dev/null", ""];

/// The paths of a diff's headers, each once, without the `a/` and `b/` that stand before them. Whether such a path is relative or
/// has lost its first slash is not told by the text.
pub fn names(diff: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let (mut removed, mut added) = (0, 0);
    for line in diff.lines() {
        let in_hunk = match line.as_bytes().first() {
            Some(b'-') => take(&mut removed),
            Some(b'+') => take(&mut added),
            Some(b' ') => take(&mut removed) & take(&mut added),
            _ => false,
        };
        if in_hunk {
            continue;
        }
        if let Some(counts) = line.strip_prefix("@@ ").and_then(hunk) {
            (removed, added) = counts;
            continue;
        }
        let name = header(line).filter(|name| !NOWHERE.contains(&name.as_str()));
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// The parts of a diff, one a file, each with the name that the file has afterwards; empty where the part names none.
pub fn files(diff: &str) -> Vec<(String, &str)> {
    let mut files: Vec<(String, usize)> = Vec::new();
    let (mut removed, mut added, mut headed) = (0, 0, true);
    let mut at = 0;
    for line in diff.split_inclusive('\n') {
        let (start, text) = (at, line.trim_end_matches(['\n', '\r']));
        at += line.len();
        let in_hunk = match text.as_bytes().first() {
            Some(b'-') => take(&mut removed),
            Some(b'+') => take(&mut added),
            Some(b' ') => take(&mut removed) & take(&mut added),
            _ => false,
        };
        if in_hunk {
            continue;
        }
        // A header after a hunk, or git's own line, begins the next file.
        if files.is_empty() || text.starts_with("diff --git ") || (headed && text.starts_with("--- ")) {
            files.push((String::new(), start));
            headed = false;
        }
        if let Some(counts) = text.strip_prefix("@@ ").and_then(hunk) {
            (removed, added) = counts;
            headed = true;
            continue;
        }
        if let (Some(name), Some((known, _))) = (header(text).filter(|name| !NOWHERE.contains(&name.as_str())), files.last_mut()) {
            *known = name;
        }
    }
    let ends: Vec<usize> = files.iter().skip(1).map(|(_, start)| *start).chain([diff.len()]).collect();
    files.into_iter().zip(ends).map(|((name, start), end)| (name, &diff[start..end])).collect()
}

/// Whether a line of this side was still to come in the hunk.
fn take(left: &mut u64) -> bool {
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}

/// The lines that a hunk says it has, of the old and of the new side.
fn hunk(header: &str) -> Option<(u64, u64)> {
    let mut sides = header.split(' ');
    let count = |side: &str| side.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(sides.next()?.strip_prefix('-')?)?, count(sides.next()?.strip_prefix('+')?)?))
}

fn header(line: &str) -> Option<String> {
    let side = |rest: &str, prefix: &str| {
        let path = unquoted(rest.split('\t').next().unwrap_or(rest));
        path.strip_prefix(prefix).map_or(path.clone(), str::to_owned)
    };
    let whole = ["rename from ", "rename to ", "copy from ", "copy to "].iter().find_map(|start| line.strip_prefix(start));
    if let Some(path) = whole {
        return Some(unquoted(path));
    }
    line.strip_prefix("--- ").map(|rest| side(rest, "a/")).or_else(|| line.strip_prefix("+++ ").map(|rest| side(rest, "b/")))
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
