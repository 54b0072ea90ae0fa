//! Whether a turn takes longer the more turns came before it.

use crate::CHUNK_BYTES;
use crate::audience::Origin;
use crate::bare;
use crate::figures::Figure;
use crate::rig::{ONE, Session, blocking, flood, rig};
use crate::stored;
use crate::table::Line;

const TURNS: usize = 1_400;
/// In each round, to each of the two conversations.
const MEASURED: usize = 10;
/// The longer of the two may take so much longer by chance.
const NO_GROWTH: f64 = 1.15;
const NOT_READING: &str = "nothing that is read: tests of the store count rows and steps, which stay the same; turns of one kind differ by more than this among themselves";

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let rig = rig();
    let long = stored::sessions(&rig, 1, TURNS, CHUNK_BYTES).await?;
    let server = rig.start().await;
    let mut empty = Session::open(&server, 1).await?;
    let mut long = Session::of(&server, &long[0], 1)?;
    long.prompt(&flood(ONE), Origin::Agent, ONE).await?;
    let (mut empty_ms, mut long_ms, mut bare_ms) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds * MEASURED {
        empty_ms.push(turn_ms(&mut empty).await?);
        long_ms.push(turn_ms(&mut long).await?);
        let copied = blocking(|| bare::agents(1, 1, &flood(ONE), ONE)).await?;
        bare_ms.push(copied.took.as_secs_f64() * 1e3);
    }
    empty.close().await?;
    long.close().await?;
    server.end().await;
    let (empty, long, bare) = (Figure::of(empty_ms), Figure::of(long_ms), Figure::of(bare_ms));
    Ok(vec![
        Line::new("a whole turn, empty conversation, ms", empty).beside(bare, "pipe to socket"),
        Line::new("a whole turn after 1,400 others, ms", long).beside(bare, "pipe to socket"),
        Line::new("growth, times", long.median / empty.median).at_most(NO_GROWTH).limited_by(NOT_READING),
    ])
}

async fn turn_ms(session: &mut Session<'_>) -> anyhow::Result<f64> {
    let (begun, watched) = session.prompt(&flood(ONE), Origin::Agent, ONE).await?;
    Ok((watched.end - begun).as_secs_f64() * 1e3)
}
