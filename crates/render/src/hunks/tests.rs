use super::*;
use proptest::prelude::*;

/// The hunks as `@@` lines and `sign old new text`, with marks in brackets, to be read at a glance.
fn shown(hunks: &[DiffHunk]) -> Vec<String> {
    let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
    let mut shown = Vec::new();
    for hunk in hunks {
        let section = hunk.section.as_deref().unwrap_or_default();
        shown.push(format!("@@ -{},{} +{},{} @@{section}", hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines));
        for line in &hunk.lines {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Add => '+',
                LineKind::Delete => '-',
            };
            let units: Vec<u16> = line.text.encode_utf16().collect();
            let marks: Vec<String> =
                line.marks.iter().map(|mark| format!("[{}]", String::from_utf16_lossy(&units[mark.0 as usize..mark.1 as usize]))).collect();
            let end = if line.no_newline { "\\" } else { "" };
            shown.push(format!("{sign}|{}|{}|{}{end}{}", number(line.old), number(line.new), line.text, marks.concat()));
        }
    }
    shown
}

#[test]
fn lines_are_numbered_on_both_sides_and_context_is_kept() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13";
    assert_eq!(
        shown(&between(old, new)),
        [
            "@@ -2,7 +2,7 @@",
            " |2|2|2",
            " |3|3|3",
            " |4|4|4",
            "-|5||5",
            "+||5|five",
            " |6|6|6",
            " |7|7|7",
            " |8|8|8",
            "@@ -10,3 +10,4 @@",
            " |10|10|10",
            " |11|11|11",
            " |12|12|12",
            "+||13|13\\",
        ]
    );
}

#[test]
fn a_file_that_comes_or_goes_has_one_side() {
    assert_eq!(shown(&between("", "a\nb\n")), ["@@ -0,0 +1,2 @@", "+||1|a", "+||2|b"]);
    assert_eq!(shown(&between("a\n", "")), ["@@ -1,1 +0,0 @@", "-|1||a"]);
    assert_eq!(between("a\n", "a\n"), []);
    assert_eq!(shown(&between("a\n", "a")), ["@@ -1,1 +1,1 @@", "-|1||a", "+||1|a\\"]);
}

#[test]
fn changed_words_are_marked_in_utf_16_units() {
    let hunks = between("let 😀x = old(a, b);\n", "let 😀x = new(a, c);\n");
    assert_eq!(shown(&hunks), ["@@ -1,1 +1,1 @@", "-|1||let 😀x = old(a, b);[old][b]", "+||1|let 😀x = new(a, c);[new][c]"]);
    assert_eq!(hunks[0].lines[0].marks, [Mark(10, 13), Mark(17, 18)]);
}

#[test]
fn lines_that_have_little_in_common_are_not_marked() {
    let shown = shown(&between("fn one() {}\n", "    pub const SOMETHING_ELSE: usize = 3;\n"));
    assert_eq!(shown[1..], ["-|1||fn one() {}", "+||1|    pub const SOMETHING_ELSE: usize = 3;"]);
}

#[test]
fn a_line_finds_its_counterpart_behind_new_ones() {
    let hunks = between("call(first, second);\n", "// Something quite new.\ncall(first, third);\n");
    assert_eq!(
        shown(&hunks)[1..],
        ["-|1||call(first, second);[second]", "+||1|// Something quite new.", "+||2|call(first, third);[third]"]
    );
}

#[test]
fn a_patch_of_git_is_read() {
    let unified = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -9,3 +9,4 @@ fn <T>()\n ctx\n--- gone\n+++ come\n+<b>\r\n \n\\ No newline at end of file\n@@ -30 +31,0 @@\n-x\ndiff --git a/y b/y\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(
        shown(&of_patch(unified)),
        [
            "@@ -9,3 +9,4 @@fn <T>()",
            " |9|9|ctx",
            "-|10||-- gone",
            "+||10|++ come",
            "+||11|<b>",
            " |11|12|\\",
            "@@ -30,1 +31,0 @@",
            "-|30||x",
        ]
    );
}

#[test]
fn a_hunk_says_what_it_is_in() {
    let old = "fn one() {\n    1\n}\n\nfn two() {\n    a\n    b\n    c\n    d\n    e\n}\n";
    let new = old.replace("    e\n", "    f\n").replace("    1\n", "    2\n");
    let mut hunks = between(old, &new);
    name_sections(&mut hunks, old);
    let sections: Vec<Option<&str>> = hunks.iter().map(|hunk| hunk.section.as_deref()).collect();
    assert_eq!(sections, [None, Some("fn two() {")]);
}

#[test]
fn what_is_not_quite_a_diff_is_no_panic() {
    for unified in [
        "",
        "hello",
        "@@ nonsense @@\n+x",
        "\\ No newline",
        "@@ -1 +1 @@\n-a",
        "@@ -1 +1 @@\n-a\n+b\n+c",
        "@@ -1,2 +1,2 @@\n\nä",
        "@@ -4294967295,2 +1,0 @@\n-a\n-b",
        "@@ -99999999999,2 +1,0 @@\n-a",
    ] {
        of_patch(unified);
    }
    assert_eq!(shown(&of_patch("@@ -4294967295,2 +1,0 @@\n-a\n-b"))[2], "-|4294967295||b");
}

#[test]
fn a_flood_of_lines_is_cut() {
    let lines = |hunks: Vec<DiffHunk>| hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>();
    assert_eq!(lines(between("", &"x\n".repeat(MOST_LINES + 5))), MOST_LINES);
    assert!(lines(of_patch(&format!("@@ -0,0 +1,{} @@\n{}", MOST_LINES + 5, "+x\n".repeat(MOST_LINES + 5)))) <= MOST_LINES);
}

#[test]
fn the_wire_has_only_what_there_is() {
    let hunk = &between("a b\n", "a c")[0];
    let json = serde_json::to_value(hunk).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 1,
            "lines": [
                {"kind": "delete", "old": 1, "text": "a b", "marks": [[2, 3]]},
                {"kind": "add", "new": 1, "text": "a c", "marks": [[2, 3]], "no_newline": true},
            ],
        })
    );
    assert_eq!(serde_json::from_value::<DiffHunk>(json).unwrap(), *hunk);
}

proptest! {
    /// Whatever the texts, the added and kept lines are the new text and the removed and kept ones the old, where all is shown.
    #[test]
    fn both_texts_can_be_told_from_the_hunks(old in "([ab \n]|ä){0,40}", new in "([ab \n]|ä){0,40}") {
        let hunks = between(&old, &new);
        let mut rebuilt = String::new();
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let mut at = 0;
        for hunk in &hunks {
            let start = (hunk.old_start - u32::from(hunk.old_lines > 0)) as usize;
            rebuilt.extend(lines[at..start].iter().copied());
            at = start + hunk.old_lines as usize;
            for line in hunk.lines.iter().filter(|line| line.kind != LineKind::Delete) {
                rebuilt.push_str(&line.text);
                rebuilt.push_str(if line.no_newline { "" } else { "\n" });
            }
            for line in &hunk.lines {
                let units = line.text.encode_utf16().count();
                prop_assert!(line.marks.iter().all(|mark| mark.0 < mark.1 && mark.1 as usize <= units));
            }
        }
        rebuilt.extend(lines[at..].iter().copied());
        prop_assert_eq!(rebuilt, new);
    }
}
