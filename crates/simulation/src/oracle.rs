//! What really happened, noted from what the person, the agents and the store did, and not from what the machine thinks of it.

mod approval;
mod commits;
mod end;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use domain::agent::{Demand, Fault, PermissionAsk, Reply};
use domain::decision::{Decision, Verdict};
use domain::event::{Event, PermissionHeld, Queue, ToolCall};
use domain::host;
use domain::ids::{MessageId, PermissionId, RunnerId, TurnId};
use domain::machine::Input;
use domain::turn;

use crate::invariants::{Checked, Invariant, hold};
use crate::store::Store;

#[derive(Default)]
pub struct Oracle {
    calls: BTreeMap<String, CallTruth>,
    permissions: BTreeMap<PermissionId, Asked>,
    /// The demands that somebody allowed.
    allowed: BTreeSet<PermissionId>,
    /// What this server's permissions cover and was not carried out yet: the call, and the change or the command as it was shown.
    grants: BTreeMap<PermissionId, (String, String)>,
    /// What the server found out about what it would do for an agent: what is shown, and judged.
    prepared: BTreeMap<PermissionId, PermissionAsk>,
    /// What the person means by the answer that they are about to give.
    pub said: Option<(PermissionId, Verdict)>,
    side_effects: BTreeSet<PermissionId>,
    /// The tools of the main AI's that a person agreed to.
    agreed: BTreeSet<String>,
    answer: Option<(PermissionId, Decision, String)>,
    /// That answer is remembered, too.
    saved: bool,
    /// The denials that are held, as the log has them, and the one that the person takes back.
    held: BTreeMap<PermissionId, PermissionHeld>,
    undone: Option<PermissionId>,
    turn: Option<TurnTruth>,
    ended_turns: BTreeSet<TurnId>,
    /// Messages in the order in which the server took them.
    accepted: Vec<MessageId>,
    begun: Vec<MessageId>,
    withdrawn: BTreeSet<MessageId>,
    /// The person wants it elsewhere in the queue, which the queue has not shown yet.
    moved: Option<MessageId>,
    /// The queue as it stands in the log.
    queue: Queue,
    /// A person wants the turn stopped, and with it the queue; or asked for what is held.
    stops: bool,
    released: bool,
    pub start_failures: u32,
    pub open_failures: u32,
    /// How often an agent could not be set to ask.
    pub unguarded: u32,
    pub deaths: u32,
    /// Calls whose prompts a runner would not take.
    pub not_sent: BTreeSet<String>,
    /// Runners whose journals are lost.
    pub lost: BTreeSet<RunnerId>,
}

/// A call of the main AI's.
#[derive(Debug, Default)]
struct CallTruth {
    delegated: bool,
    /// The processes that got its prompt, and whether they refused it for want of a login.
    reached: Vec<(RunnerId, bool)>,
    /// There was a server that might have prompted an agent with it, and died: the next one sends it again, whatever it sets meanwhile.
    sent_again: bool,
    /// What the agent answered, as far as the server has read it.
    answer: Option<Result<String, Fault>>,
    /// What the agent wrote about it, as far as the server has read it, and what of it is in the log.
    written: String,
    logged: String,
    reported: Vec<String>,
    logged_reports: Vec<String>,
    /// A person wants it stopped; whether that is in the log.
    stop_asked: bool,
    stopped: bool,
    /// The agent's own calls that there were when something was rejected last.
    rejected: Option<Vec<String>>,
    /// What people said when they refused, and the agent was not told yet; and how often it was told.
    reasons: u32,
    round: u32,
    tools: Vec<String>,
    word: Option<String>,
    has_result: bool,
}

#[derive(Debug)]
struct Asked {
    call: String,
    ask: PermissionAsk,
    resolved: bool,
}

#[derive(Debug)]
struct TurnTruth {
    id: TurnId,
    stopped: bool,
    stop_asked: bool,
}

impl Oracle {
    pub fn note_input(&mut self, input: &Input) {
        (self.answer, self.saved, self.undone) = (None, false, None);
        self.stops = matches!(input, Input::Turn(turn::Input::Cancel));
        self.released = matches!(input, Input::Turn(turn::Input::SendNext | turn::Input::SendNow { .. }));
        match input {
            Input::Answer { request_id, decision, by, saved, .. } => {
                self.answer = Some((*request_id, decision.clone(), by.clone()));
                self.saved = saved.is_some();
            }
            Input::TakeBack { request_id } => self.undone = Some(*request_id),
            Input::Host { input: host::Input::Prepared { id, outcome }, .. } => {
                if let Ok(prepared) = &**outcome {
                    self.prepared.insert(*id, prepared.ask.clone());
                }
            }
            Input::Turn(turn::Input::Cancel | turn::Input::CancelTurn) => self.turn_is_to_stop(),
            Input::Turn(turn::Input::SendNow { message_id }) => {
                self.turn_is_to_stop();
                self.moved = Some(*message_id);
            }
            Input::Turn(turn::Input::CancelCall { call_id }) => {
                if let Some(call) = self.calls.get_mut(call_id) {
                    call.stop_asked = true;
                }
            }
            Input::Turn(turn::Input::Move { message_id, .. }) => self.moved = Some(*message_id),
            Input::Turn(turn::Input::Withdraw { message_id }) => _ = self.withdrawn.insert(*message_id),
            Input::Turn(turn::Input::Confirm { call_id, approved: true, .. }) => _ = self.agreed.insert(call_id.clone()),
            _ => {}
        }
    }

    fn turn_is_to_stop(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.stop_asked = true;
        }
        self.calls.values_mut().filter(|call| !call.has_result).for_each(|call| call.stop_asked = true);
    }

    pub fn server_starts(&mut self) {
        self.calls.values_mut().for_each(|call| call.sent_again = true);
    }

    pub fn is_sent_again(&self, call: &str) -> bool {
        self.calls.get(call).is_some_and(|call| call.sent_again)
    }

    /// The prompt of a call reaches a process.
    pub fn prompt_reached(&mut self, call: &str, runner: RunnerId) -> Checked {
        let Some(truth) = self.calls.get_mut(call) else {
            return hold(false, Invariant::CommitFirst, || format!("the prompt of {call} is sent, and the log does not have the call"));
        };
        hold(truth.reached.iter().all(|(other, _)| *other != runner), Invariant::PromptOnce, || {
            format!("the prompt of {call} reaches the same process twice")
        })?;
        hold(truth.reached.iter().all(|(_, refused)| *refused), Invariant::PromptOnce, || {
            format!("the prompt of {call} reaches a second process")
        })?;
        hold(truth.word.is_none(), Invariant::StopStops, || format!("the prompt of {call} is sent, and the call has ended"))?;
        truth.reached.push((runner, false));
        Ok(())
    }

    pub fn refused_for_login(&mut self, call: &str, runner: RunnerId) {
        let reached = self.calls.get_mut(call).into_iter().flat_map(|call| &mut call.reached);
        reached.filter(|(at, _)| *at == runner).for_each(|(_, refused)| *refused = true);
    }

    /// A person wants the call stopped, and the log says so.
    pub fn is_stopped(&self, call: &str) -> bool {
        self.calls.get(call).is_some_and(|call| call.stopped)
    }

    pub fn is_over(&self, call: &str) -> bool {
        self.calls.get(call).is_none_or(|call| call.has_result)
    }

    pub fn open_calls(&self) -> BTreeSet<String> {
        self.calls.iter().filter(|(_, call)| call.delegated && call.word.is_none()).map(|(id, _)| id.clone()).collect()
    }

    /// A tool of the main AI's is run.
    pub fn check_tool(&self, call: &ToolCall, store: &Store) -> Checked {
        let known = self.calls.get(&call.id);
        hold(known.is_some(), Invariant::CommitFirst, || format!("{} runs, and the log does not have the call", call.id))?;
        hold(known.is_none_or(|known| !known.stopped), Invariant::StopStops, || format!("{} runs after it was stopped", call.id))?;
        if call.name == turn_call_external() {
            hold(self.agreed.contains(&call.id), Invariant::Approved, || format!("{} runs, and nobody agreed to it", call.id))?;
            hold(!store.confirms.contains(&call.id), Invariant::CommitFirst, || format!("{} runs before the consent is stored", call.id))?;
        }
        Ok(())
    }

    /// Something is changed for an agent; `truth` is what, as people would have to be shown it.
    pub fn side_effect(&mut self, id: PermissionId, truth: &str) -> Checked {
        let shown = self.prepared.get(&id).and_then(approval::shown);
        hold(shown.as_deref() == Some(truth), Invariant::AsShown, || {
            format!("this happens: {truth:?}, and that was shown: {:?}", shown.unwrap_or_default())
        })?;
        hold(self.allowed.contains(&id), Invariant::Approved, || "something is changed for an agent that nobody allowed".to_owned())?;
        hold(self.side_effects.insert(id), Invariant::DoneOnce, || "something is changed for an agent a second time".to_owned())
    }

    /// A reply reaches the agent that made the demand.
    pub fn check_reply(&self, id: PermissionId, demand: &Demand, reply: &Reply) -> Checked {
        hold(!self.held.contains_key(&id), Invariant::DenialHeld, || "an agent is answered while the denial is held".to_owned())?;
        match (demand, reply) {
            (Demand::Permission(ask), Reply::Chosen { option_id: Some(option_id) }) => {
                hold(!approval::is_malformed(ask), Invariant::AsShown, || {
                    format!("an agent is told {option_id} for a malformed request, \"{}\"", ask.title)
                })?;
                let allows = ask.options.iter().any(|option| option.option_id == *option_id && option.kind.verdict() == Verdict::Allow);
                hold(!allows || self.allowed.contains(&id), Invariant::Approved, || {
                    format!("an agent is told {option_id} for \"{}\", and nobody allowed that", ask.title)
                })
            }
            (Demand::WriteFile { .. }, Reply::Done) | (Demand::StartTerminal(_), Reply::TerminalStarted { .. }) => {
                hold(self.side_effects.contains(&id), Invariant::ReplyOnce, || {
                    "an agent is told that something was done that was not".to_owned()
                })
            }
            _ => Ok(()),
        }
    }
}

fn turn_call_external() -> &'static str {
    "read_file_external"
}

/// The session and the agent of a delegated call whose arguments make sense.
fn is_delegated(call: &ToolCall) -> bool {
    matches!(call.name.as_str(), "copilot_agent" | "delegate") && call.arguments != "{}"
}

/// The call that an event is about.
fn call_of(event: &Event) -> Option<&str> {
    match event {
        Event::CopilotDelta(delta) => Some(&delta.tool_call_id),
        Event::AgentUpdate(update) => Some(&update.tool_call_id),
        Event::CopilotDone(done) => Some(&done.tool_call_id),
        _ => None,
    }
}
