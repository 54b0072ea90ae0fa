//! Exchanges names in its work directory, as fast as it can, while it asks its client for something by these names:
//! `race {"pairs": [["one", "other"], …], "rounds": N, "calls": [["method", {params}], …]}`.
//!
//! The answers are streamed like those of `calls`. The last line says how often names were exchanged; each has its own then.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Flow, Turn, calls};

#[derive(Deserialize)]
struct Race {
    pairs: Vec<(String, String)>,
    rounds: usize,
    calls: Vec<(String, Value)>,
}

pub(super) fn run(turn: &Turn, text: &str) -> Flow {
    let race: Race = serde_json::from_str(text).expect("pairs, rounds and calls");
    let is_over = AtomicBool::new(false);
    let (flow, exchanges) = thread::scope(|scope| {
        let exchanging = scope.spawn(|| exchange(&race.pairs, &is_over));
        let flow = (0..race.rounds).try_for_each(|_| calls::run_all(turn, &race.calls));
        is_over.store(true, Ordering::Relaxed);
        (flow, exchanging.join().expect("names can be exchanged"))
    });
    flow?;
    turn.chunk(&format!("{}\n", json!({ "exchanges": exchanges })));
    Ok(())
}

fn exchange(pairs: &[(String, String)], is_over: &AtomicBool) -> usize {
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        // And back again.
        for (one, other) in pairs.iter().chain(pairs) {
            renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).expect("both names are there");
            count += 1;
        }
    }
    count
}
