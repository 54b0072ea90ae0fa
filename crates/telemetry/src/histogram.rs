//! Durations, by how many were within which bound.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What is written down: from a tenth of a millisecond, where it goes well, to seconds, where the disk does not.
pub(crate) const WRITES_S: &[f64] = &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];
/// What a model takes.
pub(crate) const ANSWERS_S: &[f64] = &[0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

#[derive(Debug)]
pub struct Histogram {
    /// In seconds, rising.
    bounds: &'static [f64],
    /// One for each bound, and one for what is beyond the last. Not cumulative.
    counts: Box<[AtomicU64]>,
    sum_ns: AtomicU64,
}

/// A histogram at one moment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reading {
    /// The upper bounds in seconds, rising.
    pub bounds: Vec<f64>,
    /// How many were within each bound and beyond the one before it; the last is for what is beyond all.
    pub counts: Vec<u64>,
    pub sum_s: f64,
}

impl Histogram {
    pub fn new(bounds: &'static [f64]) -> Histogram {
        Histogram { bounds, counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(), sum_ns: AtomicU64::new(0) }
    }

    pub fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let place = self.bounds.partition_point(|bound| *bound < seconds);
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn read(&self) -> Reading {
        Reading {
            bounds: self.bounds.to_vec(),
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum_s: self.sum_ns.load(Ordering::Relaxed) as f64 / 1e9,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_counted_within_the_first_bound_that_holds_it() {
        let histogram = Histogram::new(&[0.1, 1.0]);
        for took_ms in [100, 101, 5000] {
            histogram.observe(Duration::from_millis(took_ms));
        }
        let reading = histogram.read();
        assert_eq!(reading.counts, [1, 1, 1]);
        assert!((reading.sum_s - 5.201).abs() < 1e-9, "{reading:?}");
    }
}
