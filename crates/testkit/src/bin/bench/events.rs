//! An event stream out of the bytes of an HTTP answer, taken apart as cheaply as its promises can be checked.
//! Knows no socket: whoever reads hands over the bytes.

use anyhow::{Context, ensure};

pub(crate) struct Events {
    body: Body,
    /// What has come of the body and not been taken apart yet, and how much of it holds no line end.
    text: Vec<u8>,
    searched: usize,
    kind: String,
    /// The number of the last event that had one.
    pub cursor: Option<u64>,
}

impl Events {
    pub(crate) fn new() -> Events {
        Events { body: Body::Head(Vec::new()), text: Vec::new(), searched: 0, kind: String::new(), cursor: None }
    }

    /// Calls `each` with the kind and the data of every event that is whole by now.
    pub(crate) fn take(&mut self, input: &[u8], mut each: impl FnMut(&str, &[u8]) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.body.take(input, &mut self.text)?;
        let mut start = 0;
        while let Some(found) = memchr::memchr(b'\n', &self.text[self.searched..]) {
            let end = self.searched + found;
            let line = &self.text[start..end];
            (start, self.searched) = (end + 1, end + 1);
            if let Some(data) = line.strip_prefix(b"data: ") {
                each(&self.kind, data)?;
            } else if let Some(kind) = line.strip_prefix(b"event: ") {
                self.kind.clear();
                self.kind.push_str(std::str::from_utf8(kind)?);
                // The end of the snapshot has no data.
                if kind == b"ready" {
                    each("ready", b"")?;
                }
            } else if let Some(id) = line.strip_prefix(b"id: ") {
                let id: u64 = std::str::from_utf8(id)?.parse()?;
                // The first number is that of the snapshot.
                ensure!(self.cursor.is_none_or(|cursor| id == cursor + 1), "event {id} came after {:?}", self.cursor);
                self.cursor = Some(id);
            }
        }
        self.text.drain(..start);
        self.searched = self.text.len();
        Ok(())
    }
}

/// Offset and content of a delta. The text that is streamed here needs no escapes, so the content ends with the object.
pub(crate) fn delta(data: &[u8]) -> anyhow::Result<(u64, &[u8])> {
    const OFFSET: &str = "\"offset\":";
    const CONTENT: &str = ",\"content\":\"";
    let head = &data[..data.len().min(1024)];
    let head = std::str::from_utf8(head).context("a delta is not UTF-8")?;
    let parts = head.find(OFFSET).zip(head.find(CONTENT)).filter(|(offset, content)| offset < content);
    let (offset, content) = parts.with_context(|| format!("a delta of an unknown form: {head}"))?;
    let offset = head[offset + OFFSET.len()..content].parse()?;
    let content = data[content + CONTENT.len()..].strip_suffix(b"\"}").with_context(|| format!("a delta of an unknown form: {head}"))?;
    Ok((offset, content))
}

/// The answer's body, out of its transfer coding.
enum Body {
    /// The head of the answer, as far as it has come.
    Head(Vec<u8>),
    /// The length line of the next piece, as far as it has come.
    Length(Vec<u8>),
    /// So many bytes of a piece are still to come, its line end included.
    Piece(usize),
}

impl Body {
    fn take(&mut self, mut input: &[u8], text: &mut Vec<u8>) -> anyhow::Result<()> {
        while let Some((first, rest)) = input.split_first() {
            match self {
                Body::Head(head) => {
                    head.push(*first);
                    input = rest;
                    if head.ends_with(b"\r\n\r\n") {
                        let head = String::from_utf8_lossy(head).to_lowercase();
                        ensure!(head.starts_with("http/1.1 200"), "the stream was refused: {head}");
                        ensure!(head.contains("transfer-encoding: chunked"), "the stream is not chunked: {head}");
                        *self = Body::Length(Vec::new());
                    }
                }
                Body::Length(line) => {
                    line.push(*first);
                    input = rest;
                    if line.ends_with(b"\r\n") {
                        let length = usize::from_str_radix(std::str::from_utf8(line)?.trim_end(), 16)?;
                        ensure!(length > 0, "the server ended the event stream");
                        *self = Body::Piece(length + 2);
                    }
                }
                Body::Piece(missing) => {
                    let (piece, rest) = input.split_at(input.len().min(*missing));
                    // The last two bytes are the line end.
                    text.extend_from_slice(&piece[..piece.len().min(missing.saturating_sub(2))]);
                    *missing -= piece.len();
                    input = rest;
                    if *missing == 0 {
                        *self = Body::Length(Vec::new());
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1c\r\nid: 4\nevent: ready\n\nid: 5\nev\r\n14\r\nent: turn\ndata: {}\n\n\r\n";

    #[test]
    fn events_are_whole_however_the_answer_is_cut() {
        for piece in 1..ANSWER.len() {
            let (mut events, mut seen) = (Events::new(), Vec::new());
            for part in ANSWER.chunks(piece) {
                let each = |kind: &str, _: &[u8]| {
                    seen.push(kind.to_owned());
                    Ok(())
                };
                events.take(part, each).unwrap();
            }
            assert_eq!((seen, events.cursor), (vec!["ready".to_owned(), "turn".to_owned()], Some(5)), "pieces of {piece}");
        }
    }

    #[test]
    fn a_gap_in_the_numbers_is_noticed() {
        let gap = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\nid: 4\nid: 6\n\r\n";
        assert!(Events::new().take(gap, |_, _| Ok(())).is_err());
    }
}
