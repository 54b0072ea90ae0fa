//! What an agent says, and what becomes of it.

use super::{Described, Keep, NamedState, Process, Signal, Step};
use crate::agent::Update;
use crate::ids::RunnerId;
use crate::turn::Input as TurnInput;

impl Step<'_> {
    /// One batch is stored as a whole: what its lines became, and the cursor that says they are done with.
    pub(super) fn batch(&mut self, runner: RunnerId, cursor: u64, signals: Vec<Signal>) {
        if !self.is_current(runner) {
            return;
        }
        self.host.cursor = cursor;
        self.keep(Keep::Cursor { runner, cursor });
        for signal in signals {
            self.signal(runner, signal);
        }
    }

    fn signal(&mut self, runner: RunnerId, signal: Signal) {
        match signal {
            Signal::Text { agent_session, text } => self.text(&agent_session, text),
            Signal::Update { agent_session, update, described } => self.update(&agent_session, update, described),
            Signal::Demand { agent_session, place, rpc_id, demand } => self.demanded(runner, &agent_session, place, rpc_id, demand),
            Signal::Withdrawn { rpc_id } => self.withdrawn(&rpc_id),
            Signal::Answered { call_id, round, result } => self.answered(&call_id, round, result),
            Signal::LineDropped { bytes } => {
                let text = format!("A line of {bytes} bytes from {} was too long and was dropped.", self.title());
                self.notice_at_will("line_dropped", "warning", "Output too large", text, None);
            }
            Signal::Notice(text) => self.notice_at_will("runner", "warning", "The agent's runner says", text, None),
            Signal::Gone { text } => self.gone(runner, &text),
        }
    }

    fn text(&mut self, agent_session: &str, text: String) {
        if let Some(prompt) = self.running_in(agent_session) {
            let call_id = prompt.call_id.clone();
            return self.tell_turn(TurnInput::AgentText { call_id, text });
        }
        // What comes from a session that nobody opened stays in the journal.
        if let Some(name) = self.name_of_session(agent_session).map(str::to_owned) {
            self.notice_at_will("late_output", "info", "The agent wrote after it had finished", text, Some(&name));
        }
    }

    fn update(&mut self, agent_session: &str, update: Update, described: Option<Described>) {
        let Some(name) = self.name_of_session(agent_session).map(str::to_owned) else {
            return self.host.reports.note(agent_session, &update, described);
        };
        self.note_report(&name, &update, described);
        let Some(call_id) = self.running_in(agent_session).map(|prompt| prompt.call_id.clone()) else { return };
        if let Update::ToolCall(tool_call) = &update {
            self.notice_unasked(&name, &call_id, tool_call);
        }
        self.tell_turn(TurnInput::AgentUpdate { call_id, update });
    }

    /// What a restored session is put back to is stored.
    fn note_report(&mut self, name: &str, update: &Update, described: Option<Described>) {
        let Some(named) = self.host.sessions.get_mut(name) else { return };
        let mut turned_on = false;
        if let (NamedState::Open { allows_all, .. }, Some(described)) = (&mut named.state, &described) {
            turned_on = described.allows_all && !*allows_all;
            *allows_all = described.allows_all;
            named.unguarded &= described.allows_all;
        }
        let Some(record) = named.record.as_mut() else { return };
        if super::watch::report(record, update, described) {
            let record = record.clone();
            self.keep(Keep::Session(record));
        }
        if turned_on {
            self.allow_all_turned_on(name);
        }
    }

    /// Somebody, or the agent itself, has turned "allow all" on: then nobody would be asked, whatever the policy says.
    fn allow_all_turned_on(&mut self, name: &str) {
        let chosen = self.host.sessions.get(name).and_then(|named| named.record.as_ref()).is_some_and(|record| record.allow_all);
        if self.context.policy.is_automatic() || chosen {
            return;
        }
        let text = "The agent was set to act without asking. It is set back: this session's policy decides.".to_owned();
        self.notice("allow_all_off", "warning", "\"Allow all\" turned off", text, Some(name));
        self.align_allow_all();
    }

    /// It is ended at once, whatever it works on: there is no room for what it asks.
    pub(super) fn overwhelmed(&mut self) {
        if let Process::Up { runner, .. } = self.host.process {
            self.keep(Keep::RunnerEnding { runner });
            self.host.process = Process::Ending { runner };
            self.act(super::Act::End { runner });
        }
    }
}
