//! Git's patch text, taken apart into files. Pure.

use super::command::Printed;
use crate::{ReviewFile, bound};

/// Files named in the summary; more are only counted.
const MOST_SUMMARY_FILES: usize = 300;

pub(crate) struct Patch {
    pub files: Vec<ReviewFile>,
    /// Paths with a merge conflict, for which git prints no diff.
    pub unmerged: Vec<String>,
}

impl Patch {
    pub(crate) fn parse(printed: &Printed) -> Self {
        let mut patch = Self::parse_text(&bound::clean(&printed.text()));
        if printed.was_cut
            && let Some(file) = patch.files.last_mut()
        {
            let end = file.diff.rfind('\n').map_or(0, |end| end + 1);
            file.diff.truncate(end);
            file.diff.push_str("\\ The diff is too large and is cut here\n");
        }
        patch
    }

    /// A line of content always starts with a sign, so `diff --git` at the start of a line begins a file.
    fn parse_text(text: &str) -> Self {
        let mut sections: Vec<String> = Vec::new();
        let mut unmerged = Vec::new();
        for line in text.split_inclusive('\n') {
            if line.starts_with("diff --git ") {
                sections.push(line.to_owned());
            } else if let Some(path) = line.strip_prefix("* Unmerged path ") {
                unmerged.push(unquoted(path.trim_end_matches('\n')));
            } else if let Some(section) = sections.last_mut() {
                section.push_str(line);
            }
        }
        Self { files: sections.into_iter().map(file).collect(), unmerged }
    }

    pub(crate) fn summary(&self, was_cut: bool) -> String {
        let additions: u64 = self.files.iter().map(|file| u64::from(file.additions)).sum();
        let deletions: u64 = self.files.iter().map(|file| u64::from(file.deletions)).sum();
        let count = self.files.len();
        let more = if was_cut { " (git printed more than is kept; there are more)" } else { "" };
        let noun = if count == 1 { "file" } else { "files" };
        let mut text = format!("{count} {noun} changed, +{additions} -{deletions}{more}\n");
        for file in self.files.iter().take(MOST_SUMMARY_FILES) {
            let from = file.old_path.as_ref().map(|old| format!(" (from {old})")).unwrap_or_default();
            let counts = if file.binary { "binary".to_owned() } else { format!("+{} -{}", file.additions, file.deletions) };
            text.push_str(&format!("  {} {}{from} {counts}\n", file.status, file.path));
        }
        if count > MOST_SUMMARY_FILES {
            text.push_str(&format!("  … and {} more\n", count - MOST_SUMMARY_FILES));
        }
        text
    }

    pub(crate) fn unmerged_note(&self) -> String {
        if self.unmerged.is_empty() {
            return String::new();
        }
        format!("in conflict, not merged: {}\n", self.unmerged.join(", "))
    }
}

fn file(diff: String) -> ReviewFile {
    let mut lines = diff.split('\n');
    let first = lines.next().unwrap_or_default();
    let mut file = ReviewFile {
        path: same_name(first).unwrap_or_default(),
        old_path: None,
        status: "modified".to_owned(),
        additions: 0,
        deletions: 0,
        binary: false,
        diff: String::new(),
    };
    let mut in_hunk = false;
    for line in lines {
        if line.starts_with("@@") {
            in_hunk = true;
        } else if in_hunk {
            file.additions += u32::from(line.starts_with('+'));
            file.deletions += u32::from(line.starts_with('-'));
        } else {
            header(&mut file, line);
        }
    }
    if file.path.is_empty() {
        file.path = bound::name(first);
    }
    file.diff = diff;
    file
}

fn header(file: &mut ReviewFile, line: &str) {
    if let Some(path) = line.strip_prefix("--- ") {
        name(file, path, "a/");
    } else if let Some(path) = line.strip_prefix("+++ ") {
        name(file, path, "b/");
    } else if let Some(path) = line.strip_prefix("rename from ") {
        file.status = "renamed".to_owned();
        file.old_path = Some(unquoted(path));
    } else if let Some(path) = line.strip_prefix("rename to ").or_else(|| line.strip_prefix("copy to ")) {
        file.path = unquoted(path);
    } else if line.starts_with("new file mode") || line.starts_with("copy from ") {
        file.status = "added".to_owned();
    } else if line.starts_with("deleted file mode") {
        file.status = "deleted".to_owned();
    } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
        file.binary = true;
    }
}

fn name(file: &mut ReviewFile, path: &str, prefix: &str) {
    // Git ends a name that has a space with a tab, for the sake of patch(1).
    let path = unquoted(path.strip_suffix('\t').unwrap_or(path));
    if let Some(path) = path.strip_prefix(prefix) {
        file.path = path.to_owned();
    }
}

/// The path in `diff --git a/x b/x`. Only for files without any other line that names them, and those have one name.
fn same_name(line: &str) -> Option<String> {
    let names = line.strip_prefix("diff --git ")?;
    let half = names.get(names.len() / 2 + 1..)?;
    unquoted(half).strip_prefix("b/").map(str::to_owned)
}

/// Undoes git's C-style quotes.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            Some(high @ b'0'..=b'3') => {
                let digits = [Some(high), rest.next(), rest.next()];
                digits.into_iter().flatten().fold(0u8, |value, digit| (value << 3) | (digit & 7))
            }
            Some(other) => other,
            None => b'\\',
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_names_are_read_as_they_are() {
        for (given, expected) in
            [("plain", "plain"), ("\"a\\tb\"", "a\tb"), ("\"\\303\\244\"", "ä"), ("\"q\\\"q\\\\\"", "q\"q\\"), ("\"end\\\"", "end\\")]
        {
            assert_eq!(unquoted(given), expected, "{given}");
        }
    }

    #[test]
    fn content_that_looks_like_headers_is_content() {
        let text = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/z\n \
                    diff --git a/q b/q\n\\ No newline at end of file\n";
        let patch = Patch::parse_text(text);
        assert_eq!(patch.files.len(), 1);
        let file = &patch.files[0];
        assert_eq!((file.path.as_str(), file.additions, file.deletions), ("x", 1, 1));
        assert_eq!(file.diff, text);
    }

    #[test]
    fn files_without_content_lines_are_named_too() {
        for (text, path, status) in [
            ("diff --git a/s h.sh b/s h.sh\nold mode 100644\nnew mode 100755\n", "s h.sh", "modified"),
            ("diff --git a/e b/e\nnew file mode 100644\nindex 0..e\n", "e", "added"),
            ("diff --git \"a/\\tq\" \"b/\\tq\"\ndeleted file mode 100644\n", "\tq", "deleted"),
        ] {
            let patch = Patch::parse_text(text);
            assert_eq!(patch.files[0].path, path);
            assert_eq!(patch.files[0].status, status);
        }
        assert!(Patch::parse_text("").files.is_empty());
        assert_eq!(Patch::parse_text("* Unmerged path a b\n").unmerged, ["a b"]);
        assert_eq!(Patch::parse_text("diff --git \u{e4}\n").files.len(), 1);
    }
}
