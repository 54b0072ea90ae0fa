//! A client that has the stream open and stops reading: nobody else may feel it, and it must find everything when it comes back.

use std::time::{Duration, Instant};

use anyhow::bail;
use testkit::server::Server;

use crate::CHUNK_BYTES;
use crate::audience::Origin;
use crate::chunks::Asked;
use crate::figures::Memory;
use crate::rig::{Session, blocking, flood, rig};
use crate::table::Line;

const ASKED: Asked = Asked { count: 200_000, bytes: CHUNK_BYTES };
const DEADLINE: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(5);

pub(crate) async fn run() -> anyhow::Result<Vec<Line>> {
    let alone = turn(false).await?;
    let absent = turn(true).await?;
    let ms = |took: Duration| took.as_secs_f64() * 1e3;
    Ok(vec![
        Line::new("a turn with a client that never reads, ms", ms(absent.took)).beside(ms(alone.took), "the same with nobody"),
        Line::new("the server at most, MB", absent.memory.peak_mb).beside(alone.memory.peak_mb, "the same with nobody"),
        Line::new("then it reads all, none lost, ms", ms(absent.catch_up)),
    ])
}

struct Seen {
    took: Duration,
    /// How long the client took to read everything, once it did.
    catch_up: Duration,
    memory: Memory,
}

async fn turn(with_client: bool) -> anyhow::Result<Seen> {
    let server = rig().start().await;
    let mut session = Session::open(&server, 1).await?;
    let client = session.take_audience().filter(|_| with_client);
    let begun = Instant::now();
    server.send(&session.id, &flood(ASKED)).await;
    until_idle(&server, &session.id).await?;
    let took = begun.elapsed();
    let begun = Instant::now();
    if let Some(mut client) = client {
        client.expect(Origin::Agent, ASKED);
        blocking(move || client.watch(|_, _| {})).await?;
    }
    let catch_up = begun.elapsed();
    let memory = Memory::of(server.pid());
    session.close().await?;
    server.end().await;
    Ok(Seen { took, catch_up, memory })
}

async fn until_idle(server: &Server, session: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let (_, row) = server.call("GET", &format!("/api/sessions/{session}"), None).await;
        if row["running"] == false {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("the turn did not end: {row}");
        }
        tokio::time::sleep(LOOK).await;
    }
}
