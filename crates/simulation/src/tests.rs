use crate::choices::Choices;
use crate::{STEPS, run, run_seed};

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
