//! Numbers for people: medians, spreads, percentiles, memory.

use std::fmt;

/// A figure of several rounds.
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

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = if self.median < 100.0 { 2 } else { 0 };
        write!(f, "{:.places$} ({:.places$} to {:.places$})", self.median, self.low, self.high)
    }
}

/// In milliseconds.
pub(crate) fn percentile_ms(latencies_ns: &[u64], percent: usize) -> f64 {
    let mut sorted = latencies_ns.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default() as f64 / 1e6
}

/// Resident memory now and at its highest, in MB.
#[derive(Clone, Copy, Default)]
pub(crate) struct Memory {
    pub now_mb: f64,
    pub peak_mb: f64,
}

impl Memory {
    pub(crate) fn of(pid: i32) -> Memory {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| {
            let kib = status.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().trim_end_matches(" kB"));
            kib.and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() * 1024.0 / 1e6
        };
        Memory { now_mb: field("VmRSS:"), peak_mb: field("VmHWM:") }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MB (at most {:.1})", self.now_mb, self.peak_mb)
    }
}

/// Only for the reader: a goal that is missed on a busy machine is no failure.
pub(crate) fn verdict(met: bool) -> &'static str {
    if met { "PASS" } else { "FAIL" }
}

/// On what the figures were measured, and how busy it was.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown").to_owned();
    format!("machine: {cores} cores, load before {load}; each figure is the median of the rounds (and their range)")
}
