//! A model of runners: the journal of both directions, which writes went through, and the agent's process.
//!
//! A runner does not know what the lines mean.

use std::collections::BTreeSet;

use domain::agent::{Demand, Fault};
use domain::ids::{PermissionId, RunnerId};
use uuid::Uuid;

/// One line of an agent's.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "few live at a time")]
pub enum Line {
    /// `call`: the prompt that it was written for, if any ran.
    Text {
        session: String,
        call: Option<String>,
        text: String,
    },
    Tool {
        session: String,
        call: Option<String>,
        id: String,
        title: String,
        completed: bool,
    },
    Title {
        session: String,
        title: String,
    },
    Demand {
        session: String,
        rpc_id: String,
        demand: Demand,
    },
    Withdrawn {
        rpc_id: String,
    },
    Answered {
        call: String,
        round: u32,
        result: Result<String, Fault>,
    },
    Dropped,
}

#[derive(Clone, Debug)]
pub enum Record {
    /// What went to the agent.
    In(Write),
    /// The messages of one line.
    Out(Vec<Line>),
}

#[derive(Clone, Debug)]
pub enum Write {
    Prompt { call: String, round: u32, session: String },
    Cancel { call: String },
    Reply { rpc_id: String },
}

/// How far a start has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    Pending,
    Up,
}

#[derive(Clone, Debug)]
pub struct Runner {
    pub id: RunnerId,
    pub label: String,
    pub agent: String,
    pub start: Start,
    /// Its directory, with the journal, is there.
    pub exists: bool,
    pub journal: Vec<Record>,
    /// Records up to here can never be read again.
    pub trimmed: u64,
    pub writes: BTreeSet<Uuid>,
    /// None once it has ended.
    pub process: Option<Process>,
}

/// The agent's process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// It read credentials when it started.
    pub logged_in: bool,
    pub sessions: Vec<OpenSession>,
    pub works: Vec<Work>,
    pub openings: Vec<Opening>,
    pub demands: Vec<OpenDemand>,
    /// Everything that it asked for.
    pub asked: Vec<OpenDemand>,
    pub next_rpc: u64,
    /// It was told to end.
    pub ending: bool,
}

#[derive(Clone, Debug)]
pub struct OpenSession {
    pub id: String,
    /// The agent no longer serves it until it is opened again: it broke off this call by itself.
    pub cut: Option<String>,
}

/// A prompt that the process has.
#[derive(Clone, Debug)]
pub struct Work {
    pub call: String,
    pub round: u32,
    pub session: String,
    pub cancelled: bool,
    /// It does not stop when told.
    pub deaf: bool,
    /// The agent has asked for something in it.
    pub asked: bool,
    /// Its own tool calls that are not completed.
    pub tools: Vec<String>,
}

/// A session that a server wants opened and the agent has not answered yet.
#[derive(Clone, Debug)]
pub struct Opening {
    pub server: u64,
    pub task: u64,
    pub name: String,
    /// The session to bring back.
    pub restore: Option<String>,
}

#[derive(Clone, Debug)]
pub struct OpenDemand {
    pub id: PermissionId,
    pub rpc_id: String,
    pub call: Option<String>,
    pub demand: Demand,
}

/// What became of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrote {
    /// It is in the journal. `again`: it had been there already, and the agent got nothing.
    Written { again: bool },
    /// The process has ended; `held`: the journal holds the write, or cannot tell.
    Gone { held: bool },
}

impl Runner {
    pub fn new(id: RunnerId, label: String, agent: String, logged_in: bool) -> Runner {
        let process = Some(Process { logged_in, ..Process::default() });
        let (start, writes) = (Start::Pending, BTreeSet::new());
        Runner { id, label, agent, start, exists: true, journal: Vec::new(), trimmed: 0, writes, process }
    }

    pub fn is_alive(&self) -> bool {
        self.process.is_some()
    }

    pub fn end(&self) -> u64 {
        self.journal.len() as u64
    }

    pub fn record(&self, seq: u64) -> Option<&Record> {
        self.journal.get((seq as usize).checked_sub(1)?)
    }

    pub fn say(&mut self, lines: Vec<Line>) -> u64 {
        self.journal.push(Record::Out(lines));
        self.end()
    }

    /// Writes a line to the agent, once for each id.
    pub fn write(&mut self, id: Uuid, write: Write) -> Wrote {
        if self.process.is_none() {
            return Wrote::Gone { held: !self.exists || self.writes.contains(&id) };
        }
        let again = !self.writes.insert(id);
        if !again {
            self.journal.push(Record::In(write));
        }
        Wrote::Written { again }
    }

    /// The prompts that the journal holds: of which call, and which of its rounds.
    pub fn written(&self) -> BTreeSet<(String, u32)> {
        let kept = self.journal.iter().skip(self.trimmed as usize);
        let prompts = kept.filter_map(|record| match record {
            Record::In(Write::Prompt { call, round, .. }) => Some((call.clone(), *round)),
            _ => None,
        });
        prompts.collect()
    }

    /// The next lines from `position` on, at most `most` records: the new position, and each line with its place.
    pub fn read(&self, position: u64, most: u64) -> (u64, Vec<(u64, u32, &Line)>) {
        let to = self.end().min(position + most);
        let mut lines = Vec::new();
        for seq in position + 1..=to {
            if let Some(Record::Out(messages)) = self.record(seq) {
                lines.extend(messages.iter().enumerate().map(|(index, line)| (seq, index as u32, line)));
            }
        }
        (to, lines)
    }
}

impl Process {
    pub fn session(&mut self, id: &str) -> Option<&mut OpenSession> {
        self.sessions.iter_mut().find(|session| session.id == id)
    }

    pub fn serves(&self, id: &str) -> bool {
        self.sessions.iter().any(|session| session.id == id && session.cut.is_none())
    }

    /// It is bringing back a session for a server that may be gone.
    pub fn is_restoring(&self) -> bool {
        self.openings.iter().any(|opening| opening.restore.is_some())
    }
}
