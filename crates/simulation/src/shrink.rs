//! Makes a failing schedule small: leaves out steps for as long as the same invariant breaks.

use crate::choices::{Choices, Record};
use crate::defects::Defect;
use crate::invariants::Invariant;
use crate::run;

/// So many schedules are tried.
const MOST_TRIES: usize = 4000;

pub fn shrink(record: Record, defect: Option<Defect>, invariant: Invariant) -> Record {
    let mut tries = 0;
    let mut breaks = |record: &Record| {
        tries += 1;
        tries <= MOST_TRIES && broken(record, defect) == Some(invariant)
    };
    let mut small = record;
    let mut size = small.len() / 2;
    while size > 0 {
        let mut at = 1;
        let mut shorter = false;
        while at < small.len() {
            let mut less = small.clone();
            less.drain(at..(at + size).min(small.len()));
            if breaks(&less) {
                small = less;
                shorter = true;
            } else {
                at += size;
            }
        }
        if !shorter || size > 1 {
            size /= 2;
        }
    }
    simplify(small, breaks)
}

/// Chooses the harmless way wherever that makes no difference.
fn simplify(mut small: Record, mut breaks: impl FnMut(&Record) -> bool) -> Record {
    for step in 0..small.len() {
        let first = usize::from(step > 0);
        for at in first..small[step].len() {
            let old = std::mem::take(&mut small[step][at]);
            if old != 0 && !breaks(&small) {
                small[step][at] = old;
            }
        }
    }
    small
}

fn broken(record: &Record, defect: Option<Defect>) -> Option<Invariant> {
    let outcome = run(Choices::replay(record.clone()), record.len(), defect, false);
    outcome.violation.map(|violation| violation.invariant)
}
