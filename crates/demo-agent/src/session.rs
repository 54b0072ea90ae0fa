//! A loaded session: its settings, its memory and its file. Knows nothing of how a turn works.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

use crate::archive::{Log, Record};
use crate::gate::Gate;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Agent,
    Plan,
}

impl Mode {
    const ALL: [(Mode, &'static str, &'static str, &'static str); 2] = [
        (Mode::Agent, "agent", "Agent", "Does what it is asked, with your permission"),
        (Mode::Plan, "plan", "Plan", "Says what it would do and touches nothing"),
    ];

    pub(crate) fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().find(|entry| entry.1 == id).map(|entry| entry.0)
    }

    pub(crate) fn id(self) -> &'static str {
        match self {
            Mode::Agent => "agent",
            Mode::Plan => "plan",
        }
    }
}

/// How fast the agent talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Fast,
    Normal,
    Slow,
}

impl Pace {
    const ALL: [(Pace, &'static str, &'static str); 3] =
        [(Pace::Fast, "fast", "Fast"), (Pace::Normal, "normal", "Normal"), (Pace::Slow, "slow", "Slow")];

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().find(|entry| entry.1 == id).map(|entry| entry.0)
    }

    pub fn id(self) -> &'static str {
        match self {
            Pace::Fast => "fast",
            Pace::Normal => "normal",
            Pace::Slow => "slow",
        }
    }

    /// The pause before each word.
    pub fn per_word(self) -> Duration {
        match self {
            Pace::Fast => Duration::ZERO,
            Pace::Normal => Duration::from_millis(15),
            Pace::Slow => Duration::from_millis(120),
        }
    }
}

pub(crate) struct Session {
    pub id: String,
    /// Canonical, so that paths can be compared with it.
    pub cwd: PathBuf,
    state: Mutex<State>,
    log: Mutex<Log>,
}

struct State {
    mode: Mode,
    pace: Pace,
    /// What the person asked so far, oldest first.
    prompts: Vec<String>,
    /// Bytes said by either side: what the usage is estimated from.
    bytes: u64,
    /// Kinds of tool calls that need not ask again. In memory only: a restart asks anew.
    allowed: HashSet<&'static str>,
    running: Option<Running>,
}

struct Running {
    request: Value,
    gate: Arc<Gate>,
}

impl Session {
    pub(crate) fn new(id: String, cwd: PathBuf, pace: Pace, log: Log) -> Self {
        Self {
            id,
            cwd,
            state: Mutex::new(State { mode: Mode::Agent, pace, prompts: Vec::new(), bytes: 0, allowed: HashSet::new(), running: None }),
            log: Mutex::new(log),
        }
    }

    /// Takes settings and memory from what the file holds.
    pub(crate) fn remember(&self, records: &[Record]) {
        let mut state = self.state();
        for record in records {
            match record {
                Record::Mode { mode } => state.mode = Mode::from_id(mode).unwrap_or(state.mode),
                Record::Pace { pace } => state.pace = Pace::from_id(pace).unwrap_or(state.pace),
                Record::Prompt { text, .. } => {
                    state.bytes += text.len() as u64;
                    state.prompts.push(text.clone());
                }
                Record::Text { text } => state.bytes += text.len() as u64,
                _ => {}
            }
        }
    }

    /// Writes a record down. A failing disk must not end a conversation, so it is only complained about.
    pub(crate) fn record(&self, record: &Record) {
        if let Record::Text { text } = record {
            self.state().bytes += text.len() as u64;
        }
        let written = self.log.lock().expect("no holder of the log panics").append(record);
        if let Err(error) = written {
            eprintln!("session {} cannot be written down: {error}", self.id);
        }
    }

    /// Remembers a prompt and says how many came before it.
    pub(crate) fn add_prompt(&self, text: &str) -> usize {
        let mut state = self.state();
        state.bytes += text.len() as u64;
        state.prompts.push(text.to_owned());
        state.prompts.len() - 1
    }

    /// What was asked before the prompt that is being worked on.
    pub(crate) fn earlier_prompts(&self) -> Vec<String> {
        let state = self.state();
        let before = state.prompts.len().saturating_sub(1);
        state.prompts[..before].to_vec()
    }

    /// Claims the session for a prompt; `None` while another one runs.
    pub(crate) fn begin(&self, request: &Value) -> Option<Arc<Gate>> {
        let mut state = self.state();
        if state.running.is_some() {
            return None;
        }
        let gate = Arc::new(Gate::default());
        state.running = Some(Running { request: request.clone(), gate: Arc::clone(&gate) });
        Some(gate)
    }

    pub(crate) fn end(&self) {
        self.state().running = None;
    }

    pub(crate) fn cancel(&self) {
        if let Some(running) = &self.state().running {
            running.gate.cancel();
        }
    }

    /// Cancels the running prompt if it came with this request id.
    pub(crate) fn cancel_request(&self, request: &Value) {
        if let Some(running) = &self.state().running
            && running.request == *request
        {
            running.gate.cancel();
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        self.state().mode
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.state().mode = mode;
        self.record(&Record::Mode { mode: mode.id().into() });
    }

    pub(crate) fn pace(&self) -> Pace {
        self.state().pace
    }

    pub(crate) fn set_pace(&self, pace: Pace) {
        self.state().pace = pace;
        self.record(&Record::Pace { pace: pace.id().into() });
    }

    pub(crate) fn is_allowed(&self, kind: &'static str) -> bool {
        self.state().allowed.contains(kind)
    }

    pub(crate) fn allow_always(&self, kind: &'static str) {
        self.state().allowed.insert(kind);
    }

    /// An estimate in tokens: there is no model whose count could be told.
    pub(crate) fn usage(&self) -> Value {
        json!({ "sessionUpdate": "usage_update", "used": self.state().bytes / 4, "size": 128_000 })
    }

    /// The `modes` and `configOptions` of a setup response.
    pub(crate) fn settings(&self) -> Value {
        let modes: Vec<Value> =
            Mode::ALL.iter().map(|(_, id, name, about)| json!({ "id": id, "name": name, "description": about })).collect();
        json!({
            "modes": { "currentModeId": self.mode().id(), "availableModes": modes },
            "configOptions": self.config_options(),
        })
    }

    pub(crate) fn config_options(&self) -> Value {
        let modes: Vec<Value> =
            Mode::ALL.iter().map(|(_, id, name, about)| json!({ "value": id, "name": name, "description": about })).collect();
        let paces: Vec<Value> = Pace::ALL.iter().map(|(_, id, name)| json!({ "value": id, "name": name })).collect();
        json!([
            {
                "id": "mode", "name": "Mode", "category": "mode", "type": "select",
                "currentValue": self.mode().id(), "options": modes,
            },
            {
                "id": "pace", "name": "Pace", "description": "How fast the agent talks", "type": "select",
                "currentValue": self.pace().id(), "options": paces,
            },
        ])
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of the state panics")
    }
}
