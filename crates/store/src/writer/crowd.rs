//! Whether many sessions write at once. Then it is worth while to let writes gather and share a commit; one session alone, however
//! much it has to say, gains nothing by that and only waits.

use std::time::{Duration, Instant};

use domain::ids::SessionId;

/// Commits that follow each other sooner than this are of one moment.
const MOMENT: Duration = Duration::from_micros(500);
const ENOUGH: u8 = 4;
/// A crowd that has gone is forgotten after a few commits.
const MOST: u8 = 6;

#[derive(Default)]
pub(super) struct Crowd {
    measure: u8,
    last: Option<(SessionId, Instant)>,
}

impl Crowd {
    /// A commit held writes of so many sessions, this one among them.
    pub(super) fn committed(&mut self, session: SessionId, sessions: usize, now: Instant) {
        let is_close = |(other, at): (SessionId, Instant)| other != session && now.duration_since(at) < MOMENT;
        self.measure =
            if sessions > 1 || self.last.is_some_and(is_close) { MOST.min(self.measure + 1) } else { self.measure.saturating_sub(1) };
        self.last = Some((session, now));
    }

    pub(super) fn is_there(&self) -> bool {
        self.measure >= ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// The session, how many sessions there were, and how long after the commit before.
    type Commit = (u128, usize, u64);

    fn after(commits: &[Commit]) -> Crowd {
        let mut crowd = Crowd::default();
        let mut now = Instant::now();
        for (session, sessions, us) in commits {
            now += Duration::from_micros(*us);
            crowd.committed(SessionId(Uuid::from_u128(*session)), *sessions, now);
        }
        crowd
    }

    #[test]
    fn a_crowd_is_made_by_several_sessions_of_one_moment() {
        let cases: [(&str, Vec<Commit>, bool); 6] = [
            ("a flood of one", vec![(1, 1, 10); 1000], false),
            ("slow ones", (0..1000).map(|n| (n % 50, 1, 600)).collect(), false),
            ("quick ones", (0..10).map(|n| (n % 2, 1, 100)).collect(), true),
            ("groups", vec![(1, 9, 5000); 4], true),
            ("too few yet", vec![(1, 9, 5000); 3], false),
            ("a crowd that has gone", [vec![(1, 9, 100); 99], vec![(1, 1, 100); 3]].concat(), false),
        ];
        for (name, commits, expected) in cases {
            assert_eq!(after(&commits).is_there(), expected, "{name}");
        }
    }
}
