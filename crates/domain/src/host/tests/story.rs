//! A prompt that runs, what its agent asks, and what people say to it.

use super::*;
use crate::agent::{AskedFile, FilePlace, OptionKind, PermissionOption, Reply, Run, Shown, StartTerminal};
use crate::decision::Decision;
use crate::host::Prepared;
use crate::text::digest;

/// A prompt that runs, and how many demands came of it.
pub(super) struct Story {
    pub rig: Rig,
    seq: u64,
}

/// What became of something that we should do.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    Done,
    Refused,
    Asked,
}

pub(super) fn options() -> Vec<PermissionOption> {
    [OptionKind::AllowOnce, OptionKind::RejectOnce].map(|kind| PermissionOption::new(kind.as_str(), kind.as_str(), kind)).to_vec()
}

pub(super) fn file(path: &str) -> AskedFile {
    let place = if path.starts_with(".git") { FilePlace::Protected } else { FilePlace::Inside };
    AskedFile { path: path.into(), place }
}

/// A write, and what the engine finds out about it: the file that it leads to, and the text there.
pub(super) fn write(path: &str, before: Option<&str>, content: &str) -> (Demand, Prepared) {
    let shown = Shown::File { path: path.into(), before: before.map(digest), after: digest(content) };
    let ask = PermissionAsk {
        title: format!("Change {path}"),
        kind: Some("edit".into()),
        files: vec![file(path)],
        options: options(),
        shown: Some(Box::new(shown)),
        ..PermissionAsk::default()
    };
    let demand = Demand::WriteFile { path: "as the agent spells it".into(), content: content.into() };
    (demand, Prepared { ask, before: before.map(str::to_owned) })
}

/// A command, and what the engine finds out about it. `shell` is the shell, where it is one of the system's.
pub(super) fn terminal(start: StartTerminal, cwd: &str, shell: Option<&str>) -> (Demand, Prepared) {
    let shown = Shown::Command { cwd: format!("/work/{cwd}"), shell: shell.map(str::to_owned) };
    let ask = PermissionAsk {
        title: format!("Run {}", start.command),
        kind: Some("execute".into()),
        command: Some(format!("{} {}", start.command, start.args.join(" "))),
        run: Some(Box::new(Run::of(&start))),
        cwd: Some(cwd.into()),
        options: options(),
        shown: Some(Box::new(shown)),
        ..PermissionAsk::default()
    };
    (Demand::StartTerminal(start), Prepared { ask, before: None })
}

impl Story {
    pub(super) fn new() -> Story {
        let mut rig = Rig::new(&["main"]);
        rig.open(&["main"]);
        rig.host(crate::host::Input::Written { call_id: "c1".into(), round: 0, outcome: WriteOutcome::Written });
        Story { rig, seq: 0 }
    }

    pub(super) fn demand(&mut self, demand: Demand) -> (PermissionId, Vec<Effect>) {
        self.seq += 1;
        let place = Place { seq: self.seq, index: 0 };
        let id = debt::demand_id(self.rig.runner(), place);
        let signal = Signal::Demand { agent_session: Arc::from("s-main"), place, rpc_id: self.seq.to_string(), demand };
        (id, self.rig.signals(vec![signal]))
    }

    /// The agent asks, and a person answers.
    pub(super) fn answered(&mut self, ask: PermissionAsk, option: &str) {
        let decision = ask.choose(option).unwrap();
        let (request_id, _) = self.demand(Demand::Permission(ask));
        self.decide(request_id, decision, "person");
    }

    pub(super) fn decide(&mut self, request_id: PermissionId, decision: Decision, by: &str) -> Vec<Effect> {
        self.rig.step(Input::Answer { request_id, decision, by: by.into(), content: None, reason: None, saved: None })
    }

    pub(super) fn carried_out(&mut self, (demand, prepared): (Demand, Prepared)) -> Outcome {
        let (id, _) = self.demand(demand);
        let effects = self.rig.host(crate::host::Input::Prepared { id, outcome: Box::new(Ok(prepared.clone())) });
        let asked = is_asked(&effects);
        let done = acts(&effects).into_iter().find_map(|act| if let Act::Do { shown, .. } = act { Some(shown.clone()) } else { None });
        match (asked, &done, replies(&effects).is_empty()) {
            (true, None, true) => Outcome::Asked,
            (false, Some(shown), true) => {
                assert_eq!(*shown, prepared.ask.shown, "it is held to what was looked at");
                Outcome::Done
            }
            (false, None, false) => Outcome::Refused,
            other => panic!("{other:?}: {effects:?}"),
        }
    }
}

pub(super) fn is_asked(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Append(Event::PermissionRequest(_))))
}

pub(super) fn replies(effects: &[Effect]) -> Vec<Reply> {
    acts(effects).into_iter().filter_map(|act| if let Act::Reply { reply, .. } = act { Some(reply.clone()) } else { None }).collect()
}
