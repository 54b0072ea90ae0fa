//! What the system knows of this process.

use rustix::time::{ClockId, clock_gettime};

/// None where the system does not tell.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Process {
    pub resident_bytes: Option<u64>,
    pub threads: Option<u64>,
    pub open_files: Option<usize>,
    pub cpu_s: f64,
}

impl Process {
    /// Reads a few lines of the system's, which takes microseconds.
    pub(crate) fn now() -> Process {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok());
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Process {
            resident_bytes: field("VmRSS:").map(|kibibytes| kibibytes * 1024),
            threads: field("Threads:"),
            // The one with which they are listed is not counted.
            open_files: std::fs::read_dir("/proc/self/fd").ok().map(|files| files.count().saturating_sub(1)),
            cpu_s: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_of_this_process() {
        let now = Process::now();
        assert!(now.resident_bytes.is_some_and(|bytes| bytes > 100_000), "{now:?}");
        assert!(now.threads.is_some_and(|threads| threads >= 1) && now.open_files.is_some_and(|files| files >= 3), "{now:?}");
        assert!(now.cpu_s > 0.0);
    }
}
