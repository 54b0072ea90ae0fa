//! Random lives of a session: after each thing that happens the rules hold, and from each moment on there is a way to the end.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::world::{Op, Wish, World};

fn wish() -> impl Strategy<Value = Wish> {
    prop_oneof![
        2 => Just(Wish::Plain),
        1 => Just(Wish::Confirm),
        4 => any::<u8>().prop_map(Wish::Delegate),
        1 => Just(Wish::Nonsense),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let n = || 0..1000_usize;
    prop_oneof![
        4 => Just(Op::Message),
        1 => n().prop_map(Op::Edit),
        1 => (n(), n()).prop_map(|(n, position)| Op::Move(n, position)),
        1 => n().prop_map(Op::Withdraw),
        4 => n().prop_map(Op::ModelText),
        8 => (n(), prop::collection::vec(wish(), 0..4)).prop_map(|(n, wishes)| Op::ModelEnd(n, wishes)),
        2 => (n(), any::<bool>()).prop_map(|(n, repeat)| Op::ModelFault(n, repeat)),
        5 => n().prop_map(Op::ToolEnd),
        3 => (n(), any::<bool>()).prop_map(|(n, approved)| Op::Confirm(n, approved)),
        5 => n().prop_map(Op::AgentText),
        3 => (n(), any::<bool>()).prop_map(|(n, thinks)| Op::AgentUpdate(n, thinks)),
        5 => (n(), any::<u8>()).prop_map(|(n, how)| Op::AgentEnd(n, how)),
        3 => (n(), n()).prop_map(|(n, again)| Op::Permission(n, again)),
        3 => n().prop_map(Op::Answer),
        1 => n().prop_map(Op::HoldOver),
        1 => n().prop_map(Op::TakeBack),
        1 => Just(Op::SendNext),
        1 => n().prop_map(Op::SendNow),
        1 => Just(Op::Cancel),
        1 => Just(Op::CancelTurn),
        1 => n().prop_map(Op::CancelCall),
        1 => any::<u8>().prop_map(Op::Abort),
    ]
}

fn ops(length: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 1..length)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_turn_keeps_the_rules_and_ends(relay in any::<bool>(), ops in ops(120)) {
        let mut world = World::new(relay);
        ops.iter().for_each(|op| world.play(op));
        world.drive_to_the_end();
    }

    #[test]
    fn servers_may_die_between_any_two_steps(
        relay in any::<bool>(),
        ops in prop::collection::vec(prop_oneof![5 => op(), 1 => any::<bool>().prop_map(Op::Restart)], 1..80),
    ) {
        let mut world = World::new(relay);
        ops.iter().for_each(|op| world.play(op));
        world.drive_to_the_end();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn from_every_moment_a_new_server_finds_a_way_to_the_end(begun in any::<bool>(), ops in ops(60)) {
        let mut world = World::new(false);
        for op in &ops {
            world.play(op);
            let mut other = world.clone();
            other.restart(begun);
            other.drive_to_the_end();
        }
    }
}

/// A rule that is never put to the test holds for nothing.
#[test]
fn random_lives_reach_every_event_and_every_end() {
    let mut runner = TestRunner::deterministic();
    let mut reached = BTreeSet::new();
    for _ in 0..300 {
        let ops = ops(120).new_tree(&mut runner).unwrap().current();
        let mut world = World::new(false);
        ops.iter().for_each(|op| world.play(op));
        reached.extend(world.kinds());
    }
    for kind in [
        "message",
        "text-delta",
        "superseded",
        "tool-call",
        "tool-confirm",
        "tool-result",
        "copilot-delta",
        "copilot-done",
        "agent-update",
        "permission-request",
        "permission-resolved",
        "queue",
        "notice",
        "done",
        "error",
        "turn running",
        "turn completed",
        "turn cancelled",
        "turn failed",
        "turn interrupted",
        "turn unknown",
    ] {
        assert!(reached.contains(kind), "{kind} is never reached: {reached:?}");
    }
}
