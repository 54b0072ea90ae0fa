//! All of a session's traffic as lines of JSON, read a piece at a time so that it is never in memory as a whole.

use std::io;
use std::path::PathBuf;

use agents::trace::{self, Entry, Mask};
use serde_json::json;

use super::{TracedRunner, blocking};
use crate::Refusal;

/// Pieces are about this long; one line may be longer.
const PIECE_BYTES: usize = 256 * 1024;

pub struct Capture {
    state: Option<State>,
}

struct State {
    /// What is still to be read, the next one last.
    runners: Vec<TracedRunner>,
    reading: Option<Box<dyn Iterator<Item = Entry> + Send>>,
    mask: Mask,
    /// The time of the first line: all others are told relative to it.
    start_ms: Option<u64>,
}

impl Capture {
    /// `runners` newest first.
    pub(super) fn new(runners: Vec<TracedRunner>, mask: Mask) -> Capture {
        Capture { state: Some(State { runners, reading: None, mask, start_ms: None }) }
    }

    /// The next lines, whole ones; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<String>, Refusal> {
        let Some(mut state) = self.state.take() else { return Ok(None) };
        let (state, piece) = blocking(move || {
            let piece = state.piece()?;
            Ok((state, piece))
        })
        .await?;
        self.state = Some(state);
        Ok((!piece.is_empty()).then_some(piece))
    }
}

impl State {
    fn piece(&mut self) -> io::Result<String> {
        let mut piece = String::new();
        while piece.len() < PIECE_BYTES {
            match self.reading.as_mut().map(|reading| reading.next()) {
                Some(Some(entry)) => {
                    let start_ms = *self.start_ms.get_or_insert(entry.time_ms);
                    piece.push_str(&entry.captured(start_ms));
                }
                Some(None) => self.reading = None,
                None => match self.runners.pop() {
                    Some(runner) => piece.push_str(&self.begin(&runner)?),
                    None => break,
                },
            }
        }
        Ok(piece)
    }

    /// Begins with the next runner, and says so: each process has its own part, and a part may have lost its beginning.
    fn begin(&mut self, runner: &TracedRunner) -> io::Result<String> {
        let dir: PathBuf = runner.dir.clone();
        let (records, mask) = (trace::all(&dir)?, self.mask.clone());
        let mut entries = records.map(move |record| Entry::read(&record, &mask)).peekable();
        let first_ms = entries.peek().map(|entry| entry.time_ms);
        let start_ms = self.start_ms.or(first_ms);
        self.start_ms = start_ms;
        let millis = first_ms.unwrap_or_default().saturating_sub(start_ms.unwrap_or_default());
        self.reading = Some(Box::new(entries));
        let remark = json!({ "runner": runner.id, "running": runner.running, "first_seq": runner.first_seq });
        Ok(format!("{{\"t\":{}.{:03},\"dir\":\"#\",\"msg\":{remark}}}\n", millis / 1000, millis % 1000))
    }
}
