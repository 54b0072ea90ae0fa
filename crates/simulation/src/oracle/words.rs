//! The word that a call must end with.

use domain::agent::Fault;

use super::CallTruth;
use crate::invariants::{Checked, Invariant, hold};
use crate::world::World;

impl World {
    pub(super) fn check_word(&self, id: &str, word: &str) -> Checked {
        let Some(call) = self.oracle.calls.get(id) else { return Ok(()) };
        let wrong = |why: String| hold(false, Invariant::RightWord, || format!("{id} ends as {word}: {why}"));
        if word == "cancelled" && call.stopped | call.stop_asked {
            return Ok(());
        }
        match &call.answer {
            Some(Ok(reason)) => {
                let expected = expected(call, reason);
                if call.reasons > 0 && !call.stopped && expected != "interrupted" {
                    return wrong("what a person said when they refused never reached the agent".to_owned());
                }
                if word == expected { Ok(()) } else { wrong(format!("the agent answered {reason}, so it should be {expected}")) }
            }
            Some(Err(fault)) => {
                let expected = code(*fault);
                if word == expected { Ok(()) } else { wrong(format!("the agent failed with {fault:?}, so it should be {expected}")) }
            }
            None => self.check_unanswered(call, word).map_or(Ok(()), wrong),
        }
    }

    /// Why the word is wrong for a call that no agent has answered.
    fn check_unanswered(&self, call: &CallTruth, word: &str) -> Option<String> {
        let has_it = call.reached.iter().find(|(_, refused)| !refused).map(|(runner, _)| *runner);
        let lives = has_it.is_some_and(|runner| self.runners.get(&runner).is_some_and(|runner| runner.is_alive()));
        if word == "interrupted" {
            return match has_it {
                // A turn whose outcome is unknown takes all its calls with it.
                _ if !self.oracle.lost.is_empty() => None,
                None => Some("no agent ever had it".to_owned()),
                Some(_) if lives => Some("its agent is alive and works on it".to_owned()),
                _ => None,
            };
        }
        if has_it.is_some() {
            return Some("an agent has it and has not answered".to_owned());
        }
        let happened = match word {
            "agent_not_started" => self.oracle.start_failures > 0 || self.oracle.deaths > 2,
            "agent_gone" => self.oracle.deaths > 2,
            "agent_not_sent" => true,
            "agent_unguarded" => self.oracle.unguarded > 0,
            "agent_error" | "agent_timeout" => self.oracle.open_failures > 0,
            _ => false,
        };
        (!happened).then(|| "nothing of the kind happened".to_owned())
    }
}

fn expected<'a>(call: &CallTruth, reason: &'a str) -> &'a str {
    match reason {
        _ if call.stopped => reason,
        "end_turn" | "cancelled" | "refusal" if call.rejected.is_some() => "denied",
        "cancelled" => "interrupted",
        reason => reason,
    }
}

fn code(fault: Fault) -> &'static str {
    match fault {
        Fault::NeedsLogin => "auth_required",
        Fault::TimedOut => "agent_timeout",
        Fault::NotSent => "agent_not_sent",
        Fault::OwnedElsewhere => "owned_elsewhere",
        Fault::UnknownSession | Fault::Unsupported | Fault::Gone | Fault::Refused => "agent_error",
    }
}
