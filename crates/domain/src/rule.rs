//! What people decided once and for all: an answer to permissions that is remembered, and what it covers. Agents forget such answers
//! when their process ends.

mod choice;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::agent::ask::shortened;
use crate::agent::{DIRECTORY_FIELDS, FilePlace, OptionKind, PermissionAsk, Run, SavedRule};
use crate::decision::Decision;
use crate::ids::RuleId;
use crate::patch;
use crate::policy::{Policy, PolicyOutcome};
use crate::text::digest;

pub use choice::{Choice, choices};

/// How far a remembered answer reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = RuleScope)]
pub enum Scope {
    /// This session.
    Session,
    /// Every session with the same work directory.
    Project,
}

/// What a remembered answer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = RuleEffect)]
pub enum Effect {
    Allow,
    Deny,
}

/// A remembered answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PermissionRule)]
pub struct Rule {
    pub id: RuleId,
    pub scope: Scope,
    /// Whether what it covers is allowed or rejected.
    pub allow: bool,
    pub subject: Subject,
    #[schema(value_type = String, format = "date-time")]
    pub created_at: Timestamp,
}

/// What a remembered answer covers. Where a person chooses nothing else it is what they had in front of them, but for changes of files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = RuleSubject)]
pub enum Subject {
    /// Exactly this command of a shell, with the environment that it is given, in this directory.
    Command {
        command: String,
        /// Its words, where it runs without a shell: another command than the same words in one line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<Vec<String>>,
        /// As it was shown; none where the agent named none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Every command that this agent asks to run, wherever. Only a person's explicit choice makes it.
    Commands { agent: String },
    /// Every change of these files alone, which are in the work directory.
    Files { files: Vec<String> },
    /// Every change of files that are all in the work directory and not protected.
    Edits,
    /// Exactly this request.
    Request {
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// As they were shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        /// Of the change that was shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff_sha256: Option<String>,
    },
}

/// Who decided about a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decider {
    Policy,
    Rule(RuleId),
}

/// What an answer has to do with remembered ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum RuleUse {
    #[default]
    None,
    /// It is remembered itself.
    Saved(SavedRule),
    /// It is one that was remembered before.
    Applied(RuleId),
}

impl Decider {
    /// The word of `permission-resolved`.
    pub fn as_str(self) -> &'static str {
        match self {
            Decider::Policy => "policy",
            Decider::Rule(_) => "rule",
        }
    }

    pub(crate) fn rule_use(self) -> RuleUse {
        self.rule_id().map_or(RuleUse::None, RuleUse::Applied)
    }

    pub fn rule_id(self) -> Option<RuleId> {
        match self {
            Decider::Policy => None,
            Decider::Rule(id) => Some(id),
        }
    }
}

/// What a command's input may hold beside the command and its directory without changing what it does.
const COMMAND_FIELDS: [&str; 14] = [
    "command",
    "commands",
    "env",
    "description",
    "explanation",
    "reason",
    "timeout",
    "timeout_ms",
    "mode",
    "initial_wait",
    "is_background",
    "run_in_background",
    "isBackground",
    "security_risk",
];

impl Rule {
    pub fn effect(&self) -> Effect {
        if self.allow { Effect::Allow } else { Effect::Deny }
    }

    /// What the conversation shows of it.
    pub fn saved(&self) -> SavedRule {
        let command = if let Subject::Command { command, .. } = &self.subject { Some(shortened(command)) } else { None };
        SavedRule { rule_id: self.id, effect: self.effect(), scope: self.scope, text: self.text(), command }
    }
}

impl Subject {
    pub fn of(ask: &PermissionAsk) -> Subject {
        match (ask.kind.as_deref(), &ask.command, &ask.diff) {
            // A tool of another kind may have a field of that name and mean something else by it.
            (Some("execute"), Some(command), _) if is_plain_command(ask) => {
                let words = ask.run.as_deref().and_then(Run::words).map(<[String]>::to_vec);
                Subject::Command { command: command.clone(), words, cwd: ask.cwd.clone() }
            }
            (Some("edit"), None, Some(diff)) if is_edit_inside(ask, diff) => Subject::Edits,
            _ => Subject::Request {
                title: ask.title.clone(),
                kind: ask.kind.clone(),
                input: ask.input.clone(),
                command: ask.command.clone(),
                cwd: ask.cwd.clone(),
                files: ask.files.iter().map(|file| file.path.clone()).collect(),
                diff_sha256: ask.diff.as_deref().map(digest),
            },
        }
    }
}

impl Subject {
    /// `asked` is the subject of the request itself.
    fn covers(&self, agent: &str, asked: &Subject, ask: &PermissionAsk) -> bool {
        match self {
            Subject::Commands { agent: whose } => whose == agent && matches!(asked, Subject::Command { .. }),
            Subject::Files { files } => *asked == Subject::Edits && ask.files.iter().all(|file| files.contains(&file.path)),
            exact => exact == asked,
        }
    }
}

/// Nothing but what is shown decides what runs: no field that we do not know, and not two directories.
fn is_plain_command(ask: &PermissionAsk) -> bool {
    let fields = match &ask.input {
        None | Some(Value::Null) => return true,
        Some(Value::Object(fields)) => fields,
        Some(_) => return false,
    };
    let is_directory = |name: &str| DIRECTORY_FIELDS.contains(&name);
    let directories = fields.keys().filter(|name| is_directory(name)).count();
    let known = |name: &String| COMMAND_FIELDS.contains(&name.as_str()) || is_directory(name);
    let one = directories == 0 || (directories == 1 && ask.cwd.is_some());
    // Where both are given they say the same.
    let alike =
        |commands: &Value| fields.get("command").is_none_or(|command| commands.as_array().is_some_and(|all| all[..] == [command.clone()]));
    one && fields.keys().all(known) && fields.get("commands").is_none_or(alike)
}

/// The diff itself names what is changed; where else the agent says that it works is a hint.
fn is_edit_inside(ask: &PermissionAsk, diff: &str) -> bool {
    let inside = !ask.files.is_empty() && ask.files.iter().all(|file| file.place == FilePlace::Inside);
    inside && !patch::names(diff).is_empty()
}

/// A malformed request is refused, whoever would decide. Denying everything means everything. Else what was remembered goes before the
/// policy, and a no before a yes. A form is a person's to fill in, and a protected file theirs to allow, each time, whatever the policy.
/// `agent` is the id of the one that asks.
pub fn decide(policy: Policy, rules: &[Rule], agent: &str, ask: &PermissionAsk) -> (PolicyOutcome, Decider) {
    if ask.form.is_some() {
        return (PolicyOutcome::Ask, Decider::Policy);
    }
    if ask.flaw().is_some() {
        return (PolicyOutcome::Decided(Decision::cancelled()), Decider::Policy);
    }
    if policy == Policy::Deny {
        return (policy.decide(ask), Decider::Policy);
    }
    let subject = Subject::of(ask);
    let covering = |allow: bool| rules.iter().find(|rule| rule.allow == allow && rule.subject.covers(agent, &subject, ask));
    if let Some(rule) = covering(false) {
        return (PolicyOutcome::Decided(ask.refuse()), Decider::Rule(rule.id));
    }
    // Once: what the agent remembers itself could not be taken back.
    let allowing = covering(true).filter(|_| !ask.is_protected());
    match (ask.pick(&OptionKind::ALLOW), allowing) {
        (Some(decision), Some(rule)) => (PolicyOutcome::Decided(decision), Decider::Rule(rule.id)),
        _ => (policy.decide(ask), Decider::Policy),
    }
}
