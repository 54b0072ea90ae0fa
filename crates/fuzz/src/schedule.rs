//! Runs the targets, each in a process of its own, a few at a time, and tells what came of each.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::case::Failure;
use crate::finding;
use crate::minimise::minimise;
use crate::scratch;
use crate::targets::Target;
use crate::worker::{Report, last_input};

/// How often an input that kills its process is tried again, to make it smaller.
const MINIMISE_TRIES: usize = 200;
const MINIMISE_TIME: Duration = Duration::from_secs(60);

/// The flag with which this program is a worker: the target, the seed, the milliseconds, and the file for the running input.
pub const WORKER_FLAG: &str = "worker";

pub struct Plan {
    pub targets: Vec<&'static Target>,
    pub seed: u64,
    /// For each target.
    pub time: Duration,
    pub jobs: usize,
}

/// Runs all of it and prints a line for each target. Gives the number of findings.
pub fn run(plan: &Plan) -> Result<usize> {
    let dir = tempfile::tempdir().context("a directory for the running inputs")?;
    println!("seed {}, {} s for each of {} targets, {} at a time", plan.seed, plan.time.as_secs(), plan.targets.len(), plan.jobs);
    println!("{:<14} {:>10} {:>10} {:>8} {:>9} {:>11} {:>8}", "target", "cases", "cases/s", "corpus", "features", "slowest ms", "findings");
    let next = Mutex::new(plan.targets.iter());
    let reports = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let target = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(target) = target else { break };
                    let report = one(target, plan, &dir.path().join(target.name));
                    let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Ok(report) = &report {
                        print(target.name, report);
                    }
                    reports.push(report);
                }
            });
        }
    });
    let reports: Vec<Report> = reports.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect::<Result<_>>()?;
    let findings: Vec<_> = reports.iter().flat_map(|report| &report.findings).collect();
    for (message, path) in &findings {
        println!("\n{message}\n  replay: {}", finding::replay_command(path));
    }
    Ok(findings.len())
}

fn print(name: &str, report: &Report) {
    let per_second = report.cases as f64 / report.seconds.max(0.001);
    println!(
        "{name:<14} {:>10} {per_second:>10.0} {:>8} {:>9} {:>11} {:>8}",
        report.cases,
        report.corpus,
        report.features,
        report.slowest_ms,
        report.findings.len()
    );
}

fn one(target: &'static Target, plan: &Plan, current: &Path) -> Result<Report> {
    let start = Instant::now();
    let worker = program()?
        .args([format!("--{WORKER_FLAG}"), target.name.to_owned()])
        .args(["--seed".to_owned(), plan.seed.to_string(), "--milliseconds".to_owned(), plan.time.as_millis().to_string()])
        .arg("--current")
        .arg(current)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting the worker of {}", target.name))?;
    let process = worker.id();
    let ended = worker.wait_with_output().with_context(|| format!("waiting for the worker of {}", target.name))?;
    scratch::remove(process);
    if ended.status.success() {
        return serde_json::from_slice(&ended.stdout).with_context(|| format!("reading the report of {}", target.name));
    }
    let finding = died(target, current, ended.status)?;
    Ok(Report { seconds: start.elapsed().as_secs_f64(), findings: vec![finding], ..Report::default() })
}

/// The input that killed a worker, made smaller by running it again and again.
fn died(target: &Target, current: &Path, status: ExitStatus) -> Result<(String, PathBuf)> {
    let message = format!("{}: the process ended with {status}", target.name);
    let input = last_input(current).with_context(|| format!("{message}, and its input is not known"))?;
    let deadline = Instant::now() + MINIMISE_TIME;
    let candidate_path = current.with_extension("candidate");
    let small = minimise(&input, MINIMISE_TRIES, |candidate| {
        Instant::now() < deadline && kills(target, candidate, &candidate_path).unwrap_or_default()
    });
    let failure = Failure { key: "death".to_owned(), message };
    let path = finding::save(target.name, &small, &failure)?;
    Ok((failure.message, path))
}

fn kills(target: &Target, input: &[u8], path: &Path) -> Result<bool> {
    std::fs::write(path, input)?;
    let mut replay = program()?;
    replay.arg("--replay").arg(path).args(["--target", target.name]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = replay.spawn()?;
    let status = running.wait()?;
    scratch::remove(running.id());
    // A finding exits with a code; only a signal is a death.
    Ok(status.code().is_none())
}

fn program() -> Result<Command> {
    Ok(Command::new(std::env::current_exe().context("finding this binary")?))
}
