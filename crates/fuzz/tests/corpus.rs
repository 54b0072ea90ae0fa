//! Every input of the corpus holds: the seeds, and what fuzzing has found so far.

#![allow(clippy::unwrap_used)]

use fuzz::allocator::Counting;
use fuzz::features::Features;
use fuzz::{TARGETS, case, corpus, scratch};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test for all of them: what a case allocates is counted for the whole process.
#[test]
fn every_input_of_the_corpus_holds() {
    case::watch_panics();
    let mut broken = Vec::new();
    for target in TARGETS {
        let files = corpus::files(target.name).unwrap();
        assert!(!files.is_empty(), "{} has no corpus", target.name);
        // What is made once is made here.
        let _warm = case::run(target, &files[0].1, &mut Features::default());
        for (name, input) in files {
            assert!(input.len() <= target.max_bytes, "{}/{name} is longer than any input that is made", target.name);
            if let Err(failure) = case::run(target, &input, &mut Features::default()) {
                broken.push(format!("{}/{name}: {}", target.name, failure.message));
            }
        }
    }
    scratch::remove(std::process::id());
    let _default = std::panic::take_hook();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
