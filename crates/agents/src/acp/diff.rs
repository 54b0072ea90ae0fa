//! A unified diff of two texts, for permission requests that carry only the texts.

use similar::TextDiff;

const CONTEXT_LINES: usize = 3;

/// `old` is `None` for a file that does not exist yet.
pub fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let name = path.trim_start_matches('/');
    let (from, to) = match old {
        Some(_) => (format!("a/{name}"), format!("b/{name}")),
        None => ("/dev/null".to_owned(), format!("b/{name}")),
    };
    TextDiff::from_lines(old.unwrap_or_default(), new).unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_change_and_a_new_file() {
        let changed = unified("/w/a", Some("1\n2\n"), "1\nzwei\n");
        assert_eq!(changed, "--- a/w/a\n+++ b/w/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+zwei\n");
        let created = unified("/w/a", None, "1\n");
        assert_eq!(created, "--- /dev/null\n+++ b/w/a\n@@ -0,0 +1 @@\n+1\n");
    }
}
