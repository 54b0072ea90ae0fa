//! What the running server and its agents take of this machine, beside what they may take.

use std::fs;
use std::path::Path;

use super::{Check, Verdict};
use crate::config::Config;
use crate::{serve, stop};

/// From this share of what it may open on, the server is told to be short of files.
const SHORT: (u64, u64) = (4, 5);

/// What `/proc` says of one process.
struct Taken {
    resident_kib: u64,
    threads: u64,
    files: u64,
    /// How many files it may open; none where there is no bound.
    files_most: Option<u64>,
}

pub(super) fn look(config: &Config) -> Check {
    let name = "load";
    let served = store::in_use(&config.data_dir.join(stop::DATABASE));
    let pid = fs::read_to_string(stop::pid_file(&config.data_dir)).ok().and_then(|text| text.trim().parse::<i32>().ok());
    let Some(server) = pid.filter(|_| served).and_then(of) else {
        return Check::ok(name, "no server runs here");
    };
    let runners: Vec<i32> = agents::find_runners(&config.data_dir.join("runners"))
        .into_iter()
        .filter(|found| found.runner_alive)
        .filter_map(|found| Some(found.identity?.runner.pid))
        .collect();
    let runners_kib: u64 = runners.iter().filter_map(|pid| of(*pid)).map(|taken| taken.resident_kib).sum();
    let detail = format!(
        "the server has {} MB of memory, {} threads (of at most {}) and {} open files (of at most {}); {} agents run (of at most {}), \
         their runners have {} MB",
        server.resident_kib / 1024,
        server.threads,
        serve::threads_most(),
        server.files,
        server.files_most.map_or_else(|| "any number".to_owned(), |most| most.to_string()),
        runners.len(),
        engine::AGENTS_MOST,
        runners_kib / 1024,
    );
    match server.files_most {
        Some(most) if server.files > most * SHORT.0 / SHORT.1 => {
            Check::bad(name, Verdict::Warn, detail, "ulimit -Hn 65536, in the shell that starts voxpilot serve")
        }
        _ => Check::ok(name, detail),
    }
}

fn of(pid: i32) -> Option<Taken> {
    let dir = Path::new("/proc").join(pid.to_string());
    let status = fs::read_to_string(dir.join("status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    let limits = fs::read_to_string(dir.join("limits")).unwrap_or_default();
    let files_most = limits.lines().find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next()?.parse().ok());
    Some(Taken {
        resident_kib: field("VmRSS:")?,
        threads: field("Threads:")?,
        files: fs::read_dir(dir.join("fd")).map_or(0, |files| files.count() as u64),
        files_most,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_measured() {
        let own = of(std::process::id().cast_signed()).unwrap();
        assert!(own.resident_kib > 100 && own.threads >= 1 && own.files >= 3);
        assert!(own.files_most.is_none_or(|most| most >= own.files));
        assert!(of(i32::MAX).is_none());
    }
}
