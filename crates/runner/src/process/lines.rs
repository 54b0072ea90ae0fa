//! Cuts a byte stream into lines with a bound on memory. Pure: no files, no clock.

use std::io::BufRead;

/// A carry buffer that a long line has blown up is given back.
const KEEP_BYTES: usize = 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Line(&'a [u8]),
    /// A line of so many bytes was too long and has been dropped.
    Oversized(u64),
}

pub(super) struct Lines {
    max_bytes: usize,
    /// The beginning of a line whose end has not come yet.
    carry: Vec<u8>,
    /// How much of the current line has been dropped; 0 while it still fits.
    dropped: u64,
}

impl Lines {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, carry: Vec::new(), dropped: 0 }
    }

    /// Takes the next bytes and emits every line they complete, blank ones left out.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut emit: impl FnMut(Piece<'_>)) {
        while !bytes.is_empty() {
            let mut rest = bytes;
            // On a slice this is the standard library's fast byte search, and it cannot fail.
            let length = rest.skip_until(b'\n').unwrap_or(bytes.len());
            match bytes[..length].strip_suffix(b"\n") {
                Some(end) => self.end_line(end, &mut emit),
                None => self.keep(bytes),
            }
            bytes = rest;
        }
    }

    /// The stream has ended: what stands there without a newline is a line too.
    pub(super) fn finish(&mut self, emit: impl FnMut(Piece<'_>)) {
        self.end_line(&[], emit);
    }

    fn keep(&mut self, part: &[u8]) {
        if self.dropped > 0 || self.carry.len() + part.len() > self.max_bytes {
            self.dropped += (self.carry.len() + part.len()) as u64;
            self.carry = Vec::new();
        } else {
            self.carry.extend_from_slice(part);
        }
    }

    fn end_line(&mut self, end: &[u8], mut emit: impl FnMut(Piece<'_>)) {
        if self.carry.is_empty() && self.dropped == 0 && end.len() <= self.max_bytes {
            if !is_blank(end) {
                emit(Piece::Line(end));
            }
            return;
        }
        self.keep(end);
        if self.dropped > 0 {
            emit(Piece::Oversized(self.dropped));
        } else if !is_blank(&self.carry) {
            emit(Piece::Line(&self.carry));
        }
        self.dropped = 0;
        self.carry.clear();
        if self.carry.capacity() > KEEP_BYTES {
            self.carry = Vec::new();
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&[u8]], max_bytes: usize) -> Vec<Result<Vec<u8>, u64>> {
        let mut lines = Lines::new(max_bytes);
        let mut found = Vec::new();
        let mut emit = |piece: Piece<'_>| match piece {
            Piece::Line(line) => found.push(Ok(line.to_vec())),
            Piece::Oversized(bytes) => found.push(Err(bytes)),
        };
        for chunk in chunks {
            lines.feed(chunk, &mut emit);
        }
        lines.finish(&mut emit);
        found
    }

    #[test]
    fn lines_do_not_depend_on_how_the_bytes_arrive() {
        let text = b"one\n\n  \r\ntwo two\nthree\xff\xfe\nhalf";
        let expected = [&b"one"[..], b"two two", b"three\xff\xfe", b"half"].map(|line| Ok(line.to_vec()));
        for size in 1..=text.len() {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(cut(&chunks, 100), expected, "chunks of {size}");
        }
    }

    #[test]
    fn a_long_line_is_counted_and_dropped_and_the_next_one_is_whole() {
        let text = b"12345\n123456\nab\n1234567";
        for size in 1..=text.len() {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            let expected = [Ok(b"12345".to_vec()), Err(6), Ok(b"ab".to_vec()), Err(7)];
            assert_eq!(cut(&chunks, 5), expected, "chunks of {size}");
        }
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(cut(&[], 5).is_empty());
        assert!(cut(&[b"\n", b"\n"], 5).is_empty());
    }
}
