//! Who decides when an agent asks: the policy of a session, as a pure function.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agent::{PermissionAsk, PermissionOption};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Approve everything.
    Auto,
    /// Ask a person.
    Ask,
    /// Approve reads and searches, ask for the rest.
    ReadOnly,
    /// Reject everything.
    Deny,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// Answer with this option at once.
    Select(PermissionOption),
    /// Nothing that was offered fits: the one answer that is always valid.
    Cancel,
    Ask,
}

impl Policy {
    pub const ALL: [Policy; 4] = [Policy::Auto, Policy::Ask, Policy::ReadOnly, Policy::Deny];

    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Auto => "auto",
            Policy::Ask => "ask",
            Policy::ReadOnly => "read-only",
            Policy::Deny => "deny",
        }
    }

    /// The one of the two that leaves more to the person: what reads does not ask for a read, what denies does not even ask.
    pub fn stricter(self, other: Policy) -> Policy {
        let order = [Policy::Auto, Policy::ReadOnly, Policy::Ask, Policy::Deny];
        order.into_iter().rfind(|policy| [self, other].contains(policy)).unwrap_or(self)
    }

    /// Options are picked by their kind, never by position or id: agents differ in both.
    pub fn decide(self, ask: &PermissionAsk) -> Decision {
        // What would run or change something is no read, whatever the agent calls it.
        let reads = matches!(ask.kind.as_deref(), Some("read" | "search")) && ask.command.is_none() && ask.diff.is_none();
        match self {
            Policy::Ask => Decision::Ask,
            Policy::ReadOnly if !reads => Decision::Ask,
            Policy::Auto | Policy::ReadOnly => pick(ask, &["allow_once", "allow_always"]).map_or(Decision::Ask, Decision::Select),
            Policy::Deny => pick(ask, &["reject_once", "reject_always"]).map_or(Decision::Cancel, Decision::Select),
        }
    }
}

impl std::str::FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Policy::ALL
            .into_iter()
            .find(|policy| policy.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a permission policy: use auto, ask, read-only or deny"))
    }
}

pub(crate) fn pick(ask: &PermissionAsk, kinds: &[&str]) -> Option<PermissionOption> {
    kinds.iter().find_map(|kind| ask.options.iter().find(|option| option.kind == *kind)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(kind: &str, options: &[(&str, &str)]) -> PermissionAsk {
        PermissionAsk {
            title: "t".into(),
            kind: Some(kind.into()),
            command: None,
            diff: None,
            locations: vec![],
            agent_call: None,
            form: None,
            input: None,
            options: options
                .iter()
                .map(|(id, kind)| PermissionOption { option_id: (*id).into(), name: (*id).into(), kind: (*kind).into() })
                .collect(),
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
                Some(id) => {
                    assert!(matches!(&decision, Decision::Select(option) if option.option_id == id), "{policy:?} {kind}: {decision:?}")
                }
                None => assert_eq!(decision, Decision::Ask, "{policy:?} {kind}"),
            }
        }
    }

    #[test]
    fn of_two_policies_one_is_stricter() {
        let order = [Policy::Auto, Policy::ReadOnly, Policy::Ask, Policy::Deny];
        for (place, weaker) in order.into_iter().enumerate() {
            for stricter in order.into_iter().skip(place) {
                assert_eq!((weaker.stricter(stricter), stricter.stricter(weaker)), (stricter, stricter));
            }
        }
    }

    #[test]
    fn auto_never_rejects_and_deny_never_asks() {
        assert_eq!(Policy::Auto.decide(&ask("edit", &[("no", "reject_once")])), Decision::Ask);
        assert_eq!(Policy::Deny.decide(&ask("edit", &[("yes", "allow_once")])), Decision::Cancel);
    }

    /// S2-34, S2-35, S2-36, S2-37: of two that fit, the one that holds only this time; else the one that is remembered.
    #[test]
    fn once_goes_before_always() {
        let offered = [("never", "reject_always"), ("always", "allow_always"), ("no", "reject_once"), ("yes", "allow_once")];
        let picked = |policy: Policy, options: &[(&str, &str)]| match policy.decide(&ask("edit", options)) {
            Decision::Select(option) => option.option_id,
            other => panic!("{other:?}"),
        };
        assert_eq!((picked(Policy::Auto, &offered), picked(Policy::Deny, &offered)), ("yes".to_owned(), "no".to_owned()));
        assert_eq!((picked(Policy::Auto, &offered[..2]), picked(Policy::Deny, &offered[..2])), ("always".to_owned(), "never".to_owned()));
    }
}
