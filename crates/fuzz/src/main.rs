//! `fuzz`: runs the targets for a while and tells what broke, or runs one input again.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Parser;
use fuzz::allocator::Counting;
use fuzz::features::Features;
use fuzz::schedule::{self, Plan};
use fuzz::{TARGETS, Target, case, scratch, worker};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One target is not of this program: markdown in the page, which `npm run fuzz` in `ui/` runs. It has its share of the time.
const TARGETS_ELSEWHERE: u32 = 1;

#[derive(Parser)]
#[command(about = "Feeds hostile input to everything that reads what a peer sent")]
struct Options {
    /// Only this target; may be given several times
    #[arg(long)]
    target: Vec<String>,
    /// For each target
    #[arg(long, default_value_t = 10, conflicts_with = "minutes")]
    seconds: u64,
    /// For all targets together
    #[arg(long)]
    minutes: Option<u64>,
    /// Where the random numbers start; chosen by chance where none is given
    #[arg(long)]
    seed: Option<u64>,
    /// How many targets run at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Runs this input once; its directory names the target unless --target does
    #[arg(long)]
    replay: Option<PathBuf>,
    /// Lists the targets
    #[arg(long)]
    list: bool,
    #[arg(long, hide = true)]
    worker: Option<String>,
    #[arg(long, hide = true, requires = "worker")]
    milliseconds: Option<u64>,
    #[arg(long, hide = true, requires = "worker")]
    current: Option<PathBuf>,
}

fn main() -> ExitCode {
    let ended = run(&Options::parse());
    scratch::remove(std::process::id());
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("fuzz: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    if options.list {
        TARGETS.iter().for_each(|target| println!("{:<14} {}", target.name, target.about));
        return Ok(ExitCode::SUCCESS);
    }
    let seed = options.seed.map_or_else(random_seed, Ok)?;
    if let Some(name) = &options.worker {
        let time = Duration::from_millis(options.milliseconds.unwrap_or_default());
        let current = options.current.as_deref().context("--current is missing")?;
        println!("{}", serde_json::to_string(&worker::fuzz(named(name)?, seed, time, current)?)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &options.replay {
        return replay(path, options.target.first());
    }
    let targets = match options.target.as_slice() {
        [] => TARGETS.iter().collect(),
        names => names.iter().map(|name| named(name)).collect::<Result<Vec<_>>>()?,
    };
    let jobs = options.jobs.max(1);
    let time = match options.minutes {
        // What runs side by side has the same minutes.
        Some(minutes) => Duration::from_secs(minutes * 60) * u32::try_from(jobs)? / (u32::try_from(targets.len())? + TARGETS_ELSEWHERE),
        None => Duration::from_secs(options.seconds),
    };
    let findings = schedule::run(&Plan { targets, seed, time, jobs })?;
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn replay(path: &Path, target: Option<&String>) -> Result<ExitCode> {
    let directory = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let target = named(target.or(directory.as_ref()).context("which target? give --target")?)?;
    let input = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    case::watch_panics();
    // The first run pays for what is made once; only the second is measured fairly.
    let first = case::run(target, &input, &mut Features::default());
    match first.and_then(|()| case::run(target, &input, &mut Features::default())) {
        Ok(()) => {
            println!("{}: {} bytes, every property holds", target.name, input.len());
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            println!("{}: {}", target.name, failure.message);
            Ok(ExitCode::FAILURE)
        }
    }
}

fn named(name: &str) -> Result<&'static Target> {
    match TARGETS.iter().find(|target| target.name == name) {
        Some(target) => Ok(target),
        None => {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            bail!("no target is called {name}: there is {}", names.join(", "))
        }
    }
}

fn random_seed() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).context("choosing a seed")?;
    // Short enough to be typed.
    Ok(u64::from_le_bytes(bytes) % 1_000_000_000)
}
