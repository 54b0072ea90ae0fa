//! The main AI's own words: a scripted model on loopback, through the server, to one client.

use std::time::Duration;

use serde_json::json;
use testkit::counts;
use testkit::model_server::{ModelServer, Reply, Request, Script};

use super::paced::Spread;
use crate::audience::Origin;
use crate::bare;
use crate::chunks::Asked;
use crate::figures::Figure;
use crate::rig::{Session, blocking, rig};
use crate::table::Line;
use crate::{CHUNK_BYTES, micros_each};

const FLOOD: Asked = Asked { count: 20_000, bytes: CHUNK_BYTES };
const PACED: Asked = Asked { count: 1_000, bytes: CHUNK_BYTES };
const EVERY: Duration = Duration::from_millis(1);

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let model = ModelServer::start(Script::rules(answer));
    let server = rig().model(&model.base_url()).start().await;
    let (mut through, mut bare, mut server_us, mut loop_us) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut spread, mut bare_spread) = (Spread::default(), Spread::default());
    for _ in 0..rounds {
        let copied = copied(&model, "flood", FLOOD).await?;
        bare.push(FLOOD.count as f64 / copied.took.as_secs_f64());
        loop_us.push(micros_each(copied.cpu, FLOOD.count));
        bare_spread.add(&self::copied(&model, "paced", PACED).await?.watched.latencies);

        let id = server.new_session(json!({ "title": "bench", "model": "main" })).await;
        let mut session = Session::of(&server, &id, 1)?;
        let before = counts::cpu(server.pid()).unwrap_or_default();
        let (begun, watched) = session.prompt("flood", Origin::Model, FLOOD).await?;
        through.push(FLOOD.count as f64 / (watched.last_chunk - begun).as_secs_f64());
        server_us.push(micros_each(counts::cpu(server.pid()).unwrap_or_default().saturating_sub(before), FLOOD.count));
        session.close().await?;

        // In a conversation of its own, because a model is sent everything that was said before.
        let id = server.new_session(json!({ "title": "bench", "model": "main" })).await;
        let mut session = Session::of(&server, &id, 1)?;
        let (_, watched) = session.prompt("paced", Origin::Model, PACED).await?;
        spread.add(&watched.latencies);
        session.close().await?;
    }
    server.end().await;
    let what = "socket to socket";
    let [p50, p99, longest] = spread.lines(bare_spread, what);
    Ok(vec![
        Line::new("chunks/s of a flood, none lost", Figure::of(through)).beside(Figure::of(bare), what),
        Line::new("server CPU a chunk of it, µs", Figure::of(server_us)).beside(Figure::of(loop_us), "the loop"),
        p50,
        p99,
        longest,
    ])
}

fn answer(request: &Request) -> Reply {
    match request.last_user() {
        text if text.contains("flood") => Reply::stamped(FLOOD.count, FLOOD.bytes, None),
        text if text.contains("paced") => Reply::stamped(PACED.count, PACED.bytes, Some(EVERY)),
        _ => Reply::text("nothing to measure"),
    }
}

async fn copied(model: &ModelServer, prompt: &'static str, asked: Asked) -> anyhow::Result<bare::Copied> {
    let base_url = model.base_url();
    blocking(move || bare::model(&base_url, prompt, asked)).await
}
