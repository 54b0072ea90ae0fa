//! One tool call of the main AI: what kind of work it is and how far it has come.

use serde::Deserialize;

use super::answer::Answer;
use crate::event::{PlacedUpdate, ToolCall};

pub const DELEGATE: &str = "copilot_agent";
pub const READ_EXTERNAL: &str = "read_file_external";

#[derive(Clone, Debug)]
pub struct Call {
    pub call: ToolCall,
    pub work: Work,
    pub state: CallState,
    /// Of a delegation: the agent's text so far, its length in UTF-16 code units, and what else it did.
    pub text: String,
    pub length: u64,
    pub updates: Vec<PlacedUpdate>,
    pub(super) answer: Answer,
    /// Of a delegation: a person stopped this call.
    pub stopping: bool,
    /// Of a delegation: this server told its agent to stop. Not in the log, so a restarted server tells it again.
    pub told: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallState {
    /// Not begun: an earlier call to the same agent session comes first.
    Waiting,
    /// A person must agree first.
    Asking,
    Running,
    Done,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    Plain,
    /// Runs only when a person agrees.
    Confirm,
    Delegate {
        session_name: String,
        prompt: String,
    },
    /// The model's arguments make no sense; the text says why, for the model to read.
    Invalid(String),
}

#[derive(Deserialize)]
struct DelegateArguments {
    prompt: String,
    session_name: String,
}

impl Call {
    pub(super) fn new(call: ToolCall) -> Call {
        let work = Work::of(&call);
        Call {
            call,
            work,
            state: CallState::Waiting,
            text: String::new(),
            length: 0,
            updates: Vec::new(),
            answer: Answer::default(),
            stopping: false,
            told: false,
        }
    }

    pub fn session_name(&self) -> Option<&str> {
        match &self.work {
            Work::Delegate { session_name, .. } => Some(session_name),
            _ => None,
        }
    }
}

impl Work {
    fn of(call: &ToolCall) -> Work {
        match call.name.as_str() {
            READ_EXTERNAL => Work::Confirm,
            DELEGATE => match serde_json::from_str::<DelegateArguments>(&call.arguments) {
                Err(error) => {
                    Work::Invalid(format!("the arguments of {DELEGATE} must be a JSON object with `prompt` and `session_name`: {error}"))
                }
                Ok(DelegateArguments { prompt, session_name }) => Work::delegate(prompt, session_name.trim()),
            },
            _ => Work::Plain,
        }
    }

    fn delegate(prompt: String, session_name: &str) -> Work {
        if prompt.trim().is_empty() {
            return Work::Invalid(format!("`prompt` of {DELEGATE} is empty: say what to do"));
        }
        if session_name.is_empty() || session_name.chars().count() > 80 || session_name.chars().any(char::is_control) {
            return Work::Invalid(format!("`session_name` of {DELEGATE} must be a short name of 1 to 80 characters"));
        }
        Work::Delegate { session_name: session_name.to_owned(), prompt }
    }
}
