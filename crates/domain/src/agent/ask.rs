//! What an agent asks before it goes on, and what is told of it when nobody had to answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{AskedChange, Location, PermissionOption, Run, Shown, Update};
pub use crate::fields::{DIRECTORY_FIELDS, FILE_FIELDS};
use crate::ids::RuleId;
use crate::json::value_bytes;
use crate::rule::{Decider, Effect, Scope};
use crate::text::clip;

/// How much of a command and how many files are told of what was allowed by itself.
const APPROVED_BYTES: usize = 2000;
const APPROVED_FILES: usize = 16;

/// What an agent asks before it goes on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct PermissionAsk {
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The exact command that would run, with its environment. Words are quoted for a shell; whether there is one is in `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command taken apart, for comparison with what is run. Missing where the agent does not give it in a form that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<Run>>,
    /// Why it asks, in the agent's own words, where it gives any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The change that would be made, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Where the command would run, as it is shown: relative to the work directory where it is inside, `.` for that itself. Missing
    /// where the agent does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The files that the request names, by what they are on the disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AskedFile>,
    /// Where the agent says that it works: a hint, and no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    pub options: Vec<PermissionOption>,
    /// The agent's own id of the tool call it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_call: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What is asked for is an answer: the JSON schema of a form. Then the option `accept` comes with the filled-in fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Value>,
    /// Of what we would do ourselves: what it is held to when it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Box<Shown>>,
    /// The changes that are shown, file by file, for comparison with what is written. In memory alone: after a restart they are asked for
    /// again.
    #[serde(skip)]
    pub changes: Vec<AskedChange>,
}

/// A file that a request names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct AskedFile {
    /// As it is shown: relative to the work directory where it is inside. Links are followed.
    pub path: String,
    pub place: FilePlace,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilePlace {
    /// In the work directory.
    Inside,
    /// Elsewhere, or nobody has looked yet.
    Outside,
    /// A person is asked about it, whatever the policy: see [`crate::protected`].
    Protected,
}

/// What was allowed without asking a person, and by whom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = AgentApproval)]
pub struct Approval {
    pub title: String,
    /// The agent's own id of the tool call it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_call: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AskedFile>,
    /// policy or rule.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<RuleId>,
}

/// A remembered answer, as the conversation shows it where it was given.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct SavedRule {
    pub rule_id: RuleId,
    pub effect: Effect,
    pub scope: Scope,
    /// What it covers, in words.
    pub text: String,
    /// Of a rule for one command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Approval {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let words = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let files: usize = self.files.iter().map(|file| size_of::<AskedFile>() + file.path.len()).sum();
        self.title.len() + words(&self.agent_call) + words(&self.command) + words(&self.cwd) + files
    }
}

impl PermissionAsk {
    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let words = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let files: usize = self.files.iter().map(|file| size_of::<AskedFile>() + file.path.len()).sum();
        let options: usize = self.options.iter().map(|option| size_of::<PermissionOption>() + option.name.len()).sum();
        let values: usize = [&self.input, &self.form].into_iter().flatten().map(value_bytes).sum();
        self.title.len() + words(&self.command) + words(&self.diff) + words(&self.reason) + words(&self.cwd) + files + options + values
    }

    /// A person is asked about it, whatever the policy and whatever is remembered.
    pub fn is_protected(&self) -> bool {
        self.files.iter().any(|file| file.place == FilePlace::Protected)
    }

    /// By the agent's word it only looks; what would run or change something is no read, whatever the agent calls it.
    pub fn is_read(&self) -> bool {
        matches!(self.kind.as_deref(), Some("read" | "search")) && self.command.is_none() && self.diff.is_none()
    }

    /// It chooses a mode of the agent's, which holds until another is chosen: there is nothing to remember.
    pub fn is_mode(&self) -> bool {
        self.kind.as_deref() == Some("switch_mode")
    }

    /// What is shown of it when nobody was asked.
    pub fn outcome(&self, allowed: bool, by: Decider) -> Update {
        if allowed {
            return Update::Approved(self.approval(by));
        }
        Update::Denied {
            title: self.title.clone(),
            agent_call: self.agent_call.clone(),
            malformed: self.flaw(),
            by: by.as_str().to_owned(),
            rule_id: by.rule_id(),
        }
    }

    /// Short: the whole of it stands with the agent's tool call.
    fn approval(&self, by: Decider) -> Approval {
        Approval {
            title: shortened(&self.title),
            agent_call: self.agent_call.clone(),
            command: self.command.as_deref().map(shortened),
            cwd: self.cwd.clone(),
            files: self.files.iter().take(APPROVED_FILES).cloned().collect(),
            by: by.as_str().to_owned(),
            rule_id: by.rule_id(),
        }
    }
}

pub(crate) fn shortened(text: &str) -> String {
    if text.len() <= APPROVED_BYTES { text.to_owned() } else { format!("{}…", clip(text, APPROVED_BYTES)) }
}
