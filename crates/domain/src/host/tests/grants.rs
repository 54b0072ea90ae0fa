//! A permission covers the call that carries it out, once, and nothing else.

use super::*;
use crate::agent::{AskedFile, FilePlace, PermissionOption, StartTerminal};

fn options() -> Vec<PermissionOption> {
    ["allow_once", "reject_once"].map(|kind| PermissionOption { option_id: kind.into(), name: kind.into(), kind: kind.into() }).to_vec()
}

fn file(path: &str, place: FilePlace) -> AskedFile {
    AskedFile { path: path.into(), place }
}

fn edit(path: &str) -> PermissionAsk {
    let files = vec![file(path, FilePlace::Inside)];
    PermissionAsk { title: format!("Edit {path}"), kind: Some("edit".into()), files, options: options(), ..PermissionAsk::default() }
}

fn run(command: &str, cwd: Option<&str>) -> PermissionAsk {
    let (kind, command, cwd) = (Some("execute".into()), Some(command.into()), cwd.map(str::to_owned));
    PermissionAsk { title: "Run".into(), kind, command, cwd, options: options(), ..PermissionAsk::default() }
}

fn write() -> Demand {
    Demand::WriteFile { path: "as the agent spells it".into(), content: "x".into() }
}

fn terminal(command: &str, args: &[&str]) -> Demand {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Demand::StartTerminal(StartTerminal { command: command.into(), args, ..StartTerminal::default() })
}

/// A prompt that runs, and how many demands came of it.
struct Story {
    rig: Rig,
    seq: u64,
}

/// What became of something that we should do.
#[derive(PartialEq, Eq, Debug)]
enum Outcome {
    Done,
    Refused,
    Asked,
}

impl Story {
    fn new() -> Story {
        let mut rig = Rig::new(&["main"]);
        rig.open(&["main"]);
        rig.host(crate::host::Input::Written { call_id: "c1".into(), round: 0, outcome: WriteOutcome::Written });
        Story { rig, seq: 0 }
    }

    fn demand(&mut self, demand: Demand) -> (PermissionId, Vec<Effect>) {
        self.seq += 1;
        let place = Place { seq: self.seq, index: 0 };
        let id = debt::demand_id(self.rig.runner(), place);
        let signal = Signal::Demand { agent_session: Arc::from("s-main"), place, rpc_id: self.seq.to_string(), demand };
        (id, self.rig.signals(vec![signal]))
    }

    /// The agent asks, and a person answers.
    fn answered(&mut self, ask: PermissionAsk, option: &str) {
        let (request_id, _) = self.demand(Demand::Permission(ask));
        let answer = Input::Answer { request_id, option_id: Some(option.into()), by: "person".into(), content: None, reason: None };
        self.rig.step(answer);
    }

    fn carried_out(&mut self, demand: Demand, looked_at: PermissionAsk) -> Outcome {
        let (id, _) = self.demand(demand);
        let effects = self.rig.host(crate::host::Input::Prepared { id, outcome: Box::new(Ok(looked_at)) });
        let asked = effects.iter().any(|effect| matches!(effect, Effect::Append(Event::PermissionRequest(_))));
        let done = acts(&effects).iter().any(|act| matches!(act, Act::Do { .. }));
        let refused = acts(&effects).iter().any(|act| matches!(act, Act::Reply { .. }));
        match (asked, done, refused) {
            (true, false, false) => Outcome::Asked,
            (false, true, false) => Outcome::Done,
            (false, false, true) => Outcome::Refused,
            other => panic!("{other:?}: {effects:?}"),
        }
    }
}

#[test]
fn a_permission_covers_the_one_write_that_carries_it_out() {
    for (granted, option, looked_at, outcome) in [
        (edit("a"), "allow_once", edit("a"), Outcome::Done),
        (edit("a"), "reject_once", edit("a"), Outcome::Refused),
        // Another file, or the same name that leads elsewhere by now.
        (edit("a"), "allow_once", edit("b"), Outcome::Asked),
        (edit("a"), "reject_once", edit("b"), Outcome::Asked),
        (edit("a"), "allow_once", PermissionAsk { files: vec![file("a", FilePlace::Protected)], ..edit("a") }, Outcome::Asked),
        // More than was named, and what names nothing.
        (edit("a"), "allow_once", PermissionAsk { files: [edit("a").files, edit("b").files].concat(), ..edit("a") }, Outcome::Asked),
        (edit("a"), "allow_once", PermissionAsk { files: vec![], ..edit("a") }, Outcome::Asked),
        // To look at a file is not to change it, and a command names no files to change.
        (PermissionAsk { kind: Some("read".into()), ..edit("a") }, "allow_once", edit("a"), Outcome::Asked),
        (PermissionAsk { kind: Some("execute".into()), ..edit("a") }, "allow_once", edit("a"), Outcome::Asked),
    ] {
        let mut story = Story::new();
        let told = format!("{granted:?} {option}");
        story.answered(granted, option);
        assert_eq!(story.carried_out(write(), looked_at.clone()), outcome, "{told}");
        if outcome != Outcome::Asked {
            assert_eq!(story.carried_out(write(), looked_at), Outcome::Asked, "it is used up");
        }
    }
}

#[test]
fn each_file_that_was_named_may_be_written_once() {
    let mut story = Story::new();
    story.answered(PermissionAsk { files: [edit("a").files, edit("b").files].concat(), ..edit("a") }, "allow_once");
    assert_eq!(story.carried_out(write(), edit("b")), Outcome::Done);
    assert_eq!(story.carried_out(write(), edit("a")), Outcome::Done);
    assert_eq!(story.carried_out(write(), edit("a")), Outcome::Asked);
}

#[test]
fn a_permission_covers_the_one_command_in_its_directory() {
    let sh = |script: &str| terminal("/bin/bash", &["-lc", script]);
    for (granted, demand, looked_at, outcome) in [
        (run("make x", None), terminal("make", &["x"]), run("make x", Some(".")), Outcome::Done),
        (run("make x", Some("sub")), terminal("make", &["x"]), run("make x", Some("sub")), Outcome::Done),
        (run("make x", None), sh("make x"), run("/bin/bash -lc 'make x'", Some(".")), Outcome::Done),
        (PermissionAsk { title: "make x".into(), command: None, ..run("", None) }, sh("make x"), run("sh", Some(".")), Outcome::Done),
        (run("make x", None), terminal("make", &["y"]), run("make y", Some(".")), Outcome::Asked),
        (run("make x", None), terminal("make", &["x"]), run("make x", Some("sub")), Outcome::Asked),
        (run("make x", Some("sub")), terminal("make", &["x"]), run("make x", Some(".")), Outcome::Asked),
        (run("make x", None), sh("make x; rm -r y"), run("/bin/bash -lc 'make x; rm -r y'", Some(".")), Outcome::Asked),
        (edit("a"), terminal("make", &["x"]), run("make x", Some(".")), Outcome::Asked),
    ] {
        let mut story = Story::new();
        let told = format!("{granted:?} {demand:?}");
        story.answered(granted, "allow_once");
        assert_eq!(story.carried_out(demand.clone(), looked_at.clone()), outcome, "{told}");
        if outcome == Outcome::Done {
            assert_eq!(story.carried_out(demand, looked_at), Outcome::Asked, "it is used up");
        }
    }
}

#[test]
fn what_is_denied_by_now_is_refused_whatever_was_allowed_before() {
    let mut story = Story::new();
    story.answered(edit("a"), "allow_once");
    story.rig.policy = Policy::Deny;
    assert_eq!(story.carried_out(write(), edit("a")), Outcome::Refused);
}

#[test]
fn the_last_answer_counts() {
    let mut story = Story::new();
    story.answered(edit("a"), "reject_once");
    story.answered(edit("a"), "allow_once");
    assert_eq!(story.carried_out(write(), edit("a")), Outcome::Done);
}
