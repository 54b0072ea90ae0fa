//! An event as the log keeps it and the wire sends it: serialised once, shared by the database, the tails and the readers.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use domain::event::{Coalescer, Event};
use domain::ids::SessionId;

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
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub kind: &'static str,
    pub text: Arc<str>,
}

/// Lends the database's text to [`Bytes`].
struct Lent(Arc<str>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Draft {
    fn new(event: &Event) -> Draft {
        Draft { kind: event.kind(), text: event.data().into() }
    }

    /// What nobody could read again is not shown either: readers from memory and from the database get the same.
    pub(crate) fn number(self, session: SessionId, seq: u64) -> Frame {
        if unreadable::is_too_deep(&self.text) {
            return Frame::stand_in(session, seq, self.kind);
        }
        Frame { seq, kind: Cow::Borrowed(self.kind), data: Bytes::from_owner(Lent(self.text)) }
    }
}

/// The events of one session in one commit, neighbouring pieces of a stream joined.
#[derive(Default)]
pub(crate) struct Assembly {
    drafts: Vec<Draft>,
    run: Coalescer,
    running: bool,
}

impl Assembly {
    /// Takes the event by reference, because a commit that fails is tried again piece by piece; only deltas are copied.
    pub(crate) fn push(&mut self, event: &Event) {
        if matches!(event, Event::TextDelta(_) | Event::CopilotDelta(_)) {
            self.run.push(event.clone());
            self.running = true;
        } else {
            self.flush();
            self.drafts.push(Draft::new(event));
        }
    }

    /// Ends the current run, so that the next event gets a number of its own. Says how many there are by now.
    pub(crate) fn flush(&mut self) -> usize {
        if std::mem::take(&mut self.running) {
            let run = std::mem::take(&mut self.run).finish();
            self.drafts.extend(run.iter().map(Draft::new));
        }
        self.drafts.len()
    }

    pub(crate) fn finish(mut self) -> Vec<Draft> {
        self.flush();
        self.drafts
    }
}

/// A kind read from the database, without an allocation where it is a known one.
fn known(text: &str) -> Cow<'static, str> {
    match Event::LOGGED.iter().find(|known| **known == text) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(text.to_owned()),
    }
}
