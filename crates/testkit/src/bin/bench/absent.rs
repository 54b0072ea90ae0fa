//! A client that has the stream open and stops reading: nobody else may feel it, and it must find everything when it comes back.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use testkit::server::Server;

use crate::SIZE;
use crate::chunks::{Chunks, Sent};
use crate::figures::Memory;
use crate::rounds::{Session, blocking, rig};

const CHUNKS: u64 = 200_000;
const DEADLINE: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(5);

pub(crate) async fn run() -> anyhow::Result<()> {
    println!("\na client that never reads, {CHUNKS} chunks of {SIZE} bytes");
    let alone = turn(false).await?;
    let absent = turn(true).await?;
    for (who, seen) in [("nobody connected", &alone), ("one that never reads", &absent)] {
        let Seen { took, before, after, .. } = seen;
        println!("{who:<22} turn done after {:>6.0} ms; server before {before}, after {after}", took.as_secs_f64() * 1e3);
    }
    println!("time of the turn, never reading against nobody: {:.2}", absent.took.as_secs_f64() / alone.took.as_secs_f64());
    if let Some(catch_up) = absent.catch_up {
        println!("then it read everything, none lost, in {:.0} ms; server {}", catch_up.as_secs_f64() * 1e3, absent.at_end);
    }
    Ok(())
}

struct Seen {
    took: Duration,
    before: Memory,
    after: Memory,
    /// How long the client took to read everything, once it did.
    catch_up: Option<Duration>,
    at_end: Memory,
}

async fn turn(with_client: bool) -> anyhow::Result<Seen> {
    let server = rig().start().await;
    let mut session = Session::open(&server).await?;
    let client = session.take_stream().filter(|_| with_client);
    let before = Memory::of(server.pid());
    let begun = Instant::now();
    server.send(&session.id, &format!("flood {CHUNKS} {SIZE}")).await;
    until_idle(&server, &session.id).await?;
    let took = begun.elapsed();
    let after = Memory::of(server.pid());
    let mut catch_up = None;
    if let Some(mut client) = client {
        let begun = Instant::now();
        let arrival = blocking(move || client.turn(Chunks::new(Sent::Numbered(CHUNKS), SIZE))).await?;
        ensure!(arrival.chunks.are_complete(), "chunks were lost");
        catch_up = Some(begun.elapsed());
    }
    let at_end = Memory::of(server.pid());
    session.close().await?;
    server.end().await;
    Ok(Seen { took, before, after, catch_up, at_end })
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
