//! What a server owes that has just folded the log: the work that was decided on and has not ended.

use crate::event::Event;

use super::super::Phase;
use super::super::call::CallState;
use super::Step;

impl Step<'_> {
    pub(super) fn resume(&mut self) {
        let Some(turn) = &self.session.turn else { return self.begin_next() };
        let (message_id, cancelling) = (turn.message_id(), turn.cancelling);
        match (&turn.phase, cancelling) {
            (Phase::Model { .. }, true) => {
                self.keep_partial(message_id);
                self.cancelled();
            }
            (Phase::Model { text, .. }, false) => {
                if !text.is_empty() {
                    self.append(Event::Superseded { message_id });
                }
                self.call_model();
            }
            (Phase::Tools { .. }, true) => {
                // Stopping closed everything but the prompts that agents were working on: they are told again, and nothing is begun.
                self.set_open(CallState::Waiting, CallState::Running);
                self.stop_calls();
            }
            (Phase::Tools { calls, .. }, false) => {
                let stopping: Vec<_> = calls.iter().filter(|call| call.stopping && call.state != CallState::Done).cloned().collect();
                self.set_open(CallState::Running, CallState::Waiting);
                // Whether a stopped prompt reached its agent is not known here: it is not begun again, and the agent is told again.
                for call in &stopping {
                    self.agent_has(&call.call.id);
                }
                self.start_calls();
                for call in &stopping {
                    self.stop_prompt(call);
                }
            }
        }
    }

    fn set_open(&mut self, from: CallState, to: CallState) {
        let Some(Phase::Tools { calls, .. }) = self.session.turn.as_mut().map(|turn| &mut turn.phase) else { return };
        for call in calls.iter_mut().filter(|call| call.state == from) {
            call.state = to;
        }
    }
}
