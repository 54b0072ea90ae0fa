//! Runs cases side by side and keeps what came of them.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt;
use tokio::task::JoinSet;

use super::case::{Case, Moment, Victim};
use super::case_run::{self, CaseRun};
use super::findings::{Fault, Findings};
use super::outcome::Outcome;

/// A case that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(180);

/// What came of each case.
#[derive(Default)]
pub struct Outcomes {
    pub done: Vec<Done>,
}

pub struct Done {
    pub case: Case,
    pub findings: Findings,
    pub log: String,
    pub took: Duration,
}

pub struct Matrix {
    cases: Vec<Case>,
    side_by_side: usize,
}

impl Matrix {
    /// These cases and the undisturbed ones that they are compared with, so many of them at the same time.
    pub fn new(cases: Vec<Case>, side_by_side: usize) -> Matrix {
        Matrix { cases: with_undisturbed(cases), side_by_side }
    }

    pub fn count(&self) -> usize {
        self.cases.len()
    }
}

/// Runs the undisturbed cases first, then the others, which are compared with them. `report` is called for each case that is over.
pub async fn run(matrix: Matrix, mut report: impl FnMut(&Done)) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let mut undisturbed = HashMap::new();
    let (first, rest): (Vec<Case>, Vec<Case>) = matrix.cases.into_iter().partition(|case| case.victim == Victim::Nobody);
    for cases in [first, rest] {
        let mut waiting = cases.into_iter();
        let mut running = JoinSet::new();
        loop {
            while running.len() < matrix.side_by_side.max(1)
                && let Some(case) = waiting.next()
            {
                running.spawn(timed(case));
            }
            let Some(ended) = running.join_next().await else { break };
            let Ok((case, mut run, took)) = ended else { continue };
            if let Some(outcome) = run.outcome.take() {
                match (case.victim, undisturbed.get(&(case.agent, case.moment))) {
                    (Victim::Nobody, _) => {
                        run.findings += sound(case.moment, &outcome);
                        undisturbed.insert((case.agent, case.moment), outcome);
                    }
                    (_, Some(expected)) => run.findings += outcome.compare(case, expected),
                    (_, None) => run.findings.add(Fault::Wrong("there is no undisturbed run to compare with".to_owned())),
                }
            }
            let done = Done { case, findings: run.findings, log: run.log, took };
            report(&done);
            outcomes.done.push(done);
        }
    }
    outcomes
}

async fn timed(case: Case) -> (Case, CaseRun, Duration) {
    let begun = Instant::now();
    // The rig fails by panicking; here that is a finding like any other.
    let running = tokio::time::timeout(PATIENCE, AssertUnwindSafe(case_run::run_case(case)).catch_unwind());
    let failed = |text: String| CaseRun { outcome: None, findings: Findings(vec![text.into()]), log: String::new() };
    let run = match running.await {
        Ok(Ok(run)) => run,
        Ok(Err(panic)) => failed(panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "the rig failed".to_owned())),
        Err(_) => failed(format!("not over after {} s", PATIENCE.as_secs())),
    };
    (case, run, begun.elapsed())
}

/// Every moment that is asked for needs a run to compare with.
fn with_undisturbed(mut cases: Vec<Case>) -> Vec<Case> {
    for index in 0..cases.len() {
        let needed = Case { victim: Victim::Nobody, release: super::case::Release::Afterwards, ..cases[index] };
        if !cases.contains(&needed) {
            cases.push(needed);
        }
    }
    cases
}

/// An undisturbed run is the measure of the others, so it must be right by itself.
fn sound(moment: Moment, outcome: &Outcome) -> Findings {
    let mut findings = Findings::default();
    let count = if moment == Moment::QueuedPrompts { 5 } else { 3 };
    findings.expect(outcome.endings.len() == count, || format!("{} messages, not {count}", outcome.endings.len()));
    for (index, ending) in outcome.endings.iter().enumerate() {
        let stopped = moment == Moment::Cancelling && index == 1;
        let (state, stop_reason) = if stopped { ("cancelled", "cancelled") } else { ("completed", "end_turn") };
        findings
            .expect(ending.state == state && ending.stop_reason == stop_reason, || format!("expected {state}, {stop_reason}: {ending:#?}"));
        findings.expect(stopped || ending.answer.contains("All done with step-"), || format!("no answer: {ending:#?}"));
        findings.expect(!ending.agent_text.is_empty(), || format!("no text of the agent: {ending:#?}"));
    }
    let remembers = outcome.endings.last().is_some_and(|ending| ending.agent_text.contains("step-1"));
    findings.expect(remembers, || format!("the agent has forgotten: {:#?}", outcome.endings.last()));
    findings
}
