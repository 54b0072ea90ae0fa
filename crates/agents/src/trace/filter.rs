//! Which entries a person wants to see.

use domain::trace::Direction;
use runner::{Body, Record};

use super::{Entry, Mask};
use crate::jsonrpc;

#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub direction: Option<Direction>,
    /// A part of the method's name, or of the id that an answer bears.
    pub method: Option<String>,
    /// A part of the masked line, whatever its case.
    pub text: Option<String>,
    /// In ms since 1970, both inclusive.
    pub from_ms: Option<u64>,
    pub until_ms: Option<u64>,
}

impl Filter {
    /// The record as an entry, if it fits. A text is looked for in what is shown: a secret cannot be found out by searching for it.
    pub(super) fn admit(&self, record: &Record, mask: &Mask) -> Option<Entry> {
        let is_other = self.direction.is_some_and(|wanted| wanted != direction(record));
        if is_other || self.is_before(record) || self.is_behind(record) || !self.may_hold_text(record) {
            return None;
        }
        let entry = Entry::read(record, mask);
        let named = |wanted: &String| {
            let id = entry.id.as_ref().map(|id| id.to_string());
            [entry.method.clone(), id].into_iter().flatten().any(|name| contains(&name, wanted))
        };
        let fits = self.method.as_ref().is_none_or(named) && self.text.as_ref().is_none_or(|wanted| contains(entry.payload.text(), wanted));
        fits.then_some(entry)
    }

    /// Everything older is too.
    pub(super) fn is_before(&self, record: &Record) -> bool {
        self.from_ms.is_some_and(|from| record.time_ms < from)
    }

    /// Everything newer is too.
    pub(super) fn is_behind(&self, record: &Record) -> bool {
        self.until_ms.is_some_and(|until| record.time_ms > until)
    }

    /// Spares the masking of lines that cannot fit: what masking puts in is short, and anything else it shows stands in the line.
    fn may_hold_text(&self, record: &Record) -> bool {
        let Some(wanted) = &self.text else { return true };
        let (Body::FromAgent(line) | Body::ToAgent { line, .. }) = &record.body else { return true };
        contains(&jsonrpc::text(line), wanted) || contains(super::mask::MASKED, wanted) || wanted.contains(super::mask::MASKED)
    }
}

fn direction(record: &Record) -> Direction {
    match record.body {
        Body::FromAgent(_) => Direction::FromAgent,
        Body::ToAgent { .. } => Direction::ToAgent,
        Body::Exit { .. } | Body::Oversized { .. } | Body::Notice(_) => Direction::Remark,
    }
}

fn contains(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(&wanted.to_lowercase())
}
