//! Joining the pieces of one stream that stand next to each other.

use super::Event;
use crate::text::utf16_len;

/// Collects events in order and joins neighbouring pieces of one stream into one event.
#[derive(Default, Debug)]
pub struct Coalescer {
    events: Vec<Event>,
    /// Where the stream of the last event ends, in UTF-16 code units; kept so that no text is measured twice.
    end: u64,
}

impl Coalescer {
    pub fn push(&mut self, next: Event) {
        let next_end = match &next {
            Event::TextDelta(delta) => delta.offset + utf16_len(&delta.content),
            Event::CopilotDelta(delta) => delta.offset + utf16_len(&delta.content),
            _ => 0,
        };
        match (self.events.last_mut(), &next) {
            (Some(Event::TextDelta(last)), Event::TextDelta(delta)) if last.message_id == delta.message_id && self.end == delta.offset => {
                last.content.push_str(&delta.content);
            }
            (Some(Event::CopilotDelta(last)), Event::CopilotDelta(delta))
                if last.tool_call_id == delta.tool_call_id && self.end == delta.offset =>
            {
                last.content.push_str(&delta.content);
            }
            _ => self.events.push(next),
        }
        self.end = next_end;
    }

    pub fn finish(self) -> Vec<Event> {
        self.events
    }
}

#[cfg(test)]
mod tests {
    use super::super::CopilotDelta;
    use super::*;

    fn delta(call: &str, offset: u64, content: &str) -> Event {
        Event::CopilotDelta(CopilotDelta { tool_call_id: call.into(), session_name: "n".into(), offset, content: content.into() })
    }

    #[test]
    fn neighbouring_pieces_of_one_stream_become_one_event() {
        let mut coalescer = Coalescer::default();
        for event in [delta("a", 0, "x😀"), delta("a", 3, "y"), delta("b", 0, "z"), delta("a", 4, "w"), delta("a", 9, "gap")] {
            coalescer.push(event);
        }
        assert_eq!(coalescer.finish(), [delta("a", 0, "x😀y"), delta("b", 0, "z"), delta("a", 4, "w"), delta("a", 9, "gap")]);
    }
}
