//! How long it takes to open a long conversation.

use std::time::Instant;

use crate::audience::Audience;
use crate::bare::sqlite;
use crate::figures::Figure;
use crate::rig::{blocking, rig};
use crate::stored;
use crate::table::Line;

const MESSAGES: u64 = 5_000;
const MESSAGE_BYTES: usize = 2_000;
const OPENED: usize = 10;

pub(crate) async fn run(rounds: usize) -> anyhow::Result<Vec<Line>> {
    let rig = rig();
    let turns = usize::try_from(MESSAGES / stored::MESSAGES_A_TURN)?;
    let long = stored::sessions(&rig, 1, turns, MESSAGE_BYTES).await?;
    let server = rig.start().await;
    let (mut took_ms, mut messages) = (Vec::new(), 0);
    for _ in 0..rounds * OPENED {
        let begun = Instant::now();
        let audience = Audience::open(&server, [long[0].as_str()])?;
        took_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        messages = audience.seats[0].messages();
    }
    server.end().await;
    let first = took_ms[0];
    let bare_ms = blocking(move || sqlite::read_messages_ms(MESSAGES, MESSAGE_BYTES, messages, rounds * OPENED)).await?;
    Ok(vec![
        Line::new("5,000 messages, 10 MB: to `ready`, ms", Figure::of(took_ms))
            .beside(Figure::of(bare_ms), "SQLite, same rows")
            .at_most(15.0),
        Line::new("the first time after a start, ms", first),
        Line::new("messages in the snapshot", messages as f64),
    ])
}
