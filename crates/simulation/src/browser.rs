//! A browser: a cursor over the log that lays deltas over each other by their offsets.

use std::collections::BTreeMap;

use domain::event::Event;
use domain::text::utf16_len;

use crate::defects::Defect;
use crate::invariants::{Checked, Invariant, hold};
use crate::world::World;

#[derive(Clone, Debug, Default)]
pub struct Browser {
    pub connected: bool,
    /// How many events it has seen.
    pub cursor: usize,
    /// By message or call.
    pub streams: BTreeMap<String, String>,
}

impl World {
    pub fn browser_reads(&mut self) -> Checked {
        if !self.browser.connected {
            self.browser.connected = true;
            if !self.fair && self.choices.once_in(3) {
                self.browser.cursor = 0;
                self.browser.streams.clear();
            }
            if self.has(Defect::BrowserSkips) && self.browser.cursor > 0 {
                self.browser.cursor += 1;
            }
            return Ok(());
        }
        let most = if self.fair { 64 } else { 1 + self.choices.draw(16) };
        let to = self.store.log.len().min(self.browser.cursor + most);
        let off = self.has(Defect::BrowserOffset);
        for at in self.browser.cursor..to {
            self.browser.apply(&self.store.log[at], off)?;
        }
        self.browser.cursor = to.max(self.browser.cursor);
        Ok(())
    }

    pub fn browser_leaves(&mut self) {
        self.coverage.count("fault: browser leaves");
        self.browser.connected = false;
    }
}

impl Browser {
    fn apply(&mut self, event: &Event, off: bool) -> Checked {
        match event {
            Event::TextDelta(delta) => self.lay(delta.message_id.to_string(), delta.offset, &delta.content, off),
            Event::CopilotDelta(delta) => self.lay(delta.tool_call_id.clone(), delta.offset, &delta.content, off),
            _ => Ok(()),
        }
    }

    fn lay(&mut self, stream: String, offset: u64, content: &str, off: bool) -> Checked {
        let text = self.streams.entry(stream).or_default();
        let have = if off { text.chars().count() as u64 } else { utf16_len(text) };
        hold(offset == have, Invariant::StreamsWhole, || format!("a delta begins at {offset}, and the browser has {have}"))?;
        text.push_str(content);
        Ok(())
    }
}
