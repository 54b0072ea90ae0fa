//! Agents that wait, and nobody who looks: that should cost nothing.

use std::time::Duration;

use testkit::counts::Counts;
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
    let sleeps = || runners.iter().filter_map(|pid| Counts::of(*pid)).map(|counts| counts.sleeps).sum::<u64>();
    let look = || (Counts::of(server).unwrap_or_default(), cpu(&runners), cpu(&agents), sleeps());
    let before = look();
    tokio::time::sleep(WATCHED).await;
    let after = look();
    let ticks = |after: Duration, before: Duration| after.saturating_sub(before).as_secs_f64() * 1e3 / TICK_MS;
    let used = after.0.since(&before.0);
    let runners_mb = runners.iter().filter_map(|pid| processes::proportional_kib(*pid)).sum::<u64>() as f64 * 1024.0 / 1e6;
    Ok(vec![
        Line::new(format!("server, {} idle agents, ticks in 10 s", agents.len()), used.cpu_ticks() as f64)
            .beside(ticks(after.2, before.2), "the agents themselves")
            .at_most(2.0),
        Line::new("all runners, ticks in 10 s", ticks(after.1, before.1)),
        Line::new("times that the server woke up", used.sleeps as f64),
        Line::new("times that runners woke up", after.3.saturating_sub(before.3) as f64),
        Line::new("all runners, shared pages once, MB", runners_mb),
        Line::new("server resident, MB", Memory::of(server).now_mb),
    ])
}
