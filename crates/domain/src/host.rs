//! The host machine: one agent process, its named sessions, the prompts on their way through it and the replies that we owe it.
//!
//! Like the turn machine it decides without I/O, clock or randomness: [`Host::step`] takes an input and returns effects. What an effect
//! starts outside is started after the commit that holds what was decided with it. A session has a host for each agent that works in it.

mod debt;
mod effect;
mod grant;
mod guarded;
mod input;
mod process;
pub(crate) mod prompt;
mod record;
mod restore;
mod session;
mod signal;
#[cfg(test)]
mod tests;
mod unasked;
mod watch;

use std::collections::BTreeMap;

use crate::event::{Event, Notice};
use crate::ids::RunnerId;
use crate::json::cut_text;
use crate::machine::Context;
use crate::text::visible;
use crate::turn;

pub use debt::{Debt, Stage};
pub use effect::{Act, Effect, Keep, Timer};
pub use input::{Input, Opened, OptionOutcome, Prepared, Signal, StartFailure, Started, Told, WriteOutcome};
pub use process::Process;
pub use prompt::{Prompt, PromptState};
pub use record::{AgentSession, DebtRecord, Described, How};
pub use restore::{Evidence, Found};
pub use session::{Named, NamedState};

use watch::Reports;

/// How many agents may end before a prompt could reach one of them.
const TRIES: u32 = 3;
/// So many notices people get of what an agent can bring about at will, for each prompt, and so much of each.
const MOST_TOLD: u32 = 50;
const NOTICE_BYTES: usize = 16 * 1024;

#[derive(Clone, Debug)]
pub struct Host {
    /// The agent's id in the catalogue.
    agent: String,
    process: Process,
    /// By name. A session is in the process only where its state says so.
    sessions: BTreeMap<String, Named>,
    /// Those that have not ended, in the order they came.
    prompts: Vec<Prompt>,
    /// What the agent asked of us and has no answer to yet, in the order it came.
    debts: Vec<Debt>,
    /// The agent wants a login before it works: prompts wait until somebody has logged in.
    needs_login: bool,
    /// What the agent said of sessions that we cannot name yet.
    reports: Reports,
    /// The agent's sessions that it is being told something of: options, or to ask. Once for each that it has not answered.
    telling: Vec<String>,
    /// The last journal record whose meaning is stored, or about to be with the effects of this step.
    cursor: u64,
    /// It can close a session and bring it back.
    can_reopen: bool,
    /// The process that is starting has ended: what its start says is heard later.
    ended_early: Option<String>,
    /// How often people were told something that an agent can bring about at will, since the last prompt went out.
    told: u32,
}

impl Host {
    pub fn new(agent: impl Into<String>) -> Host {
        Host {
            agent: agent.into(),
            process: Process::Down,
            sessions: BTreeMap::new(),
            prompts: Vec::new(),
            debts: Vec::new(),
            needs_login: false,
            reports: Reports::default(),
            telling: Vec::new(),
            cursor: 0,
            can_reopen: false,
            ended_early: None,
            told: 0,
        }
    }

    /// A session that is stored.
    pub(crate) fn know(&mut self, session: AgentSession) {
        self.sessions.insert(session.name.clone(), Named { record: Some(session), ..Named::default() });
    }

    pub fn agent(&self) -> &str {
        &self.agent
    }

    pub fn process(&self) -> &Process {
        &self.process
    }

    pub fn runner(&self) -> Option<RunnerId> {
        self.process.runner()
    }

    pub fn sessions(&self) -> impl Iterator<Item = (&str, &Named)> {
        self.sessions.iter().map(|(name, named)| (name.as_str(), named))
    }

    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    pub fn debts(&self) -> &[Debt] {
        &self.debts
    }

    pub fn debt(&self, id: crate::ids::PermissionId) -> Option<&Debt> {
        self.debts.iter().find(|debt| debt.id == id)
    }

    /// The prompt that an answer of the agent's belongs to: its call and its round.
    pub fn prompt_of_key(&self, key: &str) -> Option<(&str, u32)> {
        let found = self.prompts.iter().find(|prompt| prompt.turn_id.prompt_key(&prompt.call_id, prompt.round) == key)?;
        Some((&found.call_id, found.round))
    }

    pub fn has_call(&self, call_id: &str) -> bool {
        self.prompts.iter().any(|prompt| prompt.call_id == call_id)
    }

    /// Whether the agent has a prompt, or may have one.
    pub fn is_busy(&self) -> bool {
        self.prompts.iter().any(Prompt::is_out)
    }

    /// Up, and nothing needs it.
    pub fn is_idle(&self) -> bool {
        matches!(self.process, Process::Up { .. }) && self.prompts.is_empty()
    }

    /// Decides what follows from `input`. `turn` is the turn's state, to look at.
    pub fn step(&mut self, input: Input, turn: &turn::Session, context: &Context<'_>) -> Vec<Effect> {
        let mut step = Step { host: self, turn, context, effects: Vec::new() };
        step.take(input);
        step.advance();
        step.effects
    }
}

/// One step under way.
struct Step<'a> {
    host: &'a mut Host,
    turn: &'a turn::Session,
    context: &'a Context<'a>,
    effects: Vec<Effect>,
}

impl Step<'_> {
    fn take(&mut self, input: Input) {
        match input {
            Input::Prompt { turn_id, call_id, round, name, text } => self.prompt(turn_id, call_id, round, name, text),
            Input::Stop { call_id } => self.stop(&call_id),
            Input::Decided { request_id, decision, content } => self.decided(request_id, decision, content),
            Input::Started { runner, outcome } => self.started(runner, outcome),
            Input::Batch { runner, cursor, signals } => self.batch(runner, cursor, signals),
            Input::SessionOpened { runner, name, outcome } => self.session_opened(runner, &name, outcome),
            Input::Written { call_id, round, outcome } => self.written(&call_id, round, outcome),
            Input::Cleared { runner } => self.cleared(runner),
            Input::Prepared { id, outcome } => self.prepared(id, *outcome),
            Input::Done { id, reply, update } => self.done(id, reply, update.map(|update| *update)),
            Input::ReplySent { id } => self.reply_sent(id),
            Input::TerminalChanged { call_id, terminal_id, update, running } => {
                self.terminal_changed(call_id, terminal_id, *update, running);
            }
            Input::StopOverdue { call_id } => self.stop_overdue(&call_id),
            Input::SetOptions { name, set, allow_all, shown } => self.set_options(&name, set, allow_all, shown),
            Input::OptionsSet { told, outcomes, described } => self.options_set(&told, outcomes, described),
            Input::Forbidden { told, asks } => self.forbidden(&told, asks),
            Input::PolicyChanged { by_person } => self.policy_changed(by_person),
            Input::ForgetAlways => self.forget_always(),
            Input::LoggedIn => self.host.needs_login = false,
            Input::Retire => self.retire(),
            Input::Restored(found) => self.restored(*found),
            Input::ForgetSession { name } => self.forget_session(name),
        }
    }

    /// Does whatever has become possible: each thing that it begins changes a state, so nothing is begun twice.
    fn advance(&mut self) {
        self.refuse_unasked();
        self.advance_process();
        self.advance_debts();
        self.advance_options();
        self.advance_prompts();
    }

    fn act(&mut self, act: Act) {
        self.effects.push(Effect::Act(act));
    }

    fn keep(&mut self, keep: Keep) {
        self.effects.push(Effect::Keep(keep));
    }

    fn tell_turn(&mut self, input: turn::Input) {
        self.effects.push(Effect::Turn(input));
    }

    /// Of something that an agent can bring about as often as it likes.
    fn notice_at_will(&mut self, code: &str, level: &str, title: &str, text: String, session_name: Option<&str>) {
        self.host.told = self.host.told.saturating_add(1);
        match self.host.told {
            ..MOST_TOLD => self.notice(code, level, title, text, session_name),
            MOST_TOLD => {
                let text = format!("{} is the cause of more such notices, which are not shown.", self.title());
                self.notice(code, level, title, text, session_name);
            }
            _ => {}
        }
    }

    fn notice(&mut self, code: &str, level: &str, title: &str, text: String, session_name: Option<&str>) {
        let text = if text.len() <= NOTICE_BYTES { text } else { cut_text(&text, NOTICE_BYTES) };
        let notice = Notice {
            code: code.to_owned(),
            level: level.to_owned(),
            title: title.to_owned(),
            text: visible(&text).into_owned(),
            session_name: session_name.map(str::to_owned),
        };
        self.effects.push(Effect::Append(Event::Notice(notice)));
    }

    /// The agent's own name.
    fn title(&self) -> String {
        self.context.agent_title(&self.host.agent)
    }
}
