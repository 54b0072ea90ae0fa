//! The life of a prompt: it waits for the process and for its session, is written exactly once, runs, is perhaps told to stop, and
//! ends when the agent answers it or is gone.
//!
//! ```text
//! Waiting ──▶ Sending ──▶ Running ──▶ Stopping ──▶ (ended)
//!    ▲           │ the agent ends      │ told to stop
//!    └───────────┤
//!  never read    ▼
//!             Unsure ──▶ (ended: interrupted, or never read and Waiting again)
//! ```

use super::grant::Grant;
use super::{Act, AgentSession, Keep, NamedState, Process, Step, Timer, WriteOutcome};
use crate::agent::{Failure, Fault, PermissionAsk};
use crate::ids::TurnId;
use crate::turn::{AgentEnd, Input as TurnInput};

/// So many things that an agent asked about in a prompt are remembered, and so much of a command.
const MOST_ASKED: usize = 1024;
const MOST_COMMAND_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug)]
pub struct Prompt {
    pub turn_id: TurnId,
    pub call_id: String,
    /// Which of the call's prompts it is.
    pub round: u32,
    pub name: String,
    pub text: String,
    pub state: PromptState,
    /// How many agents have ended before it could reach them.
    pub tries: u32,
    /// What the agent asked about in this prompt, whoever answered.
    pub asked: Vec<AskedTool>,
    /// What was answered and not carried out yet, oldest first.
    pub(super) grants: Vec<Grant>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PromptState {
    /// Nothing of it has left: it waits for a process, for its session, or for an earlier prompt of that session.
    Waiting,
    /// It is being written. `stop`: a stop came meanwhile and goes out behind it; one that overtakes its prompt stops nothing.
    Sending {
        stop: bool,
    },
    Running,
    /// The agent was told to stop, and has a deadline for it.
    Stopping,
    /// Its agent ended while it was being written; whether the agent got it is about to be known.
    Unsure {
        text: String,
        stop: bool,
    },
}

/// By what a tool call of the agent's is recognised as one that it asked about.
#[derive(Clone, Debug)]
pub struct AskedTool {
    pub agent_call: Option<String>,
    pub command: Option<String>,
}

/// How it is said that an agent's process has ended under a prompt.
pub(crate) const PROCESS_ENDED: &str = "the agent ended before it had finished";

impl Prompt {
    pub(super) fn new(turn_id: TurnId, call_id: String, round: u32, name: String, text: String, state: PromptState) -> Prompt {
        Prompt { turn_id, call_id, round, name, text, state, tries: 0, asked: Vec::new(), grants: Vec::new() }
    }

    /// The agent has it, or may have it.
    pub fn is_out(&self) -> bool {
        self.state != PromptState::Waiting
    }

    /// A person wants it stopped, whether or not the agent knows.
    fn is_stopping(&self) -> bool {
        match &self.state {
            PromptState::Waiting | PromptState::Running => false,
            PromptState::Sending { stop } | PromptState::Unsure { stop, .. } => *stop,
            PromptState::Stopping => true,
        }
    }

    /// It is told to stop as soon as it is known to be written.
    pub(super) fn has_stop_to_come(&self) -> bool {
        self.state == PromptState::Sending { stop: true }
    }

    pub(super) fn is_unsure(&self) -> bool {
        matches!(self.state, PromptState::Unsure { .. })
    }

    pub(super) fn note_asked(&mut self, ask: &PermissionAsk) {
        if self.asked.len() == MOST_ASKED {
            self.asked.remove(0);
        }
        // One that is too long to be kept is recognised by the agent's id of it.
        let command = ask.command.clone().filter(|command| command.len() <= MOST_COMMAND_BYTES || ask.agent_call.is_none());
        self.asked.push(AskedTool { agent_call: ask.agent_call.clone(), command });
    }
}

impl Step<'_> {
    pub(super) fn prompt(&mut self, turn_id: TurnId, call_id: String, round: u32, name: String, text: String) {
        // A prompt that comes after the ones that waited for a login were given up: perhaps somebody has logged in meanwhile.
        self.host.needs_login &= self.host.prompts.iter().any(|prompt| prompt.state == PromptState::Waiting);
        self.host.sessions.entry(name.clone()).or_default();
        let Some(at) = self.position(&call_id) else {
            return self.host.prompts.push(Prompt::new(turn_id, call_id, round, name, text, PromptState::Waiting));
        };
        // After a restart. Whether its agent has it is not certain while the runner lives: it is written again, under the same id, and
        // the runner lets it through only once. A dead runner's journal has the last word.
        self.host.prompts[at].text = text;
        if matches!(self.host.process, Process::Up { .. }) && self.host.prompts[at].state == PromptState::Running {
            self.send(at);
        }
    }

    /// Brings every prompt on its way that nothing holds up.
    pub(super) fn advance_prompts(&mut self) {
        if !self.host.is_open() || self.host.needs_login {
            return;
        }
        for at in 0..self.host.prompts.len() {
            if self.host.prompts[at].state == PromptState::Waiting {
                self.advance_prompt(at);
            }
        }
    }

    fn advance_prompt(&mut self, at: usize) {
        let name = self.host.prompts[at].name.clone();
        // Of one session one at a time: an agent that is asked again while it works would drop the first.
        if self.host.prompts.iter().any(|other| other.name == name && other.is_out()) {
            return;
        }
        let named = self.host.sessions.entry(name.clone()).or_default();
        // What was set before it counts for it.
        let is_told = |record: &AgentSession| self.host.telling.contains(&record.agent_session);
        if named.record.as_ref().is_some_and(is_told) {
            return;
        }
        match named.state {
            NamedState::Stored => self.open_session(&name, false),
            NamedState::Cut => self.open_session(&name, true),
            NamedState::Opening => {}
            NamedState::Open { .. } => self.send(at),
        }
    }

    /// That the session is prompted is stored with the decision, so before the prompt leaves: from then on it is worth restoring.
    fn send(&mut self, at: usize) {
        let Process::Up { runner, .. } = self.host.process else { return };
        self.warn_unasked(at);
        let prompt = &mut self.host.prompts[at];
        let Some(named) = self.host.sessions.get_mut(&prompt.name) else { return };
        let Some(record) = named.record.as_mut() else { return };
        let prompted = record.prompted_at.is_none();
        if prompted {
            record.prompted_at = Some(self.context.now);
        }
        // With anything in front of it a command of the agent's would be none; the next prompt carries it.
        let introduce = match &mut named.state {
            NamedState::Open { introduced, .. } if !*introduced && !prompt.text.starts_with('/') => {
                *introduced = true;
                true
            }
            _ => false,
        };
        prompt.state = PromptState::Sending { stop: false };
        self.host.told = 0;
        let act = Act::Prompt {
            runner,
            turn_id: prompt.turn_id,
            call_id: prompt.call_id.clone(),
            round: prompt.round,
            agent_session: record.agent_session.clone(),
            name: prompt.name.clone(),
            text: prompt.text.clone(),
            introduce,
        };
        let record = record.clone();
        if prompted {
            self.keep(Keep::Session(record));
        }
        self.act(act);
    }

    /// It was written, or could not be.
    pub(super) fn written(&mut self, call_id: &str, round: u32, outcome: WriteOutcome) {
        let Some(at) = self.position(call_id).filter(|at| self.host.prompts[*at].round == round) else { return };
        let (stop, gone) = match &self.host.prompts[at].state {
            PromptState::Sending { stop } => (*stop, None),
            PromptState::Unsure { text, stop } => (*stop, Some(text.clone())),
            _ => return,
        };
        match (outcome, gone) {
            (WriteOutcome::Written, None) => {
                self.host.prompts[at].state = PromptState::Running;
                // It is in the journal now, so a stop comes behind it.
                if stop {
                    self.stop(call_id);
                }
            }
            // Where the process is gone, its own end says so, with everything that it had sent before.
            (WriteOutcome::Gone, None) => self.host.prompts[at].state = PromptState::Running,
            (WriteOutcome::Written | WriteOutcome::Gone, Some(text)) => {
                let prompt = self.host.prompts.remove(at);
                self.interrupted(&prompt, &text);
            }
            (WriteOutcome::Unsent(_), _) if stop => self.end(at, AgentEnd::stopped("cancelled")),
            // No agent has seen it, so the next one gets it. Until the end of this one is heard, it takes no more.
            (WriteOutcome::Unsent(text), _) => {
                self.retire();
                let mut prompt = self.host.prompts.remove(at);
                prompt.state = PromptState::Waiting;
                let message = format!("the agent ended {} times before it could be asked: {text}", super::TRIES);
                if self.may_try_again(&mut prompt, "agent_gone", &message) {
                    self.host.prompts.insert(at, prompt);
                }
            }
            (WriteOutcome::Failed(failure), _) => {
                let end = match failure.fault {
                    Fault::Unsupported => AgentEnd::failed("attachment_unsupported", format!("{} refused: {failure}", self.title())),
                    _ => self.failed(&failure),
                };
                self.end(at, end);
            }
        }
    }

    /// The agent has answered the prompt.
    pub(super) fn answered(&mut self, call_id: &str, round: u32, result: Result<String, Failure>) {
        // Of two answers to one prompt the first counts, also where that made it wait for a login.
        let is_it = |at: &usize| self.host.prompts[*at].is_out() && self.host.prompts[*at].round == round;
        let Some(at) = self.position(call_id).filter(is_it) else { return };
        let (stopping, stop_sent) = (self.host.prompts[at].is_stopping(), self.host.prompts[at].state == PromptState::Stopping);
        match result {
            Ok(stop_reason) => {
                // Cancelled although it was not told to, and nobody rejected anything: the agent no longer serves the session.
                let rejected = self.turn.call(call_id).is_some_and(|call| call.rejected().is_some());
                if stop_reason == "cancelled" && !stop_sent && !rejected {
                    self.cut_session(at);
                }
                self.end(at, AgentEnd::Stopped { stop_reason });
            }
            // It was not worked on, and nobody wants it any more.
            Err(failure) if failure.fault == Fault::NeedsLogin && stopping => self.end(at, AgentEnd::stopped("cancelled")),
            Err(failure) if failure.fault == Fault::NeedsLogin => self.prompt_needs_login(at),
            Err(failure) => {
                if failure.fault == Fault::UnknownSession {
                    self.cut_session(at);
                }
                let end = self.failed(&failure);
                self.end(at, end);
            }
        }
    }

    /// The prompt has not been worked on. It waits for a login, and goes to the process that is started after it.
    fn prompt_needs_login(&mut self, at: usize) {
        let prompt = &mut self.host.prompts[at];
        prompt.state = PromptState::Waiting;
        let name = prompt.name.clone();
        if let Some(named) = self.host.sessions.get_mut(&name) {
            named.state = NamedState::Stored;
            if let Some(record) = &mut named.record {
                // After a restart nobody takes the prompt for one that this process works on.
                record.runner_id = None;
                let record = record.clone();
                self.keep(Keep::Session(record));
            }
        }
        self.login_needed(&name);
        self.quiet();
    }

    pub(super) fn login_needed(&mut self, name: &str) {
        if !std::mem::replace(&mut self.host.needs_login, true) {
            let text = format!("{} needs you to sign in: {}", self.title(), self.context.login_advice(&self.host.agent));
            self.notice("auth_required", "error", "Login required", text, Some(name));
        }
        // Credentials are read when a process starts.
        self.retire();
    }

    pub(super) fn stop(&mut self, call_id: &str) {
        let Some(at) = self.position(call_id) else {
            return self.end_in_turn(call_id, AgentEnd::stopped("cancelled"));
        };
        match &mut self.host.prompts[at].state {
            PromptState::Waiting => self.end(at, AgentEnd::stopped("cancelled")),
            PromptState::Sending { stop } | PromptState::Unsure { stop, .. } => *stop = true,
            PromptState::Stopping => {}
            PromptState::Running => {
                let prompt = &mut self.host.prompts[at];
                prompt.state = PromptState::Stopping;
                let record = self.host.sessions.get(&prompt.name).and_then(|named| named.record.as_ref());
                let (Some(record), Some(runner)) = (record, self.host.process.live()) else { return };
                let agent_session = record.agent_session.clone();
                self.act(Act::KillTerminals { call_id: call_id.to_owned() });
                self.act(Act::Cancel { runner, call_id: call_id.to_owned(), agent_session });
                self.act(Act::Timer(Timer::Stop { call_id: call_id.to_owned() }));
                self.send_held_replies(call_id);
                // Its turn was broken off, so no later server would know that there is something to stop.
                if self.turn.call(call_id).is_none() {
                    self.abandon(at);
                }
            }
        }
    }

    /// The process makes room, and the session of this prompt does not count as open in it any more.
    fn abandon(&mut self, at: usize) {
        let name = self.host.prompts[at].name.clone();
        self.cut_session(at);
        self.forget_cut_session(&name);
        self.retire();
    }

    /// An agent that does not stop when told is ended: at once where it works on nothing else, else when that is over.
    pub(super) fn stop_overdue(&mut self, call_id: &str) {
        let Some(at) = self.position(call_id).filter(|at| self.host.prompts[*at].state == PromptState::Stopping) else { return };
        let alone = self.host.prompts.iter().filter(|prompt| prompt.is_out()).count() == 1;
        let name = self.host.prompts[at].name.clone();
        // It may go on working: nothing else is asked in this session until another process has it, after a restart either.
        self.cut_session(at);
        self.end(at, AgentEnd::stopped("cancelled"));
        if !alone {
            // What it still writes belongs to nobody; the name gets a new agent session with its next prompt.
            self.host.sessions.remove(&name);
            self.keep(Keep::SessionRemoved { name });
        }
        self.retire();
    }

    pub(super) fn interrupted(&mut self, prompt: &Prompt, text: &str) {
        let notice = format!("{} ended in the middle of its work: {text}", self.title());
        self.notice("agent_gone", "error", "The agent crashed", notice, Some(&prompt.name));
        let message = format!("{PROCESS_ENDED}: {text}");
        self.end_in_turn(&prompt.call_id, AgentEnd::Gone { message });
    }

    fn failed(&self, failure: &Failure) -> AgentEnd {
        let code = match failure.fault {
            Fault::TimedOut => "agent_timeout",
            Fault::NotSent => "agent_not_sent",
            Fault::NeedsLogin => "auth_required",
            Fault::OwnedElsewhere => "owned_elsewhere",
            Fault::UnknownSession | Fault::Unsupported | Fault::Gone | Fault::Refused => "agent_error",
        };
        AgentEnd::failed(code, format!("{} refused: {failure}", self.title()))
    }

    /// Ends the prompts that waited for a session which cannot be opened.
    pub(super) fn fail_session(&mut self, name: &str, failure: &Failure) {
        let end = self.failed(failure);
        while let Some(at) = self.host.prompts.iter().position(|prompt| prompt.name == name && prompt.state == PromptState::Waiting) {
            self.end(at, end.clone());
        }
    }

    pub(super) fn end(&mut self, at: usize, end: AgentEnd) {
        let prompt = self.host.prompts.remove(at);
        self.close_debts_of(&prompt.call_id);
        self.end_in_turn(&prompt.call_id, end);
        if prompt.is_out() {
            self.forget_cut_session(&prompt.name);
            self.quiet();
        }
    }

    pub(super) fn end_in_turn(&mut self, call_id: &str, end: AgentEnd) {
        let agent = self.host.agent.clone();
        self.tell_turn(TurnInput::AgentEnd { call_id: call_id.to_owned(), agent, end });
    }

    /// Where nothing runs any more, the runner may forget what is stored, and need not wait for a server.
    fn quiet(&mut self) {
        if let Some(runner) = self.host.process.live()
            && !self.host.is_busy()
        {
            self.act(Act::Acknowledge { runner, cursor: self.host.cursor });
        }
    }

    pub(super) fn position(&self, call_id: &str) -> Option<usize> {
        self.host.prompts.iter().position(|prompt| prompt.call_id == call_id)
    }
}
