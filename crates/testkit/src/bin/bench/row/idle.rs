//! Agents that wait, and nobody who looks: that should cost nothing.

use std::time::Duration;

use testkit::counts::Sleeps;
use testkit::processes;

use crate::figures::Memory;
use crate::rig::{Fleet, agents, cpu, runners};
use crate::table::Line;

/// What ends with a turn or a client has ended by then.
const SETTLE: Duration = Duration::from_secs(3);
const WATCHED: Duration = Duration::from_secs(10);
const TICK_MS: f64 = 10.0;

pub(crate) async fn run(fleet: &Fleet) -> anyhow::Result<Vec<Line>> {
    tokio::time::sleep(SETTLE).await;
    let (server, runners, agents) = (fleet.server.pid(), runners(&fleet.server), agents(&fleet.server));
    let look = || (cpu(&[server]), cpu(&runners), cpu(&agents));
    let sleeps = || (Sleeps::of(server), runners.iter().map(|pid| Sleeps::of(*pid)).collect::<Vec<_>>());
    let (before, slept) = (look(), sleeps());
    tokio::time::sleep(WATCHED).await;
    let (after, sleeping) = (look(), sleeps());
    let ticks = |after: Duration, before: Duration| after.saturating_sub(before).as_secs_f64() * 1e3 / TICK_MS;
    let runners_woke: u64 = sleeping.1.iter().zip(&slept.1).map(|(after, before)| after.since(before)).sum();
    let runners_mb = runners.iter().filter_map(|pid| processes::proportional_kib(*pid)).sum::<u64>() as f64 * 1024.0 / 1e6;
    Ok(vec![
        Line::new(format!("server, {} idle agents, ticks in 10 s", agents.len()), ticks(after.0, before.0))
            .beside(ticks(after.2, before.2), "the agents themselves")
            .at_most(2.0),
        Line::new("all runners, ticks in 10 s", ticks(after.1, before.1)),
        Line::new("times that the server woke up", sleeping.0.since(&slept.0) as f64),
        Line::new("times that runners woke up", runners_woke as f64),
        Line::new("all runners, shared pages once, MB", runners_mb),
        Line::new("server resident, MB", Memory::of(server).now_mb),
    ])
}
