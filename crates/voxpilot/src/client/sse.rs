//! Reads an event stream of the server, in whatever pieces it comes. Pure.

use serde_json::Value;

/// Far above the largest event: a message with its attachments.
const MAX_EVENT_BYTES: usize = 64 * 1024 * 1024;

/// An event of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: Option<u64>,
    pub kind: String,
    pub data: Value,
}

/// The part of a stream that has come and was not read yet.
#[derive(Default)]
pub struct Parser {
    buffer: Vec<u8>,
    /// The beginning of the buffer was read.
    read: usize,
    /// Up to here there is no end of an event.
    searched: usize,
}

impl Parser {
    /// Adds what has come. False: an event does not end, so what sends it is not our server.
    #[must_use]
    pub fn push(&mut self, piece: &[u8]) -> bool {
        self.buffer.drain(..self.read);
        self.searched -= self.read;
        self.read = 0;
        self.buffer.extend_from_slice(piece);
        self.buffer.len() <= MAX_EVENT_BYTES
    }

    pub fn next_event(&mut self) -> Option<Event> {
        let unsearched = &self.buffer[self.searched..];
        let Some(end) = unsearched.windows(2).position(|pair| pair == b"\n\n") else {
            // The first half of an end may be there already.
            self.searched = self.searched.max(self.buffer.len().saturating_sub(1));
            return None;
        };
        let end = self.searched + end;
        let event = event(&self.buffer[self.read..end]);
        (self.read, self.searched) = (end + 2, end + 2);
        Some(event)
    }
}

fn event(block: &[u8]) -> Event {
    let block = String::from_utf8_lossy(block);
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim_start);
    let data = field("data:").and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
    let id = field("id:").and_then(|id| id.parse().ok());
    Event { id, kind: field("event:").unwrap_or_default().to_owned(), data }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_the_same_events_from_pieces_of_any_size() {
        let stream = b"id: 1\nevent: a\ndata: {\"x\":1}\n\n\n\n: comment\n\nevent: b\ndata: bad\n\nid: 2\nevent: c";
        let expected = [
            Event { id: Some(1), kind: "a".to_owned(), data: json!({ "x": 1 }) },
            Event { id: None, kind: String::new(), data: Value::Null },
            Event { id: None, kind: String::new(), data: Value::Null },
            Event { id: None, kind: "b".to_owned(), data: Value::Null },
        ];
        for size in 1..stream.len() {
            let mut parser = Parser::default();
            let mut events = Vec::new();
            for piece in stream.chunks(size) {
                assert!(parser.push(piece));
                events.extend(std::iter::from_fn(|| parser.next_event()));
            }
            assert_eq!(events, expected, "pieces of {size}");
        }
    }
}
