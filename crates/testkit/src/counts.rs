//! What a process has used, read from outside: numbers that do not depend on how busy the machine is with others.

use std::collections::BTreeMap;
use std::time::Duration;

/// Linux tells processor time in hundredths of a second, whatever the kernel counts in.
const TICK: Duration = Duration::from_millis(10);

/// Everything since the process was started; what was used in between is the difference of two.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Of all its threads, in user space and in the kernel; whole ticks of 10 ms.
    pub cpu: Duration,
    /// Calls that read and that wrote, to files, pipes and sockets alike.
    pub read_calls: u64,
    pub write_calls: u64,
    /// Bytes that went to the disk, or will.
    pub disk_write_bytes: u64,
}

impl Counts {
    /// Nothing of a process that is gone.
    pub fn of(pid: i32) -> Option<Counts> {
        let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        Some(Counts {
            cpu: cpu(pid)?,
            read_calls: field(&io, "syscr:"),
            write_calls: field(&io, "syscw:"),
            disk_write_bytes: field(&io, "write_bytes:"),
        })
    }

    pub fn since(&self, before: &Counts) -> Counts {
        Counts {
            cpu: self.cpu.saturating_sub(before.cpu),
            read_calls: self.read_calls.saturating_sub(before.read_calls),
            write_calls: self.write_calls.saturating_sub(before.write_calls),
            disk_write_bytes: self.disk_write_bytes.saturating_sub(before.disk_write_bytes),
        }
    }

    /// As the kernel counts it, in ticks of 10 ms.
    pub fn cpu_ticks(&self) -> u128 {
        self.cpu.as_millis() / TICK.as_millis()
    }
}

/// How often each thread of a process has gone to sleep of its own will. Thread by thread, because one that ends takes its number along.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sleeps(BTreeMap<String, u64>);

impl Sleeps {
    /// None of a process that is gone.
    pub fn of(pid: i32) -> Sleeps {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok().into_iter().flatten().flatten();
        let threads = tasks.filter_map(|task| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            Some((task.file_name().to_string_lossy().into_owned(), field(&status, "voluntary_ctxt_switches:")))
        });
        Sleeps(threads.collect())
    }

    /// Of the threads that live still.
    pub fn since(&self, before: &Sleeps) -> u64 {
        self.0.iter().map(|(thread, sleeps)| sleeps.saturating_sub(before.0.get(thread).copied().unwrap_or_default())).sum()
    }
}

/// Processor time of a process and all its threads.
pub fn cpu(pid: i32) -> Option<Duration> {
    ticks(pid, 11)
}

/// Processor time of the children of a process that it has waited for.
pub fn cpu_of_children(pid: i32) -> Option<Duration> {
    ticks(pid, 13)
}

/// The sum of the field at `first` and of the one behind it, counted from the state that follows the name in brackets.
fn ticks(pid: i32, first: usize) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(first)?.parse::<u32>().ok()? + fields.get(first + 1)?.parse::<u32>().ok()?;
    Some(TICK * ticks)
}

/// How many files, sockets and pipes it holds open.
pub fn open_files(pid: i32) -> Option<usize> {
    Some(std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
}

/// How many threads it has.
pub fn thread_count(pid: i32) -> Option<usize> {
    Some(std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.count())
}

fn field(text: &str, name: &str) -> u64 {
    text.lines().find_map(|line| line.strip_prefix(name)).and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_does_is_counted() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let before = Counts::of(pid).unwrap();
        for _ in 0..100 {
            std::fs::read("/proc/self/stat").unwrap();
        }
        assert!(Counts::of(pid).unwrap().since(&before).read_calls >= 100);
        let sleeps = Sleeps::of(pid);
        assert_eq!((Sleeps::default().since(&sleeps), sleeps.since(&sleeps)), (0, 0));
        assert!(open_files(pid).unwrap() > 0 && thread_count(pid).unwrap() > 0);
    }
}
