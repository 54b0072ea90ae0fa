//! Fifty clients of one flood, and each of them checks every chunk.

use testkit::counts;

use crate::audience::Origin;
use crate::bare;
use crate::chunks::Asked;
use crate::figures::Figure;
use crate::rig::{Session, blocking, flood, rig};
use crate::table::Line;
use crate::{CHUNK_BYTES, micros_each};

const CLIENTS: usize = 50;
const ASKED: Asked = Asked { count: 100_000, bytes: CHUNK_BYTES };
const DELIVERIES: u64 = ASKED.count * CLIENTS as u64;

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let server = rig().start().await;
    let (mut through, mut bare) = (Vec::new(), Vec::new());
    let (mut p99_s, mut bare_p99_s) = (Vec::new(), Vec::new());
    let (mut server_us, mut loop_us, mut client_us, mut bare_client_us) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let copied = blocking(|| bare::agents(1, CLIENTS, &flood(ASKED), ASKED)).await?;
        bare.push(DELIVERIES as f64 / copied.took.as_secs_f64());
        bare_p99_s.push(copied.watched.latencies.percentile_ms(99) / 1e3);
        loop_us.push(micros_each(copied.cpu, DELIVERIES));
        bare_client_us.push(micros_each(copied.watched.cpu, DELIVERIES));

        let mut session = Session::open(&server, CLIENTS).await?;
        let before = counts::cpu(server.pid()).unwrap_or_default();
        let (begun, watched) = session.prompt(&flood(ASKED), Origin::Agent, ASKED).await?;
        let used = counts::cpu(server.pid()).unwrap_or_default().saturating_sub(before);
        through.push(DELIVERIES as f64 / (watched.last_chunk - begun).as_secs_f64());
        p99_s.push(watched.latencies.percentile_ms(99) / 1e3);
        server_us.push(micros_each(used, DELIVERIES));
        client_us.push(micros_each(watched.cpu, DELIVERIES));
        session.close().await?;
    }
    server.end().await;
    let what = "1 thread to 50 sockets";
    Ok(vec![
        Line::new("deliveries/s to 50 clients, none lost", Figure::of(through))
            .beside(Figure::of(bare), what)
            .at_least(3e6)
            .limited_by(super::PROCESSORS),
        Line::new("p99 from write to read, s", Figure::of(p99_s))
            .beside(Figure::of(bare_p99_s), what)
            .at_most(0.25)
            .limited_by(super::PROCESSORS),
        Line::new("server CPU a delivery, µs", Figure::of(server_us)).beside(Figure::of(loop_us), "the loop"),
        Line::new("client CPU a delivery, µs", Figure::of(client_us)).beside(Figure::of(bare_client_us), what),
    ])
}
