//! Which words of a changed line differ from the line that it replaces.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::{DiffHunk, DiffLine, LineKind, Mark};

/// Longer lines, and longer runs of changed lines, are not gone through word by word.
const MOST_BYTES: usize = 1000;
const MOST_LINES: usize = 200;
/// How far ahead the counterpart of a removed line is looked for.
const AHEAD: usize = 4;
/// For all lines of one text together; those after it stay unmarked.
const TIME_LIMIT: Duration = Duration::from_millis(300);

/// Marks the lines of each hunk. Removed lines are paired, in order, with those added lines after them that they resemble.
pub(super) fn mark(hunks: &mut [DiffHunk]) {
    let deadline = Instant::now() + TIME_LIMIT;
    for hunk in hunks {
        mark_lines(&mut hunk.lines, deadline);
    }
}

fn mark_lines(lines: &mut [DiffLine], deadline: Instant) {
    let mut at = 0;
    while at < lines.len() {
        let deleted = lines[at..].iter().take_while(|line| line.kind == LineKind::Delete).count();
        let added = lines[at + deleted..].iter().take_while(|line| line.kind == LineKind::Add).count();
        if deleted > 0 && added > 0 && deleted.max(added) <= MOST_LINES {
            let (before, after) = lines[at..at + deleted + added].split_at_mut(deleted);
            pair(before, after, deadline);
        }
        at += (deleted + added).max(1);
    }
}

fn pair(before: &mut [DiffLine], after: &mut [DiffLine], deadline: Instant) {
    let mut from = 0;
    for (index, old) in before.iter_mut().enumerate() {
        // Line for line first; where the sides differ in length, what resembles it may come a little later.
        let last = (from + AHEAD).max(index + 1).min(after.len());
        let found = after[from..last].iter().enumerate().find_map(|(at, new)| Some((at, differences(&old.text, &new.text, deadline)?)));
        if let Some((at, (old_marks, new_marks))) = found {
            old.marks = old_marks;
            after[from + at].marks = new_marks;
            from += at + 1;
        }
    }
}

/// Nothing where the lines have too little in common for the rest to mean anything.
fn differences(old: &str, new: &str, deadline: Instant) -> Option<(Vec<Mark>, Vec<Mark>)> {
    if old.len() > MOST_BYTES || new.len() > MOST_BYTES || Instant::now() > deadline {
        return None;
    }
    let (old, new) = (tokens(old), tokens(new));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let equal = ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. })).map(|op| weight(&old[op.old_range()])).sum::<usize>();
    if equal * 4 < weight(&old) + weight(&new) {
        return None;
    }
    let changed = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
    let old_marks = marks(&old, ops.iter().filter(changed).map(DiffOp::old_range));
    let new_marks = marks(&new, ops.iter().filter(changed).map(DiffOp::new_range));
    Some((old_marks, new_marks))
}

/// White space resembles white space everywhere and counts for nothing.
fn weight(tokens: &[&str]) -> usize {
    tokens.iter().filter(|token| !is_space(token)).map(|token| token.len()).sum()
}

fn is_space(token: &str) -> bool {
    token.chars().all(char::is_whitespace)
}

/// Words, runs of white space, and every other character by itself.
fn tokens(line: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in line.char_indices() {
        let this = kind(c);
        if last.is_some_and(|last| last != this || this == 2) {
            tokens.push(&line[start..at]);
            start = at;
        }
        last = Some(this);
    }
    if start < line.len() {
        tokens.push(&line[start..]);
    }
    tokens
}

/// Neighbours that only white space parts become one.
fn marks(tokens: &[&str], changed: impl Iterator<Item = std::ops::Range<usize>>) -> Vec<Mark> {
    let mut ends = vec![0u32];
    for token in tokens {
        let units = u32::try_from(token.encode_utf16().count()).unwrap_or(u32::MAX);
        ends.push(ends.last().copied().unwrap_or_default().saturating_add(units));
    }
    let mut marks: Vec<Mark> = Vec::new();
    let mut last_end = 0;
    for range in changed.filter(|range| !range.is_empty()) {
        let (from, to) = (ends[range.start], ends[range.end]);
        match marks.last_mut() {
            Some(last) if tokens[last_end..range.start].iter().all(|token| is_space(token)) => last.1 = to,
            _ => marks.push(Mark(from, to)),
        }
        last_end = range.end;
    }
    marks
}
