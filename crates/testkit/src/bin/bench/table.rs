//! The one table: each row's figures beside its bare companion, with the goal and whether it was met.

use std::fmt::Write;

use crate::figures::{Figure, number};

/// Nothing fails because of it: on a busy machine every goal is missed.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

/// One figure.
pub(crate) struct Line {
    what: String,
    /// None where only the bare companion tells something.
    server: Option<Figure>,
    bare: Option<(Figure, &'static str)>,
    goal: Option<Goal>,
    /// What stands in the way of the goal.
    limit: Option<&'static str>,
}

impl Line {
    pub(crate) fn new(what: impl Into<String>, server: impl Into<Figure>) -> Line {
        Line { what: what.into(), server: Some(server.into()), bare: None, goal: None, limit: None }
    }

    /// What the machine does, for the reader to compare with.
    pub(crate) fn bare(what: impl Into<String>, bare: impl Into<Figure>, whose: &'static str) -> Line {
        Line { what: what.into(), server: None, bare: Some((bare.into(), whose)), goal: None, limit: None }
    }

    /// What the same takes without VoxPilot, and what that was.
    pub(crate) fn beside(mut self, bare: impl Into<Figure>, what: &'static str) -> Line {
        self.bare = Some((bare.into(), what));
        self
    }

    pub(crate) fn at_least(mut self, goal: f64) -> Line {
        self.goal = Some(Goal::AtLeast(goal));
        self
    }

    pub(crate) fn at_most(mut self, goal: f64) -> Line {
        self.goal = Some(Goal::AtMost(goal));
        self
    }

    /// Said where the goal is missed; `README.md` has the profile that shows it.
    pub(crate) fn limited_by(mut self, limit: &'static str) -> Line {
        self.limit = Some(limit);
        self
    }

    fn verdict(&self) -> &'static str {
        match (self.goal, self.server) {
            (None, _) | (_, None) => "",
            (Some(Goal::AtLeast(goal)), Some(server)) if server.median >= goal => "PASS",
            (Some(Goal::AtMost(goal)), Some(server)) if server.median <= goal => "PASS",
            (Some(_), Some(_)) => "FAIL",
        }
    }

    fn cells(&self) -> [String; 6] {
        let goal = match self.goal {
            None => String::new(),
            Some(Goal::AtLeast(goal)) => format!("≥ {}", number(goal)),
            Some(Goal::AtMost(goal)) => format!("≤ {}", number(goal)),
        };
        let bare = self.bare.map_or(String::new(), |(bare, what)| format!("{bare} {what}"));
        let server = self.server.map_or(String::new(), |server| server.to_string());
        let pair = self.server.zip(self.bare).filter(|(_, (bare, _))| bare.median > 0.0);
        let ratio = pair.map_or(String::new(), |(server, (bare, _))| number(server.median / bare.median));
        [self.what.clone(), server, bare, ratio, goal, self.verdict().to_owned()]
    }
}

const HEADS: [&str; 8] = ["row", "figure", "server", "bare", "ratio", "goal", "", "stolen"];
const WIDTHS: [usize; 8] = [8, 42, 32, 48, 7, 12, 4, 6];

#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<[String; 8]>,
}

impl Table {
    /// A header, for a table that grows on the screen while it is measured.
    pub(crate) fn begin(&self) {
        print(&HEADS.map(str::to_owned));
    }

    pub(crate) fn add(&mut self, row: &str, lines: &[Line], stolen_percent: f64) {
        for (number, line) in lines.iter().enumerate() {
            let is_first = number == 0;
            let name = if is_first { row } else { "" }.to_owned();
            let stolen = if is_first { format!("{stolen_percent:.1} %") } else { String::new() };
            let [what, server, bare, ratio, goal, verdict] = line.cells();
            let limit = line.limit.filter(|_| verdict == "FAIL");
            self.push([name, what, server, bare, ratio, goal, verdict, stolen]);
            if let Some(limit) = limit {
                let mut cells: [String; 8] = Default::default();
                cells[1] = format!("  limited by {limit}");
                self.push(cells);
            }
        }
    }

    /// A row in which something was lost, or that could not be measured.
    pub(crate) fn broken(&mut self, row: &str, why: &str) {
        let mut cells: [String; 8] = Default::default();
        (cells[0], cells[1], cells[6]) = (row.to_owned(), why.to_owned(), "BAD".to_owned());
        self.push(cells);
    }

    fn push(&mut self, cells: [String; 8]) {
        print(&cells);
        self.rows.push(cells);
    }

    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String; 8]| format!("| {} |\n", cells.join(" | "));
        let mut text = line(&HEADS.map(str::to_owned));
        text.push_str(&line(&[const { "---" }; 8].map(str::to_owned)));
        self.rows.iter().for_each(|cells| text.push_str(&line(cells)));
        text
    }
}

fn print(cells: &[String; 8]) {
    let mut text = String::new();
    for (cell, width) in cells.iter().zip(WIDTHS) {
        let _ = write!(text, "{cell:<width$}  ");
    }
    println!("{}", text.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_ratio_and_its_verdict() {
        let line = Line::new("chunks/s", 50.0).beside(200.0, "loop").at_least(100.0);
        assert_eq!(line.cells(), ["chunks/s", "50.0", "200 loop", "0.250", "≥ 100", "FAIL"]);
        assert_eq!(Line::new("ms", 5.0).at_most(5.0).verdict(), "PASS");
        assert_eq!(Line::new("ms", 5.0).verdict(), "");
    }
}
