//! The benchmark: a fast agent streams through the server to one client, and through a bare loop to the same client, in the
//! same run. What it prints is explained in `bench/README.md`.
//!
//! It measures the built binary from outside, as a process; it must not know what is inside.

mod absent;
mod baseline;
mod chunks;
mod figures;
mod rounds;
mod starting;
mod stream;

use std::process::ExitCode;

use anyhow::{Context, bail};

const USAGE: &str = "usage: bench [--rounds N] [stream] [absent] [start]";

/// How many chunks are sent as fast as the agent can, and how many bytes of text each has.
const FLOOD: u64 = 100_000;
const SIZE: usize = 60;
/// How many chunks are sent one at a time, and how long after each other.
const PACED: u64 = 2_000;
const PACE_MICROS: u64 = 1_000;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let mut rounds = 5_usize;
    let mut parts = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => rounds = arguments.next().and_then(|value| value.parse().ok()).filter(|rounds| *rounds > 0).context(USAGE)?,
            "stream" | "absent" | "start" => parts.push(argument),
            other => bail!("unknown argument {other}\n{USAGE}"),
        }
    }
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    println!("{}", figures::machine());
    if wanted("stream") {
        rounds::run(rounds).await?;
    }
    if wanted("absent") {
        absent::run().await?;
    }
    if wanted("start") {
        starting::run(rounds).await?;
    }
    Ok(())
}
