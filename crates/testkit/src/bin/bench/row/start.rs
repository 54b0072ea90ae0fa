//! How long the server takes from its start to its first listener, and what it and a runner hold while they wait.

use std::time::Instant;

use anyhow::{Context, ensure};
use testkit::server::Rig;

use crate::figures::{Figure, Memory};
use crate::rig::{Session, rig, runners};
use crate::stored;
use crate::table::Line;

/// Seen with `strace -r`.
const STARTING: &str = "the linker's relocations, the tables of routes and their description, and the login link, all before it listens";
const CHECKING: &str =
    "asking the database whether the tables that recovery reads are whole, the turns above all, which grows with their number";

const SESSIONS: usize = 1_000;
const TURNS: usize = 10;
const MESSAGE_BYTES: usize = 400;
/// Starts in each round.
const STARTS: usize = 3;

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let starts = rounds * STARTS;
    let (mut empty_ms, mut bare_ms) = (Vec::new(), Vec::new());
    for _ in 0..starts {
        let rig = rig();
        bare_ms.push(version_ms(&rig).await?);
        let begun = Instant::now();
        let mut server = rig.start().await;
        empty_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        server.terminate().await;
    }
    let (full_ms, idle_mb) = over_stored_sessions(starts).await?;
    let runner_mb = idle_runner_mb().await?;
    let bare = Figure::of(bare_ms);
    Ok(vec![
        Line::new("to listening, new database, ms", Figure::of(empty_ms))
            .beside(bare, "`voxpilot --version`")
            .at_most(15.0)
            .limited_by(STARTING),
        Line::new("to listening, 1,000 sessions, ms", Figure::of(full_ms))
            .beside(bare, "`voxpilot --version`")
            .at_most(15.0)
            .limited_by(CHECKING),
        Line::new("server resident when idle, MB", idle_mb).at_most(15.0).limited_by(super::BINARY_PAGES),
        Line::new("runner with an idle agent, MB", runner_mb).at_most(4.0).limited_by(super::BINARY_PAGES),
    ])
}

async fn over_stored_sessions(starts: usize) -> anyhow::Result<(Vec<f64>, f64)> {
    let rig = rig();
    stored::sessions(&rig, SESSIONS, TURNS, MESSAGE_BYTES).await?;
    let mut server = rig.start().await;
    let mut took_ms = Vec::new();
    for _ in 0..starts {
        server.terminate().await;
        let begun = Instant::now();
        server.restart().await;
        took_ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let memory = Memory::of(server.pid());
    server.terminate().await;
    Ok((took_ms, memory.now_mb))
}

async fn idle_runner_mb() -> anyhow::Result<f64> {
    let server = rig().start().await;
    let session = Session::open(&server, 1).await?;
    let runner = *runners(&server).first().context("there is no runner")?;
    let memory = Memory::of(runner);
    session.close().await?;
    server.end().await;
    Ok(memory.now_mb)
}

/// The same program, which only says its version.
async fn version_ms(rig: &Rig) -> anyhow::Result<f64> {
    let mut command = rig.command(&["--version"]);
    let begun = Instant::now();
    let output = command.spawn()?.wait_with_output().await?;
    let took = begun.elapsed();
    ensure!(output.status.success(), "`voxpilot --version` failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(took.as_secs_f64() * 1e3)
}
