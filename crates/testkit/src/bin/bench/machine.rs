//! On what was measured: the machine, what others took of it, and which version.

use std::fs;
use std::process::Command;

use jiff::{Timestamp, Unit};

/// The processor time of the whole machine so far.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    total_ticks: u64,
    stolen_ticks: u64,
}

impl Machine {
    pub(crate) fn now() -> Machine {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let ticks: Vec<u64> = stat.lines().next().unwrap_or_default().split_whitespace().filter_map(|tick| tick.parse().ok()).collect();
        // The two behind the stolen time are parts of the first two.
        Machine { total_ticks: ticks.iter().take(8).sum(), stolen_ticks: ticks.get(7).copied().unwrap_or_default() }
    }

    /// Which part of the time was taken by other guests of the host since then, in percent.
    pub(crate) fn stolen_percent(since: Machine) -> f64 {
        let now = Machine::now();
        let total = now.total_ticks.saturating_sub(since.total_ticks).max(1);
        now.stolen_ticks.saturating_sub(since.stolen_ticks) as f64 * 100.0 / total as f64
    }
}

/// The machine in a few lines, each a name and a value.
pub(crate) fn describe() -> Vec<(&'static str, String)> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).and_then(|line| line.split_once(':'));
        line.map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory_kib: f64 = value(&read("/proc/meminfo"), "MemTotal").trim_end_matches(" kB").parse().unwrap_or_default();
    let load = read("/proc/loadavg").split(' ').take(3).collect::<Vec<_>>().join(" ");
    let date = Timestamp::now().round(Unit::Second).unwrap_or_default().to_string();
    vec![
        ("date", date),
        ("commit", commit()),
        ("processor", format!("{cores} cores of {}", value(&read("/proc/cpuinfo"), "model name"))),
        ("kernel", read("/proc/sys/kernel/osrelease").trim().to_owned()),
        ("memory", format!("{:.1} GB", memory_kib * 1024.0 / 1e9)),
        ("load before", load),
    ]
}

/// Marked where the tree has changes that are in no commit.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".to_owned() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    if changed { format!("{commit} with changes") } else { commit }
}
