//! Throughput and latency: the server and the bare loop by turns, so that both meet the same machine.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use testkit::faulty_agent::fast_agent_path;
use testkit::processes;
use testkit::server::{Rig, Server};

use crate::chunks::{Chunks, Sent};
use crate::figures::{Figure, Memory, percentile_ms, verdict};
use crate::stream::{Arrival, Stream};
use crate::{FLOOD, PACE_MICROS, PACED, SIZE, baseline};

#[derive(Default)]
struct Measured {
    chunks_per_second: Vec<f64>,
    p50_ms: Vec<f64>,
    p99_ms: Vec<f64>,
    max_ms: Vec<f64>,
}

impl Measured {
    fn flood(&mut self, took: Duration) {
        self.chunks_per_second.push(FLOOD as f64 / took.as_secs_f64());
    }

    fn paced(&mut self, latencies_ns: &[u64]) {
        self.p50_ms.push(percentile_ms(latencies_ns, 50));
        self.p99_ms.push(percentile_ms(latencies_ns, 99));
        self.max_ms.push(percentile_ms(latencies_ns, 100));
    }
}

pub(crate) async fn run(rounds: usize) -> anyhow::Result<()> {
    let server = rig().start().await;
    let at_start = Memory::of(server.pid());
    let (mut through, mut bare) = (Measured::default(), Measured::default());
    let mut ends_ms = Vec::new();
    let mut memory = Vec::new();
    let flood = (format!("flood {FLOOD} {SIZE}"), Sent::Numbered(FLOOD));
    let paced = (format!("paced {PACED} {SIZE} {PACE_MICROS}"), Sent::Stamped(PACED));
    for _ in 0..rounds {
        let (took, _) = blocking({
            let prompt = flood.0.clone();
            move || baseline::run(&prompt, flood.1, SIZE)
        })
        .await?;
        bare.flood(took);
        let mut session = Session::open(&server).await?;
        let (begun, arrival) = session.prompt(&flood.0, flood.1).await?;
        through.flood(arrival.last_chunk - begun);
        ends_ms.push((arrival.turn_end - arrival.last_chunk).as_secs_f64() * 1e3);
        memory.push((Memory::of(server.pid()), Memory::of(session.runner()?)));
        session.close().await?;

        let (_, chunks) = blocking({
            let prompt = paced.0.clone();
            move || baseline::run(&prompt, paced.1, SIZE)
        })
        .await?;
        bare.paced(&chunks.latencies_ns);
        let mut session = Session::open(&server).await?;
        let (_, arrival) = session.prompt(&paced.0, paced.1).await?;
        through.paced(&arrival.chunks.latencies_ns);
        session.close().await?;
    }
    server.end().await;
    print(through, bare, ends_ms);
    print_memory(at_start, &memory);
    Ok(())
}

/// The server with the fast agent and nothing else.
pub(crate) fn rig() -> Rig {
    Rig::default().agent("fast", &fast_agent_path(), &[]).env("VOXPILOT_MODEL", "relay").env("VOXPILOT_PERMISSION_POLICY", "auto")
}

/// A session whose agent runs already, with its one client.
pub(crate) struct Session<'a> {
    server: &'a Server,
    pub id: String,
    stream: Option<Stream>,
}

impl<'a> Session<'a> {
    pub(crate) async fn open(server: &'a Server) -> anyhow::Result<Session<'a>> {
        let id = server.new_session(json!({ "title": "bench" })).await;
        let mut stream = Stream::open(server, &id)?;
        let stream = blocking(move || stream.until_ready().map(|()| stream)).await?;
        let mut session = Session { server, id, stream: Some(stream) };
        session.prompt(&format!("flood 1 {SIZE}"), Sent::Numbered(1)).await?;
        Ok(session)
    }

    /// Gives the moment before the message was sent, and what then arrived.
    pub(crate) async fn prompt(&mut self, prompt: &str, sent: Sent) -> anyhow::Result<(Instant, Arrival)> {
        let mut stream = self.stream.take().context("the session's stream broke in an earlier turn")?;
        let reading = blocking(move || stream.turn(Chunks::new(sent, SIZE)).map(|arrival| (arrival, stream)));
        let begun = Instant::now();
        let (_, read) = tokio::join!(self.server.send(&self.id, prompt), reading);
        let (arrival, stream) = read?;
        self.stream = Some(stream);
        Ok((begun, arrival))
    }

    /// The process id of the session's runner, the only one there is.
    pub(crate) fn runner(&self) -> anyhow::Result<i32> {
        runner(self.server)
    }

    pub(crate) fn take_stream(&mut self) -> Option<Stream> {
        self.stream.take()
    }

    pub(crate) async fn close(self) -> anyhow::Result<()> {
        let (status, answer) = self.server.call("DELETE", &format!("/api/sessions/{}", self.id), None).await;
        ensure!(status < 300, "the session could not be deleted: {answer}");
        Ok(())
    }
}

pub(crate) fn runner(server: &Server) -> anyhow::Result<i32> {
    let found = processes::of_dir(server.rig().home()).into_iter().find(|process| process.command.contains(" runner "));
    Ok(found.context("there is no runner")?.pid)
}

/// Runs what blocks beside the runtime.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await?
}

fn print(through: Measured, bare: Measured, ends_ms: Vec<f64>) {
    println!("\n{FLOOD} chunks of {SIZE} bytes as fast as the agent writes; {PACED} chunks, one every {PACE_MICROS} µs; none lost");
    println!("{:<34}{:>32}{:>32}{:>10}", "", "server", "bare pipe to socket", "ratio");
    let row = |name: &str, through: Vec<f64>, bare: Vec<f64>| {
        let (through, bare) = (Figure::of(through), Figure::of(bare));
        println!("{name:<34}{:>32}{:>32}{:>10.2}", through.to_string(), bare.to_string(), through.median / bare.median);
        through.median
    };
    let rate = row("chunks/s delivered", through.chunks_per_second, bare.chunks_per_second);
    row("p50 from write to read, ms", through.p50_ms, bare.p50_ms);
    let p99 = row("p99 from write to read, ms", through.p99_ms, bare.p99_ms);
    row("longest, ms", through.max_ms, bare.max_ms);
    println!("{:<34}{:>32}", "last chunk to end of turn, ms", Figure::of(ends_ms).to_string());
    println!("goal: at least 100,000 chunks/s, none lost: {}", verdict(rate >= 100_000.0));
    println!("goal: p99 under 10 ms: {}", verdict(p99 < 10.0));
}

fn print_memory(at_start: Memory, after: &[(Memory, Memory)]) {
    println!("\nresident memory of the server at start: {at_start}");
    let places = [("first", after.first()), ("last", after.last())];
    for (which, (server, runner)) in places.into_iter().filter_map(|(which, memory)| Some((which, memory?))) {
        println!("after the {which} flood: server {server}, runner {runner}");
    }
    println!("goal: under 40 MB at start: {}", verdict(at_start.now_mb < 40.0));
}
