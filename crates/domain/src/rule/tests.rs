use uuid::Uuid;

use super::*;
use crate::agent::{AskedFile, PermissionOption};

const AGENT: &str = "one";

fn ask(kind: &str) -> PermissionAsk {
    let option = |kind: OptionKind| PermissionOption::new(format!("id of {}", kind.as_str()), kind.as_str(), kind);
    PermissionAsk {
        title: "Something".to_owned(),
        kind: Some(kind.to_owned()),
        options: [OptionKind::AllowAlways, OptionKind::AllowOnce, OptionKind::RejectOnce].map(option).to_vec(),
        ..PermissionAsk::default()
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
    match decide(policy, rules, AGENT, ask) {
        (PolicyOutcome::Decided(decision), by) => {
            let option = decision.option_id().map_or("cancelled", |id| id.trim_start_matches("id of "));
            format!("{option} by {}", by.as_str())
        }
        (PolicyOutcome::Ask, by) => format!("Ask by {}", by.as_str()),
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
    assert_eq!(decided(Policy::AutoAll, &rules, &protected), "allow_once by policy", "unless the policy names protected files");
    assert_eq!(decided(Policy::AutoAll, &[rule(false, &protected)], &protected), "reject_once by rule");
    assert_eq!(decided(Policy::Deny, &rules, &protected), "reject_once by policy");
    assert_eq!(decided(Policy::Auto, &[rule(false, &protected)], &protected), "reject_once by rule");
}

#[test]
fn the_agent_is_told_once_where_a_person_says_always() {
    let told = |ask: &PermissionAsk, id: &str| ask.choose(id).expect("it is offered").told(ask).expect("an option");
    let ask = command("a");
    assert_eq!(told(&ask, "id of allow_always"), "id of allow_once");
    assert_eq!(told(&ask, "id of reject_once"), "id of reject_once");
    let mode = PermissionAsk { kind: Some("switch_mode".to_owned()), ..ask.clone() };
    assert_eq!(told(&mode, "id of allow_always"), "id of allow_always");
    let only = PermissionAsk { options: ask.options[..1].to_vec(), ..ask };
    assert_eq!(told(&only, "id of allow_always"), "id of allow_always");
}

#[test]
fn a_line_for_a_shell_and_its_words_are_two_commands() {
    let words = |words: &[&str], shown: &str| {
        let run = Run::Words { words: words.iter().map(|word| (*word).to_owned()).collect(), env: Vec::new() };
        PermissionAsk { run: Some(Box::new(run)), ..command(shown) }
    };
    let forms = [command("make test"), words(&["make", "test"], "make test"), words(&["make test"], "'make test'")];
    for (at, remembered) in forms.iter().enumerate() {
        for (other, asked) in forms.iter().enumerate() {
            let expected = if at == other { "allow_once by rule" } else { "Ask by policy" };
            assert_eq!(decided(Policy::Ask, &[rule(true, remembered)], asked), expected, "{remembered:?} {asked:?}");
        }
    }
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

fn chosen(allow: bool, ask: &PermissionAsk, id: &str) -> Rule {
    let choice = choices(AGENT, ask).into_iter().find(|choice| choice.id == id).expect("it is offered");
    Rule { id: RuleId(Uuid::nil()), scope: choice.scope, allow, subject: choice.subject, created_at: Timestamp::UNIX_EPOCH }
}

fn offered(ask: &PermissionAsk) -> Vec<String> {
    choices(AGENT, ask).into_iter().map(|choice| format!("{}: {}", choice.id, choice.text)).collect()
}

#[test]
fn the_narrowest_is_offered_first_in_words_that_say_what_is_covered() {
    let here = PermissionAsk { cwd: Some("src".to_owned()), ..command("make") };
    assert_eq!(
        offered(&here),
        [
            "command-session: This command in src/, in this session",
            "command-project: This command in src/, in every session of this project",
            "commands-session: Every command of this agent, in this session",
        ]
    );
    assert_eq!(
        offered(&edit("src/a.rs", FilePlace::Inside)),
        [
            "files-session: Every change to src/a.rs, in this session",
            "files-project: Every change to src/a.rs, in every session of this project",
            "edits-session: Every file change inside the project, in this session",
            "edits-project: Every file change inside the project, in every session of this project",
        ]
    );
    assert_eq!(
        offered(&ask("fetch")),
        [
            "request-session: Exactly this request, in this session",
            "request-project: Exactly this request, in every session of this project"
        ]
    );
}

#[test]
fn what_is_a_persons_each_time_is_offered_for_no_always() {
    let form = PermissionAsk { form: Some(serde_json::json!({})), ..ask("other") };
    for ask in [form, ask("switch_mode")] {
        assert_eq!(offered(&ask), Vec::<String>::new(), "{:?}", ask.kind);
    }
}

#[test]
fn a_scope_can_be_allowed_or_denied_as_far_as_the_request_offers_it() {
    let effects = |ask: &PermissionAsk| {
        let mut all: Vec<_> = choices(AGENT, ask).into_iter().map(|choice| choice.effects).collect();
        all.dedup();
        all
    };
    let protected = PermissionAsk { files: edit(".git/config", FilePlace::Protected).files, ..command("git config") };
    for ask in [protected, edit(".git/config", FilePlace::Protected)] {
        assert_eq!(effects(&ask), [[Effect::Deny]], "a protected file is allowed each time");
    }
    assert_eq!(effects(&command("make")), [[Effect::Allow, Effect::Deny]]);
    let only_yes = PermissionAsk { options: command("make").options[..2].to_vec(), ..command("make") };
    assert_eq!(effects(&only_yes), [[Effect::Allow]]);
}

#[test]
fn every_command_of_an_agent_is_every_plain_command_of_that_agent_and_nothing_else() {
    let rules = [chosen(true, &command("touch a"), "commands-session")];
    let elsewhere = PermissionAsk { cwd: Some("/tmp".to_owned()), ..command("rm b") };
    let protected = PermissionAsk { files: edit(".git/config", FilePlace::Protected).files, ..command("git config") };
    let more = PermissionAsk { input: Some(serde_json::json!({ "command": "ls", "network": true })), ..command("ls") };
    let table = [
        (command("touch b"), "allow_once by rule"),
        (elsewhere, "allow_once by rule"),
        (protected, "Ask by policy"),
        (more, "Ask by policy"),
        (edit("a", FilePlace::Inside), "Ask by policy"),
        (ask("switch_mode"), "Ask by policy"),
        (PermissionAsk { form: Some(serde_json::json!({})), ..command("touch b") }, "Ask by policy"),
    ];
    for (ask, expected) in table {
        assert_eq!(decided(Policy::Ask, &rules, &ask), expected, "{ask:?}");
        assert_ne!(decided(Policy::Deny, &rules, &ask), "allow_once by rule", "{ask:?}");
    }
    assert_eq!(decide(Policy::Ask, &rules, "another", &command("touch b")).0, PolicyOutcome::Ask);
    let no = [rules[0].clone(), rule(false, &command("touch b"))];
    assert_eq!(decided(Policy::Ask, &no, &command("touch b")), "reject_once by rule");
    assert_eq!(decided(Policy::Ask, &no, &command("touch c")), "allow_once by rule");
}

#[test]
fn files_are_covered_by_name() {
    let rules = [chosen(true, &edit("a", FilePlace::Inside), "files-session")];
    assert_eq!(decided(Policy::Ask, &rules, &edit("a", FilePlace::Inside)), "allow_once by rule");
    assert_eq!(decided(Policy::Ask, &rules, &edit("b", FilePlace::Inside)), "Ask by policy");
    let mut both = edit("a", FilePlace::Inside);
    both.files.push(AskedFile { path: "b".to_owned(), place: FilePlace::Inside });
    assert_eq!(decided(Policy::Ask, &rules, &both), "Ask by policy");
    assert_eq!(decided(Policy::Ask, &rules, &edit("a", FilePlace::Outside)), "Ask by policy");
}

#[test]
fn what_is_remembered_is_said_in_words() {
    let every = chosen(true, &command("touch a"), "commands-session");
    assert_eq!(every.text(), "Allow every command of one, in this session");
    let SavedRule { effect, text, command: shown, .. } = rule(false, &command("touch a")).saved();
    assert_eq!((effect, shown.as_deref()), (Effect::Deny, Some("touch a")));
    assert_eq!(text, "Deny this command, in this session");
    assert_eq!(
        super::tests::rule(false, &edit("a", FilePlace::Inside)).text(),
        "Deny every file change inside the project, in this session"
    );
}
