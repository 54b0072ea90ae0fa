//! What is left of a segment whose lines are stored while its journal may not be trimmed yet: whatever was written to the agent, since
//! that proves what reached it. An agent decides how much it says in one prompt, so the lines it said must not all stay until its end.

use std::fs;
use std::io;
use std::path::Path;

use bytes::{Buf, Bytes};

use super::segment_path;
use crate::record::{self, Body, Kind, Peek};

/// Of a longer line to the agent only its write id is kept.
const MAX_KEPT_BYTES: usize = 64 * 1024;

/// Replaces the segment that begins with `first_seq` and ends with `last_seq`. Returns its new length.
pub(super) fn segment(journal: &Path, first_seq: u64, last_seq: u64) -> io::Result<u64> {
    let path = segment_path(journal, first_seq);
    let thinned = thinned(fs::read(&path)?.into(), first_seq, last_seq);
    let beside = path.with_extension("thin");
    fs::write(&beside, &thinned)?;
    fs::rename(&beside, &path)?;
    Ok(thinned.len() as u64)
}

fn thinned(mut bytes: Bytes, first_seq: u64, last_seq: u64) -> Vec<u8> {
    let mut out = Vec::new();
    record::encode(&mut out, first_seq, 0, Kind::Thinned, &[&last_seq.to_le_bytes()]);
    while let Peek::Whole(total) = record::peek(&bytes) {
        if let Some(record) = record::decode(bytes.slice(..total))
            && let Body::ToAgent { write_id, line } = record.body
        {
            let line = if line.len() <= MAX_KEPT_BYTES { &line[..] } else { b"" };
            record::encode(&mut out, record.seq, record.time_ms, Kind::ToAgent, &[write_id.as_bytes(), line]);
        }
        bytes.advance(total);
    }
    out
}
