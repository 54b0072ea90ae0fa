//! The two plain numbers: one that only grows, and one that goes up and down.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Only grows. Counting is one instruction: nobody waits for anybody.
#[derive(Default, Debug)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub fn increment(&self) {
        self.add(1);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How many there are of something right now.
#[derive(Default, Debug)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// One more, for as long as the value lives: whatever ends its owner, it is counted off.
    pub fn hold(self: &Arc<Gauge>) -> Held {
        self.0.fetch_add(1, Ordering::Relaxed);
        Held(self.clone())
    }

    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// See [`Gauge::hold`].
#[derive(Debug)]
pub struct Held(Arc<Gauge>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_counted_until_it_is_dropped() {
        let gauge = Arc::<Gauge>::default();
        let (first, second) = (gauge.hold(), gauge.hold());
        assert_eq!(gauge.get(), 2);
        drop(first);
        assert_eq!(gauge.get(), 1);
        drop(second);
        assert_eq!(gauge.get(), 0);
    }
}
