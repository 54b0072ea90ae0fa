//! What SQLite alone takes for what the server stores with a chunk: an event and the cursor of its runner. Nothing of the server is
//! in it; the processor times of the other rows are read beside it.

use crate::CHUNK_BYTES;
use crate::bare::sqlite;
use crate::rig::blocking;
use crate::table::Line;

const WHAT: &str = "SQLite, WAL, NORMAL";
/// How many chunks become durable together: one by one, and as many as wait in a busy server.
const GROUPS: [usize; 3] = [1, 16, 256];

pub(crate) async fn run() -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    for group in GROUPS {
        let commits = blocking(move || sqlite::commits_per_second(group, CHUNK_BYTES)).await?;
        lines.push(Line::bare(format!("chunks committed together: {group}; µs a commit"), 1e6 / commits, WHAT));
        lines.push(Line::bare("the same in chunks/s", commits * group as f64, WHAT));
    }
    Ok(lines)
}
