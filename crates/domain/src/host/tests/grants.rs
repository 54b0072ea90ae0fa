//! A permission covers the write or the command that carries it out as it was shown, once, and nothing else.

use super::story::{Outcome, Story, file, options, terminal, write};
use super::*;
use crate::agent::{AskedChange, ChangeText, Run, StartTerminal, Variable};

fn texts(path: &str, old: Option<&str>, new: &str) -> AskedChange {
    AskedChange { path: path.into(), text: ChangeText::Texts { old: old.map(str::to_owned), new: new.into() } }
}

fn patch(path: &str, diff: &str) -> AskedChange {
    AskedChange { path: path.into(), text: ChangeText::Patch(diff.into()) }
}

fn edit(changes: Vec<AskedChange>) -> PermissionAsk {
    let files = changes.iter().map(|change| file(&change.path)).collect();
    PermissionAsk { title: "Edit".into(), kind: Some("edit".into()), files, changes, options: options(), ..PermissionAsk::default() }
}

fn variables(env: &[(&str, &str)]) -> Vec<Variable> {
    env.iter().map(|(name, value)| Variable { name: (*name).into(), value: (*value).into() }).collect()
}

fn script(script: &str, env: &[(&str, &str)]) -> Run {
    Run::Script { script: script.into(), env: variables(env) }
}

fn words(words: &[&str]) -> Run {
    Run::Words { words: words.iter().map(|word| (*word).to_owned()).collect(), env: Vec::new() }
}

fn run(run: Run, cwd: Option<&str>) -> PermissionAsk {
    let (kind, command) = (Some("execute".into()), Some("as it is shown".into()));
    PermissionAsk {
        title: "Run".into(),
        kind,
        command,
        run: Some(Box::new(run)),
        cwd: cwd.map(str::to_owned),
        options: options(),
        ..PermissionAsk::default()
    }
}

fn start(command: &str, args: &[&str], env: &[(&str, &str)]) -> StartTerminal {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    StartTerminal { command: command.into(), args, env, ..StartTerminal::default() }
}

const TEXT: &str = "one\ntwo\nthree\ntwo words\n";
const TWO: &str = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";

/// The change that was shown, the file that is written with its text before and after, and whether that is the same thing.
#[test]
fn a_permission_covers_the_change_that_was_shown_and_no_other() {
    let new = Some(TEXT);
    let table = [
        // A whole text.
        (texts("a", new, "x\n"), "a", new, "x\n", true),
        (texts("a", new, "x\n"), "a", new, "y\n", false),
        (texts("a", new, "x\n"), "a", new, "x", false),
        (texts("a", new, "x\n"), "a", new, "x\ny\n", false),
        (texts("a", new, "x\n"), "a", Some("changed meanwhile\n"), "x\n", false),
        (texts("a", new, "x\n"), "a", None, "x\n", false),
        // A new file.
        (texts("a", None, "x\n"), "a", None, "x\n", true),
        (texts("a", Some(""), "x\n"), "a", None, "x\n", true),
        (texts("a", None, "x\n"), "a", None, "y\n", false),
        (texts("a", None, "x\n"), "a", new, "x\n", false),
        // A passage.
        (texts("a", Some("three\n"), "3\n"), "a", new, "one\ntwo\n3\ntwo words\n", true),
        (texts("a", Some("three"), "3"), "a", new, "one\ntwo\n3\ntwo words\n", true),
        (texts("a", Some("three\n"), ""), "a", new, "one\ntwo\ntwo words\n", true),
        (texts("a", Some("three\n"), "3\n"), "a", new, "one\ntwo\n3\ntwo words\nevil\n", false),
        (texts("a", Some("three\n"), "3\n"), "a", new, "3\n", false),
        (texts("a", Some("three\n"), "3\n"), "a", new, TEXT, false),
        // There twice, a part of a line, joined to the next line, not there.
        (texts("a", Some("two"), "2"), "a", new, "one\n2\nthree\ntwo words\n", false),
        (texts("a", Some("words"), "2"), "a", new, "one\ntwo\nthree\ntwo 2\n", false),
        (texts("a", Some("one\n"), "#"), "a", new, "#two\nthree\ntwo words\n", false),
        (texts("a", Some("four\n"), "4\n"), "a", new, "one\ntwo\nthree\n4\n", false),
        (texts("a", Some("aa\n"), "b\n"), "a", Some("aa\naa\n"), "b\naa\n", false),
        // A diff.
        (patch("a", TWO), "a", new, "one\nTWO\nthree\ntwo words\n", true),
        (patch("a", TWO), "a", new, "one\nTWO\nthree\ntwo words\nevil\n", false),
        (patch("a", TWO), "a", Some("zero\none\ntwo\nthree\n"), "zero\none\nTWO\nthree\n", false),
        // Another file, or the same name that leads elsewhere by now.
        (texts("a", new, "x\n"), "b", new, "x\n", false),
        (texts("src/config", new, "x\n"), ".git/config", new, "x\n", false),
        // Protected files likewise.
        (texts(".git/config", new, "x\n"), ".git/config", new, "x\n", true),
        (texts(".git/config", new, "x\n"), ".git/config", new, "[alias]\n", false),
        (texts(".git/config", Some("three\n"), "3\n"), ".git/config", new, "evil\n", false),
    ];
    for (change, path, before, content, covered) in table {
        let mut story = Story::new();
        let told = format!("{change:?} {path} {content:?}");
        story.answered(edit(vec![change]), "allow_once");
        let expected = if covered { Outcome::Done } else { Outcome::Asked };
        assert_eq!(story.carried_out(write(path, before, content)), expected, "{told}");
        if covered {
            assert_eq!(story.carried_out(write(path, before, content)), Outcome::Asked, "it is used up: {told}");
        }
    }
}

/// The command that was shown and its directory, the terminal with its directory and the shell that it resolves to.
#[test]
fn a_permission_covers_the_command_that_was_shown_and_no_other() {
    let sh = Some("/bin/sh");
    let make = || script("make test", &[]);
    let table = [
        // A line, its words and a program of that name are three things.
        (make(), None, start("make test", &[], &[]), ".", None, true),
        (make(), None, start("make", &["test"], &[]), ".", None, false),
        (words(&["make", "test"]), None, start("make", &["test"], &[]), ".", None, true),
        (words(&["make", "test"]), None, start("make test", &[], &[]), ".", None, false),
        (words(&["make test"]), None, start("make test", &[], &[]), ".", None, false),
        (words(&["make test"]), None, start("make", &["test"], &[]), ".", None, false),
        (words(&["make", "test"]), None, start("make", &["test", ""], &[]), ".", None, false),
        // Handed to a shell as a whole: one of the system's, and nothing but that.
        (make(), None, start("/bin/sh", &["-c", "make test"], &[]), ".", sh, true),
        (make(), None, start("bash", &["-lc", "make test"], &[]), ".", Some("/usr/bin/bash"), true),
        (make(), None, start("/work/sh", &["-c", "make test"], &[]), ".", None, false),
        (make(), None, start("./sh", &["-c", "make test"], &[]), ".", None, false),
        (make(), None, start("sh", &["-c", "make test"], &[]), ".", None, false),
        (make(), None, start("/bin/sh", &["-c", "make test; rm -r ."], &[]), ".", sh, false),
        (make(), None, start("/bin/sh", &["-c", "make test", "more"], &[]), ".", sh, false),
        (make(), None, start("/bin/sh", &["-ic", "make test"], &[]), ".", sh, false),
        (make(), None, start("/usr/bin/env", &["-c", "make test"], &[]), ".", sh, false),
        (words(&["make", "test"]), None, start("/bin/sh", &["-c", "make test"], &[]), ".", sh, false),
        (words(&["sh", "-c", "ls"]), None, start("sh", &["-c", "ls"], &[]), ".", None, true),
        (words(&["sh", "-c", "ls"]), None, start("/work/sh", &["-c", "ls"], &[]), ".", None, false),
        // The environment.
        (make(), None, start("make test", &[], &[("CC", "/tmp/evil")]), ".", None, false),
        (make(), None, start("/bin/sh", &["-c", "make test"], &[("LD_PRELOAD", "/x")]), ".", sh, false),
        (script("make test", &[("CC", "gcc")]), None, start("make test", &[], &[("CC", "gcc")]), ".", None, true),
        (script("make test", &[("CC", "gcc")]), None, start("/bin/sh", &["-c", "make test"], &[("CC", "gcc")]), ".", sh, true),
        (script("make test", &[("CC", "gcc")]), None, start("make test", &[], &[("CC", "clang")]), ".", None, false),
        (script("make test", &[("CC", "gcc")]), None, start("make test", &[], &[]), ".", None, false),
        // The directory.
        (make(), Some("sub"), start("make test", &[], &[]), "sub", None, true),
        (make(), None, start("make test", &[], &[]), "sub", None, false),
        (make(), Some("sub"), start("make test", &[], &[]), ".", None, false),
        (make(), Some("/tmp"), start("make test", &[], &[]), ".", None, false),
    ];
    for (asked, cwd, started, in_dir, shell, covered) in table {
        let mut story = Story::new();
        let told = format!("{asked:?} {cwd:?}, then {started:?} in {in_dir}");
        story.answered(run(asked, cwd), "allow_once");
        let expected = if covered { Outcome::Done } else { Outcome::Asked };
        assert_eq!(story.carried_out(terminal(started.clone(), in_dir, shell)), expected, "{told}");
        if covered {
            assert_eq!(story.carried_out(terminal(started, in_dir, shell)), Outcome::Asked, "it is used up: {told}");
        }
    }
}

#[test]
fn a_request_of_another_kind_or_without_what_it_would_do_covers_nothing() {
    let whole = || vec![texts("a", Some(TEXT), "x\n")];
    let two_directories = serde_json::json!({ "command": "ls", "cwd": "a", "workdir": "b" });
    let unread = PermissionAsk { run: None, ..run(words(&["ls"]), None) };
    let table = [
        // To look at a file is not to change it, and a command names no files to change.
        (PermissionAsk { kind: Some("read".into()), ..edit(whole()) }, write("a", Some(TEXT), "x\n")),
        (PermissionAsk { kind: Some("execute".into()), ..edit(whole()) }, write("a", Some(TEXT), "x\n")),
        // A file without the change that would be made of it.
        (PermissionAsk { changes: Vec::new(), ..edit(whole()) }, write("a", Some(TEXT), "x\n")),
        (edit(whole()), terminal(start("ls", &[], &[]), ".", None)),
        (run(script("ls", &[]), None), write("a", None, "x\n")),
        // A command in a form that nobody knows, and one in two directories.
        (unread, terminal(start("ls", &["-l"], &[]), ".", None)),
        (PermissionAsk { input: Some(two_directories), ..run(script("ls", &[]), None) }, terminal(start("ls", &[], &[]), ".", None)),
    ];
    for (ask, carried) in table {
        let mut story = Story::new();
        let told = format!("{ask:?}, then {carried:?}");
        story.answered(ask, "allow_once");
        assert_eq!(story.carried_out(carried), Outcome::Asked, "{told}");
    }
    // Some say the command only in the title.
    let mut story = Story::new();
    story.answered(PermissionAsk { title: "ls -l".into(), command: None, run: None, ..run(script("", &[]), None) }, "allow_once");
    assert_eq!(story.carried_out(terminal(start("ls -l", &[], &[]), ".", None)), Outcome::Done);
}

#[test]
fn each_change_that_was_shown_may_be_made_once_in_any_order() {
    let mut story = Story::new();
    story.answered(edit(vec![texts("a", None, "1\n"), texts("b", None, "2\n"), texts("a", Some("1\n"), "3\n")]), "allow_once");
    assert_eq!(story.carried_out(write("b", None, "2\n")), Outcome::Done);
    assert_eq!(story.carried_out(write("a", None, "2\n")), Outcome::Asked, "that was shown for another file");
    assert_eq!(story.carried_out(write("a", None, "1\n")), Outcome::Done);
    assert_eq!(story.carried_out(write("a", Some("1\n"), "3\n")), Outcome::Done);
    assert_eq!(story.carried_out(write("a", Some("1\n"), "3\n")), Outcome::Asked);
}

#[test]
fn what_was_refused_is_refused_in_every_form_once() {
    for (ask, carried) in [
        (edit(vec![texts("a", Some(TEXT), "x\n")]), write("a", Some(TEXT), "x\n")),
        (edit(vec![texts("a", Some(TEXT), "x\n")]), write("a", Some(TEXT), "something else\n")),
        (PermissionAsk { changes: Vec::new(), ..edit(vec![texts("a", None, "")]) }, write("a", None, "x\n")),
        (run(script("ls", &[]), None), terminal(start("ls", &[], &[]), ".", None)),
        (run(script("ls", &[]), None), terminal(start("/work/sh", &["-c", "ls"], &[]), ".", None)),
    ] {
        let mut story = Story::new();
        let told = format!("{ask:?}, then {carried:?}");
        story.answered(ask, "reject_once");
        assert_eq!(story.carried_out(carried.clone()), Outcome::Refused, "{told}");
        assert_eq!(story.carried_out(carried), Outcome::Asked, "{told}");
    }
}

#[test]
fn what_is_denied_by_now_is_refused_whatever_was_allowed_before() {
    let mut story = Story::new();
    story.answered(edit(vec![texts("a", None, "x")]), "allow_once");
    story.rig.policy = Policy::Deny;
    assert_eq!(story.carried_out(write("a", None, "x")), Outcome::Refused);
}

#[test]
fn the_last_answer_counts() {
    let ask = || edit(vec![texts("a", None, "x")]);
    let mut story = Story::new();
    story.answered(ask(), "reject_once");
    story.answered(ask(), "allow_once");
    assert_eq!(story.carried_out(write("a", None, "x")), Outcome::Done);
    let mut story = Story::new();
    story.answered(ask(), "allow_once");
    story.answered(ask(), "reject_once");
    assert_eq!(story.carried_out(write("a", None, "x")), Outcome::Refused);
}

#[test]
fn what_is_kept_for_comparison_has_a_bound() {
    let mut story = Story::new();
    let large = |number: usize| texts(&format!("f{number}"), None, &"x".repeat(1024 * 1024));
    (0..8).for_each(|number| story.answered(edit(vec![large(number)]), "allow_once"));
    let content = "x".repeat(1024 * 1024);
    assert_eq!(story.carried_out(write("f0", None, &content)), Outcome::Asked, "the oldest are forgotten");
    assert_eq!(story.carried_out(write("f7", None, &content)), Outcome::Done);
}

/// A question that an earlier version asked does not say what it showed.
#[test]
fn what_is_not_known_to_be_as_shown_is_not_done() {
    let mut story = Story::new();
    let (demand, mut prepared) = write("a", None, "x");
    prepared.ask.shown = None;
    let (id, _) = story.demand(demand);
    let effects = story.rig.host(crate::host::Input::Prepared { id, outcome: Box::new(Ok(prepared.clone())) });
    assert!(super::story::is_asked(&effects));
    let effects = story.decide(id, prepared.ask.choose("allow_once").unwrap(), "person");
    assert!(!acts(&effects).iter().any(|act| matches!(act, Act::Do { .. })), "{effects:?}");
    assert_eq!(super::story::replies(&effects).len(), 1);
}
