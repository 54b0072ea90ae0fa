//! The life of an agent's process: down, starting, up, ending, gone, clearing, and down again.

use super::{Act, Host, Input, Keep, Prompt, PromptState, StartFailure, Step, TRIES};
use crate::ids::RunnerId;
use crate::turn::AgentEnd;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Process {
    Down,
    /// Its runner is being started. Lines may come already.
    Starting {
        runner: RunnerId,
    },
    /// `leaving`: it takes no more prompts, and is ended when it has none.
    Up {
        runner: RunnerId,
        leaving: bool,
    },
    /// It was told to end, or its runner is known to be dead: the journal is read to its end.
    Ending {
        runner: RunnerId,
    },
    /// It has ended. What became of the prompts that were being written is not known yet.
    Gone {
        runner: RunnerId,
    },
    /// What it left is cleaned away, and only then another is started: an agent session has one owner.
    Clearing {
        runner: RunnerId,
    },
}

impl Process {
    pub fn runner(&self) -> Option<RunnerId> {
        match *self {
            Process::Down => None,
            Process::Starting { runner }
            | Process::Up { runner, .. }
            | Process::Ending { runner }
            | Process::Gone { runner }
            | Process::Clearing { runner } => Some(runner),
        }
    }

    /// The runner, where lines still come from it.
    pub fn live(&self) -> Option<RunnerId> {
        match *self {
            Process::Starting { runner } | Process::Up { runner, .. } | Process::Ending { runner } => Some(runner),
            Process::Down | Process::Gone { .. } | Process::Clearing { .. } => None,
        }
    }
}

impl Host {
    /// Whether the process takes prompts.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.process, Process::Up { leaving: false, .. })
    }
}

impl Step<'_> {
    pub(super) fn advance_process(&mut self) {
        match self.host.process {
            Process::Down if self.wants_process() => self.start(),
            Process::Up { runner, leaving: true } if !self.host.is_busy() => {
                self.host.process = Process::Ending { runner };
                self.act(Act::End { runner });
            }
            Process::Gone { runner } if !self.host.prompts.iter().any(Prompt::is_unsure) => self.clear(runner),
            _ => {}
        }
    }

    fn wants_process(&self) -> bool {
        !self.host.needs_login && !self.host.prompts.is_empty()
    }

    fn start(&mut self) {
        let runner = RunnerId(self.context.new_id());
        self.host.process = Process::Starting { runner };
        self.host.ended_early = None;
        self.host.cursor = 0;
        self.keep(Keep::RunnerStarted { runner, agent: self.host.agent.clone() });
        self.act(Act::Start { runner, agent: self.host.agent.clone() });
    }

    pub(super) fn started(&mut self, runner: RunnerId, outcome: Result<super::input::Started, StartFailure>) {
        if self.host.process != (Process::Starting { runner }) {
            return;
        }
        // It came up and ended, and its end was heard first.
        let outcome = match self.host.ended_early.take() {
            Some(message) => outcome.and(Err(StartFailure { code: "agent_not_started", gone: true, message })),
            None => outcome,
        };
        match outcome {
            Ok(started) => {
                self.host.process = Process::Up { runner, leaving: false };
                self.host.can_reopen = started.can_reopen;
                self.keep(Keep::RunnerUp { runner, capabilities: started.capabilities });
                if let Some(warning) = started.warning {
                    self.notice("agent_unauthenticated", "warning", "Unauthenticated agent", warning, None);
                }
            }
            Err(failure) => {
                let message = match failure.code {
                    NOT_FOUND => failure.message,
                    _ => format!("{} could not be started: {}", self.title(), failure.message),
                };
                if failure.gone {
                    self.try_waiting_again("agent_not_started", &message);
                } else {
                    self.fail_waiting(failure.code, &message);
                }
                self.clear(runner);
            }
        }
    }

    /// The row goes with the decision to clear; a server that dies before it has cleared finds a runner that nobody owns, and clears it.
    fn clear(&mut self, runner: RunnerId) {
        self.host.process = Process::Clearing { runner };
        self.keep(Keep::RunnerRemoved { runner });
        self.act(Act::Clear { runner, agent: self.host.agent.clone() });
    }

    pub(super) fn cleared(&mut self, runner: RunnerId) {
        if self.host.process == (Process::Clearing { runner }) {
            self.host.process = Process::Down;
        }
    }

    /// It makes room once nothing needs it: somebody chose another agent, its time is over, or it has to be started anew.
    pub(super) fn retire(&mut self) {
        if let Process::Up { runner, leaving } = &mut self.host.process
            && !*leaving
        {
            *leaving = true;
            let runner = *runner;
            self.keep(Keep::RunnerEnding { runner });
        }
    }

    /// The process has ended: what it worked on ends with it, and its sessions are brought back when they are next needed.
    pub(super) fn gone(&mut self, runner: RunnerId, text: &str) {
        // One that is still starting has its end told by its start.
        let expected = match self.host.process {
            Process::Up { runner: up, leaving } if up == runner => leaving,
            Process::Ending { runner: ending } if ending == runner => true,
            Process::Starting { runner: starting } if starting == runner => {
                self.host.ended_early = Some(text.to_owned());
                return;
            }
            _ => return,
        };
        self.host.process = Process::Gone { runner };
        self.host.debts.clear();
        let opening = self.leave_sessions();
        let mut prompts = std::mem::take(&mut self.host.prompts);
        prompts.retain_mut(|prompt| match &prompt.state {
            PromptState::Sending { stop } => {
                prompt.state = PromptState::Unsure { text: text.to_owned(), stop: *stop };
                true
            }
            PromptState::Running => {
                self.interrupted(prompt, text);
                false
            }
            // It was to stop, and it has.
            PromptState::Stopping => {
                self.end_in_turn(&prompt.call_id, AgentEnd::stopped("cancelled"));
                false
            }
            // It may be its session that ends them, so it is not tried for ever.
            PromptState::Waiting if !expected && opening.contains(&prompt.name) => {
                self.may_try_again(prompt, "agent_gone", &format!("the agent ended {TRIES} times before it could be asked: {text}"))
            }
            PromptState::Waiting | PromptState::Unsure { .. } => true,
        });
        self.host.prompts = prompts;
    }

    /// Whether another agent is started for the prompt. Where several have ended before it could reach them, it fails.
    pub(super) fn may_try_again(&mut self, prompt: &mut Prompt, code: &str, message: &str) -> bool {
        prompt.tries += 1;
        let again = prompt.tries < TRIES;
        if !again {
            self.end_in_turn(&prompt.call_id, AgentEnd::failed(code, message));
        }
        again
    }

    fn try_waiting_again(&mut self, code: &str, message: &str) {
        let mut prompts = std::mem::take(&mut self.host.prompts);
        prompts.retain_mut(|prompt| self.may_try_again(prompt, code, message));
        self.host.prompts = prompts;
    }

    fn fail_waiting(&mut self, code: &str, message: &str) {
        for prompt in std::mem::take(&mut self.host.prompts) {
            self.end_in_turn(&prompt.call_id, AgentEnd::failed(code, message));
        }
    }

    /// Whether what an input says is about the process that there is.
    pub(super) fn is_current(&self, runner: RunnerId) -> bool {
        self.host.process.live() == Some(runner)
    }
}

/// There is no program to start; the message says all of it.
const NOT_FOUND: &str = "agent_not_found";

impl Input {
    /// There was nothing that could be started.
    pub fn not_found(runner: RunnerId, message: String) -> Input {
        Input::Started { runner, outcome: Err(StartFailure { code: NOT_FOUND, gone: false, message }) }
    }
}
