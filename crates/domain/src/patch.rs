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
