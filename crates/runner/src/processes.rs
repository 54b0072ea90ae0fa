//! Other processes as `/proc` shows them: who is whose child, who is still the same, and signals that cannot hit a stranger.

use std::collections::HashSet;
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// One process at one moment. Pid and start time together name it for as long as the machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// In clock ticks since boot.
    pub start: u64,
    /// A zombie or worse: it does nothing any more and only waits to be reaped.
    pub ended: bool,
}

pub(crate) fn read(pid: i32) -> Option<Process> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Those of `all` that descend from one of `roots`, the roots themselves left out.
pub(crate) fn descendants(all: &[Process], roots: &HashSet<i32>) -> Vec<Process> {
    let mut family = roots.clone();
    let mut found = Vec::new();
    loop {
        let before = found.len();
        for process in all {
            if family.contains(&process.parent) && family.insert(process.pid) {
                found.push(*process);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Signals exactly that process: the pid is pinned first, then compared, so a reused number is left in peace.
pub(crate) fn signal(process: &Process, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    let pinned = pidfd_open(pid, PidfdFlags::empty());
    if read(process.pid).is_none_or(|now| now.start != process.start) {
        return;
    }
    // It may have ended since: then there is nothing left to do.
    let _ = match pinned {
        Ok(pinned) => pidfd_send_signal(&pinned, signal),
        // A kernel that cannot pin; the comparison a moment ago has to do.
        Err(Errno::NOSYS) => kill_process(pid, signal),
        Err(error) => Err(error),
    };
}

/// Whether the process was started with `name=value` in its environment.
pub(crate) fn has_variable(pid: i32, name: &str, value: &str) -> bool {
    let wanted = format!("{name}={value}");
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
}

/// Changes with every start of the machine; start times are only comparable within one.
pub(crate) fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn parse(pid: i32, stat: &str) -> Option<Process> {
    // The name stands in parentheses and may itself hold spaces and parentheses: count from the last one.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let start = fields.nth(15)?.parse().ok()?;
    Some(Process { pid, parent, group, session, start, ended: matches!(state, "Z" | "X" | "x") })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "42 (a) b (c)) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 200 more";
        let process = parse(42, stat).unwrap();
        assert_eq!(process, Process { pid: 42, parent: 1, group: 40, session: 39, start: 123_456, ended: false });
    }

    #[test]
    fn descendants_are_found_in_any_order() {
        let process = |pid, parent| Process { pid, parent, group: 0, session: 0, start: 0, ended: false };
        let all = [process(5, 4), process(4, 3), process(3, 1), process(9, 8)];
        let found: Vec<i32> = descendants(&all, &HashSet::from([1])).iter().map(|process| process.pid).collect();
        assert_eq!(found, [3, 4, 5]);
    }
}
