//! What a case did, in numbers: a case that does something new is worth mutating. It stands in for coverage, which a stable compiler
//! does not give to a running program.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The features of one case.
#[derive(Default)]
pub struct Features(Vec<u64>);

impl Features {
    /// Notes something that the case showed: a kind of signal, a status, the code of an error. Never its text, of which there is no end.
    pub fn note(&mut self, feature: impl Hash) {
        let mut hasher = DefaultHasher::new();
        feature.hash(&mut hasher);
        self.0.push(hasher.finish());
    }

    /// A number, by its magnitude.
    pub fn note_size(&mut self, name: &str, size: usize) {
        self.note((name, size.checked_ilog2()));
    }
}

/// Everything that was seen so far.
#[derive(Default)]
pub struct Seen(HashSet<u64>);

impl Seen {
    /// Whether the case showed something for the first time. Pairs of neighbours count too: the order of things is behaviour.
    pub fn add(&mut self, features: &Features) -> bool {
        let single = features.0.iter().copied();
        let pairs = features.0.windows(2).map(|pair| pair[0].rotate_left(17) ^ pair[1]);
        let mut new = false;
        for feature in single.chain(pairs) {
            new |= self.0.insert(feature);
        }
        new
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
