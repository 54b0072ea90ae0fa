//! Which of the files that changed the session is credited with: those that its agents reported, and those that changed while one of
//! their tool calls could write. What another session in the same directory reported for that moment is its own.

use std::collections::{HashMap, HashSet};

use domain::event::TurnState;
use domain::ids::{SessionId, TurnId};
use jiff::Timestamp;
use store::{CreditRow, Evidence, Row, Store, StoreError};
use tools::{Checkout, Touched};

/// Agents report a little later than they act, and disks keep time a little coarser.
const SLACK_MS: i64 = 50;
/// So many files of one look are stored as found in windows.
const MOST_STORED: usize = 3000;

pub(super) struct Ledger {
    windows: Windows,
    credits: Vec<CreditRow>,
    /// What agents of other sessions reported, by path.
    others: HashMap<String, Vec<(i64, i64)>>,
}

/// Spans of time, for the question whether a moment lies in one.
#[derive(Default)]
struct Windows {
    /// By their beginnings, each with the latest end so far.
    spans: Vec<(i64, i64)>,
}

impl Windows {
    fn new(mut spans: Vec<(i64, i64)>) -> Windows {
        spans.sort_unstable();
        let mut latest = i64::MIN;
        for (_, until_ms) in &mut spans {
            latest = latest.max(*until_ms);
            *until_ms = latest;
        }
        Windows { spans }
    }

    fn hold(&self, at_ms: i64) -> bool {
        let after = self.spans.partition_point(|(since_ms, _)| *since_ms <= at_ms + SLACK_MS);
        after > 0 && self.spans[after - 1].1 + SLACK_MS >= at_ms
    }
}

impl Ledger {
    /// Of one turn, or of the whole session.
    pub(super) async fn read(store: &Store, session: SessionId, turn: Option<TurnId>) -> Result<Ledger, StoreError> {
        let running = store.latest_turn(session).await?.filter(|turn| turn.state == TurnState::Running).map(|turn| turn.id);
        let now_ms = Timestamp::now().as_millisecond();
        let windows = store.windows(session, turn).await?.into_iter().map(|window| {
            let open_until_ms = if Some(window.turn_id) == running { now_ms } else { window.since_ms };
            (window.since_ms, window.until_ms.unwrap_or(open_until_ms))
        });
        let windows = Windows::new(windows.collect());
        let credits = store.credits(session, turn).await?;
        let since_ms = windows.spans.first().map(|(since_ms, _)| since_ms - SLACK_MS);
        let reported = match since_ms {
            Some(since_ms) => store.reported_by_others(session, since_ms - SLACK_MS).await?,
            None => Vec::new(),
        };
        let mut others: HashMap<String, Vec<(i64, i64)>> = HashMap::new();
        for credit in reported {
            others.entry(credit.path).or_default().push((credit.since_ms, credit.until_ms));
        }
        Ok(Ledger { windows, credits, others })
    }

    /// Forgets what was committed after it was written: what differs now was written later.
    pub(super) async fn without_committed(mut self, checkout: &Checkout) -> Ledger {
        let Some(first_ms) = self.credits.iter().map(|credit| credit.until_ms).min() else { return self };
        let committed = checkout.committed_since(first_ms.div_euclid(1000)).await;
        self.credits.retain(|credit| !committed.get(&credit.path).is_some_and(|at_s| is_before(credit, *at_s)));
        self
    }

    /// The names of the files that the session is credited with.
    pub(super) fn credited(&self, touched: &[Touched]) -> HashSet<String> {
        let stored = self.credits.iter().filter(|credit| match credit.evidence {
            Evidence::Report => true,
            Evidence::Window => !self.is_of_others(&credit.path, credit.since_ms),
        });
        let mut names: HashSet<String> = stored.map(|credit| credit.path.clone()).collect();
        names.extend(touched.iter().filter(|touched| self.moment(touched).is_some()).map(|touched| touched.path.clone()));
        names
    }

    /// What was found in windows and is not stored yet: a later change of the file would hide it.
    pub(super) fn found(&self, touched: &[Touched], turn_id: TurnId) -> Vec<Row> {
        let known: HashSet<(&str, i64)> = self.credits.iter().map(|credit| (credit.path.as_str(), credit.since_ms)).collect();
        let moments = touched.iter().filter_map(|touched| Some((&touched.path, self.moment(touched)?)));
        let new = moments.filter(|(path, at_ms)| !known.contains(&(path.as_str(), *at_ms))).take(MOST_STORED);
        let credit = |(path, at_ms): (&String, i64)| CreditRow {
            turn_id,
            path: path.clone(),
            evidence: Evidence::Window,
            since_ms: at_ms,
            until_ms: at_ms,
        };
        new.map(credit).map(Row::Credit).collect()
    }

    /// When a tool call of the session's changed it, by the times on the disk.
    fn moment(&self, touched: &Touched) -> Option<i64> {
        touched.times_ms.iter().copied().find(|at_ms| self.windows.hold(*at_ms) && !self.is_of_others(&touched.path, *at_ms))
    }

    fn is_of_others(&self, path: &str, at_ms: i64) -> bool {
        let spans = self.others.get(path).map(Vec::as_slice).unwrap_or_default();
        spans.iter().any(|(since_ms, until_ms)| since_ms - SLACK_MS <= at_ms && at_ms <= until_ms + SLACK_MS)
    }
}

/// Commits know only seconds. What was written in the second of the commit and is no report shows by its time on the disk.
fn is_before(credit: &CreditRow, at_s: i64) -> bool {
    let written_s = credit.until_ms.div_euclid(1000);
    written_s < at_s || written_s == at_s && credit.evidence == Evidence::Window
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(path: &str, at_ms: i64) -> Touched {
        Touched { path: path.to_owned(), times_ms: vec![at_ms] }
    }

    fn ledger(windows: &[(i64, i64)], others: &[(&str, i64, i64)]) -> Ledger {
        let mut by_path: HashMap<String, Vec<(i64, i64)>> = HashMap::new();
        for (path, since_ms, until_ms) in others {
            by_path.entry((*path).to_owned()).or_default().push((*since_ms, *until_ms));
        }
        Ledger { windows: Windows::new(windows.to_vec()), credits: Vec::new(), others: by_path }
    }

    #[test]
    fn a_window_has_a_little_slack_and_a_long_one_holds_what_comes_after_a_short_one() {
        let windows = Windows::new(vec![(5000, 5010), (1000, 9000), (20_000, 20_000)]);
        for (at_ms, held) in [(900, false), (950, true), (8000, true), (9050, true), (9051, false), (20_050, true), (20_051, false)] {
            assert_eq!(windows.hold(at_ms), held, "{at_ms}");
        }
        assert!(!Windows::default().hold(0));
    }

    #[test]
    fn what_another_session_reported_for_that_moment_is_its_own() {
        let ledger = ledger(&[(1000, 9000)], &[("theirs", 2000, 2010), ("both", 2000, 2010)]);
        let credited = ledger.credited(&[touched("theirs", 2005), touched("both", 8000), touched("mine", 3000), touched("late", 9999)]);
        let mut names: Vec<_> = credited.into_iter().collect();
        names.sort();
        assert_eq!(names, ["both", "mine"]);
    }

    #[test]
    fn what_was_found_stays_credited_whoever_changes_the_file_later() {
        let turn_id = TurnId(uuid::Uuid::from_u128(1));
        let mut ledger = ledger(&[(1000, 2000)], &[]);
        let found = ledger.found(&[touched("a", 1500), touched("b", 5000)], turn_id);
        let [Row::Credit(credit)] = &found[..] else { panic!("{found:?}") };
        ledger.credits.push(credit.clone());
        assert!(ledger.credited(&[touched("a", 5000)]).contains("a"));
        assert!(ledger.found(&[touched("a", 1500)], turn_id).is_empty(), "it is stored once");
    }
}
