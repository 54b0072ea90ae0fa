//! Damage that knows nothing of what the bytes mean.

use super::some_range;
use crate::random::Random;

/// Numbers at which code goes wrong, as text.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
];

/// Text that is handled wrong when bytes are taken for characters, or hidden ones for nothing.
const TEXTS: [&str; 12] =
    ["\u{0}", "\u{1b}[2J", "\r\n", "ä", "\u{202e}", "\u{200b}", "\u{feff}", "𝄞", "\u{fffd}", "e\u{301}", "\u{2028}", "\t"];

/// How often a piece is repeated at most.
const MAX_REPEATS: usize = 64;

pub(super) fn mutate(random: &mut Random, input: &mut Vec<u8>, text: bool) {
    let range = some_range(random, input.len());
    match random.below(if text { 8 } else { 12 }) {
        0 => drop(input.drain(range)),
        1 => {
            let piece = input[range.clone()].to_vec();
            input.splice(range.end..range.end, piece.repeat(1 + random.small(MAX_REPEATS)));
        }
        2 => input.truncate(range.end),
        3 => {
            let text = random.pick(&TEXTS).copied().unwrap_or_default();
            input.splice(range.start..range.start, text.bytes());
        }
        4 => replace_number(random, input),
        5 => {
            let to = random.below(input.len() + 1 - range.len());
            let piece: Vec<u8> = input.drain(range).collect();
            input.splice(to..to, piece);
        }
        6 => {
            let byte = random.pick(b" \n\"'{}[],:;=/\\<>&%#@-_.0aZ~").copied().unwrap_or(b' ');
            if let Some(place) = input.get_mut(range.start) {
                *place = byte;
            }
        }
        7 if text && !random.one_in(8) => insert_word(random, input, &NUMBERS),
        7 | 8 => {
            if let Some(place) = input.get_mut(range.start) {
                *place ^= 1 << random.below(8);
            }
        }
        9 => {
            if let Some(place) = input.get_mut(range.start) {
                *place = random.byte();
            }
        }
        10 => {
            let bytes: Vec<u8> = (0..random.small(16)).map(|_| random.byte()).collect();
            input.splice(range.start..range.start, bytes);
        }
        _ => input[range].fill(random.byte()),
    }
}

/// A number in the text becomes one at which code goes wrong, or a neighbour of itself.
fn replace_number(random: &mut Random, input: &mut Vec<u8>) {
    let from = random.below(input.len() + 1);
    let Some(start) = input[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let known: Option<u64> = std::str::from_utf8(&input[start..start + length]).ok().and_then(|text| text.parse().ok());
    let new = match (known, random.below(4)) {
        (Some(known), 0) => known.wrapping_add(1).to_string(),
        (Some(known), 1) => known.wrapping_sub(1).to_string(),
        (Some(known), 2) => known.wrapping_mul(2).to_string(),
        _ => random.pick(&NUMBERS).copied().unwrap_or_default().to_owned(),
    };
    input.splice(start..start + length, new.into_bytes());
}

/// A word in the place of a range, which may be empty.
pub(super) fn insert_word(random: &mut Random, input: &mut Vec<u8>, words: &[&str]) {
    let Some(word) = random.pick(words) else { return };
    let mut range = some_range(random, input.len());
    if random.one_in(2) {
        range = range.start..range.start;
    }
    input.splice(range, word.bytes());
}

/// The beginning of the one and the end of the other.
pub(super) fn splice(random: &mut Random, input: &mut Vec<u8>, other: &[u8]) {
    let range = some_range(random, other.len());
    match random.below(3) {
        0 => {
            input.truncate(random.below(input.len() + 1));
            input.extend_from_slice(&other[range.start..]);
        }
        1 => {
            let at = random.below(input.len() + 1);
            input.splice(at..at, other[range].iter().copied());
        }
        _ => {
            let replaced = some_range(random, input.len());
            input.splice(replaced, other[range].iter().copied());
        }
    }
}
