//! What a person said when they refused, on its way to the agent.

use super::*;
use crate::agent::{OptionKind, PermissionOption};
use crate::ids::PermissionId;

/// The agent has its prompt, asked for something, and was refused with a reason.
fn refused() -> Rig {
    let mut rig = Rig::new(&["one"]);
    rig.open(&["one"]);
    rig.host(crate::host::Input::Written { call_id: "c1".into(), round: 0, outcome: WriteOutcome::Written });
    let option = |kind: OptionKind| PermissionOption::new(kind.as_str(), kind.as_str(), kind);
    let options = [OptionKind::AllowOnce, OptionKind::RejectOnce].map(option).to_vec();
    let ask = PermissionAsk { title: "Push".into(), options, ..PermissionAsk::default() };
    let (decision, demand) = (ask.refuse(), Demand::Permission(ask));
    let agent_session = Arc::from("s-one");
    rig.signals(vec![Signal::Demand { agent_session, place: Place { seq: 1, index: 0 }, rpc_id: "7".into(), demand }]);
    let open: Vec<PermissionId> = rig.machine.turn().turn.iter().flat_map(|turn| &turn.permissions).map(|open| open.request_id).collect();
    let reason = Some("not today".to_owned());
    rig.step(Input::Answer { request_id: open[0], decision, by: "person".into(), content: None, reason, saved: None });
    rig
}

fn prompted(effects: &[Effect]) -> Vec<(u32, String)> {
    let prompt = |act: &&Act| match act {
        Act::Prompt { round, text, .. } => Some((*round, text.clone())),
        _ => None,
    };
    acts(effects).iter().filter_map(prompt).collect()
}

#[test]
fn it_goes_into_the_same_session_under_an_id_of_its_own() {
    let mut rig = refused();
    let effects = rig.answered("c1", Ok("end_turn"));
    assert_eq!(prompted(&effects), [(1, "not today".to_owned())]);
    assert_eq!(words(&effects), Vec::<String>::new());
    let turn = TurnId(Uuid::from_u128(2));
    assert_ne!(turn.prompt_write("c1", 0), turn.prompt_write("c1", 1));
    let host = rig.machine.hosts().next().unwrap();
    assert_eq!(host.prompt_of_key(&turn.prompt_key("c1", 1)), Some(("c1", 1)));
    assert_eq!(host.prompt_of_key("c1"), None, "a late answer to the first prompt belongs to nothing");
}

#[test]
fn what_comes_late_of_the_first_prompt_says_nothing_of_the_second() {
    let mut rig = refused();
    rig.answered("c1", Ok("end_turn"));
    // The first prompt's second answer, and the news that it was written.
    assert_eq!(words(&rig.answered("c1", Ok("max_tokens"))), Vec::<String>::new());
    rig.host(crate::host::Input::Written { call_id: "c1".into(), round: 0, outcome: WriteOutcome::Written });
    let state = |rig: &Rig| rig.machine.hosts().next().unwrap().prompts()[0].state.clone();
    assert_eq!(state(&rig), PromptState::Sending { stop: false });
    rig.host(crate::host::Input::Written { call_id: "c1".into(), round: 1, outcome: WriteOutcome::Written });
    assert_eq!(state(&rig), PromptState::Running);
    let effects = rig.signals(vec![Signal::Answered { call_id: "c1".into(), round: 1, result: Ok("end_turn".into()) }]);
    assert_eq!(words(&effects), ["c1 end_turn"]);
}

#[test]
fn a_stop_while_it_is_being_written_goes_out_behind_it() {
    let mut rig = refused();
    rig.answered("c1", Ok("end_turn"));
    let effects = rig.turn(turn::Input::Cancel);
    assert!(!acts(&effects).iter().any(|act| matches!(act, Act::Cancel { .. })), "{effects:?}");
    let effects = rig.host(crate::host::Input::Written { call_id: "c1".into(), round: 1, outcome: WriteOutcome::Written });
    assert!(acts(&effects).iter().any(|act| matches!(act, Act::Cancel { .. })), "{effects:?}");
}
