//! What people decided once and for all: an answer to permissions that is remembered, and what it covers. Agents forget such answers
//! when their process ends.

use std::path::{Component, Path};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::agent::PermissionAsk;
use crate::ids::RuleId;
use crate::policy::{Decision, Policy, pick};

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

/// What a remembered answer covers: no more than what the person had in front of them, but for changes of files.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = RuleSubject)]
pub enum Subject {
    /// Exactly this command of a shell.
    Command { command: String },
    /// Every change of a file in the work directory.
    Edits,
    /// Exactly this request.
    Request {
        title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Value>,
    },
}

/// Who decided about a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decider {
    Policy,
    Rule,
}

impl Decider {
    /// The word of `permission-resolved`.
    pub fn as_str(self) -> &'static str {
        match self {
            Decider::Policy => "policy",
            Decider::Rule => "rule",
        }
    }
}

impl Subject {
    pub fn of(ask: &PermissionAsk, work_dir: &Path) -> Subject {
        match (ask.kind.as_deref(), &ask.command, &ask.diff) {
            // A tool of another kind may have a field of that name and mean something else by it.
            (Some("execute"), Some(command), _) => Subject::Command { command: command.clone() },
            (Some("edit"), _, Some(_)) if ask.locations.iter().all(|place| is_below(&place.path, work_dir)) => Subject::Edits,
            _ => Subject::Request { title: ask.title.clone(), kind: ask.kind.clone(), input: ask.input.clone() },
        }
    }
}

/// By its words alone: what leads elsewhere through a link is the agent's to ask about.
fn is_below(path: &str, work_dir: &Path) -> bool {
    let path = Path::new(path);
    path.starts_with(work_dir) && !path.components().any(|part| part == Component::ParentDir)
}

/// Denying everything means everything. Else what was remembered goes before the policy, and a no before a yes. A form is a person's to
/// fill in, whatever the policy.
pub fn decide(policy: Policy, rules: &[Rule], ask: &PermissionAsk, work_dir: &Path) -> (Decision, Decider) {
    if ask.form.is_some() {
        return (Decision::Ask, Decider::Policy);
    }
    if policy == Policy::Deny {
        return (policy.decide(ask), Decider::Policy);
    }
    let subject = Subject::of(ask, work_dir);
    let covered = |allow: bool| rules.iter().any(|rule| rule.allow == allow && rule.subject == subject);
    if covered(false) {
        return (Policy::Deny.decide(ask), Decider::Rule);
    }
    // Once: what the agent remembers itself could not be taken back.
    match pick(ask, &["allow_once", "allow_always"]).filter(|_| covered(true)) {
        Some(option) => (Decision::Select(option), Decider::Rule),
        None => (policy.decide(ask), Decider::Policy),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::agent::{Location, PermissionOption};

    const WORK: &str = "/work";

    fn ask(kind: &str) -> PermissionAsk {
        let option = |kind: &str| PermissionOption { option_id: format!("id of {kind}"), name: kind.to_owned(), kind: kind.to_owned() };
        PermissionAsk {
            title: "Something".to_owned(),
            kind: Some(kind.to_owned()),
            command: None,
            diff: None,
            locations: Vec::new(),
            options: ["allow_always", "allow_once", "reject_once"].map(option).to_vec(),
            agent_call: None,
            input: None,
            form: None,
        }
    }

    fn command(command: &str) -> PermissionAsk {
        PermissionAsk { command: Some(command.to_owned()), ..ask("execute") }
    }

    fn edit(path: &str) -> PermissionAsk {
        PermissionAsk { diff: Some("+x".to_owned()), locations: vec![Location { path: path.to_owned(), line: None }], ..ask("edit") }
    }

    fn rule(allow: bool, ask: &PermissionAsk) -> Rule {
        let subject = Subject::of(ask, Path::new(WORK));
        Rule { id: RuleId(Uuid::nil()), scope: Scope::Session, allow, subject, created_at: Timestamp::UNIX_EPOCH }
    }

    fn decided(policy: Policy, rules: &[Rule], ask: &PermissionAsk) -> String {
        match decide(policy, rules, ask, Path::new(WORK)) {
            (Decision::Select(option), by) => format!("{} by {}", option.kind, by.as_str()),
            (other, by) => format!("{other:?} by {}", by.as_str()),
        }
    }

    #[test]
    fn a_command_is_covered_byte_for_byte() {
        let rules = [rule(true, &command("touch a"))];
        assert_eq!(decided(Policy::Ask, &rules, &command("touch a")), "allow_once by rule");
        for other in ["touch a ", "touch  a", "touch ab", "touch a; rm b"] {
            assert_eq!(decided(Policy::Ask, &rules, &command(other)), "Ask by policy", "{other}");
        }
        let elsewhere = PermissionAsk { command: Some("touch a".to_owned()), ..ask("other") };
        assert_eq!(decided(Policy::Ask, &rules, &elsewhere), "Ask by policy", "another tool's field of that name");
    }

    #[test]
    fn edits_are_covered_in_the_work_directory_and_nowhere_else() {
        let rules = [rule(true, &edit("/work/a"))];
        assert_eq!(decided(Policy::ReadOnly, &rules, &edit("/work/deep/b")), "allow_once by rule");
        for outside in ["/etc/passwd", "/work/../etc/passwd", "/workshop/a"] {
            assert_eq!(decided(Policy::ReadOnly, &rules, &edit(outside)), "Ask by policy", "{outside}");
        }
        let access = PermissionAsk { title: "Access paths outside trusted directories".to_owned(), ..ask("edit") };
        assert_eq!(decided(Policy::Ask, &rules, &access), "Ask by policy");
    }

    #[test]
    fn anything_else_is_covered_as_it_was_asked() {
        let with = |input: Value| PermissionAsk { input: Some(input), ..ask("other") };
        let rules = [rule(true, &with(serde_json::json!({ "a": 1 })))];
        assert_eq!(decided(Policy::Ask, &rules, &with(serde_json::json!({ "a": 1 }))), "allow_once by rule");
        assert_eq!(decided(Policy::Ask, &rules, &with(serde_json::json!({ "a": 2 }))), "Ask by policy");
    }

    #[test]
    fn deny_goes_before_rules_and_a_no_before_a_yes() {
        let rules = [rule(true, &command("a")), rule(false, &command("a")), rule(true, &command("b"))];
        assert_eq!(decided(Policy::Deny, &rules, &command("b")), "reject_once by policy");
        for policy in [Policy::Auto, Policy::Ask, Policy::ReadOnly] {
            assert_eq!(decided(policy, &rules, &command("a")), "reject_once by rule");
            assert_eq!(decided(policy, &rules, &command("b")), "allow_once by rule");
        }
    }
}
