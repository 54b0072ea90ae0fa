//! Inputs whose lines are units: a conversation, a file of settings, a diff.

use crate::random::Random;

const MAX_REPEATS: usize = 64;

pub(super) fn mutate(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    let mut lines: Vec<Vec<u8>> = input.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let others: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    let at = random.below(lines.len());
    match random.below(6) {
        0 if !lines.is_empty() => drop(lines.remove(at)),
        1 if !lines.is_empty() => {
            let line = lines[at].clone();
            let times = 1 + random.small(MAX_REPEATS);
            lines.splice(at..at, std::iter::repeat_n(line, times));
        }
        2 if !lines.is_empty() => {
            let to = random.below(lines.len());
            lines.swap(at, to);
        }
        3 => {
            if let Some(line) = random.pick(&others) {
                lines.insert(at.min(lines.len()), with_end(line));
            }
        }
        4 => {
            let from = random.below(others.len());
            let count = random.small(others.len() - from + 1);
            let taken: Vec<Vec<u8>> = others.iter().skip(from).take(count).map(|line| with_end(line)).collect();
            lines.splice(at.min(lines.len())..at.min(lines.len()), taken);
        }
        _ => {
            let to = (at + 1 + random.small(8)).min(lines.len());
            if at < to {
                lines.drain(at..to);
            }
        }
    }
    *input = lines.concat();
}

fn with_end(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    if line.last() != Some(&b'\n') {
        line.push(b'\n');
    }
    line
}
