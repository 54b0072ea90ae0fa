//! A reply for whoever measures: chunks that carry their number and the moment at which they were written, as fast as the client
//! takes them or one at a time.

use std::io;
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWrite;
use tokio::time::Instant;

use super::http;
use super::request::Request;
use super::stream::chunk;
use crate::stamped::ChunkLine;

/// Whole events are gathered up to this before they are written.
const BLOCK_BYTES: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct StampedChunks {
    pub count: u64,
    pub bytes: usize,
    /// As fast as can be where there is none.
    pub every: Option<Duration>,
}

pub(super) async fn write<W: AsyncWrite + Unpin>(writer: &mut W, request: &Request, chunks: StampedChunks) -> io::Result<()> {
    let payload = chunk(request, json!({"role": "assistant", "content": "@"}), None).to_string();
    let (before, after) = payload.rsplit_once('@').expect("the mark was just put there");
    let line = ChunkLine::new(&format!("data: {before}"), chunks.bytes, &format!("{after}\n\n"));
    let mut block = Vec::with_capacity(BLOCK_BYTES + line.bytes());
    let mut due = Instant::now();
    for number in 0..chunks.count {
        if let Some(every) = chunks.every {
            due += every;
            tokio::time::sleep_until(due).await;
        }
        line.append(&mut block, number);
        if chunks.every.is_some() || block.len() >= BLOCK_BYTES || number + 1 == chunks.count {
            http::write_chunk(writer, &block).await?;
            block.clear();
        }
    }
    Ok(())
}
