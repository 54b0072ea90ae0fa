//! How long chunks were under way, in buckets: fifty clients of a flood have more of them than could be kept one by one.

/// Each power of two is cut into so many buckets, so that a figure is off by less than one in a hundred.
const STEPS: u64 = 128;
const STEP_BITS: u32 = STEPS.trailing_zeros();
const BUCKETS: usize = (64 - STEP_BITS as usize + 1) * STEPS as usize;

#[derive(Clone)]
pub(crate) struct Latencies {
    buckets: Vec<u32>,
    pub count: u64,
    max_ns: u64,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies { buckets: vec![0; BUCKETS], count: 0, max_ns: 0 }
    }
}

impl Latencies {
    pub(crate) fn add(&mut self, latency_ns: u64) {
        self.buckets[bucket(latency_ns)] += 1;
        self.count += 1;
        self.max_ns = self.max_ns.max(latency_ns);
    }

    pub(crate) fn percentile_ms(&self, percent: u64) -> f64 {
        let wanted = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return (upper_ns(at).min(self.max_ns)) as f64 / 1e6;
            }
        }
        self.max_ms()
    }

    pub(crate) fn max_ms(&self) -> f64 {
        self.max_ns as f64 / 1e6
    }
}

fn bucket(value: u64) -> usize {
    let shift = (64 - value.leading_zeros()).saturating_sub(STEP_BITS + 1);
    shift as usize * STEPS as usize + (value >> shift) as usize
}

/// The highest value that falls into a bucket.
fn upper_ns(bucket: usize) -> u64 {
    let (bucket, steps) = (bucket as u64, STEPS);
    let shift = (bucket / steps).saturating_sub(1);
    let first = bucket - shift * steps;
    u64::try_from((u128::from(first + 1) << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_one_in_a_hundred() {
        let mut latencies = Latencies::default();
        (1..=100_000_u64).for_each(|number| latencies.add(number * 1_000));
        for percent in [1, 50, 99] {
            let (found, right) = (latencies.percentile_ms(percent), percent as f64);
            assert!((found - right).abs() <= right / 100.0, "{percent} %: {found}");
        }
        assert_eq!(latencies.percentile_ms(100), 100.0);
    }

    #[test]
    fn every_value_has_its_bucket() {
        for value in [0, 1, 127, 128, 255, 256, 1_000_000, u64::MAX] {
            let upper = upper_ns(bucket(value));
            assert!(upper >= value && (upper - value) as f64 <= value as f64 / 100.0 + 1.0, "{value}: {upper}");
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }
}
