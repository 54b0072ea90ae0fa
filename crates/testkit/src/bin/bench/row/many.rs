//! Many sessions at once, each with its own agent and two clients, at the pace at which a model talks.

use std::time::{Duration, Instant};

use anyhow::ensure;
use futures::future::join_all;
use serde_json::json;
use testkit::counts;
use testkit::server::Server;

use crate::audience::{Audience, Milestone, Origin};
use crate::bare;
use crate::chunks::Asked;
use crate::figures::Figure;
use crate::rig::{Fleet, ONE, blocking, cpu, flood, paced, runners};
use crate::table::Line;
use crate::{CHUNK_BYTES, micros_each};

const CLIENTS_EACH: usize = 2;
const EVERY: Duration = Duration::from_millis(20);
/// 15 seconds through the server; the bare loops show what they need in a third of that.
const ASKED: Asked = Asked { count: 750, bytes: CHUNK_BYTES };
const BARE: Asked = Asked { count: 250, bytes: CHUNK_BYTES };
const BETWEEN_MESSAGES: Duration = Duration::from_millis(700);

/// Processor time and deliveries at one moment.
#[derive(Clone, Copy)]
struct Sample {
    server: Duration,
    runners: Duration,
    deliveries: u64,
}

pub(crate) async fn run(fleet: &Fleet) -> anyhow::Result<Vec<Line>> {
    let agents = fleet.sessions.len();
    let copied = blocking(move || bare::agents(agents, CLIENTS_EACH, &paced(BARE, EVERY), BARE)).await?;
    let bare_p99_ms = copied.watched.latencies.percentile_ms(99);
    let bare_us = micros_each(copied.cpu, BARE.count * agents as u64);

    let each_twice = fleet.sessions.iter().flat_map(|id| std::iter::repeat_n(id.as_str(), CLIENTS_EACH));
    let mut audience = Audience::open(&fleet.server, each_twice)?;
    audience.expect(Origin::Agent, ASKED);
    let (server, runners) = (fleet.server.pid(), runners(&fleet.server));
    let sample = move |deliveries| Sample { server: counts::cpu(server).unwrap_or_default(), runners: cpu(&runners), deliveries };
    let watching = blocking(move || {
        let mut samples = vec![(None, sample(0))];
        let watched = audience.watch(|milestone, deliveries| samples.push((Some(milestone), sample(deliveries))))?;
        samples.push((None, sample(watched.latencies.count)));
        Ok((watched, samples))
    });
    let prompt = paced(ASKED, EVERY);
    let working = async {
        join_all(fleet.sessions.iter().map(|id| fleet.server.send(id, &prompt))).await;
        quiet_posts(&fleet.server, &fleet.quiet).await
    };
    let (watched, posts_ms) = tokio::join!(watching, working);
    let ((watched, samples), posts_ms) = (watched?, posts_ms?);
    let (first, last) = window(&samples);
    let chunks = (last.deliveries - first.deliveries) / CLIENTS_EACH as u64;
    Ok(vec![
        Line::new(format!("p99 from write to read, {agents} agents, ms"), watched.latencies.percentile_ms(99))
            .beside(bare_p99_ms, "a loop for each")
            .at_most(20.0)
            .limited_by(super::PROCESSORS),
        Line::new("p50 from write to read, ms", watched.latencies.percentile_ms(50))
            .beside(copied.watched.latencies.percentile_ms(50), "a loop for each"),
        Line::new("server CPU a chunk, µs", micros_each(last.server.saturating_sub(first.server), chunks))
            .beside(bare_us, "the loops")
            .at_most(20.0)
            .limited_by("a page of the write-ahead log for each session in a commit, and two writes to sockets that the bare loop has too"),
        Line::new("runner CPU a chunk, µs", micros_each(last.runners.saturating_sub(first.runners), chunks)),
        Line::new("POST to a quiet session meanwhile, ms", Figure::of(posts_ms)).at_most(5.0).limited_by(super::PROCESSORS),
    ])
}

/// From when all of them streamed until one had ended; of a server so slow that some ended before others began, the whole of it.
fn window(samples: &[(Option<Milestone>, Sample)]) -> (Sample, Sample) {
    let together = samples.windows(2).find(|pair| pair[0].0 == Some(Milestone::AllBegun) && pair[1].0 == Some(Milestone::FirstDone));
    let (first, last) = together.map_or((0, samples.len() - 1), |_| (1, 2));
    (samples[first].1, samples[last].1)
}

/// Sends messages to a session in which nothing else happens, for as long as the others stream; gives how long each took.
async fn quiet_posts(server: &Server, session: &str) -> anyhow::Result<Vec<f64>> {
    let path = format!("/api/sessions/{session}/messages");
    let mut took_ms = Vec::new();
    let streaming = EVERY * u32::try_from(ASKED.count)?;
    let begun = Instant::now();
    while begun.elapsed() + BETWEEN_MESSAGES * 2 < streaming {
        tokio::time::sleep(BETWEEN_MESSAGES).await;
        let sent = Instant::now();
        let (status, answer) = server.call("POST", &path, Some(json!({ "content": flood(ONE) }))).await;
        ensure!(status == 202, "a message was refused: {answer}");
        took_ms.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    Ok(took_ms)
}
