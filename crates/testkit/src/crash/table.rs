//! The matrix for people: on a terminal and as markdown.

use std::fmt::Write as _;
use std::time::Duration;

use super::case::{Agent, Moment, Victim};
use super::findings::Fault;
use super::matrix::Outcomes;
use super::random::RandomRun;

/// Everything one call of the program did.
pub struct Report {
    pub outcomes: Outcomes,
    pub random: Vec<RandomRun>,
    pub took: Duration,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.faults().next().is_none()
    }

    fn faults(&self) -> impl Iterator<Item = &Fault> {
        let cases = self.outcomes.done.iter().flat_map(|done| &done.findings.0);
        cases.chain(self.random.iter().flat_map(|run| &run.findings.0))
    }

    /// Lost, doubled, orphans, leaks, other differences.
    fn totals(&self) -> String {
        let count = |fits: fn(&Fault) -> bool| self.faults().filter(|fault| fits(fault)).count();
        let (lost, doubled) = (count(|fault| matches!(fault, Fault::Lost(_))), count(|fault| matches!(fault, Fault::Doubled(_))));
        let (orphans, leaks) = (count(|fault| matches!(fault, Fault::Orphan(_))), count(|fault| matches!(fault, Fault::Leak(_))));
        let wrong = count(|fault| matches!(fault, Fault::Wrong(_)));
        format!("lost {lost}, doubled {doubled}, orphans {orphans}, leaks {leaks}, other differences {wrong}")
    }

    /// One table an agent, the random runs, the totals. It is markdown, and reads well enough without being rendered.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for agent in Agent::ALL {
            if self.outcomes.done.iter().any(|done| done.case.agent == agent) {
                let _ = writeln!(out, "{}", self.table(agent));
            }
        }
        for run in &self.random {
            let _ = writeln!(out, "{}", run.sentence());
        }
        if !self.random.is_empty() {
            out.push('\n');
        }
        let runs = self.outcomes.done.len();
        let kills: usize = self.random.iter().map(|run| run.kills).sum();
        let _ = writeln!(out, "{runs} cases and {kills} random kills in {} s: {}.", self.took.as_secs(), self.totals());
        out
    }

    fn table(&self, agent: Agent) -> String {
        let of_agent = || self.outcomes.done.iter().filter(move |done| done.case.agent == agent);
        let victims: Vec<Victim> = Victim::ALL.into_iter().filter(|victim| of_agent().any(|done| done.case.victim == *victim)).collect();
        let mut rows =
            vec![std::iter::once(agent.name()).chain(victims.iter().map(|victim| victim.name())).map(str::to_owned).collect::<Vec<_>>()];
        for moment in Moment::ALL {
            let cell = |victim: &Victim| {
                let cases: Vec<_> = of_agent().filter(|done| done.case.victim == *victim && done.case.moment == moment).collect();
                let good = cases.iter().filter(|done| done.findings.is_empty()).count();
                if cases.is_empty() { "–".to_owned() } else { format!("{good}/{}", cases.len()) }
            };
            rows.push(std::iter::once(moment.name().to_owned()).chain(victims.iter().map(cell)).collect());
        }
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for (index, row) in rows.iter().enumerate() {
            let cells: Vec<String> =
                row.iter().enumerate().map(|(column, cell)| format!("{cell:<width$}", width = width(column))).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
            if index == 0 {
                let line: Vec<String> = (0..row.len()).map(|column| "-".repeat(width(column))).collect();
                let _ = writeln!(out, "|-{}-|", line.join("-|-"));
            }
        }
        out
    }
}
