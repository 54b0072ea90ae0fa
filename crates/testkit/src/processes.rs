//! What runs on this machine, as far as a test cares: the processes that belong to one data directory.

use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    pub pid: i32,
    pub command: String,
}

/// Every live process that names `dir` in its command line or environment: server, runners, agents and what they left behind.
pub fn of_dir(dir: &Path) -> Vec<Process> {
    let needle = dir.display().to_string();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).filter_map(|pid| look_at(pid, &needle)).collect()
}

fn look_at(pid: i32, needle: &str) -> Option<Process> {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let command = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
    // A zombie has no command line any more; its parent has yet to look.
    let ours = !command.is_empty() && (command.contains(needle) || String::from_utf8_lossy(&read("environ")).contains(needle));
    ours.then_some(Process { pid, command })
}

/// Waits until nothing of `dir` runs any more, and says what still does at the deadline.
pub async fn none_left(dir: &Path, within: Duration) -> Result<(), Vec<Process>> {
    let deadline = Instant::now() + within;
    loop {
        let left = of_dir(dir);
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(left);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Sends a signal to one process, by way of `kill`.
///
/// # Panics
/// If it is not one process: some `kill` programs take the number of a group for that of everybody.
pub fn signal(pid: i32, signal: &str) {
    assert!(pid > 1, "{pid} is not the number of one process");
    let _ = std::process::Command::new("kill").arg(format!("-{signal}")).arg(pid.to_string()).stderr(std::process::Stdio::null()).status();
}

/// Resident memory in KiB.
pub fn resident_kib(pid: i32) -> Option<u64> {
    status_kib(pid, "VmRSS:")
}

/// The most memory that was ever resident, in KiB.
pub fn peak_kib(pid: i32) -> Option<u64> {
    status_kib(pid, "VmHWM:")
}

/// Resident memory in KiB, of which a page that several processes share counts in each by its part.
pub fn proportional_kib(pid: i32) -> Option<u64> {
    field_kib(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

fn status_kib(pid: i32, field: &str) -> Option<u64> {
    field_kib(&format!("/proc/{pid}/status"), field)
}

fn field_kib(path: &str, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(field))?.trim().trim_end_matches(" kB").trim().parse().ok()
}

/// The process that started it, while it lives.
pub fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; behind it come the state and the parent.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
