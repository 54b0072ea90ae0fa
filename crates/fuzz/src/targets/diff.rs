//! Diffs as agents write them, and the changes that are made of two texts.
//!
//! An input is a diff; where a line `=====` divides it, the parts are two texts that are compared.

use render::hunks::{self, DiffHunk, LineKind};

use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;

pub(super) const TARGET: Target = Target {
    name: "diff",
    about: "unified diffs of agents, and two texts compared",
    run,
    generate,
    max_bytes: 16 * 1024,
    // A line of two bytes becomes a value with numbers, a text and marks, and three lists of them are held to be compared.
    memory: Memory { per_byte: 256, ..Memory::USUAL },
};

const LANGUAGE: Language = Language {
    words: &[
        "--- a/x\n",
        "+++ b/x\n",
        "--- /dev/null\n",
        "+++ /dev/null\n",
        "diff --git a/x b/y\n",
        "rename from x\n",
        "rename to y\n",
        "copy from x\n",
        "@@ -1 +1 @@\n",
        "@@ -1,3 +1,4 @@ fn x()\n",
        "@@ -0,0 +1 @@\n",
        "@@ -4294967295,4294967295 +1 @@\n",
        "@@ -1,18446744073709551615 +1,0 @@\n",
        "\\ No newline at end of file\n",
        "+++ \"b/\\303\\244 \\\"q\\\"\"\n",
        "+++ \"b/\\777\\\"\n",
        "\n=====\n",
        "\r\n",
        " context\n",
        "-removed\n",
        "+added\n",
        "\n",
    ],
    lines: true,
    json: false,
    text: true,
};

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

fn run(input: &[u8], features: &mut Features) {
    let text = String::from_utf8_lossy(input);
    match text.split_once("\n=====\n") {
        Some((old, new)) => compare(old, new, features),
        None => read(&text, features),
    }
}

fn read(diff: &str, features: &mut Features) {
    let names = domain::patch::names(diff);
    let files = domain::patch::files(diff);
    let whole: String = files.iter().map(|(_, part)| *part).collect();
    assert!(whole == diff, "the parts of a diff are not the diff");
    for (at, name) in names.iter().enumerate() {
        assert!(!name.is_empty() && !names[..at].contains(name), "{name:?} is empty or named twice");
    }
    for (name, _) in files.iter().filter(|(name, _)| !name.is_empty()) {
        assert!(names.contains(name), "a part of the diff is about {name:?}, which the diff does not name");
    }
    features.note_size("names", names.len());
    features.note_size("files", files.len());
    let mut bytes = 0;
    for (_, part) in &files {
        let hunks = hunks::of_patch(part);
        bytes += hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.text.len()).sum::<usize>();
        hold(&hunks, features);
    }
    assert!(bytes <= diff.len(), "the hunks of a diff say more than the diff");
    hold_html(&render::diff(diff), diff);
}

fn compare(old: &str, new: &str, features: &mut Features) {
    let hunks = hunks::between(old, new);
    hold(&hunks, features);
    assert!(applied(&hunks, old) == without_returns(new), "the hunks between two texts do not make the one of the other");
    if old == new {
        return assert!(hunks.is_empty(), "there are hunks where nothing changed");
    }
    // Any text may be a name, if it is not one that means no file.
    let path = format!("f{}", old.chars().take(20).collect::<String>());
    let unified = agents::unified_diff(&path, Some(old), new);
    let again = hunks::of_patch(&unified);
    assert!(applied(&again, old) == without_returns(new), "a diff that we wrote reads as another change");
    assert!(domain::patch::names(&unified) == [path], "a diff that we wrote names another file");
    let two = unified.clone() + &agents::unified_diff("second", None, "x\n");
    assert!(domain::patch::files(&two).len() == 2 && domain::patch::names(&two).len() == 2, "a diff that we wrote hides the next file");
}

/// What holds for all hunks.
fn hold(hunks: &[DiffHunk], features: &mut Features) {
    for hunk in hunks {
        let count = |side: fn(&LineKind) -> bool| hunk.lines.iter().filter(|line| side(&line.kind)).count();
        let (old, new) = (count(|kind| *kind != LineKind::Add), count(|kind| *kind != LineKind::Delete));
        assert!((hunk.old_lines as usize, hunk.new_lines as usize) == (old, new), "a hunk has another number of lines than it says");
        for line in &hunk.lines {
            assert!((line.old.is_some(), line.new.is_some()) == (line.kind != LineKind::Add, line.kind != LineKind::Delete), "{line:?}");
            assert!(!line.text.contains('\n'), "a line with a line end: {line:?}");
            let length = line.text.encode_utf16().count();
            let in_order = line.marks.windows(2).all(|pair| pair[0].1 <= pair[1].0);
            let inside = line.marks.iter().all(|mark| mark.0 < mark.1 && mark.1 as usize <= length);
            assert!(in_order && inside, "marks that do not fit their line: {line:?}");
            features.note((line.kind as u8, line.no_newline, !line.marks.is_empty()));
        }
        features.note_size("lines", hunk.lines.len());
    }
}

/// The old text with the hunks applied, line by line. Returns are not part of what hunks show.
fn applied(hunks: &[DiffHunk], old: &str) -> Vec<(String, bool)> {
    let old = without_returns(old);
    let mut at = 0;
    let mut new = Vec::new();
    for hunk in hunks {
        let start = (hunk.old_start as usize).saturating_sub(usize::from(hunk.old_lines > 0));
        assert!(at <= start && start <= old.len(), "hunks that overlap, or begin behind the end");
        new.extend_from_slice(&old[at..start]);
        at = start;
        for line in &hunk.lines {
            if line.kind != LineKind::Add {
                assert!(old.get(at).is_some_and(|(text, _)| *text == line.text), "a hunk takes a line away that is not there");
                at += 1;
            }
            if line.kind != LineKind::Delete {
                new.push((line.text.clone(), !line.no_newline));
            }
        }
    }
    new.extend_from_slice(&old[at..]);
    new
}

/// The lines of a text, and whether each has an end.
fn without_returns(text: &str) -> Vec<(String, bool)> {
    let line = |line: &str| {
        let text = line.strip_suffix('\n');
        let ended = text.is_some();
        let text = text.unwrap_or(line);
        (text.strip_suffix('\r').unwrap_or(text).to_owned(), ended)
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The HTML of a diff has the tags of its table and no other.
fn hold_html(html: &str, diff: &str) {
    assert!(html.len() <= 200 * diff.len() + 1024, "{} bytes of a diff became {} bytes of HTML", diff.len(), html.len());
    for (at, _) in html.match_indices('<') {
        let tag = &html[at..];
        let known =
            ["<table class=\"diff\">", "<tbody>", "<tr class=\"", "<td class=\"", "</td>", "</tr>", "</tbody>", "</table>", "<span"];
        assert!(known.iter().chain(&["</span>"]).any(|known| tag.starts_with(known)), "an unknown tag in {:?}", tag.get(..40));
    }
}
