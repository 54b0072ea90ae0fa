use crate::choices::Choices;
use crate::coverage::Coverage;
use crate::names::{ACTS, HOST_INPUTS, TURN_INPUTS};
use crate::{STEPS, run, run_seed};

/// What the machine tells itself never comes from outside.
const INSIDE: [&str; 2] = ["input: of a host", "input: of the turn"];
const ENDS: [&str; 17] = [
    "end: end_turn",
    "end: cancelled",
    "end: denied",
    "end: interrupted",
    "end: max_tokens",
    "end: max_turn_requests",
    "end: refusal",
    "end: agent_not_started",
    "end: agent_gone",
    "end: agent_not_sent",
    "end: agent_error",
    "end: agent_timeout",
    "end: agent_unguarded",
    "grant: carried out",
    "refused: not as shown",
    "fault: agent tampers with files",
    "told: a reason",
];
const TURNS: [&str; 4] = ["turn: completed", "turn: cancelled", "turn: failed", "turn: unknown"];
const EVIDENCE: [&str; 6] = [
    "evidence: never up",
    "evidence: alive",
    "evidence: alive and ending",
    "evidence: alive and restoring",
    "evidence: dead",
    "evidence: lost",
];

#[test]
fn every_input_act_and_end_is_reached() {
    let mut seen = Coverage::default();
    (0..4000).for_each(|seed| seen.merge(&run_seed(seed, STEPS, None).coverage));
    let all = TURN_INPUTS.iter().chain(HOST_INPUTS).chain(ACTS).chain(&ENDS).chain(&TURNS).chain(&EVIDENCE);
    let missing: Vec<_> = all.filter(|name| !INSIDE.contains(name) && seen.seen(name) == 0).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}

#[test]
fn a_defect_is_found_and_its_story_is_short() {
    let defect = Some(crate::defects::Defect::PromptIdDrawn);
    let found = (0..1000).map(|seed| run_seed(seed, STEPS, defect)).find(|outcome| outcome.violation.is_some());
    let found = found.expect("the defect shows within a thousand seeds");
    let invariant = found.violation.expect("it was looked for").invariant;
    let small = crate::shrink::shrink(found.record, defect, invariant);
    assert!(small.len() < 60, "{} steps are left", small.len());
    let read_back = crate::choices::decode(&crate::choices::encode(&small)).expect("it was written");
    let again = run(Choices::replay(read_back), small.len(), defect, true);
    assert_eq!(again.violation.map(|violation| violation.invariant), Some(invariant));
}

#[test]
fn the_invariants_hold_in_two_thousand_schedules() {
    for seed in 0..2000 {
        let outcome = run_seed(seed, STEPS, None);
        if let Some(violation) = outcome.violation {
            panic!("seed {seed} breaks {}: {}", violation.invariant.name(), violation.why);
        }
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    let story = |seed| run(Choices::from_seed(seed), STEPS, None, true).story;
    for seed in 0..50 {
        assert_eq!(story(seed), story(seed));
    }
}

#[test]
fn a_record_replays_what_the_seed_did() {
    for seed in 0..50 {
        let first = run(Choices::from_seed(seed), STEPS, None, true);
        let again = run(Choices::replay(first.record), STEPS, None, true);
        assert_eq!(first.story, again.story);
    }
}
