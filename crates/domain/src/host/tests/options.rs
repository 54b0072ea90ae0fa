//! "No" is no, whatever an agent offers: malformed offers are put to nobody, and lying ones mean what their kinds say.

use super::story::{Outcome, Story, is_asked, replies, terminal};
use super::*;
use crate::agent::{OptionKind, PermissionOption, Reply, Run, StartTerminal, Update};
use crate::decision::{Decision, Verdict};
use crate::ids::RuleId;
use crate::rule::{Rule, Scope, Subject};

type Offer = &'static [(&'static str, &'static str, &'static str)];

/// Id, name and kind of each option, and what is wrong with it.
const MALFORMED: [(Offer, &str); 22] = [
    (&[], "offers no answers"),
    (&[("x", "Deny", "reject_once"), ("x", "Allow", "allow_once")], "share the id `x`"),
    (&[("x", "Allow", "allow_once"), ("x", "Deny", "reject_once")], "share the id `x`"),
    (&[("x", "Allow", "allow_once"), ("x", "Allow", "allow_once")], "share the id `x`"),
    (&[("x", "Deny", "reject_once"), ("x", "Always", "allow_always")], "share the id `x`"),
    (&[("a", "Allow", "allow_once"), ("n", "No", "reject_once"), ("n", "Never", "reject_always")], "share the id `n`"),
    (&[("y", "Yes", "allow"), ("n", "No", "reject_once")], "`y` is of an unknown kind"),
    (&[("y", "Yes", "allow_once"), ("n", "No", "reject")], "`n` is of an unknown kind"),
    (&[("y", "Yes", ""), ("n", "No", "reject_once")], "unknown kind"),
    (&[("y", "Yes", "ALLOW_ONCE"), ("n", "No", "reject_once")], "unknown kind"),
    (&[("y", "Yes", "allow_once "), ("n", "No", "reject_once")], "unknown kind"),
    (&[("y", "Yes", "allow_everything")], "unknown kind"),
    (&[("y", "Yes", "allow_once"), ("c", "Cancel", "cancel")], "`c` is of an unknown kind"),
    (&[("", "Yes", "allow_once"), ("n", "No", "reject_once")], "option 1 has no id"),
    (&[("y", "Yes", "allow_once"), (" ", "No", "reject_once")], "option 2 has no id"),
    (&[("\u{200b}", "Yes", "allow_once")], "option 1 has no id"),
    (&[("y", "", "allow_once"), ("n", "No", "reject_once")], "`y` has no name"),
    (&[("y", " \t\n", "allow_once"), ("n", "No", "reject_once")], "`y` has no name"),
    (&[("y", "\u{200b}\u{2060}", "allow_once")], "`y` has no name"),
    (&[("y", "\u{3164}\u{2800}", "allow_once")], "`y` has no name"),
    (&[("y", "\u{202e}", "allow_once"), ("n", "No", "reject_once")], "`y` has no name"),
    (&[("y\u{202e}", "Yes", "maybe")], "`y⟨U+202E⟩` is of an unknown kind"),
];

/// What is offered, and what people read on it.
const LYING: [(Offer, &[&str]); 12] = [
    (&[("allow", "Deny", "allow_once"), ("reject", "Allow", "reject_once")], &["Allow", "Deny"]),
    (&[("reject", "Deny", "allow_once"), ("allow", "Allow", "reject_once")], &["Allow", "Deny"]),
    (&[("reject_once", "No", "allow_once"), ("allow_once", "Yes", "reject_once")], &["Allow", "Deny"]),
    (&[("reject_once", "No", "allow_always"), ("no", "No", "reject_once")], &["Always allow", "Deny"]),
    (&[("no", "Never", "allow_always"), ("yes", "Once", "reject_always")], &["Always allow", "Always deny"]),
    (&[("decline", "Decline", "allow_once"), ("accept", "Accept", "reject_once")], &["Allow", "Deny"]),
    (&[("cancel", "Cancel", "allow_once"), ("x", "Go on", "reject_once")], &["Allow", "Deny"]),
    (&[("a", "Deny", "allow_once"), ("b", "Deny", "allow_once"), ("c", "Deny", "reject_once")], &["Allow: Deny", "Allow: Deny", "Deny"]),
    (
        &[
            ("a", "In project", "allow_always"),
            ("b", "For user", "allow_always"),
            ("c", "Allow", "allow_once"),
            ("d", "Reject", "reject_once"),
        ],
        &["Always allow: In project", "Always allow: For user", "Allow", "Deny"],
    ),
    (&[("yes", "Deny", "allow_once")], &["Allow"]),
    (&[("no", "Allow", "reject_once")], &["Deny"]),
    (&[("allow_always", "allow_always", "reject_always"), ("reject_always", "reject_always", "allow_once")], &["Always deny", "Allow"]),
];

fn ask(offer: Offer) -> PermissionAsk {
    let option = |(id, name, kind): &(&str, &str, &str)| PermissionOption::new(*id, *name, OptionKind::offered(kind));
    PermissionAsk {
        title: "Run".into(),
        kind: Some("execute".into()),
        command: Some("ls".into()),
        run: Some(Box::new(Run::script("ls"))),
        options: offer.iter().map(option).collect(),
        ..PermissionAsk::default()
    }
}

fn remembered(allow: bool) -> Rule {
    let subject = Subject::Command { command: "ls".into(), words: None, cwd: None };
    Rule { id: RuleId(Uuid::nil()), scope: Scope::Session, allow, subject, created_at: Timestamp::UNIX_EPOCH }
}

fn kind_of(offer: Offer, reply: &Reply) -> Option<&'static str> {
    let Reply::Chosen { option_id } = reply else { panic!("{reply:?}") };
    option_id.as_ref().map(|id| offer.iter().find(|(known, ..)| known == id).expect("it was offered").2)
}

/// What carries the request out.
fn carried(story: &mut Story) -> Outcome {
    story.carried_out(terminal(StartTerminal { command: "ls".into(), ..StartTerminal::default() }, ".", None))
}

#[test]
fn a_malformed_request_is_put_to_nobody_and_allowed_by_nothing() {
    for (offer, why) in MALFORMED {
        for policy in Policy::ALL {
            for rules in [Vec::new(), vec![remembered(true)], vec![remembered(false)]] {
                let mut story = Story::new();
                (story.rig.policy, story.rig.rules) = (policy, rules.clone());
                let (request_id, effects) = story.demand(Demand::Permission(ask(offer)));
                let told = format!("{offer:?} under {policy:?} with {rules:?}");
                assert!(!is_asked(&effects), "{told}");
                assert_eq!(replies(&effects), [Reply::Chosen { option_id: None }], "{told}");
                let shown = effects.iter().find_map(|effect| match effect {
                    Effect::Append(Event::AgentUpdate(update)) => match &update.update {
                        Update::Denied { malformed, .. } => malformed.clone(),
                        _ => None,
                    },
                    _ => None,
                });
                assert!(shown.as_ref().is_some_and(|shown| shown.contains(why)), "{told}: {shown:?}");
                // Nor is it answered afterwards, by whatever word.
                for (id, ..) in offer {
                    assert_eq!(ask(offer).choose(id), None, "{told}");
                }
                let forged = Decision::stored(Verdict::Allow, crate::decision::Reach::Once, offer.first().map(|(id, ..)| (*id).to_owned()));
                assert!(replies(&story.decide(request_id, forged, "person")).is_empty(), "{told}");
                // What is asked in its place is judged by itself.
                let expected = match (policy, rules.first().map(|rule| rule.allow)) {
                    (Policy::Deny, _) => Outcome::Refused,
                    (Policy::Auto | Policy::AutoAll, None) => Outcome::Done,
                    _ => Outcome::Asked,
                };
                story.rig.rules.clear();
                if !policy.is_automatic() {
                    assert_eq!(carried(&mut story), expected, "{told}");
                }
            }
        }
    }
}

#[test]
fn a_request_with_more_answers_than_anybody_reads_is_malformed() {
    let options = |count: usize| (0..count).map(|at| PermissionOption::new(at.to_string(), "Yes", OptionKind::AllowOnce)).collect();
    let ask = |count| PermissionAsk { options: options(count), ..PermissionAsk::default() };
    assert_eq!(ask(32).flaw(), None);
    assert!(ask(33).flaw().is_some_and(|flaw| flaw.contains("33 answers")));
}

#[test]
fn a_no_is_a_no_whatever_the_options_are_called() {
    for (offer, labels) in LYING {
        let ask = || ask(offer);
        assert_eq!(ask().flaw(), None, "{offer:?}");
        assert_eq!(ask().options.iter().map(|option| ask().label(option)).collect::<Vec<_>>(), labels, "{offer:?}");
        let chosen: Vec<Decision> = offer.iter().filter_map(|(id, ..)| ask().choose(id)).filter(|decision| !decision.allows()).collect();
        let said_no = chosen.into_iter().map(|decision| (decision, "person")).chain([
            // By word (`reject`, `approved: false`), by the clock, by a stop, by the agent itself.
            (ask().refuse(), "mcp"),
            (ask().refuse(), "timeout"),
            (Decision::cancelled(), "cancel"),
            (Decision::cancelled(), "agent"),
        ]);
        for (decision, by) in said_no {
            let mut story = Story::new();
            let (request_id, _) = story.demand(Demand::Permission(ask()));
            let told = replies(&story.decide(request_id, decision.clone(), by));
            let kind = kind_of(offer, &told[0]);
            assert!(kind.is_none_or(|kind| kind.starts_with("reject")), "{offer:?} {decision:?} by {by}: {told:?}");
            assert_eq!(carried(&mut story), Outcome::Refused, "{offer:?} {decision:?} by {by}");
        }
    }
}

#[test]
fn a_policy_and_a_rule_go_by_the_kind_of_an_option() {
    for (offer, _) in LYING {
        let offers = |start: &str| offer.iter().any(|(.., kind)| kind.starts_with(start));
        for (policy, rule, allows) in [
            (Policy::Deny, None, false),
            (Policy::Deny, Some(true), false),
            (Policy::Auto, Some(false), false),
            (Policy::Ask, Some(false), false),
            (Policy::Auto, None, true),
            (Policy::Ask, Some(true), true),
        ] {
            let mut story = Story::new();
            (story.rig.policy, story.rig.rules) = (policy, rule.map(remembered).into_iter().collect());
            let (_, effects) = story.demand(Demand::Permission(ask(offer)));
            let replies = replies(&effects);
            let told = format!("{offer:?} under {policy:?} with {rule:?}: {replies:?}");
            if allows && !offers("allow") {
                assert!(is_asked(&effects) && replies.is_empty(), "{told}");
                continue;
            }
            let kind = kind_of(offer, &replies[0]);
            let start = if allows { "allow" } else { "reject" };
            assert_eq!(kind.map(|kind| kind.starts_with(start)), offers(start).then_some(true), "{told}");
        }
    }
}

/// The decision was stored, and its server died before the agent heard it; or it was asked, and the next server finds it open.
#[test]
fn a_restart_changes_no_answer() {
    let restored = |ask: &PermissionAsk, decision: Option<Decision>| {
        let mut story = Story::new();
        let runner = story.rig.runner();
        let id = PermissionId(Uuid::from_u128(77));
        let demand = Demand::Permission(ask.clone());
        let (rpc_id, call_id) = ("7".to_owned(), Some("c1".to_owned()));
        let debt = DebtRecord { id, rpc_id, call_id, demand, begun: false, decision, reply: None };
        let found = Found {
            runner,
            cursor: 1,
            evidence: Evidence::Alive { ending: false, restoring: false },
            can_reopen: true,
            allows_all: std::collections::BTreeSet::new(),
            debts: vec![debt],
            asked: Vec::new(),
        };
        let mut effects = story.rig.host(crate::host::Input::Restored(Box::new(found)));
        effects.extend(story.rig.step(Input::Resume));
        effects
    };
    for (offer, _) in LYING {
        let ask = ask(offer);
        let decisions = offer.iter().filter_map(|(id, ..)| ask.choose(id)).chain([ask.refuse(), Decision::cancelled()]);
        for decision in decisions {
            let told = replies(&restored(&ask, Some(decision.clone())));
            let start = if decision.allows() { "allow" } else { "reject" };
            let kind = kind_of(offer, &told[0]);
            assert!(kind.map_or(!decision.allows(), |kind| kind.starts_with(start)), "{offer:?} {decision:?}: {told:?}");
        }
    }
    for (offer, _) in MALFORMED {
        let ask = ask(offer);
        // An earlier version may have stored an answer to it.
        let id = offer.first().map(|(id, ..)| (*id).to_owned());
        for decision in [None, Some(Decision::stored(Verdict::Allow, crate::decision::Reach::Once, id))] {
            let effects = restored(&ask, decision);
            assert!(!is_asked(&effects), "{offer:?}");
            assert_eq!(replies(&effects), [Reply::Chosen { option_id: None }], "{offer:?}");
        }
    }
}

#[test]
fn rows_of_earlier_versions_are_read_and_allow_nothing_that_is_not_certain() {
    let row = r#"{"title":"t","options":[{"option_id":"x","name":"No","kind":"reject_once"},{"option_id":"x","name":"Yes","kind":"allow_once"},
        {"option_id":"y","name":"Maybe","kind":"perhaps"}]}"#;
    let ask: PermissionAsk = serde_json::from_str(row).unwrap();
    assert_eq!(
        ask.options.iter().map(|option| option.kind).collect::<Vec<_>>(),
        [OptionKind::RejectOnce, OptionKind::AllowOnce, OptionKind::Unknown]
    );
    let resolved = |json: &str| serde_json::from_str::<crate::event::PermissionResolved>(json).unwrap();
    let old = format!(r#"{{"request_id":"{}","option_id":"x","by":"person"}}"#, Uuid::nil());
    assert!(!resolved(&old).decision(&ask).allows());
    let plain = super::story::options();
    let plain = PermissionAsk { options: plain, ..PermissionAsk::default() };
    let old = |option: &str| format!(r#"{{"request_id":"{}","option_id":"{option}","by":"person"}}"#, Uuid::nil());
    assert!(resolved(&old("allow_once")).decision(&plain).allows());
    assert!(!resolved(&old("reject_once")).decision(&plain).allows());
    // The decision that is stored counts, and not what its id looks like.
    let new = format!(r#"{{"request_id":"{}","option_id":"allow_once","verdict":"reject","reach":"once","by":"person"}}"#, Uuid::nil());
    assert!(!resolved(&new).decision(&plain).allows());
}

#[test]
fn the_choice_of_a_mode_keeps_the_agents_names_behind_our_verb() {
    let offer: Offer = &[
        ("acceptEdits", "Yes, and auto-accept edits", "allow_always"),
        ("default", "Yes, and manually approve edits", "allow_once"),
        ("plan", "No, keep planning", "reject_once"),
    ];
    let ask = PermissionAsk { kind: Some("switch_mode".into()), ..ask(offer) };
    let labels: Vec<_> = ask.options.iter().map(|option| ask.label(option)).collect();
    assert_eq!(labels, ["Allow: Yes, and auto-accept edits", "Allow: Yes, and manually approve edits", "Deny: No, keep planning"]);
}
