//! Checks chunk by chunk that what arrives is what was sent: everything, once, in order.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{bail, ensure};

/// What the agent was asked to write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Each chunk starts with its number.
    Numbered(u64),
    /// Each chunk starts with the time at which it was written.
    Stamped(u64),
}

impl Sent {
    pub(crate) fn count(self) -> u64 {
        match self {
            Sent::Numbered(count) | Sent::Stamped(count) => count,
        }
    }
}

pub(crate) struct Chunks {
    sent: Sent,
    size: usize,
    /// The beginning of a chunk whose end has not come yet.
    carry: Vec<u8>,
    pub count: u64,
    pub bytes: u64,
    last_stamp: u64,
    /// How long each stamped chunk was under way.
    pub latencies_ns: Vec<u64>,
}

impl Chunks {
    pub(crate) fn new(sent: Sent, size: usize) -> Chunks {
        Chunks { sent, size, carry: Vec::new(), count: 0, bytes: 0, last_stamp: 0, latencies_ns: Vec::new() }
    }

    pub(crate) fn are_complete(&self) -> bool {
        self.count == self.sent.count() && self.carry.is_empty()
    }

    /// Takes the next piece of text, read at `now_ns`.
    pub(crate) fn take(&mut self, mut text: &[u8], now_ns: u64) -> anyhow::Result<()> {
        self.bytes += text.len() as u64;
        if !self.carry.is_empty() {
            let (rest, later) = text.split_at((self.size - self.carry.len()).min(text.len()));
            self.carry.extend_from_slice(rest);
            if self.carry.len() < self.size {
                return Ok(());
            }
            let whole = std::mem::take(&mut self.carry);
            self.chunk(&whole, now_ns)?;
            text = later;
        }
        let mut chunks = text.chunks_exact(self.size);
        for chunk in chunks.by_ref() {
            self.chunk(chunk, now_ns)?;
        }
        self.carry.extend_from_slice(chunks.remainder());
        Ok(())
    }

    fn chunk(&mut self, chunk: &[u8], now_ns: u64) -> anyhow::Result<()> {
        let digits = chunk.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = chunk[..digits].iter().fold(0_u64, |number, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')));
        ensure!(digits > 0 && is_filled(&chunk[digits..]), "chunk {} is damaged: {}", self.count, String::from_utf8_lossy(chunk));
        match self.sent {
            Sent::Numbered(_) if number != self.count => bail!("chunk {number} came where {} was due", self.count),
            Sent::Numbered(_) => {}
            Sent::Stamped(_) => {
                ensure!(number >= self.last_stamp, "chunk {} overtook another", self.count);
                self.last_stamp = number;
                self.latencies_ns.push(now_ns.saturating_sub(number));
            }
        }
        self.count += 1;
        ensure!(self.count <= self.sent.count(), "more chunks came than were sent");
        Ok(())
    }
}

fn is_filled(rest: &[u8]) -> bool {
    matches!(rest, [b' ', filler @ ..] if filler.iter().all(|byte| *byte == b'x'))
}

pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
        numbers.flat_map(|number| format!("{number:010} {}", "x".repeat(9)).into_bytes()).collect()
    }

    #[test]
    fn chunks_are_counted_however_they_are_cut() {
        for piece in 1..50 {
            let mut chunks = Chunks::new(Sent::Numbered(10), 20);
            for part in text(0..10).chunks(piece) {
                chunks.take(part, 0).unwrap();
            }
            assert!(chunks.are_complete(), "pieces of {piece}");
        }
    }

    #[test]
    fn a_lost_a_doubled_and_a_damaged_chunk_are_noticed() {
        for numbers in [vec![0, 2], vec![0, 0], vec![1]] {
            assert!(Chunks::new(Sent::Numbered(10), 20).take(&text(numbers.into_iter()), 0).is_err());
        }
        assert!(Chunks::new(Sent::Numbered(10), 20).take(b"0000000000 xxxxyxxxx", 0).is_err());
        assert!(Chunks::new(Sent::Numbered(1), 20).take(&text(0..2), 0).is_err());
        let mut short = Chunks::new(Sent::Numbered(3), 20);
        short.take(&text(0..2), 0).unwrap();
        assert!(!short.are_complete());
    }
}
