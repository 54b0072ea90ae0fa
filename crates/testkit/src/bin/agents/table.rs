//! What held, as a table for people: a row for each agent, and below it a line for whatever needs words.

use crate::checks::{self, Finding};

pub(crate) struct Row {
    pub agent: &'static str,
    pub version: String,
    pub findings: Vec<(&'static str, Finding)>,
}

const BEGIN: &str = "<!-- begin: made by `make agents` -->";
const END: &str = "<!-- end -->";
/// So much of a reason is kept: it has to be read, and nothing of one run's paths or ids belongs into it.
const TOLD_MAX: usize = 160;

/// One finding in a line of its own.
pub(crate) fn told(finding: &Finding) -> String {
    match finding {
        Finding::Held(how) if how.is_empty() => "held".to_owned(),
        Finding::Held(how) => format!("held: {how}"),
        Finding::Absent(why) => format!("absent: {why}"),
        Finding::Failed(why) => format!("FAILED: {why}"),
    }
}

fn mark(finding: &Finding) -> String {
    match finding {
        Finding::Held(how) if !how.is_empty() && how.len() < 12 => format!("✔ {how}"),
        Finding::Held(_) => "✔".to_owned(),
        Finding::Absent(_) => "–".to_owned(),
        Finding::Failed(_) => "✘".to_owned(),
    }
}

fn heads() -> impl Iterator<Item = &'static str> {
    checks::ALL.iter().map(|check| check.name).chain([checks::LAST])
}

fn matrix_line(row: &Row) -> String {
    let cell = |head: &str| row.findings.iter().find(|(name, _)| *name == head).map_or(String::new(), |(_, finding)| mark(finding));
    let cells: Vec<String> = heads().map(cell).collect();
    format!("| {} | {} | {} |", row.agent, row.version, cells.join(" | "))
}

fn note_lines(row: &Row) -> Vec<String> {
    let line = |(name, finding): &(&'static str, Finding)| {
        let why = match finding {
            Finding::Held(how) if how.is_empty() || how.len() < 12 => return None,
            Finding::Held(why) | Finding::Absent(why) | Finding::Failed(why) => why,
        };
        let first = why.lines().next().unwrap_or_default().replace('|', "\\|");
        Some(format!("| {} | {name} | {} |", row.agent, &first[..first.floor_char_boundary(TOLD_MAX)]))
    };
    row.findings.iter().filter_map(line).collect()
}

fn matrix_head() -> String {
    let names: Vec<&str> = heads().collect();
    format!("| agent | version | {} |\n|---|---|{}", names.join(" | "), "---|".repeat(names.len()))
}

const NOTES_HEAD: &str = "| agent | check | what was seen |\n|---|---|---|";

pub(crate) fn matrix(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().map(matrix_line).collect();
    format!("{}\n{}", matrix_head(), lines.join("\n"))
}

pub(crate) fn notes(rows: &[Row]) -> String {
    let lines: Vec<String> = rows.iter().flat_map(note_lines).collect();
    format!("{NOTES_HEAD}\n{}", lines.join("\n"))
}

/// The document with these rows in place of what it says of their agents. Other agents' rows stay; all are in the order of the catalogue.
pub(crate) fn replaced(document: &str, rows: &[Row]) -> Result<String, String> {
    let parts = || {
        let (before, rest) = document.split_once(BEGIN)?;
        let (old, after) = rest.split_once(END)?;
        Some((before, old, after))
    };
    let (before, old, after) = parts().ok_or_else(|| format!("the document has no `{BEGIN}` and `{END}`"))?;
    let (old_matrix, old_notes) = old.split_once(NOTES_HEAD).unwrap_or((old, ""));
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    for agent in &crate::AGENTS {
        match rows.iter().find(|row| row.agent == agent.id) {
            Some(row) => {
                lines.push(matrix_line(row));
                notes.extend(note_lines(row));
            }
            None => {
                let start = format!("| {} |", agent.id);
                lines.extend(old_matrix.lines().filter(|line| line.starts_with(&start)).map(str::to_owned));
                notes.extend(old_notes.lines().filter(|line| line.starts_with(&start)).map(str::to_owned));
            }
        }
    }
    let table = format!("{}\n{}\n\n{NOTES_HEAD}\n{}", matrix_head(), lines.join("\n"), notes.join("\n"));
    Ok(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", table.trim_end()))
}
