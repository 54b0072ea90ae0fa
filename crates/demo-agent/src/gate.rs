//! The gate of one turn: where its thread waits, and how everybody else reaches it (cancel, permission answers).

use std::collections::HashMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::turn::ShellEvent;

/// The answer to a request of ours: its result, or nothing when the client answered with an error.
pub(crate) type Answer = Option<Value>;

/// The turn was cancelled while it waited.
#[derive(Debug, PartialEq)]
pub(crate) struct Cancelled;

#[derive(Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    cancelled: bool,
    answers: HashMap<u64, Answer>,
    /// Where to wake the turn while it waits for a command instead of for the gate.
    command: Option<SyncSender<ShellEvent>>,
}

impl Gate {
    pub(crate) fn cancel(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        if let Some(command) = &state.command {
            // A full channel wakes the turn as well, and it looks at the gate after every event.
            let _ = command.try_send(ShellEvent::Cancelled);
        }
        self.changed.notify_all();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.lock().cancelled
    }

    pub(crate) fn deliver(&self, request: u64, answer: Answer) {
        self.lock().answers.insert(request, answer);
        self.changed.notify_all();
    }

    /// Waits for the client's answer, without a limit: a person may take their time.
    pub(crate) fn wait_answer(&self, request: u64) -> Result<Answer, Cancelled> {
        let mut state = self.lock();
        loop {
            if state.cancelled {
                return Err(Cancelled);
            }
            if let Some(answer) = state.answers.remove(&request) {
                return Ok(answer);
            }
            state = self.changed.wait(state).expect("no holder of the gate panics");
        }
    }

    /// Lets `pause` pass, or ends early when the turn is cancelled.
    pub(crate) fn pause(&self, pause: Duration) -> Result<(), Cancelled> {
        let deadline = Instant::now() + pause;
        let mut state = self.lock();
        loop {
            if state.cancelled {
                return Err(Cancelled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            let (next, _) = self.changed.wait_timeout(state, left).expect("no holder of the gate panics");
            state = next;
        }
    }

    /// Sets or clears the channel that a cancel must wake too.
    pub(crate) fn watch_command(&self, command: Option<SyncSender<ShellEvent>>) {
        self.lock().command = command;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of the gate panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn a_cancel_ends_a_long_pause_at_once() {
        let gate = Arc::new(Gate::default());
        let waiting = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || gate.pause(Duration::from_secs(600)))
        };
        gate.cancel();
        assert_eq!(waiting.join().expect("the waiter ends"), Err(Cancelled));
    }

    #[test]
    fn an_answer_reaches_the_request_it_belongs_to() {
        let gate = Gate::default();
        gate.deliver(1, None);
        gate.deliver(0, Some(Value::Bool(true)));
        assert_eq!(gate.wait_answer(0), Ok(Some(Value::Bool(true))));
        assert_eq!(gate.wait_answer(1), Ok(None));
    }
}
