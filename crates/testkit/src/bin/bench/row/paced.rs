//! One client, and one chunk a millisecond: how long each is under way.

use std::time::Duration;

use testkit::counts;

use crate::audience::Origin;
use crate::bare::{self, sqlite};
use crate::chunks::Asked;
use crate::figures::Figure;
use crate::latencies::Latencies;
use crate::rig::{Session, blocking, cpu, paced, rig, runners};
use crate::table::Line;
use crate::{CHUNK_BYTES, micros_each};

const ASKED: Asked = Asked { count: 2_000, bytes: CHUNK_BYTES };
const EVERY: Duration = Duration::from_millis(1);

/// The spread of the latencies, round by round.
#[derive(Default)]
pub(crate) struct Spread {
    p50_ms: Vec<f64>,
    p99_ms: Vec<f64>,
    max_ms: Vec<f64>,
}

impl Spread {
    pub(crate) fn add(&mut self, latencies: &Latencies) {
        self.p50_ms.push(latencies.percentile_ms(50));
        self.p99_ms.push(latencies.percentile_ms(99));
        self.max_ms.push(latencies.max_ms());
    }

    /// The lines of median, 99th percentile and longest, beside the bare companion's.
    pub(crate) fn lines(self, bare: Spread, what: &'static str) -> [Line; 3] {
        let line = |name: &str, through, bare| Line::new(name, Figure::of(through)).beside(Figure::of(bare), what);
        [
            line("p50 from write to read, ms", self.p50_ms, bare.p50_ms),
            line("p99 from write to read, ms", self.p99_ms, bare.p99_ms),
            line("longest, ms", self.max_ms, bare.max_ms),
        ]
    }
}

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let server = rig().start().await;
    let (mut through, mut bare) = (Spread::default(), Spread::default());
    let (mut server_us, mut runner_us, mut loop_us) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let copied = blocking(|| bare::agents(1, 1, &paced(ASKED, EVERY), ASKED)).await?;
        bare.add(&copied.watched.latencies);
        loop_us.push(micros_each(copied.cpu, ASKED.count));

        let mut session = Session::open(&server, 1).await?;
        let runners = runners(&server);
        let before = (counts::cpu(server.pid()).unwrap_or_default(), cpu(&runners));
        let (_, watched) = session.prompt(&paced(ASKED, EVERY), Origin::Agent, ASKED).await?;
        let after = (counts::cpu(server.pid()).unwrap_or_default(), cpu(&runners));
        through.add(&watched.latencies);
        server_us.push(micros_each(after.0.saturating_sub(before.0), ASKED.count));
        runner_us.push(micros_each(after.1.saturating_sub(before.1), ASKED.count));
        session.close().await?;
    }
    server.end().await;
    let commits = blocking(|| sqlite::commits_per_second(1, CHUNK_BYTES)).await?;
    let [p50, p99, longest] = through.lines(bare, "pipe to socket");
    Ok(vec![
        p50.at_most(0.15).limited_by(
            "three wake-ups and a commit, each met with cold caches: one chunk a millisecond lets the cores go idle in between",
        ),
        p99.at_most(1.0),
        longest,
        Line::new("server CPU a chunk, µs", Figure::of(server_us)).beside(1e6 / commits, "a commit of bare SQLite"),
        Line::new("runner CPU a chunk, µs", Figure::of(runner_us)).beside(Figure::of(loop_us), "the loop"),
    ])
}
