//! What the system knows of this process.

/// In which the kernel tells how long a process has computed, whatever its own clock does.
const TICKS_PER_SECOND: f64 = 100.0;

/// None where the system does not tell.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Process {
    pub resident_bytes: Option<u64>,
    pub threads: Option<u64>,
    pub open_files: Option<usize>,
    pub cpu_s: Option<f64>,
}

impl Process {
    /// Reads a few lines of the system's, which takes microseconds.
    pub(crate) fn now() -> Process {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok());
        Process {
            resident_bytes: field("VmRSS:").map(|kibibytes| kibibytes * 1024),
            threads: field("Threads:"),
            // The one with which they are listed is not counted.
            open_files: std::fs::read_dir("/proc/self/fd").ok().map(|files| files.count().saturating_sub(1)),
            cpu_s: computed_s(&std::fs::read_to_string("/proc/self/stat").unwrap_or_default()),
        }
    }
}

/// The name of the program stands in brackets before the numbers, and may hold anything.
fn computed_s(stat: &str) -> Option<f64> {
    let mut numbers = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    Some((user + system) / TICKS_PER_SECOND)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_of_this_process() {
        let now = Process::now();
        assert!(now.resident_bytes.is_some_and(|bytes| bytes > 100_000), "{now:?}");
        assert!(now.threads.is_some_and(|threads| threads >= 1) && now.open_files.is_some_and(|files| files >= 3), "{now:?}");
        assert!(now.cpu_s.is_some_and(|seconds| seconds >= 0.0), "{now:?}");
    }

    #[test]
    fn a_program_may_be_called_anything() {
        let stat = "7 (a) b 1 2) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 9 0 1 2 3";
        assert_eq!(computed_s(stat), Some(3.0));
        assert_eq!(computed_s(""), None);
    }
}
