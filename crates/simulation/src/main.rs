//! Runs schedules of the simulation, and tells the story of one that breaks an invariant.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use simulation::choices::{self, Choices, Record};
use simulation::coverage::Coverage;
use simulation::defects::Defect;
use simulation::invariants::Invariant;
use simulation::shrink::shrink;
use simulation::{STEPS, run, run_seed};

#[derive(Parser)]
#[command(about = "Simulates sessions from seeds and checks that the invariants hold")]
struct Options {
    /// How many schedules.
    #[arg(long, default_value_t = 100_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only this seed, with its story.
    #[arg(long)]
    seed: Option<u64>,
    /// A recorded schedule, with its story.
    #[arg(long)]
    replay: Option<String>,
    /// How many run side by side; the number of cores where nothing is said.
    #[arg(long)]
    threads: Option<usize>,
    /// How many steps a schedule has before its faults stop.
    #[arg(long, default_value_t = STEPS)]
    steps: usize,
    /// Runs every defect until it is found.
    #[arg(long)]
    defects: bool,
    /// Runs with this defect.
    #[arg(long)]
    defect: Option<String>,
    /// Lists the invariants.
    #[arg(long)]
    invariants: bool,
}

/// Where a defect must show.
const MOST_SEEDS_FOR_DEFECT: u64 = 200_000;

fn main() -> ExitCode {
    let options = Options::parse();
    if options.invariants {
        for invariant in Invariant::ALL {
            println!("{:18} {}", invariant.name(), invariant.text());
        }
        return ExitCode::SUCCESS;
    }
    let defect = match options.defect.as_deref().map(|name| Defect::named(name).ok_or(name)) {
        None => None,
        Some(Ok(defect)) => Some(defect),
        Some(Err(name)) => {
            eprintln!("no defect is called `{name}`: see --defects");
            return ExitCode::FAILURE;
        }
    };
    if options.defects {
        return find_defects(&options);
    }
    if let Some(text) = &options.replay {
        let Some(record) = choices::decode(text) else {
            eprintln!("this is not a recorded schedule");
            return ExitCode::FAILURE;
        };
        let steps = record.len();
        return tell(Choices::replay(record), steps, defect);
    }
    match options.seed {
        Some(seed) => tell(Choices::from_seed(seed), options.steps, defect),
        None => run_all(&options, defect),
    }
}

/// One schedule with its story.
fn tell(choices: Choices, steps: usize, defect: Option<Defect>) -> ExitCode {
    let outcome = run(choices, steps, defect, true);
    outcome.story.iter().for_each(|line| println!("{line}"));
    match outcome.violation {
        None => {
            println!("every invariant holds");
            ExitCode::SUCCESS
        }
        Some(violation) => {
            println!("     broken: {}: {}", violation.invariant.name(), violation.why);
            ExitCode::FAILURE
        }
    }
}

struct Failure {
    seed: u64,
    invariant: Invariant,
    record: Record,
}

/// Runs seeds on all threads until one fails; what was seen, and the failure.
fn search(options: &Options, seeds: u64, defect: Option<Defect>) -> (Coverage, Option<Failure>) {
    let threads = options.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let (next, stop) = (AtomicU64::new(options.from), AtomicBool::new(false));
    let found: Mutex<(Coverage, Option<Failure>)> = Mutex::new((Coverage::default(), None));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut seen = Coverage::default();
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= options.from + seeds {
                        break;
                    }
                    let outcome = run_seed(seed, options.steps, defect);
                    seen.merge(&outcome.coverage);
                    if let Some(violation) = outcome.violation {
                        stop.store(true, Ordering::Relaxed);
                        let mut found = found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        if found.1.as_ref().is_none_or(|other| other.seed > seed) {
                            found.1 = Some(Failure { seed, invariant: violation.invariant, record: outcome.record });
                        }
                    }
                }
                found.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).0.merge(&seen);
            });
        }
    });
    found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn run_all(options: &Options, defect: Option<Defect>) -> ExitCode {
    let began = Instant::now();
    let (coverage, failure) = search(options, options.seeds, defect);
    let Some(Failure { seed, invariant, record }) = failure else {
        coverage.print();
        println!("{} schedules, every invariant holds, {:.1} s", options.seeds, began.elapsed().as_secs_f64());
        return ExitCode::SUCCESS;
    };
    println!("seed {seed} breaks {}; shrunk, it goes like this:", invariant.name());
    let small = shrink(record, defect, invariant);
    let steps = small.len();
    let text = choices::encode(&small);
    tell(Choices::replay(small), steps, defect);
    let with = defect.map(|defect| format!(" --defect {}", defect.name())).unwrap_or_default();
    println!("again: simulate{with} --replay \"{text}\"");
    ExitCode::FAILURE
}

fn find_defects(options: &Options) -> ExitCode {
    let mut all = true;
    println!("{:20} | {:18} | seeds needed", "defect", "invariant");
    for defect in Defect::ALL {
        let (_, failure) = search(options, MOST_SEEDS_FOR_DEFECT, Some(*defect));
        match failure {
            Some(failure) => println!("{:20} | {:18} | {}", defect.name(), failure.invariant.name(), failure.seed - options.from + 1),
            None => {
                all = false;
                println!("{:20} | not found          | {}", defect.name(), defect.text());
            }
        }
    }
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
