//! Unified diffs to a table: line numbers of both sides, a sign, the line.

use crate::escape;

/// More rows than this are only counted: a browser would choke on the table.
const MOST_ROWS: usize = 20_000;

/// Unified diff text, of one file or many, to a `<table class="diff">` whose rows have the class `file`, `hunk`, `add`, `del`,
/// `ctx` or `note`.
pub fn diff(unified: &str) -> String {
    let mut table = Table { html: String::with_capacity(unified.len() * 3), hunk: None };
    table.html.push_str("<table class=\"diff\"><tbody>");
    let mut lines = unified.split_terminator('\n');
    for line in lines.by_ref().take(MOST_ROWS) {
        table.line(line.strip_suffix('\r').unwrap_or(line));
    }
    let left = lines.count();
    if left > 0 {
        table.row("note", None, None, "", &format!("{left} more lines are not shown"));
    }
    table.html.push_str("</tbody></table>");
    table.html
}

/// Where in a hunk the reading is: the next line numbers, and how many lines of each side are still to come.
struct Hunk {
    old: u64,
    new: u64,
    old_left: u64,
    new_left: u64,
}

struct Table {
    html: String,
    hunk: Option<Hunk>,
}

impl Table {
    fn line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix('\\') {
            return self.row("note", None, None, "", rest.trim_start());
        }
        if self.hunk_line(line) {
            return;
        }
        if line.starts_with("@@") {
            self.hunk = Hunk::parse(line);
            return self.row("hunk", None, None, "", line);
        }
        self.hunk = None;
        self.row("file", None, None, "", line);
    }

    /// The header of a hunk says how many lines it has, which tells a removed line `-- x` from the header `--- x`.
    fn hunk_line(&mut self, line: &str) -> bool {
        let Some(hunk) = self.hunk.as_mut().filter(|hunk| hunk.old_left > 0 || hunk.new_left > 0) else {
            return false;
        };
        let (old, new) = (hunk.old, hunk.new);
        // Some programs strip the space off an empty line.
        let sign = line.bytes().next().unwrap_or(b' ');
        let text = line.get(1..).unwrap_or_default();
        match sign {
            b'+' if hunk.new_left > 0 => {
                hunk.pass(false, true);
                self.row("add", None, Some(new), "+", text);
            }
            b'-' if hunk.old_left > 0 => {
                hunk.pass(true, false);
                self.row("del", Some(old), None, "-", text);
            }
            b' ' if hunk.old_left > 0 && hunk.new_left > 0 => {
                hunk.pass(true, true);
                self.row("ctx", Some(old), Some(new), " ", text);
            }
            _ => return false,
        }
        true
    }

    fn row(&mut self, class: &str, old: Option<u64>, new: Option<u64>, sign: &str, text: &str) {
        self.html.push_str(&format!("<tr class=\"{class}\">"));
        for number in [old, new] {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            self.html.push_str(&format!("<td class=\"num\">{number}</td>"));
        }
        self.html.push_str(&format!("<td class=\"sign\">{sign}</td><td class=\"line\">"));
        escape::text(text, &mut self.html);
        self.html.push_str("</td></tr>\n");
    }
}

impl Hunk {
    /// Reads `@@ -1,2 +3,4 @@`; a missing count is 1.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("@@ ")?.split(' ');
        let (old, old_left) = range(words.next()?.strip_prefix('-')?)?;
        let (new, new_left) = range(words.next()?.strip_prefix('+')?)?;
        Some(Self { old, new, old_left, new_left })
    }

    fn pass(&mut self, old: bool, new: bool) {
        self.old = self.old.saturating_add(u64::from(old));
        self.new = self.new.saturating_add(u64::from(new));
        self.old_left -= u64::from(old);
        self.new_left -= u64::from(new);
    }
}

fn range(text: &str) -> Option<(u64, u64)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows as `class old new sign text`, to be read at a glance.
    fn rows(unified: &str) -> Vec<String> {
        let html = diff(unified);
        let body = html.strip_prefix("<table class=\"diff\"><tbody>").expect("a table starts so");
        let body = body.strip_suffix("</tbody></table>").expect("a table ends so");
        body.lines()
            .map(|row| {
                row.replace("<tr class=\"", "")
                    .replace("\"><td class=\"num\">", "|")
                    .replace("</td><td class=\"num\">", "|")
                    .replace("</td><td class=\"sign\">", "|")
                    .replace("</td><td class=\"line\">", "|")
                    .replace("</td></tr>", "")
            })
            .collect()
    }

    #[test]
    fn lines_are_numbered_on_both_sides() {
        let unified = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -9,3 +9,4 @@ fn <T>()\n ctx\n--- gone\n+++ come\n+<b>\r\n \n\\ No newline at end of file\n--- a/y\n";
        assert_eq!(
            rows(unified),
            [
                "file||||diff --git a/x b/x",
                "file||||--- a/x",
                "file||||+++ b/x",
                "hunk||||@@ -9,3 +9,4 @@ fn &lt;T&gt;()",
                "ctx|9|9| |ctx",
                "del|10||-|-- gone",
                "add||10|+|++ come",
                "add||11|+|&lt;b&gt;",
                "ctx|11|12| |",
                "note||||No newline at end of file",
                "file||||--- a/y",
            ]
        );
    }

    #[test]
    fn what_is_not_quite_a_diff_is_shown_all_the_same() {
        for (unified, expected) in [
            ("", vec![]),
            ("hello", vec!["file||||hello"]),
            ("@@ nonsense @@\n+x", vec!["hunk||||@@ nonsense @@", "file||||+x"]),
            ("@@ -1 +1 @@\n-a", vec!["hunk||||@@ -1 +1 @@", "del|1||-|a"]),
            ("@@ -1 +1 @@\n-a\n+b\n+c", vec!["hunk||||@@ -1 +1 @@", "del|1||-|a", "add||1|+|b", "file||||+c"]),
            ("@@ -1,2 +1,2 @@\n\nä", vec!["hunk||||@@ -1,2 +1,2 @@", "ctx|1|1| |", "file||||ä"]),
            (
                "@@ -18446744073709551615,2 +1,0 @@\n-a\n-b",
                vec!["hunk||||@@ -18446744073709551615,2 +1,0 @@", "del|18446744073709551615||-|a", "del|18446744073709551615||-|b"],
            ),
        ] {
            assert_eq!(rows(unified), expected, "{unified:?}");
        }
    }

    #[test]
    fn a_flood_of_lines_is_cut_and_counted() {
        let rows = rows(&"x\n".repeat(MOST_ROWS + 5));
        assert_eq!(rows.len(), MOST_ROWS + 1);
        assert_eq!(rows[MOST_ROWS], "note||||5 more lines are not shown");
    }
}
