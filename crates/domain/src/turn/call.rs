//! One tool call of the main AI: what kind of work it is and how far it has come.

use serde::Deserialize;

use super::answer::Answer;
use super::volume::Volume;
use crate::agent::{ToolCall as AgentCall, Update};
use crate::event::{PlacedUpdate, ToolCall};
use crate::text::visible;

pub(super) const COPILOT_AGENT: &str = "copilot_agent";
/// The same for any agent, which it names.
pub(super) const DELEGATE: &str = "delegate";
pub(super) const READ_EXTERNAL: &str = "read_file_external";

#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    pub call: ToolCall,
    pub work: Work,
    pub state: CallState,
    /// Of a delegation: the agent's text so far, its length in UTF-16 code units, and what else it did.
    pub text: String,
    pub length: u64,
    pub updates: Vec<PlacedUpdate>,
    pub(super) answer: Answer,
    pub(super) volume: Volume,
    /// Of a delegation: a person stopped this call.
    pub stopping: bool,
    /// Of a delegation: its host was asked to stop it. Not in the log, so a restarted server asks again.
    pub stop_sent: bool,
    /// Of a delegation: what was rejected last, unless the agent has gone on with something else since.
    rejected: Option<Rejected>,
    /// The agent's own calls that were not allowed, or were stopped while they waited for permission.
    refused: Vec<Refused>,
    /// What people said when they did not allow something, with the title of that; the agent has not been told yet.
    pub(super) reasons: Vec<(String, String)>,
    /// How often the agent was told such a thing, and what it was told last: what it works on now.
    pub round: u32,
    pub(super) follow_up: Option<String>,
}

/// So many are remembered of a call.
const MOST_REFUSED: usize = 256;
/// How a call of the agent's that was not allowed ends, whatever the agent says of it.
const DECLINED: &str = "declined";
/// How one ends that was stopped before anybody had answered.
const CANCELLED: &str = "cancelled";
/// Of logs of earlier versions, where a request that the policy decided names nobody.
const BY_POLICY: &str = "policy";

#[derive(Clone, PartialEq, Debug)]
struct Refused {
    agent_call: String,
    /// Who refused it, in the words of [`crate::event::PermissionResolved::by`].
    by: String,
}

#[derive(Clone, PartialEq, Debug)]
struct Rejected {
    title: String,
    /// The agent's own calls that there were by then: their ends say nothing of what came after.
    before: Vec<String>,
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
        /// None where the session's own agent is meant.
        agent: Option<String>,
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
    agent: Option<String>,
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
            volume: Volume::default(),
            stopping: false,
            stop_sent: false,
            rejected: None,
            refused: Vec::new(),
            reasons: Vec::new(),
            round: 0,
            follow_up: None,
        }
    }

    pub fn session_name(&self) -> Option<&str> {
        match &self.work {
            Work::Delegate { session_name, .. } => Some(session_name),
            _ => None,
        }
    }
}

impl Call {
    /// The agent that the call names.
    pub fn agent(&self) -> Option<&str> {
        match &self.work {
            Work::Delegate { agent, .. } => agent.as_deref(),
            _ => None,
        }
    }

    /// What a person or a policy rejected, where the agent has not gone on with something else since.
    pub fn rejected(&self) -> Option<&str> {
        self.rejected.as_ref().map(|rejected| rejected.title.as_str())
    }

    pub(super) fn reject(&mut self, title: &str, agent_call: Option<&String>, by: &str) {
        let calls = self.updates.iter().filter_map(|placed| match &placed.update {
            Update::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        });
        let before = calls.chain(agent_call.cloned()).collect();
        self.note_refused(agent_call, by);
        self.rejected = Some(Rejected { title: title.to_owned(), before });
    }

    /// The agent asked again, and may.
    pub(super) fn allow(&mut self, agent_call: Option<&String>) {
        self.refused.retain(|refused| Some(&refused.agent_call) != agent_call);
    }

    /// It was stopped, or its agent ended, before anybody had answered: it never began, whatever the agent says of it.
    pub(super) fn withdraw(&mut self, agent_call: Option<&String>, by: &str) {
        self.note_refused(agent_call, by);
    }

    fn note_refused(&mut self, agent_call: Option<&String>, by: &str) {
        let Some(agent_call) = agent_call.filter(|agent_call| self.refusal(agent_call).is_none()) else { return };
        if self.refused.len() == MOST_REFUSED {
            self.refused.remove(0);
        }
        self.refused.push(Refused { agent_call: agent_call.clone(), by: by.to_owned() });
    }

    fn refusal(&self, agent_call: &str) -> Option<&Refused> {
        self.refused.iter().find(|refused| refused.agent_call == agent_call)
    }

    /// A call that was not allowed has not failed, was not cut off, and is not done.
    pub(super) fn with_declined_status(&self, update: Update) -> Update {
        match update {
            Update::ToolCall(call) => Update::ToolCall(self.unperformed(&call).unwrap_or(call)),
            other => other,
        }
    }

    /// The agent's call as it is now that it was not allowed; none where it has ended, or was never reported.
    pub(super) fn to_decline(&self, agent_call: &str) -> Option<Update> {
        let open = self.updates.iter().find_map(|placed| match &placed.update {
            Update::ToolCall(call) if call.id == agent_call && call.is_open() => Some(call),
            _ => None,
        });
        open.and_then(|call| self.unperformed(call)).map(Update::ToolCall)
    }

    /// The call as what it is where it was refused or stopped before it began.
    fn unperformed(&self, call: &AgentCall) -> Option<AgentCall> {
        let Refused { by, .. } = self.refusal(&call.id)?;
        let status = if is_withdrawal(by) { CANCELLED } else { DECLINED };
        Some(AgentCall { status: Some(status.to_owned()), declined_by: Some(by.clone()), ..call.clone() })
    }

    /// What the agent is to be told when its prompt has ended.
    pub(super) fn owed_reasons(&self) -> Option<String> {
        match &self.reasons[..] {
            [] => None,
            [(_, only)] => Some(only.clone()),
            several => Some(several.iter().map(|(title, reason)| format!("{title}: {reason}")).collect::<Vec<_>>().join("\n\n")),
        }
    }

    /// The agent works on something new: how that ends is not decided by what was rejected before.
    pub(super) fn note_follow_up(&mut self, update: &Update) {
        if let Update::FollowUp { text } = update {
            self.reasons.clear();
            self.rejected = None;
            self.round += 1;
            self.follow_up = Some(text.clone());
        }
    }

    /// A call of the agent's that was begun after a rejection and is completed: it has found another way.
    pub(super) fn note_rejection(&mut self, update: &Update) {
        if let Update::Denied { title, agent_call, by, .. } = update {
            return self.reject(title, agent_call.as_ref(), if by.is_empty() { BY_POLICY } else { by });
        }
        if let (Some(rejected), Update::ToolCall(call)) = (&self.rejected, update)
            && call.status.as_deref() == Some("completed")
            && !rejected.before.contains(&call.id)
        {
            self.rejected = None;
        }
    }
}

/// Nobody answered: the call was stopped, or its agent is gone.
pub(super) fn is_withdrawal(by: &str) -> bool {
    matches!(by, "cancel" | "agent_gone")
}

impl Work {
    fn of(call: &ToolCall) -> Work {
        match call.name.as_str() {
            READ_EXTERNAL => Work::Confirm,
            COPILOT_AGENT | DELEGATE => Work::delegate(call),
            _ => Work::Plain,
        }
    }

    fn delegate(call: &ToolCall) -> Work {
        let name = &call.name;
        let DelegateArguments { prompt, session_name, agent } = match serde_json::from_str(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => {
                let fields = if name == DELEGATE { "`agent`, `prompt` and `session_name`" } else { "`prompt` and `session_name`" };
                return Work::Invalid(format!("the arguments of {name} must be a JSON object with {fields}: {error}"));
            }
        };
        let (session_name, agent) = (session_name.trim(), agent.filter(|_| name == DELEGATE));
        if prompt.trim().is_empty() {
            return Work::Invalid(format!("`prompt` of {name} is empty: say what to do"));
        }
        let is_plain = visible(session_name) == session_name && !session_name.chars().any(char::is_control);
        if session_name.is_empty() || session_name.chars().count() > 80 || !is_plain {
            return Work::Invalid(format!("`session_name` of {name} must be a short name of 1 to 80 characters"));
        }
        if name == DELEGATE && agent.as_ref().is_none_or(|agent| agent.trim().is_empty()) {
            return Work::Invalid(format!("`agent` of {name} is missing: name the agent that is to work on it"));
        }
        Work::Delegate { agent, session_name: session_name.to_owned(), prompt }
    }
}
