//! The benchmark: what the server does, beside what the machine does without it, in one run and one table.
//! What it prints is explained in `bench/README.md`.
//!
//! It measures the built binary from outside, as a process; it must not know what is inside.

mod audience;
mod bare;
mod chunks;
mod events;
mod figures;
mod latencies;
mod machine;
mod results;
mod rig;
mod row;
mod stored;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};

use machine::Machine;
use rig::Fleet;
use table::{Line, Table};

const USAGE: &str = "usage: bench [--rounds N] [--agents N] [--write] [row…]\nrows: ";
/// In the order in which they are measured. The two last of them share their agents.
const ROWS: [&str; 12] = ["commit", "flood", "paced", "fan-out", "absent", "growth", "open", "start", "sandbox", "model", "many", "idle"];
/// Only by its name.
const BUILD: &str = "build";

/// How many bytes of text each chunk has.
const CHUNK_BYTES: usize = 60;

struct Options {
    rounds: usize,
    agents: usize,
    write: bool,
    rows: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything arrived; how fast it was is only told.
async fn run() -> anyhow::Result<bool> {
    let options = options(std::env::args().skip(1))?;
    let described = machine::describe();
    for (name, value) in &described {
        println!("{name}: {value}");
    }
    println!("each figure is the median of the rounds (and their range)\n");
    let mut table = Table::default();
    table.begin();
    let mut fleet = None;
    let mut is_whole = true;
    for row in &options.rows {
        if matches!(row.as_str(), "many" | "idle") && fleet.is_none() {
            fleet = Some(Fleet::start(options.agents).await?);
        }
        let before = Machine::now();
        match measure(row, &options, fleet.as_ref()).await {
            Ok(lines) => table.add(row, &lines, Machine::stolen_percent(before)),
            Err(error) => {
                is_whole = false;
                table.broken(row, &format!("{error:#}"));
            }
        }
    }
    if let Some(fleet) = fleet {
        fleet.end().await?;
    }
    if options.write {
        results::write(&described, &table)?;
    }
    Ok(is_whole)
}

async fn measure(row: &str, options: &Options, fleet: Option<&Fleet>) -> anyhow::Result<Vec<Line>> {
    match (row, fleet) {
        ("commit", _) => row::commit::run().await,
        ("flood", _) => row::flood::run(options.rounds).await,
        ("paced", _) => row::paced::run(options.rounds).await,
        ("fan-out", _) => row::fan_out::run(options.rounds).await,
        ("absent", _) => row::absent::run().await,
        ("growth", _) => row::growth::run(options.rounds).await,
        ("open", _) => row::open::run(options.rounds).await,
        ("start", _) => row::start::run(options.rounds).await,
        ("sandbox", _) => row::sandbox::run(options.rounds).await,
        ("model", _) => row::model::run(options.rounds).await,
        ("many", Some(fleet)) => row::many::run(fleet).await,
        ("idle", Some(fleet)) => row::idle::run(fleet).await,
        (BUILD, _) => row::build::run().await,
        _ => bail!("there is no such row"),
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Options> {
    let usage = || format!("{USAGE}{} {BUILD}", ROWS.join(" "));
    let mut options = Options { rounds: 3, agents: 200, write: false, rows: Vec::new() };
    let mut named = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|value| value.parse().ok()).filter(|number| *number > 0).with_context(usage);
        match argument.as_str() {
            "--rounds" => options.rounds = number()?,
            "--agents" => options.agents = number()?,
            "--write" => options.write = true,
            name if name == BUILD || ROWS.contains(&name) => named.push(argument),
            other => bail!("unknown argument {other}\n{}", usage()),
        }
    }
    let all = ROWS.iter().chain([&BUILD]);
    let is_wanted = |row: &str| if named.is_empty() { row != BUILD } else { named.iter().any(|name| name == row) };
    options.rows = all.filter(|row| is_wanted(row)).map(|row| (*row).to_owned()).collect();
    Ok(options)
}

/// In microseconds.
fn micros_each(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / count.max(1) as f64
}
