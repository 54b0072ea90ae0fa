//! Changes of one text as hunks: lines with their numbers on both sides, and the words that differ. Data, not HTML: the page draws them.

mod words;

use std::time::{Duration, Instant};

use domain::patch::{self, Change};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const CONTEXT: usize = 3;
/// More lines than this are not read by anybody; what is beyond is left out.
const MOST_LINES: usize = 20_000;
/// After this the rest of a hopeless comparison is shown as replaced whole.
const TIME_LIMIT: Duration = Duration::from_millis(500);

/// How far back the line is looked for that a hunk is in, and how much of it is shown.
const SECTION_LINES: usize = 1000;
const SECTION_CHARS: usize = 80;

/// A part of a line that differs from its counterpart: from, to, in UTF-16 code units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Mark(pub u32, pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    Context,
    Add,
    Delete,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct DiffLine {
    pub kind: LineKind,
    /// The number of the line before the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<u32>,
    /// The number of the line after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<u32>,
    /// Without its line end.
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The file ends here without a line end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct DiffHunk {
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    /// What the hunk is in, such as the line of its function, where git said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    pub lines: Vec<DiffLine>,
}

/// What changed from one text to the other.
pub fn between(old: &str, new: &str) -> Vec<DiffHunk> {
    if old == new {
        return Vec::new();
    }
    let (old, new) = (patch::lines(old), patch::lines(new));
    let mut room = MOST_LINES;
    let mut hunks = Vec::new();
    for group in patch::compare(&old, &new, CONTEXT, Some(Instant::now() + TIME_LIMIT)) {
        if room == 0 {
            break;
        }
        hunks.push(hunk_of(&group, &old, &new, &mut room));
    }
    words::mark(&mut hunks);
    hunks
}

/// The hunks of the unified diff of one file, as git prints it. What is not a hunk is passed over.
pub fn of_patch(unified: &str) -> Vec<DiffHunk> {
    let mut hunks: Vec<Open> = Vec::new();
    for line in unified.split_terminator('\n').take(MOST_LINES) {
        if let Some(hunk) = hunks.last_mut()
            && hunk.take(line)
        {
            continue;
        }
        if let Some(hunk) = Open::begin(line) {
            hunks.push(hunk);
        } else if line.starts_with("diff --git ") && !hunks.is_empty() {
            break;
        }
    }
    let mut hunks: Vec<DiffHunk> = hunks.into_iter().map(|open| open.hunk).collect();
    words::mark(&mut hunks);
    hunks
}

/// Says of each hunk what it is in, as git does: the last line before it that begins at the margin with a word.
pub fn name_sections(hunks: &mut [DiffHunk], old: &str) {
    let lines: Vec<&str> = old.split('\n').collect();
    for hunk in hunks {
        let before = (hunk.old_start as usize).saturating_sub(1).min(lines.len());
        let begins = |line: &&&str| line.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
        let found = lines[..before].iter().rev().take(SECTION_LINES).find(begins);
        hunk.section = found.map(|line| line.trim_end().chars().take(SECTION_CHARS).collect());
    }
}

fn hunk_of(group: &[Change], old: &[&str], new: &[&str], room: &mut usize) -> DiffHunk {
    let mut hunk = DiffHunk { old_start: 0, old_lines: 0, new_start: 0, new_lines: 0, section: None, lines: Vec::new() };
    if let Some(first) = group.first() {
        hunk.old_start = number(first.old.start + 1);
        hunk.new_start = number(first.new.start + 1);
    }
    for change in group {
        if change.equal {
            for (at_old, at_new) in change.old.clone().zip(change.new.clone()) {
                hunk.push(room, LineKind::Context, Some(at_old), Some(at_new), old[at_old]);
            }
            continue;
        }
        for at in change.old.clone() {
            hunk.push(room, LineKind::Delete, Some(at), None, old[at]);
        }
        for at in change.new.clone() {
            hunk.push(room, LineKind::Add, None, Some(at), new[at]);
        }
    }
    // As git counts: a side without lines is named by the line before.
    hunk.old_start -= u32::from(hunk.old_lines == 0);
    hunk.new_start -= u32::from(hunk.new_lines == 0);
    hunk
}

impl DiffHunk {
    fn push(&mut self, room: &mut usize, kind: LineKind, old: Option<usize>, new: Option<usize>, line: &str) {
        if *room == 0 {
            return;
        }
        *room -= 1;
        self.old_lines += u32::from(old.is_some());
        self.new_lines += u32::from(new.is_some());
        let text = line.strip_suffix('\n');
        self.lines.push(DiffLine {
            kind,
            old: old.map(|at| number(at + 1)),
            new: new.map(|at| number(at + 1)),
            text: without_return(text.unwrap_or(line)),
            marks: Vec::new(),
            no_newline: text.is_none(),
        });
    }
}

/// A hunk that is being read: its header says how many lines of each side it has, which tells a removed line `-- x` from the header
/// `--- x`.
struct Open {
    hunk: DiffHunk,
    old: u32,
    new: u32,
    old_left: u32,
    new_left: u32,
}

impl Open {
    /// Reads `@@ -1,2 +3,4 @@ section`; a missing count is 1.
    fn begin(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("@@ -")?;
        let (ranges, section) = rest.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
        let section = Some(section.trim()).filter(|section| !section.is_empty()).map(str::to_owned);
        let hunk = DiffHunk { old_start: old, old_lines: 0, new_start: new, new_lines: 0, section, lines: Vec::new() };
        Some(Self { hunk, old, new, old_left, new_left })
    }

    fn take(&mut self, line: &str) -> bool {
        if line.starts_with('\\') {
            if let Some(last) = self.hunk.lines.last_mut() {
                last.no_newline = true;
            }
            return true;
        }
        if self.old_left == 0 && self.new_left == 0 {
            return false;
        }
        // Some programs strip the space off an empty line.
        let kind = match line.bytes().next().unwrap_or(b' ') {
            b' ' if self.old_left > 0 && self.new_left > 0 => LineKind::Context,
            b'+' if self.new_left > 0 => LineKind::Add,
            b'-' if self.old_left > 0 => LineKind::Delete,
            _ => return false,
        };
        let (is_old, is_new) = (kind != LineKind::Add, kind != LineKind::Delete);
        self.hunk.lines.push(DiffLine {
            kind,
            old: is_old.then_some(self.old),
            new: is_new.then_some(self.new),
            text: without_return(line.get(1..).unwrap_or_default()),
            marks: Vec::new(),
            no_newline: false,
        });
        pass(is_old, &mut self.hunk.old_lines, &mut self.old, &mut self.old_left);
        pass(is_new, &mut self.hunk.new_lines, &mut self.new, &mut self.new_left);
        true
    }
}

fn pass(is_there: bool, lines: &mut u32, at: &mut u32, left: &mut u32) {
    if is_there {
        *lines += 1;
        *at = at.saturating_add(1);
        *left -= 1;
    }
}

fn range(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

fn without_return(line: &str) -> String {
    line.strip_suffix('\r').unwrap_or(line).to_owned()
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
