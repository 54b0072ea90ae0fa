//! Secrets: made at random, kept as hashes, compared without telling where they differ.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

const BYTES: usize = 32;
/// Without what is easily taken for something else: 0 and O, 1, I and L.
const CODE_LETTERS: &[u8; 31] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const CODE_LENGTH: usize = 8;

/// Nobody guesses one.
pub(crate) fn random() -> String {
    let mut bytes = [0; BYTES];
    fill(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Short enough to be typed, so it can be guessed by whoever may try often: tries are slowed, and it does not live long.
pub(crate) fn random_code() -> String {
    let letters = CODE_LETTERS.len();
    // Bytes beyond the last whole multiple would make some letters likelier than others.
    let fair = 256 / letters * letters;
    let mut code = String::with_capacity(CODE_LENGTH);
    while code.len() < CODE_LENGTH {
        let mut byte = [0];
        fill(&mut byte);
        let index = usize::from(byte[0]);
        if index < fair {
            code.push(char::from(CODE_LETTERS[index % letters]));
        }
    }
    code
}

/// A code as people read it: `ABCD-EFGH`.
pub(crate) fn shown_code(code: &str) -> String {
    let (first, last) = code.split_at(CODE_LENGTH / 2);
    format!("{first}-{last}")
}

/// A code as it was made, however it was typed.
pub(crate) fn typed_code(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_uppercase()).collect()
}

/// The token that agents may be given, which only lets them delegate. Made from the server's own, which cannot be found from it.
pub fn for_agents(token: &str) -> String {
    hash(&format!("voxpilot: to delegate, and no more: {token}"))
}

/// SHA-256 as hex digits.
pub(crate) fn hash(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().fold(String::with_capacity(2 * BYTES), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Every byte is looked at, whatever came before: the time taken tells nothing about where they differ.
pub(crate) fn same(ours: &str, theirs: &str) -> bool {
    let differing = ours.bytes().zip(theirs.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    ours.len() == theirs.len() && differing == 0
}

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system gives random bytes, as it did at the start");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_are_long_enough() {
        assert_ne!(random(), random());
        assert_eq!(random().len(), 43);
        assert_eq!(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_secret_counts_whole() {
        assert!(same("secret", "secret"));
        for wrong in ["", "secre", "secrets", "Secret"] {
            assert!(!same("secret", wrong), "{wrong}");
        }
    }

    #[test]
    fn a_code_is_found_again_however_it_is_typed() {
        let code = random_code();
        assert!(code.len() == 8 && code.bytes().all(|letter| CODE_LETTERS.contains(&letter)), "{code}");
        let shown = shown_code(&code);
        for typed in [shown.clone(), shown.to_lowercase(), format!(" {} ", shown.replace('-', " "))] {
            assert_eq!(typed_code(&typed), code);
        }
    }
}
