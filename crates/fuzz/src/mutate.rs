//! Makes new inputs from known ones: bytes, lines and JSON values are moved, repeated, replaced and left out.

mod bytes;
mod json;
mod lines;

use crate::corpus::Corpus;
use crate::random::Random;

/// What a target's inputs are made of.
#[derive(Clone, Copy)]
pub struct Language {
    /// Words that mean something to the code under test.
    pub words: &'static [&'static str],
    /// Lines are units.
    pub lines: bool,
    /// Parts of it are JSON.
    pub json: bool,
    /// Inputs are text: damage below the level of characters is rare.
    pub text: bool,
}

/// A mutated input of at most `max_bytes`.
pub fn mutate(random: &mut Random, corpus: &Corpus, language: &Language, max_bytes: usize) -> Vec<u8> {
    let mut input = corpus.pick(random).to_vec();
    for _ in 0..=random.small(8) {
        let other = corpus.pick(random);
        match random.below(10) {
            0..=2 if language.lines => lines::mutate(random, &mut input, other),
            3..=6 if language.json => json::mutate(random, &mut input, other, language.words),
            7 => bytes::insert_word(random, &mut input, language.words),
            8 => bytes::splice(random, &mut input, other),
            _ => bytes::mutate(random, &mut input, language.text),
        }
    }
    input.truncate(max_bytes);
    input
}

/// A range of the input, small ones more often.
fn some_range(random: &mut Random, length: usize) -> std::ops::Range<usize> {
    let start = random.below(length + 1);
    let span = random.small(length - start + 1);
    start..(start + span).min(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_same_inputs_within_the_limit() {
        let corpus = Corpus::new(vec![b"{\"a\":[1,\"x\"]}\n{\"b\":null}".to_vec(), b"plain\nlines\n".to_vec(), Vec::new()]);
        let language = Language { words: &["one", "\"two\""], lines: true, json: true, text: true };
        let inputs = |seed| {
            let mut random = Random::new(seed);
            (0..5000).map(|_| mutate(&mut random, &corpus, &language, 200)).collect::<Vec<_>>()
        };
        let made = inputs(7);
        assert_eq!(made, inputs(7));
        assert!(made.iter().all(|input| input.len() <= 200));
        let mut distinct = made.clone();
        distinct.sort();
        distinct.dedup();
        // A third of them starts from nothing, and half have only one change.
        assert!(distinct.len() > 2000, "{}", distinct.len());
    }
}
