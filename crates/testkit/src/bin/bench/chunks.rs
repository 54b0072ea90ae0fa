//! Checks chunk by chunk that what arrives is what was sent: everything, once, in order.

use anyhow::ensure;
use testkit::stamped::{HEAD_BYTES, NUMBER_DIGITS};

use crate::latencies::Latencies;

/// Longer than any chunk that is asked for.
const FILLER: [u8; 4096] = [b'x'; 4096];

/// What was asked for: so many chunks of so many bytes.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub count: u64,
    pub bytes: usize,
}

pub(crate) struct Chunks {
    asked: Asked,
    /// The beginning of a chunk whose end has not come yet.
    carry: Vec<u8>,
    pub count: u64,
    pub bytes: u64,
    last_stamp: u64,
}

impl Chunks {
    pub(crate) fn new(asked: Asked) -> Chunks {
        Chunks { asked, carry: Vec::new(), count: 0, bytes: 0, last_stamp: 0 }
    }

    pub(crate) fn are_complete(&self) -> bool {
        self.count == self.asked.count && self.carry.is_empty()
    }

    /// Takes the next piece of text, read at `now_ns`.
    pub(crate) fn take(&mut self, mut text: &[u8], now_ns: u64, latencies: &mut Latencies) -> anyhow::Result<()> {
        self.bytes += text.len() as u64;
        if !self.carry.is_empty() {
            let (rest, later) = text.split_at((self.asked.bytes - self.carry.len()).min(text.len()));
            self.carry.extend_from_slice(rest);
            if self.carry.len() < self.asked.bytes {
                return Ok(());
            }
            let whole = std::mem::take(&mut self.carry);
            self.chunk(&whole, now_ns, latencies)?;
            text = later;
        }
        let mut chunks = text.chunks_exact(self.asked.bytes);
        for chunk in chunks.by_ref() {
            self.chunk(chunk, now_ns, latencies)?;
        }
        self.carry.extend_from_slice(chunks.remainder());
        Ok(())
    }

    fn chunk(&mut self, chunk: &[u8], now_ns: u64, latencies: &mut Latencies) -> anyhow::Result<()> {
        let (head, filler) = chunk.split_at(HEAD_BYTES);
        let number = number(&head[..NUMBER_DIGITS]);
        let stamp = number_and_space(&head[NUMBER_DIGITS..]);
        let is_filled = filler == &FILLER[..filler.len()];
        let (Some(number), Some(stamp), true) = (number, stamp, is_filled) else {
            anyhow::bail!("chunk {} is damaged: {}", self.count, String::from_utf8_lossy(chunk));
        };
        ensure!(number == self.count, "chunk {number} came where {} was due", self.count);
        ensure!(number < self.asked.count, "more chunks came than were sent");
        ensure!(stamp >= self.last_stamp, "chunk {number} was written before the one that it follows");
        self.last_stamp = stamp;
        latencies.add(now_ns.saturating_sub(stamp));
        self.count += 1;
        Ok(())
    }
}

/// The stamp: a space, digits, a space.
fn number_and_space(text: &[u8]) -> Option<u64> {
    let [b' ', digits @ .., b' '] = text else { return None };
    number(digits)
}

fn number(digits: &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return None;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(value));
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::stamped::ChunkLine;

    const ASKED: Asked = Asked { count: 10, bytes: 40 };

    fn text(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let line = ChunkLine::new("", ASKED.bytes, "");
        let mut text = Vec::new();
        numbers.into_iter().for_each(|number| line.append(&mut text, number));
        text
    }

    fn take(numbers: &[u64], asked: Asked) -> anyhow::Result<Chunks> {
        let mut chunks = Chunks::new(asked);
        chunks.take(&text(numbers.iter().copied()), u64::MAX, &mut Latencies::default())?;
        Ok(chunks)
    }

    #[test]
    fn chunks_are_counted_however_they_are_cut() {
        for piece in 1..90 {
            let mut chunks = Chunks::new(ASKED);
            for part in text(0..10).chunks(piece) {
                chunks.take(part, 0, &mut Latencies::default()).unwrap();
            }
            assert!(chunks.are_complete(), "pieces of {piece}");
        }
    }

    #[test]
    fn a_lost_a_doubled_a_damaged_and_a_superfluous_chunk_are_noticed() {
        for numbers in [&[0, 2][..], &[0, 0], &[1]] {
            assert!(take(numbers, ASKED).is_err());
        }
        let mut damaged = text([0]);
        damaged[ASKED.bytes - 2] = b'y';
        assert!(Chunks::new(ASKED).take(&damaged, 0, &mut Latencies::default()).is_err());
        assert!(take(&[0, 1], Asked { count: 1, ..ASKED }).is_err());
        assert!(!take(&[0, 1], ASKED).unwrap().are_complete());
    }
}
