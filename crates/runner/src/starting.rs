//! The last line that an agent wrote to stderr before it said anything, for whoever waits for it.

use std::io::Read;
use std::path::Path;

/// In the runner's directory, and gone with it.
const FILE: &str = "starting";
const LINE_BYTES: usize = 400;

/// `text` is the end of what the agent wrote.
pub(crate) fn tell(dir: &Path, text: &str) {
    if let Some(line) = text.lines().map(str::trim).rfind(|line| !line.is_empty()) {
        // For people to look at, so that it may fail.
        let _ = std::fs::write(dir.join(FILE), &line[..line.floor_char_boundary(LINE_BYTES)]);
    }
}

/// What the agent of the runner in `dir` last wrote to stderr before its first line on stdout.
pub fn starting_line(dir: &Path) -> Option<String> {
    let mut line = String::new();
    std::fs::File::open(dir.join(FILE)).ok()?.take(LINE_BYTES as u64).read_to_string(&mut line).ok()?;
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_told_and_has_a_bound() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        assert_eq!(starting_line(dir.path()), None);
        tell(dir.path(), "one\n  two \n\n");
        assert_eq!(starting_line(dir.path()).as_deref(), Some("two"));
        tell(dir.path(), &"\u{e9}".repeat(LINE_BYTES));
        assert_eq!(starting_line(dir.path()).map(|line| line.len()), Some(LINE_BYTES));
    }
}
