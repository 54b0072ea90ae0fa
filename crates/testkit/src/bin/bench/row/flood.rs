//! One client, and an agent that writes as fast as it can.

use std::time::Duration;

use testkit::counts;

use crate::audience::Origin;
use crate::bare::{self, sqlite};
use crate::chunks::Asked;
use crate::figures::{Figure, Memory};
use crate::rig::{Session, blocking, cpu, flood, rig, runners};
use crate::table::Line;
use crate::{CHUNK_BYTES, micros_each};

/// By then the server has given back what it needed for the turn.
const AT_REST: Duration = Duration::from_secs(3);
const ASKED: Asked = Asked { count: 100_000, bytes: CHUNK_BYTES };

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let server = rig().start().await;
    let (mut through, mut bare, mut ends_ms, mut memory_mb) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut server_us, mut runner_us, mut loop_us, mut client_us) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut events, mut seconds) = (0, 0.0);
    for _ in 0..rounds {
        let copied = blocking(|| bare::agents(1, 1, &flood(ASKED), ASKED)).await?;
        bare.push(ASKED.count as f64 / copied.took.as_secs_f64());
        loop_us.push(micros_each(copied.cpu, ASKED.count));

        let mut session = Session::open(&server, 1).await?;
        let (runners, cursor) = (runners(&server), session.cursor());
        let before = (counts::cpu(server.pid()).unwrap_or_default(), cpu(&runners));
        let (begun, watched) = session.prompt(&flood(ASKED), Origin::Agent, ASKED).await?;
        let after = (counts::cpu(server.pid()).unwrap_or_default(), cpu(&runners));
        let took = (watched.last_chunk - begun).as_secs_f64();
        through.push(ASKED.count as f64 / took);
        ends_ms.push((watched.end - watched.last_chunk).as_secs_f64() * 1e3);
        server_us.push(micros_each(after.0.saturating_sub(before.0), ASKED.count));
        runner_us.push(micros_each(after.1.saturating_sub(before.1), ASKED.count));
        client_us.push(micros_each(watched.cpu, ASKED.count));
        tokio::time::sleep(AT_REST).await;
        memory_mb.push(Memory::of(server.pid()).now_mb);
        events += session.cursor() - cursor;
        seconds += took;
        session.close().await?;
    }
    server.end().await;
    let event_bytes = (ASKED.count * rounds as u64) as usize * CHUNK_BYTES / (events as usize).max(1);
    let commits = blocking(move || sqlite::commits_per_second(1, event_bytes)).await?;
    let chunks = (ASKED.count * rounds as u64) as f64;
    let (stored_us, sqlite_us) = (seconds * 1e6 / chunks, events as f64 / commits * 1e6 / chunks);
    let highest_mb = memory_mb.iter().copied().fold(0.0, f64::max);
    Ok(vec![
        Line::new("chunks/s, none lost", Figure::of(through))
            .beside(Figure::of(bare), "pipe to socket")
            .at_least(600_000.0)
            .limited_by(super::PROCESSORS),
        Line::new("server CPU a chunk, µs", Figure::of(server_us)).beside(Figure::of(loop_us), "the loop"),
        Line::new("runner CPU a chunk, µs", Figure::of(runner_us)),
        Line::new("client CPU a chunk, µs", Figure::of(client_us)),
        Line::new(format!("wall time a chunk, µs (events of {event_bytes} B)"), stored_us).beside(sqlite_us, "SQLite, the same events"),
        Line::new("last chunk to end of turn, ms", Figure::of(ends_ms)),
        Line::new("server resident 3 s after, MB", highest_mb).at_most(30.0).limited_by(super::BINARY_PAGES),
    ])
}
