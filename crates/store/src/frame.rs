//! An event as the log keeps it and the wire sends it: serialised once, shared by the database, the tails and the readers.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use domain::event::{Coalescer, Event};

/// A committed event. A clone shares the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    pub seq: u64,
    pub kind: Cow<'static, str>,
    /// JSON text.
    pub data: Bytes,
}

impl Frame {
    /// The event again; `None` for a kind of a later version.
    pub fn event(&self) -> Option<Event> {
        Event::parse(&self.kind, std::str::from_utf8(&self.data).ok()?)
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

    pub fn number(self, seq: u64) -> Frame {
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
    pub fn push(&mut self, event: &Event) {
        if matches!(event, Event::TextDelta(_) | Event::CopilotDelta(_)) {
            self.run.push(event.clone());
            self.running = true;
        } else {
            self.flush();
            self.drafts.push(Draft::new(event));
        }
    }

    /// Ends the current run, so that the next event gets a number of its own. Says how many there are by now.
    pub fn flush(&mut self) -> usize {
        if std::mem::take(&mut self.running) {
            let run = std::mem::take(&mut self.run).finish();
            self.drafts.extend(run.iter().map(Draft::new));
        }
        self.drafts.len()
    }

    pub fn finish(mut self) -> Vec<Draft> {
        self.flush();
        self.drafts
    }
}

/// A kind read from the database, without an allocation where it is a known one.
pub(crate) fn kind(text: &str) -> Cow<'static, str> {
    match Event::LOGGED.iter().find(|known| **known == text) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(text.to_owned()),
    }
}
