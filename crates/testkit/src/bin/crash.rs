//! Runs the crash matrix and random kills, and says what came of them. `crash --help` lists the options.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use testkit::crash::{self, Agent, Case, Kills, Matrix, RandomRun, Report, Who};

const USAGE: &str =
    "usage: crash [--agent demo|copilot|codex] [--only TEXT] [--no-matrix] [--kills N] [--seed N] [--jobs N] [--markdown FILE]

  --agent     only this agent; all without it
  --only      only the cases whose name holds this text, such as `loading × server`
  --no-matrix only the random kills
  --kills     how many random kills of the server on the Copilot CLI (200); a quarter of them on the others, and of anybody on each
  --seed      decides the random moments; printed, so that a run can be repeated
  --jobs      how many cases run side by side (2)
  --markdown  also write the result to this file";

struct Options {
    agents: Vec<Agent>,
    only: String,
    matrix: bool,
    kills: usize,
    seed: u64,
    jobs: usize,
    markdown: Option<PathBuf>,
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs() % 1_000_000);
    let mut options = Options { agents: Agent::ALL.to_vec(), only: String::new(), matrix: true, kills: 200, seed, jobs: 2, markdown: None };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is not a number"));
        match arg.as_str() {
            "--agent" => {
                let wanted = value()?;
                options.agents.retain(|agent| agent.id() == wanted);
                if options.agents.is_empty() {
                    return Err(format!("no agent is called {wanted}"));
                }
            }
            "--only" => options.only = value()?,
            "--no-matrix" => options.matrix = false,
            "--kills" => options.kills = usize::try_from(number(value()?)?).unwrap_or(usize::MAX),
            "--seed" => options.seed = number(value()?)?,
            "--jobs" => options.jobs = usize::try_from(number(value()?)?).unwrap_or(1),
            "--markdown" => options.markdown = Some(value()?.into()),
            other => return Err(format!("unknown option {other}")),
        }
    }
    Ok(options)
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // What the rig has to say comes with its case.
    std::panic::set_hook(Box::new(|_| {}));
    println!("seed {}", options.seed);
    let begun = Instant::now();
    let cases = options.agents.iter().flat_map(|agent| Case::all(*agent)).filter(|case| case.to_string().contains(&options.only));
    let cases: Vec<Case> = if options.matrix { cases.collect() } else { Vec::new() };
    let matrix = Matrix::new(cases, options.jobs);
    let (count, mut over) = (matrix.count(), 0);
    let outcomes = crash::run(matrix, |done| {
        over += 1;
        println!(
            "{over:>3}/{count} {} {} ({:.1} s)",
            if done.findings.is_empty() { "ok  " } else { "FAIL" },
            done.case,
            done.took.as_secs_f64()
        );
        complain(&done.findings, &done.log);
    })
    .await;
    let random = random(&options).await;
    let report = Report { outcomes, random, took: begun.elapsed() };
    println!("\n{}", report.text());
    if let Some(path) = &options.markdown
        && let Err(error) = std::fs::write(path, report.text())
    {
        eprintln!("{}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn random(options: &Options) -> Vec<RandomRun> {
    let mut runs = Vec::new();
    for agent in &options.agents {
        let most = if *agent == Agent::Copilot { options.kills } else { options.kills / 4 };
        let few = options.kills / 4;
        for (who, straight, count) in [(Who::Server, false, most), (Who::Anybody, false, few), (Who::Anybody, true, few)] {
            if count > 0 && options.only.is_empty() {
                let run = Kills { agent: *agent, who, straight, count, seed: options.seed }.run().await;
                println!("{}", run.sentence());
                complain(&run.findings, &run.log);
                runs.push(run);
            }
        }
    }
    runs
}

fn complain(findings: &crash::Findings, log: &str) {
    if findings.is_empty() {
        return;
    }
    for fault in &findings.0 {
        println!("    {}", fault.to_string().replace('\n', "\n    "));
    }
    println!("    the server's log:\n      {}", log.trim_end().replace('\n', "\n      "));
}
