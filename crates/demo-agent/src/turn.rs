//! One prompt, from the first update to the stop reason. Runs on its own thread and waits only at its gate.

mod command;
mod files;
mod prompt;
mod talk;
mod tool_call;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) use command::ShellEvent;
pub(crate) use prompt::Prompt;

use crate::archive::Record;
use crate::gate::{Cancelled, Gate};
use crate::instruction::{self, Instruction};
use crate::peer::Peer;
use crate::session::{Mode, Session};

const TITLE_CHARS: usize = 80;

/// Why a turn ends before its last step.
#[derive(Debug, PartialEq)]
enum Stop {
    Cancelled,
    /// The person said no; what was to follow may depend on it.
    Declined,
}

impl From<Cancelled> for Stop {
    fn from(_: Cancelled) -> Self {
        Stop::Cancelled
    }
}

pub(crate) struct Turn<'a> {
    session: &'a Session,
    peer: &'a Peer,
    gate: &'a Arc<Gate>,
    /// The tool call that has not ended yet.
    open_call: Option<String>,
    /// The text of this turn so far ends in a word, so the next text needs a new paragraph.
    has_spoken: bool,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(session: &'a Session, peer: &'a Peer, gate: &'a Arc<Gate>) -> Self {
        Self { session, peer, gate, open_call: None, has_spoken: false }
    }

    /// Works on the prompt and returns the stop reason.
    pub(crate) fn run(mut self, prompt: &Prompt) -> &'static str {
        self.session.record(&Record::Prompt { text: prompt.text.clone(), at: Timestamp::now() });
        if self.session.add_prompt(&prompt.text) == 0 {
            self.give_title(prompt);
        }
        self.update(&self.session.usage());
        let stop_reason = match self.work(prompt) {
            Ok(()) | Err(Stop::Declined) => "end_turn",
            Err(Stop::Cancelled) => {
                self.close_call();
                "cancelled"
            }
        };
        self.update(&self.session.usage());
        self.session.record(&Record::End { stop_reason: stop_reason.into(), at: Timestamp::now() });
        stop_reason
    }

    fn work(&mut self, prompt: &Prompt) -> Result<(), Stop> {
        let steps = instruction::parse(&prompt.words);
        let planning = self.session.mode() == Mode::Plan;
        let mut plan = Plan::new(&steps);
        self.update(&plan.to_json());
        self.think(&talk::first_thought(&steps))?;
        if !prompt.attachments.is_empty() {
            self.say(&talk::attached(&prompt.attachments))?;
        }
        if planning {
            return self.say(&talk::intentions(&steps));
        }
        for (at, step) in steps.iter().enumerate() {
            plan.start(at);
            self.update(&plan.to_json());
            self.step(step, prompt, steps.len() > 1)?;
            plan.complete(at);
            self.update(&plan.to_json());
        }
        Ok(())
    }

    fn step(&mut self, step: &Instruction, prompt: &Prompt, among_others: bool) -> Result<(), Stop> {
        match step {
            Instruction::Create { name, content } => self.create(name, content),
            Instruction::Append { name, content } => self.append(name, content),
            Instruction::Replace { name, from, to } => self.replace(name, from, to),
            Instruction::Delete { name } => self.delete(name),
            Instruction::Read { name } => self.read(name.as_deref(), &prompt.attachments),
            Instruction::List { dir } => self.list(dir.as_deref().unwrap_or(".")),
            Instruction::Run { command } => self.command(command),
            Instruction::Count { to } => self.recite(*to, |number| number.to_string()),
            Instruction::Words { count } => self.recite(*count, |number| format!("word{number}")),
            Instruction::Think { about } => {
                self.think(&talk::thoughts_about(about))?;
                self.say(&format!("I thought about {about}, as far as one can without a model."))
            }
            Instruction::Say { text } => self.say(text),
            Instruction::Recall(which) => self.say(&talk::recalled(*which, &self.session.earlier_prompts())),
            Instruction::Remark { text } if among_others => self.say(&talk::not_understood(text)),
            Instruction::Remark { text } => self.say(&talk::introduction(text)),
        }
    }

    fn give_title(&self, prompt: &Prompt) {
        let line = prompt.words.lines().map(str::trim).find(|line| !line.is_empty());
        let title: String = line.unwrap_or("Untitled").chars().take(TITLE_CHARS).collect();
        let now = Timestamp::now().to_string();
        self.update(&json!({ "sessionUpdate": "session_info_update", "title": title, "updatedAt": now }));
        self.session.record(&Record::Title { title });
    }

    /// Says something word by word, at the session's pace.
    fn say(&mut self, text: &str) -> Result<(), Stop> {
        self.start_paragraph();
        for word in text.split_inclusive(char::is_whitespace) {
            self.gate.pause(self.session.pace().per_word())?;
            self.chunk(word);
        }
        Ok(())
    }

    /// Says something line by line: long texts that nobody composes word by word.
    fn quote(&mut self, text: &str) -> Result<(), Stop> {
        self.start_paragraph();
        for line in text.split_inclusive('\n') {
            self.gate.pause(self.session.pace().per_word())?;
            self.chunk(line);
        }
        Ok(())
    }

    fn recite(&mut self, count: u64, word: impl Fn(u64) -> String) -> Result<(), Stop> {
        self.start_paragraph();
        for number in 1..=count {
            self.gate.pause(self.session.pace().per_word())?;
            let space = if number < count { " " } else { "" };
            self.chunk(&format!("{}{space}", word(number)));
        }
        Ok(())
    }

    fn start_paragraph(&mut self) {
        if std::mem::replace(&mut self.has_spoken, true) {
            self.chunk("\n\n");
        }
    }

    fn chunk(&self, text: &str) {
        self.session.record(&Record::Text { text: text.into() });
        self.update(&json!({
            "sessionUpdate": "agent_message_chunk",
            "content": { "type": "text", "text": text },
        }));
    }

    fn think(&self, text: &str) -> Result<(), Stop> {
        for word in text.split_inclusive(char::is_whitespace) {
            self.gate.pause(self.session.pace().per_word())?;
            self.update(&json!({
                "sessionUpdate": "agent_thought_chunk",
                "content": { "type": "text", "text": word },
            }));
        }
        Ok(())
    }

    fn update(&self, update: &Value) {
        self.peer.update(&self.session.id, update);
    }
}

/// The plan as shown: each update replaces the one before.
struct Plan {
    entries: Vec<(String, &'static str)>,
}

impl Plan {
    fn new(steps: &[Instruction]) -> Self {
        let entries = steps.iter().map(|step| (step.describe(), "pending"));
        Self { entries: entries.collect() }
    }

    fn start(&mut self, at: usize) {
        self.entries[at].1 = "in_progress";
    }

    fn complete(&mut self, at: usize) {
        self.entries[at].1 = "completed";
    }

    fn to_json(&self) -> Value {
        let entries: Vec<Value> =
            self.entries.iter().map(|(content, status)| json!({ "content": content, "priority": "medium", "status": status })).collect();
        json!({ "sessionUpdate": "plan", "entries": entries })
    }
}
