//! Text that tells of itself: chunks that carry their number and the moment at which they were written, for whoever measures.
//!
//! A chunk is ten digits of number, a space, nineteen digits of nanoseconds since the epoch, a space, and `x` up to its size.

use std::time::{SystemTime, UNIX_EPOCH};

pub const NUMBER_DIGITS: usize = 10;
pub const STAMP_DIGITS: usize = 19;
/// Number and stamp, each with its space; a chunk is never shorter.
pub const HEAD_BYTES: usize = NUMBER_DIGITS + 1 + STAMP_DIGITS + 1;

/// A line around a chunk of which only number and stamp change.
pub struct ChunkLine {
    before: Vec<u8>,
    filler: Vec<u8>,
    after: Vec<u8>,
}

impl ChunkLine {
    pub fn new(before: &str, chunk_bytes: usize, after: &str) -> ChunkLine {
        let filler = vec![b'x'; chunk_bytes.saturating_sub(HEAD_BYTES)];
        ChunkLine { before: before.into(), filler, after: after.into() }
    }

    pub fn bytes(&self) -> usize {
        self.before.len() + HEAD_BYTES + self.filler.len() + self.after.len()
    }

    /// Appends the line of chunk `number`, stamped with this moment.
    pub fn append(&self, block: &mut Vec<u8>, number: u64) {
        block.extend_from_slice(&self.before);
        block.extend_from_slice(&digits::<NUMBER_DIGITS>(number));
        block.push(b' ');
        block.extend_from_slice(&digits::<STAMP_DIGITS>(now_ns()));
        block.push(b' ');
        block.extend_from_slice(&self.filler);
        block.extend_from_slice(&self.after);
    }
}

/// Nanoseconds since the epoch, on the clock that every process of this machine shares.
pub fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// By hand, because a formatter costs more than everything else that is done for a chunk.
fn digits<const N: usize>(mut number: u64) -> [u8; N] {
    let mut digits = [b'0'; N];
    for digit in digits.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_has_its_number_a_time_and_its_size() {
        let mut block = Vec::new();
        ChunkLine::new("<", 40, ">").append(&mut block, 1234);
        let text = String::from_utf8(block).unwrap();
        let chunk = text.strip_prefix('<').unwrap().strip_suffix('>').unwrap();
        assert_eq!(chunk.len(), 40);
        let (number, rest) = chunk.split_once(' ').unwrap();
        let (stamp, filler) = rest.split_once(' ').unwrap();
        assert_eq!((number, filler), ("0000001234", "xxxxxxxxx"));
        assert!(stamp.parse::<u64>().unwrap() <= now_ns());
    }
}
