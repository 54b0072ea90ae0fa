//! What was said and done in a session before it was ours, as the agent repeats it.

use std::collections::VecDeque;

use agents::{Part, Signal};
use domain::agent::Update;
use domain::event::Message;
use domain::ids::MessageId;
use domain::turn::Past;
use jiff::Timestamp;
use uuid::Uuid;

use super::NAME;

/// How much of it is taken over; what is older stays with the agent.
const HISTORY_BYTES: usize = 2 * 1024 * 1024;

#[derive(Default)]
pub(super) struct History {
    /// Prompts with what was done on each, oldest first, and about how large each is.
    exchanges: VecDeque<(Past, usize)>,
    bytes: usize,
}

impl History {
    pub(super) fn take(&mut self, signals: Vec<Signal>) {
        for signal in signals {
            match signal {
                Signal::Replay { part: Part::Text(text), .. } => self.on_the_last(text.len(), |past| past.say(&text)),
                Signal::Replay { part: Part::Update(update), .. } => match *update {
                    Update::UserMessage { text } => self.asked(text),
                    update => {
                        let size = serde_json::to_vec(&update).map_or(0, |json| json.len());
                        self.on_the_last(size, |past| past.note(&update));
                    }
                },
                _ => {}
            }
        }
    }

    fn asked(&mut self, text: String) {
        match self.exchanges.back_mut() {
            // Agents repeat a long prompt in pieces.
            Some((past, _)) if !past.has_begun() => self.on_the_last(text.len(), |past| past.ask(&text)),
            _ => self.begin(text),
        }
    }

    fn begin(&mut self, prompt: String) {
        let size = prompt.len();
        // As the relay would have called it: whoever reads it sees a person who talks straight to the agent.
        let past = Past::new(format!("relay_{}", Uuid::new_v4().simple()), NAME, prompt);
        self.exchanges.push_back((past, size));
        self.grown(size);
    }

    fn on_the_last(&mut self, size: usize, change: impl FnOnce(&mut Past)) {
        if self.exchanges.is_empty() {
            self.begin(String::new());
        }
        if let Some((past, bytes)) = self.exchanges.back_mut() {
            change(past);
            *bytes += size;
        }
        self.grown(size);
    }

    fn grown(&mut self, size: usize) {
        self.bytes += size;
        while self.bytes > HISTORY_BYTES && self.exchanges.len() > 1 {
            self.bytes -= self.exchanges.pop_front().map_or(0, |(_, size)| size);
        }
    }

    pub(super) fn into_messages(self, agent: &str, said_at: Timestamp) -> Vec<Message> {
        let exchanges = self.exchanges.into_iter();
        exchanges.flat_map(|(past, _)| past.into_messages(agent, said_at, || MessageId(Uuid::now_v7()))).collect()
    }
}
