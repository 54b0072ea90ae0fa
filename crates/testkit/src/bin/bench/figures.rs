//! Numbers for people: medians, spreads, memory.

use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A figure of several rounds.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    pub median: f64,
    low: f64,
    high: f64,
}

impl Figure {
    /// # Panics
    /// If there was no round.
    pub(crate) fn of(mut values: Vec<f64>) -> Figure {
        values.sort_by(f64::total_cmp);
        Figure { median: values[values.len() / 2], low: values[0], high: values[values.len() - 1] }
    }
}

impl From<f64> for Figure {
    fn from(value: f64) -> Figure {
        Figure { median: value, low: value, high: value }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&number(self.median))?;
        if self.low < self.high {
            write!(f, " ({} to {})", number(self.low), number(self.high))?;
        }
        Ok(())
    }
}

/// With about three digits that mean something, and thousands apart.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        value if value == 0.0 || value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.places$}");
    if value < 1000.0 {
        return text;
    }
    let digits: Vec<&str> = text.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    digits.join(",")
}

/// Processor time of the thread that asks.
pub(crate) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Resident memory now and at its highest, in MB.
#[derive(Clone, Copy, Default)]
pub(crate) struct Memory {
    pub now_mb: f64,
    pub peak_mb: f64,
}

impl Memory {
    pub(crate) fn of(pid: i32) -> Memory {
        let mb = |kib: Option<u64>| kib.unwrap_or_default() as f64 * 1024.0 / 1e6;
        Memory { now_mb: mb(testkit::processes::resident_kib(pid)), peak_mb: mb(testkit::processes::peak_kib(pid)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.1234, 1.234, 12.34, 999.4, 1_234.5, 3_000_000.0].map(number);
        assert_eq!(shown, ["0", "0.123", "1.23", "12.3", "999", "1,234", "3,000,000"]);
        assert_eq!(Figure::of(vec![3.0, 1.0, 2.0]).to_string(), "2.00 (1.00 to 3.00)");
    }
}
