//! What people decided once and for all: an answer to permissions that is remembered, and what it covers. Agents forget such answers
//! when their process ends.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::agent::{DIRECTORY_FIELDS, FilePlace, PermissionAsk};
use crate::ids::RuleId;
use crate::patch;
use crate::policy::{Decision, Policy, pick};
use crate::text::digest;

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
    /// Exactly this command of a shell, with the environment that it is given, in this directory.
    Command {
        command: String,
        /// As it was shown; none where the agent named none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
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

impl Subject {
    pub fn of(ask: &PermissionAsk) -> Subject {
        match (ask.kind.as_deref(), &ask.command, &ask.diff) {
            // A tool of another kind may have a field of that name and mean something else by it.
            (Some("execute"), Some(command), _) if is_plain_command(ask) => {
                Subject::Command { command: command.clone(), cwd: ask.cwd.clone() }
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

/// Denying everything means everything. Else what was remembered goes before the policy, and a no before a yes. A form is a person's to
/// fill in, and a protected file theirs to allow, each time, whatever the policy.
pub fn decide(policy: Policy, rules: &[Rule], ask: &PermissionAsk) -> (Decision, Decider) {
    if ask.form.is_some() {
        return (Decision::Ask, Decider::Policy);
    }
    if policy == Policy::Deny {
        return (policy.decide(ask), Decider::Policy);
    }
    let subject = Subject::of(ask);
    let covered = |allow: bool| rules.iter().any(|rule| rule.allow == allow && rule.subject == subject);
    if covered(false) {
        return (Policy::Deny.decide(ask), Decider::Rule);
    }
    // Once: what the agent remembers itself could not be taken back.
    match pick(ask, &["allow_once", "allow_always"]).filter(|_| !ask.is_protected() && covered(true)) {
        Some(option) => (Decision::Select(option), Decider::Rule),
        None => (policy.decide(ask), Decider::Policy),
    }
}

/// What the agent is told when a person says "always": this once, where it offers that. We remember what the person saw; what agents
/// remember reaches further, and what they do not ask about cannot be judged. A choice of a mode is no permission for something.
pub fn told(ask: &PermissionAsk, option_id: &str) -> String {
    let chosen = ask.options.iter().find(|option| option.option_id == option_id);
    let once = match chosen.map(|option| option.kind.as_str()) {
        Some("allow_always") => pick(ask, &["allow_once"]),
        Some("reject_always") => pick(ask, &["reject_once"]),
        _ => None,
    };
    once.filter(|_| ask.kind.as_deref() != Some("switch_mode")).map_or_else(|| option_id.to_owned(), |option| option.option_id)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::agent::{AskedFile, PermissionOption};

    fn ask(kind: &str) -> PermissionAsk {
        let option = |kind: &str| PermissionOption { option_id: format!("id of {kind}"), name: kind.to_owned(), kind: kind.to_owned() };
        PermissionAsk {
            title: "Something".to_owned(),
            kind: Some(kind.to_owned()),
            command: None,
            diff: None,
            cwd: None,
            files: Vec::new(),
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

    fn edit(path: &str, place: FilePlace) -> PermissionAsk {
        let diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
        PermissionAsk { diff: Some(diff), files: vec![AskedFile { path: path.to_owned(), place }], ..ask("edit") }
    }

    fn rule(allow: bool, ask: &PermissionAsk) -> Rule {
        let subject = Subject::of(ask);
        Rule { id: RuleId(Uuid::nil()), scope: Scope::Session, allow, subject, created_at: Timestamp::UNIX_EPOCH }
    }

    fn decided(policy: Policy, rules: &[Rule], ask: &PermissionAsk) -> String {
        match decide(policy, rules, ask) {
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
    fn a_command_is_covered_in_its_directory_and_with_what_was_shown_of_it() {
        let given = |input: Value, cwd: Option<&str>| PermissionAsk { input: Some(input), cwd: cwd.map(str::to_owned), ..command("make") };
        let rules = [rule(true, &given(serde_json::json!({ "command": "make", "cwd": "/w/a" }), Some("a")))];
        let table = [
            (given(serde_json::json!({ "command": "make", "cwd": "/w/a", "description": "again" }), Some("a")), true),
            (given(serde_json::json!({ "command": "make", "cwd": "/w/b" }), Some("b")), false),
            (given(serde_json::json!({ "command": "make" }), None), false),
            (given(serde_json::json!({ "command": "make", "cwd": "/w/a", "shell": "/tmp/evil" }), Some("a")), false),
            (given(serde_json::json!({ "command": "make", "cwd": "/w/a", "workdir": "/w/b" }), Some("a")), false),
        ];
        for (ask, covered) in table {
            let expected = if covered { "allow_once by rule" } else { "Ask by policy" };
            assert_eq!(decided(Policy::Ask, &rules, &ask), expected, "{:?}", ask.input);
        }
    }

    #[test]
    fn rules_of_earlier_versions_are_read_and_cover_no_more_than_they_say() {
        let old = |subject: &str| Rule { subject: serde_json::from_str(subject).expect("an old subject"), ..rule(true, &ask("other")) };
        let rules = [
            old(r#"{"type":"command","command":"make"}"#),
            old(r#"{"type":"edits"}"#),
            old(r#"{"type":"request","title":"Something","kind":"delete"}"#),
        ];
        assert_eq!(decided(Policy::Ask, &rules, &command("make")), "allow_once by rule");
        let elsewhere = PermissionAsk { cwd: Some("/tmp".to_owned()), ..command("make") };
        assert_eq!(decided(Policy::Ask, &rules, &elsewhere), "Ask by policy");
        assert_eq!(decided(Policy::Ask, &rules, &edit("a", FilePlace::Inside)), "allow_once by rule");
        let named = PermissionAsk { files: vec![AskedFile { path: "a".to_owned(), place: FilePlace::Inside }], ..ask("delete") };
        assert_eq!(decided(Policy::Ask, &rules, &named), "Ask by policy");
    }

    #[test]
    fn edits_are_covered_in_the_work_directory_and_nowhere_else() {
        let rules = [rule(true, &edit("a", FilePlace::Inside))];
        assert_eq!(rules[0].subject, Subject::Edits);
        assert_eq!(decided(Policy::ReadOnly, &rules, &edit("deep/b", FilePlace::Inside)), "allow_once by rule");
        assert_eq!(decided(Policy::ReadOnly, &rules, &edit("/etc/passwd", FilePlace::Outside)), "Ask by policy");
        let two = |place| {
            let mut ask = edit("a", FilePlace::Inside);
            ask.files.push(AskedFile { path: "b".to_owned(), place });
            ask
        };
        assert_eq!(decided(Policy::ReadOnly, &rules, &two(FilePlace::Inside)), "allow_once by rule");
        assert_eq!(decided(Policy::ReadOnly, &rules, &two(FilePlace::Outside)), "Ask by policy");
        let unnamed = PermissionAsk { files: Vec::new(), ..edit("a", FilePlace::Inside) };
        assert_eq!(decided(Policy::ReadOnly, &rules, &unnamed), "Ask by policy", "nobody knows which file");
        let hinted = PermissionAsk { diff: Some("+x".to_owned()), ..edit("a", FilePlace::Inside) };
        assert_eq!(decided(Policy::ReadOnly, &rules, &hinted), "Ask by policy", "the diff names no file");
        let runs = PermissionAsk { command: Some("rm".to_owned()), ..edit("a", FilePlace::Inside) };
        assert_eq!(decided(Policy::ReadOnly, &rules, &runs), "Ask by policy", "it would run something");
    }

    #[test]
    fn a_protected_file_is_asked_for_whatever_is_remembered() {
        let protected = edit(".git/config", FilePlace::Protected);
        let rules = [rule(true, &edit("a", FilePlace::Inside)), rule(true, &protected)];
        for policy in [Policy::Auto, Policy::Ask, Policy::ReadOnly] {
            assert_eq!(decided(policy, &rules, &protected), "Ask by policy", "{policy:?}");
        }
        assert_eq!(decided(Policy::Deny, &rules, &protected), "reject_once by policy");
        assert_eq!(decided(Policy::Auto, &[rule(false, &protected)], &protected), "reject_once by rule");
    }

    #[test]
    fn the_agent_is_told_once_where_a_person_says_always() {
        let ask = command("a");
        assert_eq!(told(&ask, "id of allow_always"), "id of allow_once");
        assert_eq!(told(&ask, "id of reject_once"), "id of reject_once");
        let mode = PermissionAsk { kind: Some("switch_mode".to_owned()), ..ask.clone() };
        assert_eq!(told(&mode, "id of allow_always"), "id of allow_always");
        let only = PermissionAsk { options: ask.options[..1].to_vec(), ..ask };
        assert_eq!(told(&only, "id of allow_always"), "id of allow_always");
    }

    #[test]
    fn anything_else_is_covered_as_it_was_asked() {
        let with = |input: Value| PermissionAsk { input: Some(input), ..ask("other") };
        let rules = [rule(true, &with(serde_json::json!({ "a": 1 })))];
        assert_eq!(decided(Policy::Ask, &rules, &with(serde_json::json!({ "a": 1 }))), "allow_once by rule");
        assert_eq!(decided(Policy::Ask, &rules, &with(serde_json::json!({ "a": 2 }))), "Ask by policy");
        let outside = |text: &str| PermissionAsk { diff: Some(text.to_owned()), ..edit("/etc/hosts", FilePlace::Outside) };
        let rules = [rule(true, &outside("+x"))];
        assert_eq!(decided(Policy::Ask, &rules, &outside("+x")), "allow_once by rule");
        assert_eq!(decided(Policy::Ask, &rules, &outside("+y")), "Ask by policy", "another change");
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
