//! Records and their bytes. The journal and the socket use the same bytes, so what is on disk is sent as it is.
//!
//! ```text
//! crc32 u32 | length u32 | seq u64 | time_ms u64 | kind u8 | payload    (little endian; the checksum covers what follows it)
//! ```

use bytes::{Buf, Bytes};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A longer line from the agent is counted and dropped instead of kept: the server holds a line several times while it reads it.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// The longest line to the agent: what people attach to a message goes in one, as text.
pub(crate) const MAX_WRITE_BYTES: usize = 64 * 1024 * 1024;

pub(crate) const HEADER_BYTES: usize = 25;
/// Room for a line, a write id and the JSON of an exit; a longer length can only be damage.
const MAX_PAYLOAD_BYTES: usize = MAX_WRITE_BYTES + 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Dense from 1. A notice that is not in the journal carries the number of the record before it.
    pub seq: u64,
    pub time_ms: u64,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// One line, without its newline; not necessarily UTF-8.
    FromAgent(Bytes),
    ToAgent {
        write_id: Uuid,
        line: Bytes,
    },
    /// The last record: the agent and all its processes are gone.
    Exit {
        code: Option<i32>,
        signal: Option<i32>,
        stderr_tail: String,
    },
    /// A line beyond [`MAX_LINE_BYTES`] stood here.
    Oversized {
        bytes: u64,
    },
    /// For people: the disk is full, or has room again.
    Notice(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    FromAgent = 1,
    ToAgent = 2,
    Exit = 3,
    Oversized = 4,
    Notice = 5,
    /// Only in the journal: from here up to the number that it holds, records are missing on purpose.
    Thinned = 6,
    /// Sent, never journalled: the journal cannot be written just now, or can again.
    LiveNotice = 0x80,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ExitPayload {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stderr_tail: String,
}

/// Appends one encoded record; `parts` together are the payload.
pub(crate) fn encode(out: &mut Vec<u8>, seq: u64, time_ms: u64, kind: Kind, parts: &[&[u8]]) {
    let start = out.len();
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = u32::try_from(length).expect("lines are capped far below 4 GiB");
    let mut header = [0_u8; HEADER_BYTES];
    header[4..8].copy_from_slice(&length.to_le_bytes());
    header[8..16].copy_from_slice(&seq.to_le_bytes());
    header[16..24].copy_from_slice(&time_ms.to_le_bytes());
    header[24] = kind as u8;
    out.extend_from_slice(&header);
    for part in parts {
        out.extend_from_slice(part);
    }
    let crc = crc32fast::hash(&out[start + 4..]);
    out[start..start + 4].copy_from_slice(&crc.to_le_bytes());
}

/// What stands at the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Peek {
    /// A whole record of this many bytes, its checksum right.
    Whole(usize),
    /// The record needs this many bytes in all, as far as can be told yet.
    Short(usize),
    Damaged,
}

pub(crate) fn peek(bytes: &[u8]) -> Peek {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else { return Peek::Short(HEADER_BYTES) };
    let Some(total) = frame_bytes(header) else { return Peek::Damaged };
    let Some(frame) = bytes.get(..total) else { return Peek::Short(total) };
    if crc32fast::hash(&frame[4..]) == u32_at(frame, 0) { Peek::Whole(total) } else { Peek::Damaged }
}

/// The length of a whole frame as its header tells it; `None` if no frame can be that long.
pub(crate) fn frame_bytes(header: &[u8; HEADER_BYTES]) -> Option<usize> {
    let length = u32_at(header, 4) as usize;
    (length <= MAX_PAYLOAD_BYTES).then_some(HEADER_BYTES + length)
}

pub(crate) fn seq_of(frame: &[u8]) -> u64 {
    u64_at(frame, 8)
}

pub(crate) fn is_live_notice(frame: &[u8]) -> bool {
    frame[24] == Kind::LiveNotice as u8
}

/// The number up to which records are missing on purpose behind this frame.
pub(crate) fn thinned_through(frame: &[u8]) -> Option<u64> {
    let payload = frame.get(HEADER_BYTES..).filter(|_| frame[24] == Kind::Thinned as u8)?;
    payload.first_chunk::<8>().map(|number| u64::from_le_bytes(*number))
}

/// Decodes a frame that [`peek`] has found whole. `None`: a kind or payload this version does not know.
pub(crate) fn decode(frame: Bytes) -> Option<Record> {
    let (seq, time_ms, kind) = (seq_of(&frame), u64_at(&frame, 16), frame[24]);
    let mut payload = frame;
    payload.advance(HEADER_BYTES);
    let body = match kind {
        k if k == Kind::FromAgent as u8 => Body::FromAgent(payload),
        k if k == Kind::ToAgent as u8 => {
            let write_id = Uuid::from_bytes(*payload.first_chunk::<16>()?);
            Body::ToAgent { write_id, line: payload.slice(16..) }
        }
        k if k == Kind::Exit as u8 => {
            let ExitPayload { code, signal, stderr_tail } = serde_json::from_slice(&payload).ok()?;
            Body::Exit { code, signal, stderr_tail }
        }
        k if k == Kind::Oversized as u8 => Body::Oversized { bytes: u64::from_le_bytes(*payload.first_chunk::<8>()?) },
        k if k == Kind::Notice as u8 || k == Kind::LiveNotice as u8 => Body::Notice(String::from_utf8_lossy(&payload).into_owned()),
        _ => return None,
    };
    Some(Record { seq, time_ms, body })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("the slice is four bytes long"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("the slice is eight bytes long"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_went_in() {
        let id = Uuid::new_v4();
        let mut out = Vec::new();
        encode(&mut out, 7, 99, Kind::ToAgent, &[id.as_bytes(), b"hello"]);
        assert_eq!(peek(&out), Peek::Whole(out.len()));
        let record = decode(Bytes::from(out)).unwrap();
        let body = Body::ToAgent { write_id: id, line: Bytes::from_static(b"hello") };
        assert_eq!(record, Record { seq: 7, time_ms: 99, body });
    }

    #[test]
    fn every_cut_is_short_and_every_flipped_bit_is_noticed() {
        let mut out = Vec::new();
        encode(&mut out, 1, 2, Kind::FromAgent, &[b"some line"]);
        for cut in 0..out.len() {
            assert!(matches!(peek(&out[..cut]), Peek::Short(_)), "cut at {cut}");
        }
        for at in 0..out.len() * 8 {
            let mut bad = out.clone();
            bad[at / 8] ^= 1 << (at % 8);
            assert!(!matches!(peek(&bad), Peek::Whole(_)), "bit {at}");
        }
    }
}
