//! Who decides when an agent asks: the policy of a session, as a pure function.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agent::{OptionKind, PermissionAsk};
use crate::decision::Decision;
use crate::reads::reads_inside;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Approve everything but what touches a protected file.
    Auto,
    /// Approve everything, protected files included.
    AutoAll,
    /// Ask a person.
    Ask,
    /// Approve reads and searches in the work directory, ask for the rest.
    ReadOnly,
    /// Reject everything.
    Deny,
}

/// What a policy or a rule makes of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicyOutcome {
    Decided(Decision),
    /// A person is asked.
    Ask,
}

impl Policy {
    pub const ALL: [Policy; 5] = [Policy::Auto, Policy::Ask, Policy::ReadOnly, Policy::Deny, Policy::AutoAll];

    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Auto => "auto",
            Policy::AutoAll => "auto-all",
            Policy::Ask => "ask",
            Policy::ReadOnly => "read-only",
            Policy::Deny => "deny",
        }
    }

    /// The one of the two that leaves more to the person: what reads does not ask for a read, what denies does not even ask.
    pub fn stricter(self, other: Policy) -> Policy {
        let order = [Policy::AutoAll, Policy::Auto, Policy::ReadOnly, Policy::Ask, Policy::Deny];
        order.into_iter().rfind(|policy| [self, other].contains(policy)).unwrap_or(self)
    }

    /// Commands and changes are approved without a person, so it matters to nobody whether the agent asks.
    pub fn is_automatic(self) -> bool {
        matches!(self, Policy::Auto | Policy::AutoAll)
    }

    /// Options are picked by their kind, never by position or id: agents differ in both. What is malformed is decided before.
    pub fn decide(self, ask: &PermissionAsk) -> PolicyOutcome {
        match self {
            Policy::Deny => PolicyOutcome::Decided(ask.refuse()),
            Policy::Ask => PolicyOutcome::Ask,
            Policy::Auto | Policy::ReadOnly if ask.is_protected() => PolicyOutcome::Ask,
            Policy::ReadOnly if !reads_inside(ask) => PolicyOutcome::Ask,
            Policy::Auto | Policy::AutoAll | Policy::ReadOnly => {
                ask.pick(&OptionKind::ALLOW).map_or(PolicyOutcome::Ask, PolicyOutcome::Decided)
            }
        }
    }
}

impl std::str::FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Policy::ALL
            .into_iter()
            .find(|policy| policy.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a permission policy: use auto, auto-all, ask, read-only or deny"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::agent::{AskedFile, FilePlace, PermissionOption};

    fn file(path: &str, place: FilePlace) -> AskedFile {
        AskedFile { path: path.into(), place }
    }

    fn ask(kind: &str, options: &[(&str, &str)]) -> PermissionAsk {
        PermissionAsk {
            title: "t".into(),
            kind: Some(kind.into()),
            files: vec![file("a", FilePlace::Inside)],
            options: options.iter().map(|(id, kind)| PermissionOption::new(*id, *id, OptionKind::offered(kind))).collect(),
            ..PermissionAsk::default()
        }
    }

    /// The option that was decided on; none where it was cancelled.
    fn picked(outcome: PolicyOutcome) -> Option<String> {
        match outcome {
            PolicyOutcome::Decided(decision) => decision.option_id().map(str::to_owned),
            PolicyOutcome::Ask => panic!("a person is asked"),
        }
    }

    #[test]
    fn options_are_picked_by_kind_not_by_position() {
        let always_first = [("proceed_always", "allow_always"), ("proceed_once", "allow_once"), ("cancel", "reject_once")];
        let table = [
            (Policy::Auto, "execute", Some("proceed_once")),
            (Policy::ReadOnly, "read", Some("proceed_once")),
            (Policy::ReadOnly, "execute", None),
            (Policy::Ask, "read", None),
            (Policy::Deny, "read", Some("cancel")),
        ];
        for (policy, kind, expected) in table {
            let decision = policy.decide(&ask(kind, &always_first));
            match expected {
                Some(id) => assert_eq!(picked(decision).as_deref(), Some(id), "{policy:?} {kind}"),
                None => assert_eq!(decision, PolicyOutcome::Ask, "{policy:?} {kind}"),
            }
        }
    }

    /// What an agent calls a read is one by the files that it names.
    #[test]
    fn read_only_approves_what_looks_at_the_work_directory_and_nothing_else() {
        use FilePlace::{Inside, Outside, Protected};
        let options = [("yes", "allow_once")];
        let with = |kind: &str, files: Vec<AskedFile>, input: Value| PermissionAsk { files, input: Some(input), ..ask(kind, &options) };
        let inside = || vec![file("src/a", Inside)];
        let table = [
            (with("read", inside(), json!({ "path": "src/a", "view_range": [1, 2] })), true),
            (with("search", vec![], json!({ "pattern": "TODO", "glob": "*.rs" })), true),
            (with("read", vec![], json!({})), false),
            (with("read", vec![file("/etc/passwd", Outside)], json!({ "path": "/etc/passwd" })), false),
            (with("read", vec![file(".git/config", Protected)], json!({ "path": ".git/config" })), false),
            (with("read", vec![file("a", Inside), file("/b", Outside)], json!({ "paths": ["a", "/b"] })), false),
            (with("read", inside(), json!({ "path": "src/a", "cmd": "rm -rf ." })), false),
            (with("read", inside(), json!({ "path": "src/a", "query": { "run": "rm" } })), false),
            (with("search", vec![], json!({ "pattern": "../../*" })), false),
            (with("search", vec![], json!({ "glob": "/etc/*" })), false),
            (with("search", vec![], json!("anything")), false),
            (PermissionAsk { cwd: Some("/etc".into()), ..with("search", vec![], json!({ "pattern": "x" })) }, false),
            (PermissionAsk { command: Some("ls".into()), ..with("read", inside(), json!({})) }, false),
            (PermissionAsk { diff: Some("+x".into()), ..with("read", inside(), json!({})) }, false),
        ];
        for (ask, approved) in table {
            assert_eq!(matches!(Policy::ReadOnly.decide(&ask), PolicyOutcome::Decided(_)), approved, "{:?} {:?}", ask.files, ask.input);
        }
    }

    #[test]
    fn a_protected_file_is_a_persons_to_allow_unless_the_policy_names_it() {
        let ask = PermissionAsk { files: vec![file("AGENTS.md", FilePlace::Protected)], ..ask("edit", &[("yes", "allow_once")]) };
        for policy in [Policy::Auto, Policy::Ask, Policy::ReadOnly] {
            assert_eq!(policy.decide(&ask), PolicyOutcome::Ask, "{policy:?}");
        }
        assert_eq!(picked(Policy::Deny.decide(&ask)), None);
        assert_eq!(picked(Policy::AutoAll.decide(&ask)).as_deref(), Some("yes"));
    }

    #[test]
    fn of_two_policies_one_is_stricter() {
        let order = [Policy::AutoAll, Policy::Auto, Policy::ReadOnly, Policy::Ask, Policy::Deny];
        for (place, weaker) in order.into_iter().enumerate() {
            for stricter in order.into_iter().skip(place) {
                assert_eq!((weaker.stricter(stricter), stricter.stricter(weaker)), (stricter, stricter));
            }
        }
    }

    #[test]
    fn auto_never_rejects_and_deny_never_asks() {
        for policy in [Policy::Auto, Policy::AutoAll] {
            assert_eq!(policy.decide(&ask("edit", &[("no", "reject_once")])), PolicyOutcome::Ask);
        }
        assert_eq!(picked(Policy::Deny.decide(&ask("edit", &[("yes", "allow_once")]))), None);
    }

    /// S2-34, S2-35, S2-36, S2-37: of two that fit, the one that holds only this time; else the one that is remembered.
    #[test]
    fn once_goes_before_always() {
        let offered = [("never", "reject_always"), ("always", "allow_always"), ("no", "reject_once"), ("yes", "allow_once")];
        let picked = |policy: Policy, options: &[(&str, &str)]| picked(policy.decide(&ask("edit", options))).unwrap_or_default();
        assert_eq!((picked(Policy::Auto, &offered), picked(Policy::Deny, &offered)), ("yes".to_owned(), "no".to_owned()));
        assert_eq!((picked(Policy::Auto, &offered[..2]), picked(Policy::Deny, &offered[..2])), ("always".to_owned(), "never".to_owned()));
    }
}
