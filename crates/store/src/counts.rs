//! What the store has done since it was opened, counted where it is done.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::statement::Spent;

/// The upper ends of [`Counts::commit_times`], in microseconds; the last of them has none.
pub const COMMIT_TIMES_US: [u64; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// Sums since the store was opened, of the writer and the readers together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    pub statements: u64,
    /// Instructions of the database's own machine: they grow with every row that is looked at.
    pub steps: u64,
    pub rows_read: u64,
    pub rows_written: u64,
    /// How often somebody read the database.
    pub reads: u64,
    pub commits: u64,
    /// The sessions' writes in those commits.
    pub writes: u64,
    /// Commits that were made where they were asked for, without the writer's thread.
    pub commits_in_place: u64,
    pub events: u64,
    pub checkpoints: u64,
    pub commit_us: u64,
    pub commit_us_most: u64,
    /// How many commits took how long: up to each of [`COMMIT_TIMES_US`], and longer.
    pub commit_times: [u64; COMMIT_TIMES_US.len() + 1],
    /// Writes that wait at this moment.
    pub waiting: u64,
}

#[derive(Default)]
pub(crate) struct Tally {
    statements: AtomicU64,
    steps: AtomicU64,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
    reads: AtomicU64,
    commits: AtomicU64,
    writes: AtomicU64,
    commits_in_place: AtomicU64,
    events: AtomicU64,
    checkpoints: AtomicU64,
    commit_us: AtomicU64,
    commit_us_most: AtomicU64,
    commit_times: [AtomicU64; COMMIT_TIMES_US.len() + 1],
}

impl Tally {
    pub(crate) fn spent(&self, spent: Spent) {
        self.statements.fetch_add(spent.statements, Relaxed);
        self.steps.fetch_add(spent.steps, Relaxed);
        self.rows_read.fetch_add(spent.rows_read, Relaxed);
        self.rows_written.fetch_add(spent.rows_written, Relaxed);
    }

    pub(crate) fn read_once(&self) {
        self.reads.fetch_add(1, Relaxed);
    }

    pub(crate) fn wrote(&self, writes: usize, events: usize) {
        self.writes.fetch_add(writes as u64, Relaxed);
        self.events.fetch_add(events as u64, Relaxed);
    }

    pub(crate) fn committed(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.commits.fetch_add(1, Relaxed);
        self.commit_us.fetch_add(us, Relaxed);
        self.commit_us_most.fetch_max(us, Relaxed);
        self.commit_times[COMMIT_TIMES_US.partition_point(|end| *end < us)].fetch_add(1, Relaxed);
    }

    pub(crate) fn committed_in_place(&self) {
        self.commits_in_place.fetch_add(1, Relaxed);
    }

    pub(crate) fn checkpointed(&self) {
        self.checkpoints.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self, waiting: usize) -> Counts {
        Counts {
            statements: self.statements.load(Relaxed),
            steps: self.steps.load(Relaxed),
            rows_read: self.rows_read.load(Relaxed),
            rows_written: self.rows_written.load(Relaxed),
            reads: self.reads.load(Relaxed),
            commits: self.commits.load(Relaxed),
            writes: self.writes.load(Relaxed),
            commits_in_place: self.commits_in_place.load(Relaxed),
            events: self.events.load(Relaxed),
            checkpoints: self.checkpoints.load(Relaxed),
            commit_us: self.commit_us.load(Relaxed),
            commit_us_most: self.commit_us_most.load(Relaxed),
            commit_times: std::array::from_fn(|at| self.commit_times[at].load(Relaxed)),
            waiting: waiting as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_counted_among_those_that_took_as_long() {
        let tally = Tally::default();
        for us in [0, 100, 101, 2_000_000] {
            tally.committed(Duration::from_micros(us));
        }
        let counts = tally.read(7);
        assert_eq!((counts.commits, counts.waiting), (4, 7));
        assert_eq!(counts.commit_times, [2, 1, 0, 0, 0, 1]);
        assert_eq!((counts.commit_us, counts.commit_us_most), (2_000_201, 2_000_000));
    }
}
