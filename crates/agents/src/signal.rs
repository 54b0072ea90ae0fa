//! What comes out of a connection: signals in journal order.

use std::sync::Arc;

use domain::agent::{Demand, Failure, Place, Update};
use domain::text::utf16_len;
use serde_json::Value;

use crate::bounds;

/// Everything that some neighbouring journal records meant.
#[derive(Debug)]
pub struct Batch {
    /// The journal's sequence number of the last record consumed. Stored together with what the signals became, it makes
    /// every line count exactly once.
    pub cursor: u64,
    pub signals: Vec<Signal>,
    /// When the runner heard the first and the last record, in ms since 1970.
    pub since_ms: u64,
    pub until_ms: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Signal {
    /// Message text; neighbouring chunks of one agent session are joined.
    Text {
        agent_session: Arc<str>,
        text: String,
    },
    Update {
        agent_session: Arc<str>,
        update: Update,
    },
    /// What an agent repeats while it loads a session: history, never live output.
    Replay {
        agent_session: Arc<str>,
        part: Part,
    },
    /// What the agent asks of its client. Nothing is answered here: each one is owed an answer by whoever takes the signals.
    Demand {
        /// Empty where the agent names none.
        agent_session: Arc<str>,
        place: Place,
        /// The agent's JSON-RPC id as JSON, which the answer must name. Agents use one twice; the place is unique.
        rpc_id: String,
        demand: Demand,
    },
    /// The agent no longer needs the answer to this request, which it is still owed.
    Withdrawn {
        rpc_id: String,
    },
    PromptEnded {
        call_id: String,
        result: Result<PromptEnd, Failure>,
    },
    /// A notification that belongs to no agent session, as it came.
    Other {
        method: String,
        params: Value,
    },
    /// Lines that are no messages, as many as came in a batch: how the first begins, or how long they were in all where they were
    /// too long to be kept.
    BadLine {
        text: String,
        oversized_bytes: Option<u64>,
        count: u64,
    },
    /// For people, from the runner.
    Notice(String),
    /// The agent process has ended. Always the last signal; every pending request has failed by then.
    Gone {
        exit: Exit,
        text: String,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    Text(String),
    Update(Box<Update>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptEnd {
    /// end_turn, max_tokens, max_turn_requests, refusal, cancelled, or what the agent says.
    pub stop_reason: String,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stderr_tail: String,
}

impl Exit {
    /// For an agent that has worked before it ended: takes out what its wrapper says of every bad end, see
    /// [`crate::catalogue::Quirks::false_blame`].
    pub(crate) fn drop_false_blame(&mut self, blame: &str) {
        if self.stderr_tail.contains(blame) {
            self.stderr_tail = self.stderr_tail.lines().filter(|line| !line.contains(blame)).collect::<Vec<_>>().join("\n");
        }
    }

    /// One sentence for a person: how the agent ended and the last thing it said about it.
    pub fn sentence(&self) -> String {
        let how = match (self.code, self.signal) {
            (_, Some(signal)) => format!("the agent was ended by signal {signal}{}", killed(signal)),
            (Some(code), None) => format!("the agent exited with status {code}"),
            (None, None) if self.stderr_tail.is_empty() => "the agent's runner is gone".to_owned(),
            (None, None) => "the agent could not be started".to_owned(),
        };
        match self.stderr_tail.lines().map(str::trim).rfind(|line| !line.is_empty()) {
            // Whoever was killed did not say why.
            Some(last) if self.signal.is_some() => format!("{how}; its last words on stderr: {}", cut(last, 400)),
            Some(last) => format!("{how}: {}", cut(last, 400)),
            None => how,
        }
    }
}

fn killed(signal: i32) -> &'static str {
    match signal {
        6 => " (it aborted)",
        9 => " (it was killed)",
        11 => " (it crashed)",
        15 => " (it was told to end)",
        _ => "",
    }
}

/// Output is joined up to this length, since its end is found by counting from its beginning.
const OUTPUT_BYTES: usize = 4096;

/// Collects signals, joining text that continues the signal before it.
#[derive(Default)]
pub(crate) struct Signals {
    list: Vec<Signal>,
    /// Where the bad lines are counted.
    bad: Option<usize>,
    oversized: Option<usize>,
}

impl Signals {
    pub(crate) fn text(&mut self, agent_session: &Arc<str>, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.list.last_mut() {
            Some(Signal::Text { agent_session: last, text: joined }) if last == agent_session => joined.push_str(text),
            _ => self.list.push(Signal::Text { agent_session: agent_session.clone(), text: text.to_owned() }),
        }
    }

    pub(crate) fn replayed_text(&mut self, agent_session: &Arc<str>, text: &str) {
        match self.list.last_mut() {
            _ if text.is_empty() => {}
            Some(Signal::Replay { agent_session: last, part: Part::Text(joined) }) if last == agent_session => {
                joined.push_str(text);
            }
            _ => self.list.push(Signal::Replay { agent_session: agent_session.clone(), part: Part::Text(text.to_owned()) }),
        }
    }

    /// A tool call that follows an earlier state of itself replaces it; thoughts and output are joined like text.
    pub(crate) fn update(&mut self, agent_session: &Arc<str>, update: Update) {
        let update = bounds::update(update);
        if let Some(Signal::Update { agent_session: last, update: before }) = self.list.last_mut()
            && last == agent_session
        {
            match (before, &update) {
                (Update::Thought { text: joined }, Update::Thought { text }) => return joined.push_str(text),
                (before @ Update::ToolCall(_), Update::ToolCall(_)) if call_id(before) == call_id(&update) => {
                    *before = update;
                    return;
                }
                (Update::ToolOutput { id: last, offset: from, content: joined }, Update::ToolOutput { id, offset, content })
                    if last == id && *from + utf16_len(joined) == *offset && joined.len() < OUTPUT_BYTES =>
                {
                    return joined.push_str(content);
                }
                _ => {}
            }
        }
        self.list.push(Signal::Update { agent_session: agent_session.clone(), update });
    }

    /// Something else than text that an agent repeats while it loads a session.
    pub(crate) fn replayed(&mut self, agent_session: &Arc<str>, update: Update) {
        let part = Part::Update(Box::new(bounds::update(update)));
        self.list.push(Signal::Replay { agent_session: agent_session.clone(), part });
    }

    pub(crate) fn push(&mut self, signal: Signal) {
        self.list.push(signal);
    }

    /// An agent may print thousands of them, so a batch has one signal for all.
    pub(crate) fn bad_line(&mut self, text: &str, bytes: Option<u64>) {
        let place = if bytes.is_some() { &mut self.oversized } else { &mut self.bad };
        match place.and_then(|at| self.list.get_mut(at)) {
            Some(Signal::BadLine { oversized_bytes, count, .. }) => {
                *count += 1;
                *oversized_bytes = oversized_bytes.map(|before| before + bytes.unwrap_or_default());
            }
            _ => {
                *place = Some(self.list.len());
                self.list.push(Signal::BadLine { text: text.to_owned(), oversized_bytes: bytes, count: 1 });
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn take(&mut self) -> Vec<Signal> {
        (self.bad, self.oversized) = (None, None);
        std::mem::take(&mut self.list)
    }
}

fn call_id(update: &Update) -> Option<&str> {
    match update {
        Update::ToolCall(call) => Some(&call.id),
        _ => None,
    }
}

/// The beginning of `text`, at most `bytes` long, cut between characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_one_sentence() {
        let exit = |code, signal, tail: &str| Exit { code, signal, stderr_tail: tail.into() }.sentence();
        assert_eq!(exit(Some(0), None, ""), "the agent exited with status 0");
        assert_eq!(exit(Some(3), None, "a\nno login\n\n"), "the agent exited with status 3: no login");
        assert_eq!(exit(None, Some(9), " \n"), "the agent was ended by signal 9 (it was killed)");
        assert_eq!(
            exit(None, Some(9), "all is well\n"),
            "the agent was ended by signal 9 (it was killed); its last words on stderr: all is well"
        );
        assert_eq!(exit(None, Some(1), ""), "the agent was ended by signal 1");
    }

    #[test]
    fn the_wrapper_of_a_killed_copilot_is_not_believed() {
        let tail = "GitHub Copilot CLI: no platform package found. Reinstall with `npm install -g @github/copilot`\n".to_owned();
        let mut exit = Exit { code: Some(1), signal: None, stderr_tail: tail };
        exit.drop_false_blame("no platform package found");
        assert_eq!(exit.sentence(), "the agent exited with status 1");
    }
}
