//! Numbers by a label. How many labels there can be is known before anything is counted.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What stands for whatever was not expected.
pub(crate) const OTHER: &str = "other";
/// How many different codes are told apart.
const CODES: usize = 64;
const CODE_BYTES: usize = 40;

/// One number, or one set of them, for each of the labels that it was made with, and one for all others.
#[derive(Debug)]
pub struct Labelled<T> {
    labels: Vec<String>,
    numbers: Vec<T>,
}

impl<T: Default> Labelled<T> {
    pub fn new(labels: impl IntoIterator<Item = impl Into<String>>) -> Labelled<T> {
        let mut labels: Vec<String> = labels.into_iter().map(Into::into).filter(|label| label != OTHER).collect();
        labels.push(OTHER.to_owned());
        let numbers = labels.iter().map(|_| T::default()).collect();
        Labelled { labels, numbers }
    }

    pub fn of(&self, label: &str) -> &T {
        let place = self.labels.iter().position(|known| known == label).unwrap_or(self.labels.len() - 1);
        &self.numbers[place]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.labels.iter().map(String::as_str).zip(&self.numbers)
    }
}

/// Counts what went wrong by its code. The codes are ours, but come from many places, so they are not listed: there is room for so many,
/// and what does not look like a code is counted with the others. Something goes wrong rarely, so a lock does no harm.
#[derive(Default, Debug)]
pub struct Codes(Mutex<BTreeMap<String, u64>>);

impl Codes {
    pub fn count(&self, code: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_code = !code.is_empty()
            && code.len() <= CODE_BYTES
            && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'));
        let has_room = counts.len() < CODES || counts.contains_key(code);
        let label = if is_code && has_room { code } else { OTHER };
        *counts.entry(label.to_owned()).or_default() += 1;
    }

    pub(crate) fn read(&self) -> Vec<(String, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(code, count)| (code.clone(), *count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Counter;

    #[test]
    fn what_is_not_among_the_labels_is_counted_with_the_others() {
        let counts = Labelled::<Counter>::new(["copilot", "demo"]);
        for agent in ["demo", "demo", "nobody", "\"} 1\nfake 2"] {
            counts.of(agent).increment();
        }
        let told: Vec<_> = counts.iter().map(|(label, count)| (label, count.get())).collect();
        assert_eq!(told, [("copilot", 0), ("demo", 2), ("other", 2)]);
    }

    #[test]
    fn there_is_room_for_so_many_codes_and_only_for_codes() {
        let codes = Codes::default();
        codes.count("model_cut");
        for bad in ["", "A sentence.", "a\nb", "\"}", &"x".repeat(41)] {
            codes.count(bad);
        }
        assert_eq!(codes.read(), [("model_cut".to_owned(), 1), (OTHER.to_owned(), 5)]);
        for number in 0..1000 {
            codes.count(&format!("code_{number}"));
        }
        assert!(codes.read().len() <= CODES + 1, "{}", codes.read().len());
        codes.count("model_cut");
        assert!(codes.read().contains(&("model_cut".to_owned(), 2)));
    }
}
