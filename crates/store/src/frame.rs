//! An event as the log keeps it and the wire sends it: serialised once, shared by the database, the tails and the readers.

use std::borrow::Cow;

use bytes::Bytes;
use domain::event::{CopilotDelta, Event, TextDelta};
use domain::ids::SessionId;
use domain::text::utf16_len;

use crate::unreadable::{self, Unreadable};

/// A committed event. A clone shares the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub seq: u64,
    pub kind: Cow<'static, str>,
    /// JSON text.
    pub data: Bytes,
}

impl Frame {
    /// The event again, a notice where it cannot be read; `None` for a kind of a later version.
    pub fn event(&self) -> Option<Event> {
        let event = std::str::from_utf8(&self.data).ok().and_then(|data| Event::parse(&self.kind, data));
        event.or_else(|| matches!(self.kind, Cow::Borrowed(_)).then(|| Event::Notice(unreadable::notice(self.seq, &self.kind))))
    }

    /// As it was read from the database. Frames are sent as they are, so a text that is not sound JSON becomes a notice under the same
    /// number.
    pub(crate) fn stored(session: SessionId, seq: u64, kind: &str, data: String) -> Frame {
        if unreadable::is_sound(&data) {
            return Frame { seq, kind: known(kind), data: Bytes::from(data) };
        }
        Frame::stand_in(session, seq, kind)
    }

    fn stand_in(session: SessionId, seq: u64, kind: &str) -> Frame {
        Unreadable::report("events", &format!("{session} {seq}"), &"the event is damaged or nested too deep");
        let notice = Event::Notice(unreadable::notice(seq, kind));
        Frame { seq, kind: Cow::Borrowed(notice.kind()), data: Bytes::from(notice.data()) }
    }
}

/// An event on its way into the log, not numbered yet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Draft {
    pub kind: &'static str,
    /// Lent to the database, and after that the frame's own.
    pub text: String,
    is_piece: bool,
}

impl Draft {
    fn new(event: &Event) -> Draft {
        Draft { kind: event.kind(), text: event.data(), is_piece: piece(event).is_some() }
    }

    /// What nobody could read again is not shown either: readers from memory and from the database get the same. A piece of a stream
    /// has no depth.
    pub(crate) fn number(self, session: SessionId, seq: u64) -> Frame {
        if !self.is_piece && unreadable::is_too_deep(&self.text) {
            return Frame::stand_in(session, seq, self.kind);
        }
        Frame { seq, kind: Cow::Borrowed(self.kind), data: Bytes::from(self.text) }
    }
}

/// The events of one session in one commit, neighbouring pieces of a stream joined. It borrows them, because a commit that fails is
/// tried again write by write.
#[derive(Default)]
pub(crate) struct Assembly<'a> {
    drafts: Vec<Draft>,
    /// Pieces that follow each other in one stream, and where that stream has come to.
    run: Vec<&'a Event>,
    end: u64,
}

impl<'a> Assembly<'a> {
    pub(crate) fn push(&mut self, event: &'a Event) {
        let Some((offset, content)) = piece(event) else {
            self.flush();
            self.drafts.push(Draft::new(event));
            return;
        };
        if self.end != offset || !self.run.last().is_some_and(|last| is_same_stream(last, event)) {
            self.flush();
        }
        self.run.push(event);
        self.end = offset + utf16_len(content);
    }

    /// Ends the current run, so that the next event gets a number of its own. Says how many there are by now.
    pub(crate) fn flush(&mut self) -> usize {
        self.drafts.extend(joined(&self.run));
        self.run.clear();
        self.drafts.len()
    }

    pub(crate) fn finish(mut self) -> Vec<Draft> {
        self.flush();
        self.drafts
    }
}

/// Where a piece of a stream stands in it, and its text; nothing for any other event.
pub(crate) fn piece(event: &Event) -> Option<(u64, &str)> {
    match event {
        Event::TextDelta(delta) => Some((delta.offset, &delta.content)),
        Event::CopilotDelta(delta) => Some((delta.offset, &delta.content)),
        _ => None,
    }
}

fn is_same_stream(last: &Event, next: &Event) -> bool {
    match (last, next) {
        (Event::TextDelta(last), Event::TextDelta(next)) => last.message_id == next.message_id,
        (Event::CopilotDelta(last), Event::CopilotDelta(next)) => last.tool_call_id == next.tool_call_id,
        _ => false,
    }
}

/// One event for all pieces; a lone piece is not even copied.
fn joined(run: &[&Event]) -> Option<Draft> {
    let content = || run.iter().filter_map(|event| piece(event)).map(|(_, content)| content).collect::<Vec<_>>().concat();
    let whole = match (run.first()?, run.len()) {
        (Event::TextDelta(first), 2..) => {
            Event::TextDelta(TextDelta { message_id: first.message_id, offset: first.offset, content: content() })
        }
        (Event::CopilotDelta(first), 2..) => Event::CopilotDelta(CopilotDelta {
            tool_call_id: first.tool_call_id.clone(),
            session_name: first.session_name.clone(),
            offset: first.offset,
            content: content(),
        }),
        (first, _) => return Some(Draft::new(first)),
    };
    Some(Draft::new(&whole))
}

/// A kind read from the database, without an allocation where it is a known one.
fn known(text: &str) -> Cow<'static, str> {
    match Event::LOGGED.iter().find(|known| **known == text) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use domain::event::Notice;
    use domain::ids::MessageId;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn any_event() -> impl Strategy<Value = Event> {
        let content = "[a😀]{0,2}";
        prop_oneof![
            (0..2u8, 0..4u64, content).prop_map(|(call, offset, content)| Event::CopilotDelta(CopilotDelta {
                tool_call_id: call.to_string(),
                session_name: "n".into(),
                offset,
                content,
            })),
            (0..2u128, 0..4u64, content).prop_map(|(id, offset, content)| Event::TextDelta(TextDelta {
                message_id: MessageId(Uuid::from_u128(id)),
                offset,
                content,
            })),
            Just(Event::Notice(Notice { code: "c".into(), level: "info".into(), title: "t".into(), text: "x".into(), session_name: None })),
        ]
    }

    /// The same, piece by piece and with copies.
    fn plainly_joined(events: &[Event]) -> Vec<Event> {
        let mut all: Vec<Event> = Vec::new();
        let mut end = 0;
        for next in events {
            let place = piece(next);
            match (all.last_mut(), place) {
                (Some(last), Some((offset, content))) if end == offset && is_same_stream(last, next) => match last {
                    Event::TextDelta(last) => last.content.push_str(content),
                    Event::CopilotDelta(last) => last.content.push_str(content),
                    other => panic!("{other:?} is no piece"),
                },
                _ => all.push(next.clone()),
            }
            end = place.map_or(0, |(offset, content)| offset + utf16_len(content));
        }
        all
    }

    proptest! {
        #[test]
        fn pieces_are_joined_as_the_contract_joins_them(events in prop::collection::vec(any_event(), 0..20)) {
            let mut assembly = Assembly::default();
            events.iter().for_each(|event| assembly.push(event));
            let expected: Vec<Draft> = plainly_joined(&events).iter().map(Draft::new).collect();
            prop_assert_eq!(assembly.finish(), expected);
        }
    }

    #[test]
    fn neighbouring_pieces_of_one_stream_become_one_event() {
        let delta = |call: &str, offset, content: &str| {
            Event::CopilotDelta(CopilotDelta { tool_call_id: call.into(), session_name: "n".into(), offset, content: content.into() })
        };
        let events = [delta("a", 0, "x😀"), delta("a", 3, "y"), delta("b", 0, "z"), delta("a", 4, "w"), delta("a", 9, "gap")];
        let mut assembly = Assembly::default();
        events.iter().for_each(|event| assembly.push(event));
        let joined = [delta("a", 0, "x😀y"), delta("b", 0, "z"), delta("a", 4, "w"), delta("a", 9, "gap")];
        assert_eq!(assembly.finish(), joined.iter().map(Draft::new).collect::<Vec<_>>());
    }
}
